"""The ready machine of the package is the counter of Coq: its table, written as Coq, is proved to accept exactly BB."""

import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import tallystick as ts
from tallystick.languages.counter_machine import Add, CounterMachine

PROOFS = Path(__file__).parent.parent.parent / "proofs"
CHECK = runpy.run_path(str(PROOFS / "check.py"))
compile_file, Refused = CHECK["compile_file"], CHECK["Refused"]

pytestmark = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    """The files that speak of counters, compiled."""
    directory = tmp_path_factory.mktemp("counter")
    for name in ("Brackets.v", "Theorem1.v", "Counter.v", "CounterTable.v"):
        shutil.copy(PROOFS / name, directory)
        compile_file(directory / name)
    return directory


def as_coq(machine: CounterMachine) -> str:
    """The statement that a machine with one state and one counter accepts exactly BB, row by row of its table."""
    (state,) = machine.states
    assert (machine.alphabet, machine.counters, machine.initial_state) == (("(", ")"), 1, state)
    assert set(machine.transitions.values()) == {state}
    assert machine.updates.keys() == machine.transitions.keys()
    tokens, truths = {"(": "Open", ")": "Close"}, ("false", "true")

    def change(update) -> str:
        return f"Add ({update.amount})" if isinstance(update, Add) else "TimesZero"

    rows = [
        f"({tokens[case.token]}, {truths[case.zero_check[0]]}, {change(update)})"
        for case, (update,) in machine.updates.items()
    ]
    accepted = [truths[check[0]] for _, check in machine.accepting]
    return (
        "From Coq Require Import ZArith.\nFrom Tallystick Require Import Brackets Counter CounterTable.\nOpen Scope Z_scope.\n"
        f"Goal is_balanced_bracket_counter (machine_of_rows [{'; '.join(rows)}] [{'; '.join(accepted)}]).\n"
        "Proof. apply tables_that_count_brackets. reflexivity. Qed.\n"
    )


def prove(machine: CounterMachine, directory: Path, scratch: Path) -> None:
    """Let Coq prove it."""
    path = scratch / "Machine.v"
    path.write_text(as_coq(machine), encoding="utf-8")
    compile_file(path, directory)


def test_the_ready_machine_is_coqs_counter(compiled, tmp_path):
    prove(ts.READY_MACHINES["bb"], compiled, tmp_path)


def test_another_machine_is_not(compiled, tmp_path):
    ready = ts.READY_MACHINES["bb"]
    moved = {case: (Add(2),) if case.token == "(" else update for case, update in ready.updates.items()}
    for other in (replace(ready, updates=moved), replace(ready, accepting=frozenset({("q", (1,))}))):
        with pytest.raises(Refused, match="Unable to unify"):
            prove(other, compiled, tmp_path)
