"""What commands print of runs fits 80 columns, --wide says all of it, and bars know how far the work has come."""

import json

import pytest

from tallystick.cli import main
from tallystick.cli.output import Pace, show_rows, time_text


@pytest.fixture
def said(monkeypatch, capsys):
    """Run a command that succeeds, before a terminal of 80 columns; return its lines."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        output = capsys.readouterr()
        assert ended.value.code == 0, output.err
        return output.out.splitlines()

    return run


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of one setting."""
    out = tmp_path_factory.mktemp("trained") / "run"
    with pytest.raises(SystemExit):
        main(["train", "--train-length", "4", "--epochs", "5", "--seeds", "9", "--out", str(out)])
    return out


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A run of several settings."""
    out = tmp_path_factory.mktemp("swept") / "run"
    options = ["--train-length", "2,4", "--learning-rate", "0.001,0.005", "--initial-scale", "0.5,1", "--epochs", "3"]
    with pytest.raises(SystemExit):
        main(["sweep", *options, "--seeds", "3", "--out", str(out)])
    return out


def test_training_ends_with_accuracy_and_horizon(said, trained):
    options = ["--train-length", "4", "--epochs", "5", "--seeds", "9", "--out", trained, "--resume"]
    lines = said("train", *options)
    starts = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert starts == ["networks", "accuracy", "horizon", "horizon", "proved", "a/b", "U"]
    found = json.loads("\n".join(said("train", *options, "--json")))
    (accuracies,), (horizons,) = found["accuracies"], found["horizons"]
    text = " ".join(" ".join(lines).split())
    assert f"{accuracies['accuracy_50']:.4g} % at 50 tokens" in text
    assert f"horizon {horizons['horizon_all_median']} in the median, {horizons['horizon_all_max']} at the most" in text


@pytest.mark.parametrize("run", ["trained", "swept"])
def test_tables_of_runs_fit_80_columns(said, run, request, tmp_path):
    folder = request.getfixturevalue(run)
    (tmp_path / "strings.txt").write_text("()\n(()\n")
    for words in (("certify",), ("indicators",), ("evaluate", "--strings", tmp_path / "strings.txt")):
        lines = said(words[0], folder, *words[1:])
        assert max(map(len, lines)) <= 80, words
        wide = said(words[0], folder, *words[1:], "--wide")
        assert max(map(len, wide)) > 60, words


def test_what_all_rows_share_is_said_once_and_wide_tables_are_cut(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    rows = [
        {"task": "binary", "edition": edition, "bias": bias, "models": 7}
        | {f"a_measured_number_{n}": f"{edition}-{n:02}" for n in range(6)}
        for edition in ("fresh", "float64")
        for bias in (False, True)
    ]
    show_rows(rows)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "all rows: task binary, networks 7"
    assert [line for line in lines if line.startswith("edition ")] == ["edition fresh", "edition float64"]
    assert sum("fresh-05" in line for line in lines) == sum("float64-05" in line for line in lines) == 2
    assert max(map(len, lines)) <= 80
    show_rows(rows, wide=True)
    assert len(capsys.readouterr().out.splitlines()) == 4 + 4  # a heading of four words, and the rows


def test_rows_that_fit_nowhere_are_shown_fact_by_fact(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    show_rows([{"task": task, "models": 1} | {f"number_{n}": "x" * 9 for n in range(12)} for task in ("a", "b")])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[-1] for line in lines].count("xxxxxxxxx") == 24


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_bar_moves_between_two_reports_and_knows_the_time_left():
    clock = Clock()
    pace = Pace(8000, clock)
    clock.now = 8
    assert time_text(pace, "seeds") == "0:08 so far"
    for _ in range(2):  # one block on each of two cores
        pace.add(1000)
    assert time_text(pace, "seeds") == "250 seeds/s, 0:24 left"
    clock.now = 12
    assert pace.expected == 3000
    assert time_text(pace, "seeds") == "250 seeds/s, 0:20 left"
    clock.now = 100
    assert pace.expected == 4000  # no more than the longest pause yet explains
    pace.add(6000)
    assert pace.expected == 8000
    assert time_text(pace, "seeds") == "finishing, 1:40 so far"


def test_the_time_of_compiling_is_left_out_of_the_pace_once_it_can_be():
    clock = Clock()
    pace = Pace(10_000, clock)
    for clock.now, seeds in ((10, 1000), (15, 1000), (25, 2000)):
        pace.add(seeds)
    assert pace.rate == 3000 / 15
