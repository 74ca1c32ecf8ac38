"""What the tool answers is what it has always answered, to the letter: verdicts, certificates, counts, and the bits of runs."""

import json
from itertools import islice

import pytest
from freeze import RUNS, answers, columns_of_run, corpus, rounding

SHARE, PARTS = 25, 8
"""One question in so many is asked by `make test`; the others in parts, by `make test-long`."""


def differences(questions, folder):
    """Ask questions again; return what was said then and now where the two differ."""
    again = [(entry["model"], entry["answers"], answers(entry, folder)) for entry in questions]
    return [difference for difference in again if difference[1] != difference[2]]


def test_a_share_of_the_verdicts(tmp_path):
    chosen = list(islice(corpus(), 0, None, SHARE))
    assert len(chosen) > 100
    assert differences(chosen, tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_every_verdict(part, tmp_path):
    chosen = list(islice(corpus(), part, None, PARTS))
    assert len(chosen) * PARTS > 3000
    assert differences(chosen, tmp_path) == []


def frozen_runs():
    return json.loads(RUNS.read_text())


@pytest.mark.long
@pytest.mark.parametrize("cell", ["linear", "selective", "relu", "tanh", "gru", "lstm"])
def test_the_rows_of_a_run_of_every_method(cell, tmp_path):
    frozen = frozen_runs()
    if rounding() != frozen["rounding"]:
        pytest.skip(f"other bits are right here: {rounding()}, and the corpus has {frozen['rounding']}")
    chosen = {options: run for options, run in frozen["runs"].items() if options.split()[0] == f"--cell={cell}"}
    assert len(chosen) == 42
    for place, (options, run) in enumerate(chosen.items()):
        assert columns_of_run(tuple(options.split()), tmp_path / str(place)) == run, options
