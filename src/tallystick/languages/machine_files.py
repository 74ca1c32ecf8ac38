"""Counter machines as JSON files.

    {"alphabet": ["(", ")"], "states": ["q"], "initial_state": "q", "counters": 1,
     "cases": [{"token": "(", "update": ["+1"]}, {"token": ")", "update": ["-1"]}],
     "accepting": [{"state": "q", "zero_check": "0"}]}

A case without `token`, `state` or `zero_check` stands for all of them; a `*` in a zero check for 0 and 1; a case
without `next_state` stays where it is. Each case must be met by exactly one entry.
"""

import re
from itertools import product
from pathlib import Path

from tallystick.errors import BadInput
from tallystick.files import Document, read_as, write_document
from tallystick.languages.counter_machine import (
    Add,
    Case,
    CounterMachine,
    TimesZero,
    Update,
    ZeroMask,
    check_shape,
    show_zero_check,
)

_MACHINE_FIELDS = ("alphabet", "states", "initial_state", "counters", "cases", "accepting")
# Ten digits are more than any machine needs and keep a file's numbers from growing without bound.
_ADD = re.compile(r"[+-]?\d{1,10}", re.ASCII)


def read_machine(path: Path) -> CounterMachine:
    """Read a machine; every complaint names the file and what is missing, extra or wrong in it."""
    return read_as(path, _machine)


def write_machine(machine: CounterMachine, path: Path) -> None:
    """Write a machine so that `read_machine` gives an equal one back."""
    write_document(machine_to_json(machine), path)


def machine_to_json(machine: CounterMachine) -> dict[str, object]:
    """Return the machine as the object that its file holds, every case written out."""
    return {
        "alphabet": list(machine.alphabet),
        "states": list(machine.states),
        "initial_state": machine.initial_state,
        "counters": machine.counters,
        "cases": [
            {
                "token": case.token,
                "state": case.state,
                "zero_check": show_zero_check(case.zero_check),
                "update": [str(update) for update in updates],
                "next_state": machine.transitions[case],
            }
            for case, updates in machine.updates.items()
        ],
        "accepting": [
            {"state": state, "zero_check": show_zero_check(check)} for state, check in sorted(machine.accepting)
        ],
    }


def _machine(document: Document) -> CounterMachine:
    fields = document.fields(required=_MACHINE_FIELDS)
    alphabet = tuple(entry.text() for entry in fields["alphabet"].items())
    states = tuple(entry.text() for entry in fields["states"].items())
    counters = fields["counters"].whole()
    check_shape(alphabet, states, counters)
    updates: dict[Case, tuple[Update, ...]] = {}
    transitions: dict[Case, str] = {}
    for entry in fields["cases"].items():
        parts = entry.fields(required=("update",), optional=("token", "state", "zero_check", "next_state"))
        update = tuple(_update(item) for item in parts["update"].items())
        for case in _cases(parts, alphabet, states, counters):
            if case in updates:
                raise BadInput(f"{entry.where}: a second entry for the case {case}")
            updates[case] = update
            transitions[case] = parts["next_state"].text() if "next_state" in parts else case.state
    return CounterMachine(
        alphabet=alphabet,
        states=states,
        initial_state=fields["initial_state"].text(),
        counters=counters,
        updates=updates,
        transitions=transitions,
        accepting=_accepting(fields["accepting"], states, counters),
    )


def _cases(parts: dict[str, Document], alphabet: tuple[str, ...], states: tuple[str, ...], counters: int) -> list[Case]:
    tokens = (parts["token"].text(),) if "token" in parts else alphabet
    chosen = (parts["state"].text(),) if "state" in parts else states
    return [Case(*case) for case in product(tokens, chosen, _checks(parts, counters))]


def _accepting(listed: Document, states: tuple[str, ...], counters: int) -> frozenset[tuple[str, ZeroMask]]:
    accepting: set[tuple[str, ZeroMask]] = set()
    for entry in listed.items():
        parts = entry.fields(required=(), optional=("state", "zero_check"))
        chosen = (parts["state"].text(),) if "state" in parts else states
        for state, check in product(chosen, _checks(parts, counters)):
            if (state, check) in accepting:
                raise BadInput(
                    f"{entry.where}: a second entry for state {state!r}, zero check {show_zero_check(check)}"
                )
            accepting.add((state, check))
    return frozenset(accepting)


def _checks(parts: dict[str, Document], counters: int) -> list[ZeroMask]:
    """Return the zero checks that a pattern of 0, 1 and * stands for."""
    pattern = parts["zero_check"].text() if "zero_check" in parts else "*" * counters
    if len(pattern) != counters or set(pattern) - set("01*"):
        parts["zero_check"].refuse(f"{counters} of 0, 1 and *, one a counter")
    return list(product(*((0, 1) if mark == "*" else (int(mark),) for mark in pattern)))


def _update(item: Document) -> Update:
    text = item.text()
    if text in ("×0", "x0"):
        return TimesZero()
    if not _ADD.fullmatch(text):
        item.refuse('an update: "+1", "-2", … to add, or "×0" (also "x0") to set to zero')
    return Add(int(text))
