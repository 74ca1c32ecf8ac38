"""Training sets, long tests, string files and the authors' own."""

import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from strings import all_strings

from tallystick.datasets.strings import (
    SUITE_SIZE,
    as_strings,
    draw_dyck,
    draw_suites,
    encode,
    long_suite,
    published_strings,
    read_strings,
    training_set,
    write_strings,
)
from tallystick.errors import BadInput
from tallystick.languages.brackets import BB, DYCK1, bracket_difference
from tallystick.languages.tasks import BINARY, COUNT, TASKS, TERNARY, task_named

AUTHORS = Path(__file__).parents[3] / "shared" / "authors-data"


@pytest.mark.parametrize(("task", "length", "size"), [("binary", 2, 6), ("binary", 4, 28), ("binary", 8, 354)])
def test_the_binary_training_set_is_balanced_length_by_length(task, length, size):
    strings = training_set(TASKS[task], length, seed=3)
    assert len(strings) == size
    for part in [n for n in (2, 4, 8) if n <= length]:
        of_length = [string for string in strings if len(string) == part]
        assert set(of_length) == set(all_strings(part, shortest=part))
        positive = Counter(string for string in of_length if bracket_difference(string) > 0)
        assert sum(positive.values()) == len(of_length) // 2
        assert max(positive.values()) - min(positive.values()) <= 1  # repeated in turn
        assert max(Counter(string for string in of_length if bracket_difference(string) <= 0).values()) == 1


