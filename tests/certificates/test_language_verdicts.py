"""Verdicts on networks that are asked about a language, against every string by code that shares nothing with the package.

`soak/languages.py` goes on to thousands.
"""

from itertools import product

import pytest
from language_cases import ANSWERS, CELLS
from language_oracle import Oracle
from language_shapes import TWICE
from language_verdicts import disagreement, disagreement_of
from plain_languages import Language
from published_cases import MDL, network_of

from tallystick.errors import BadInput
from tallystick.networks import network_to_json

QUICK = [
    ("linear", "next", 5),
    ("relu", "support", 5),
    ("lstm", "threshold", 5),
    ("gru-before", "accept", 5),
    ("graph", "sign", 4),
    ("graph", "class", 29),
    ("stack", "support", 5),
]


@pytest.mark.parametrize(("cell", "answer", "seed"), QUICK)
def test_a_verdict_agrees_with_every_string(cell, answer, seed):
    assert disagreement_of(cell, answer, seed)[0] is None


@pytest.mark.long
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("answer", ANSWERS)
def test_verdicts_agree_with_every_string(cell, answer):
    assert [found for seed in range(4) if (found := disagreement_of(cell, answer, seed)[0])] == []


def test_a_step_at_a_number_between_bounds_leaves_a_closed_form_open():
    units = [
        {"activation": "identity", "input": [1, -1], "recurrent": {"0": 1}},
        {"activation": "tanh", "forward": {"0": 1}},
        {"activation": "step", "bias": "1/2", "forward": {"1": -1}},
        {"activation": "step", "bias": "-1/2", "forward": {"0": 1}},
    ]
    document = {
        "layers": [{"cell": "graph", "units": units}],
        "readout": {"weight": [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]], "bias": [0, "1/2", 0]},
        "answer": {"kind": "class", "classes": ["valid", "invalid", "incomplete"]},
        "task": "dyck1-prefix",
    }
    assert disagreement(document)[0] is None


def test_odd_lengths_that_fail_do_not_count():
    """It is wrong at the lengths 7, 9, 11, 13 and 14; families alone do not tell odd lengths from even ones."""
    same = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    document = {
        "layers": [{"cell": "relu", "input_weight": [[1, -1, 0], [0, 1, -1], [0, 1, 0]], "recurrent_weight": same}],
        "readout": {"weight": [[0, 0, -2], [2, 0, 0], [-3, 2, 0], [-2, -2, 0]], "bias": [1, -1, -1, 1]},
        "answer": {"kind": "next", "outputs": ["a", "b", "c", "#"], "end": "#"},
        "task": "anbncn",
    }
    wrong, about, _ = disagreement(document, "even", 2)
    assert (wrong, about) == (None, "closed form, REFUTED 12")


def test_the_checker_follows_whole_numbers_of_tokens():
    """After a⁵⁶b¹¹¹ it says the end; with 55½ times a and 110 times b it would, too, at a shorter length."""
    document = {
        "layers": [{"cell": "relu", "input_weight": [[2, -1], [0, 1]], "recurrent_weight": [[1, 0], [0, 1]]}],
        "readout": {"weight": [["3/7", -8], ["159/20", "-1/10"], [-8, 0]], "bias": [4, -1, 4]},
        "answer": {"kind": "next", "outputs": ["a", "b", "#"], "end": "#"},
        "task": TWICE,
    }
    wrong, about, _ = disagreement(document)
    assert (wrong, about) == (None, "closed form, REFUTED 166")


@pytest.mark.parametrize(
    ("task", "empty", "first"), [("dyck1", True, 0), ("shuffle2", True, 0), ("dyck1", False, 0), ("dyck1", False, 1)]
)
def test_a_network_of_which_nothing_is_asked_is_refused(task, empty, first):
    alphabet = Language(task).alphabet
    document = {
        "layers": [{"cell": "linear", "input_weight": [[1] * len(alphabet)], "recurrent_weight": [[1]]}],
        "readout": {"weight": [[0]] * (len(alphabet) + 1), "bias": [0] * (len(alphabet) + 1)},
        "answer": {"kind": "next", "outputs": [*alphabet, "#"], "end": "#"},
        "task": task,
        "empty": empty,
    }
    with pytest.raises(BadInput, match=f"'{task}' never determines which token comes next, from length 1 on"):
        disagreement(document, first=first)
    disagreement({**document, "answer": {**document["answer"], "kind": "support"}}, first=first)


@pytest.mark.parametrize("seed", [122, 130])
def test_closed_forms_that_fail_at_odd_lengths_are_checked_where_even_ones_count(seed):
    wrong, about, _ = disagreement_of("stack", "next", seed)
    assert wrong is None, about


def test_a_wrong_verdict_would_be_found():
    """The network of the documents fails on aaabb, after which it says the end."""
    document = {
        "tokens": {"a": [1], "b": [-1]},
        "layers": [{"cell": "linear", "input_weight": [[1]], "recurrent_weight": [["9/10"]]}],
        "readout": {"weight": [[0], [1], [0]], "bias": [-1, 0, "1/2"]},
        "answer": {"kind": "next", "outputs": ["a", "b", "#"], "end": "#"},
        "task": "anbn",
    }
    oracle = Oracle(document)
    assert [wrong for wrong, _ in oracle.lengths(5)] == [0, 0, 0, 0, 0, 1]
    assert oracle.judged("aaabb") == ("#", "b")
    exact = {**document, "layers": [{**document["layers"][0], "recurrent_weight": [[1]]}]}
    assert {wrong for wrong, _ in Oracle(exact).lengths(10)} == {0}


def test_the_oracle_says_of_published_networks_what_is_known():
    def oracle(name):
        return Oracle(network_to_json(network_of(name)))

    assert [wrong for wrong, _ in oracle("weiss_anbn_gru").lengths(4)] == [0, 0, 0, 1, 0]
    assert oracle("weiss_anbncn_lstm").judged("a" * 58 + "b" * 57 + "c" * 57) == ("accepted", "rejected")
    assert oracle("weiss_anbncn_lstm").judged("a" * 65 + "b" * 65 + "c" * 65) == ("rejected", "accepted")
    assert [wrong for wrong, _ in oracle("elnaggar_10epochs").lengths(7)] == [0, 1, 0, 1, 0, 4, 2, 12]
    assert {wrong for name in MDL for wrong, _ in oracle(name).lengths(12)} == {0}


@pytest.mark.parametrize(
    ("task", "members"),
    [
        ("anbn", {"", "ab", "aabb"}),
        ("dyck1", {"", "()", "()()", "(())"}),
        ("anbmcnm", {"", "ac", "bc", "abcc", "aacc", "bbcc"}),
    ],
)
def test_the_languages_are_what_their_names_say(task, members):
    language = Language(task)
    strings = ["".join(tokens) for length in range(5) for tokens in product(language.alphabet, repeat=length)]
    assert {string for string in strings if language.has(string)} == members
    begun = {member[:size] for member in members for size in range(len(member) + 1)}
    assert all(language.begins(string) for string in begun)


@pytest.mark.parametrize("seed", [1059, 1067])
def test_a_unit_may_be_the_same_after_every_string(seed):
    found, *_ = disagreement_of("graph", "zero", seed)
    assert found is None
