"""What the tool answers is what it has always answered, to the letter: verdicts, certificates, counts, and the bits of runs."""

import json
from functools import cache
from itertools import islice

import pytest
import typer.main
from freeze import CELLS, RUNS, answers, columns_of_run, corpus, digests, rounding

from tallystick import cli

SHARE, PARTS = 25, 8
"""One question in so many is asked by `make test`; the others in parts, by `make test-long`."""


@pytest.fixture(autouse=True, scope="module")
def _commands_are_put_together_once():
    """A program runs one command, these tests ten thousand: typer would take as long to make each as most take to answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        patch.setattr(cli, "load_command", cache(cli.load_command))
        yield


def differences(questions, folder):
    """Ask questions again; return what was said then and now where the two differ."""
    again = [(entry["model"], entry["answers"], without_added(answers(entry, folder))) for entry in questions]
    return [difference for difference in again if difference[1] != difference[2]]


ADDED = {"check": "answer"}
"""Fields that commands have had since: `check --json` says its answer in a word, `certify --json` in sentences, and with a hint
if there is one."""


def without_added(found):
    for command, field in ADDED.items():
        if command in found:
            assert found[command]["said"].pop(field) == "holds"
    if found["certify"]["status"] < 2:  # a verdict, and not a refusal
        assert found["certify"]["said"].pop("answer").endswith(".")
    if found["certify"]["status"] == 1:  # a hint is for a network that fails early
        found["certify"]["said"].pop("hint", None)
    return found


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


RENAMED = {
    "input_weight": ("tensors", 0, 2),
    "recurrent_weight": ("tensors", 2, 4),
    "input_bias": ("tensors", 4, 5),
    "recurrent_bias": ("tensors", 5, 6),
}
"""Columns of GRUs and LSTMs that are now part of another: of which, from where and to where, in rows of the network.

The two tokens and the two units of the frozen runs make two numbers per row; without biases nothing is left for them.
"""
ROWS = {"gru": 6, "lstm": 8}


def with_frozen_names(columns, cell):
    """The columns of a run by the names that they had when they were frozen, among all that it has now."""
    if isinstance(columns, str) or cell not in ROWS:
        return columns
    parts = {
        name: [numbers[first * ROWS[cell] : last * ROWS[cell]] for numbers in columns[now]]
        for name, (now, first, last) in RENAMED.items()
    }
    return {**columns, **parts}


def frozen_part(found, run):
    """What was found, without the columns that a run did not have when it was frozen."""
    return found if isinstance(found, str) else {name: found.get(name) for name in run}


@pytest.mark.long
@pytest.mark.parametrize("cell", CELLS)
def test_the_rows_of_a_run_of_every_method(cell, tmp_path):
    frozen = json.loads(RUNS.read_text())
    if rounding() != frozen["rounding"]:
        pytest.skip(f"other bits are right here: {rounding()}, and the corpus has {frozen['rounding']}")
    chosen = {options: run for options, run in frozen["runs"].items() if options.split()[0] == f"--cell={cell}"}
    assert len(chosen) == 42
    # Each takes seconds to compile: one task of each method, and of cells with one unit another one each.
    turn = 0 if cell in ROWS else CELLS.index(cell)
    for place, (options, run) in enumerate(chosen.items()):
        if (place // 3 + place + turn) % 3:
            continue
        found = digests(with_frozen_names(columns_of_run(tuple(options.split()), tmp_path / str(place)), cell))
        assert frozen_part(found, run) == run, options