@pytest.mark.parametrize(("length", "size"), [(2, 6), (4, 24), (8, 297)])
def test_the_ternary_training_set_is_balanced_over_the_merged_set(length, size):
    strings = training_set(TERNARY, length, seed=3)
    assert len(strings) == size
    assert set(Counter(map(TERNARY.label, strings)).values()) == {size // 3}
    assert len(set(strings)) == sum(2**n for n in (2, 4, 8) if n <= length)


def test_a_training_set_is_shuffled_once_by_its_seed():
    assert training_set(BINARY, 8, 0) == training_set(BINARY, 8, 0) != training_set(BINARY, 8, 1)


@pytest.mark.parametrize("length", [0, -2, 15, 2.0, "8"])
def test_a_training_length_out_of_reach_is_refused(length):
    with pytest.raises(BadInput, match="train_length: "):
        training_set(BINARY, length, 0)


def from_grammar(generator: random.Random) -> str:
    """Draw from the grammar itself: S → ( S ) with 1/2, S S with 1/4, empty with 1/4; give up on what grows too long."""
    string, rest = "", ["S"]
    while rest and len(rest) < 60:
        symbol = rest.pop()
        if symbol == ")":
            string += ")"
        elif (draw := generator.random()) < 0.5:
            string += "("
            rest += [")", "S"]
        elif draw < 0.75:
            rest += ["S", "S"]
    return "" if rest else string


def test_long_dyck_strings_have_the_grammars_conditional_distribution():
    generator = random.Random(1)
    expected = Counter()
    while expected.total() < 4000:
        string = from_grammar(generator)
        if len(string) == 8:
            expected[string] += 1
    found = Counter(as_strings(draw_dyck(8, 4000, np.random.default_rng(2))))
    members = list(DYCK1.members(8))
    assert set(found) == set(members)
    assert chi2_contingency([[expected[m] for m in members], [found[m] for m in members]]).pvalue > 1e-4


@pytest.mark.parametrize("length", [2, 20, 50])
def test_a_suite_is_made_of_its_four_kinds(length):
    suites = 40
    strings = as_strings(draw_suites(length, suites, np.random.default_rng(5)))
    for start in range(0, suites * SUITE_SIZE, SUITE_SIZE):
        suite = strings[start : start + SUITE_SIZE]
        assert all(DYCK1.contains(string) for string in suite[:25])
        assert all(BB.contains(string) and not DYCK1.contains(string) for string in suite[25:50])
        assert all(bracket_difference(string) < 0 for string in suite[50:75])
        assert all(bracket_difference(string) > 0 for string in suite[75:])
    assert {len(string) for string in strings} == {length}


def test_surplus_brackets_follow_the_rule():
    """With k uniform in 1 … N/2, then k draws with replacement: the number of distinct ones has this mean."""
    pairs, suites = 10, 400
    strings = as_strings(draw_suites(2 * pairs, suites, np.random.default_rng(6)))
    turned = [bracket_difference(s) // 2 for i, s in enumerate(strings) if i % SUITE_SIZE >= 75]
    expected = np.mean([pairs * (1 - (1 - 1 / pairs) ** k) for k in range(1, pairs + 1)])
    assert np.mean(turned) == pytest.approx(expected, abs=4 * np.std(turned) / len(turned) ** 0.5)


def test_the_ternary_suite_is_filled_up():
    strings = long_suite(TERNARY, 20, seed=4)
    assert set(Counter(map(TERNARY.label, strings)).values()) == {75}
    assert set(strings) == set(long_suite(BINARY, 20, seed=4))


@pytest.mark.parametrize("length", [0, 3, 1002, "20"])
def test_a_test_length_out_of_reach_is_refused(length):
    with pytest.raises(BadInput, match="length: "):
        draw_dyck(length, 1, np.random.default_rng(0))


def test_targets_and_labels():
    strings = ["((", "()", "))"]
    assert BINARY.targets(strings).tolist() == [[1], [0], [0]]
    assert TERNARY.targets(strings).tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert COUNT.targets(strings).tolist() == [[2], [0], [-2]]
    assert [task.label("((") for task in TASKS.values()] == ["Pos", "Pos", "2"]
    with pytest.raises(BadInput, match="task: 'quaternary' is not one of binary, ternary, count"):
        task_named("quaternary")


def test_encoding_is_one_hot_and_right_aligned():
    opening, closing = encode(["(", "())"], width=4)
    assert opening.astype(int).tolist() == [[0, 0, 0, 1], [0, 1, 0, 0]]
    assert closing.astype(int).tolist() == [[0, 0, 0, 0], [0, 0, 1, 1]]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_written_strings_read_back(task, tmp_path):
    strings = training_set(task, 4, 0)
    write_strings(strings, task, tmp_path / "strings.txt")
    assert read_strings(tmp_path / "strings.txt", task) == strings


def test_labels_may_be_left_out(tmp_path):
    (tmp_path / "strings.txt").write_text("(()\n\n))  \n")
    assert read_strings(tmp_path / "strings.txt", BINARY) == ["(()", "))"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("()\n(x,Pos\n", "line 2: unknown token 'x' at position 2; the alphabet is ( )"),
        ("(),Pos\n", "line 1: label 'Pos' is wrong for (); it should be 'ZeroNeg' (binary task)"),
        ("(),Zero\n", "line 1: label 'Zero' is wrong for (); it should be 'ZeroNeg' (binary task)"),
        ("((,\n", "line 1: label '' is wrong for (("),
        ("\n\n", "holds no string; one is expected on each line"),
        ("", "holds no string"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "strings.txt"
    path.write_text(text)
    with pytest.raises(BadInput, match=re.escape(f"{path}: {message}")):
        read_strings(path, BINARY)


def test_the_authors_files_are_found_under_either_name(tmp_path):
    (tmp_path / "binary_2.txt").write_text("((,Pos\n")
    (tmp_path / "CounterDataset4TokensTernaryOversampledDataset.txt").write_text("(()),Zero\n")
    assert published_strings(tmp_path, BINARY, 2) == ["(("]
    assert published_strings(tmp_path, TERNARY, 4) == ["(())"]
    with pytest.raises(BadInput, match="holds neither binary_8.txt nor CounterDataset8Tokens.txt"):
        published_strings(tmp_path, BINARY, 8)


@pytest.mark.skipif(not AUTHORS.is_dir(), reason="the authors' data lies beside the checkout, and is not here")
def test_generated_training_sets_hold_the_authors_strings():
    for length in (2, 4, 8):
        assert Counter(training_set(BINARY, length, 0)) == Counter(published_strings(AUTHORS, BINARY, length))
        assert set(training_set(TERNARY, length, 0)) == set(published_strings(AUTHORS, TERNARY, length))
        assert len(training_set(TERNARY, length, 0)) == len(published_strings(AUTHORS, TERNARY, length))
