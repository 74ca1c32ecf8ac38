"""Counter machines, and the tasks that are asked of them, as JSON files.

    {"alphabet": ["(", ")"], "states": ["q"], "initial_state": "q", "counters": 1,
     "cases": [{"token": "(", "update": ["+1"]}, {"token": ")", "update": ["-1"]}],
     "accepting": [{"state": "q", "zero_check": "0"}]}

A case without `token`, `state` or `zero_check` stands for all of them; a `*` in a zero check for 0 and 1; a case
without `next_state` stays where it is. Each case must be met by exactly one entry. Tokens may have names of any length
without spaces.

As a task such a file asks for membership. It may name classes instead, and for each of them the states and zero checks that get
it; the last class may leave them out and gets the rest:

     "classes": [{"name": "valid", "where": [{"state": "q", "zero_check": "0"}]}, {"name": "invalid"}]

`"name"` is the word for the task; the default is the name of the file.
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
from tallystick.languages.questions import Check, every_check
from tallystick.languages.tasks import Task, task_of_machine

_MACHINE_FIELDS = ("alphabet", "states", "initial_state", "counters", "cases", "accepting")
_TASK_FIELDS = ("name", "classes")
UNNAMED = "machine"
"""What a task inside another file is called that does not say its name."""
# Ten digits are more than any machine needs and keep a file's numbers from growing without bound.
_ADD = re.compile(r"[+-]?\d{1,10}", re.ASCII)


def read_machine(path: Path) -> CounterMachine:
    """Read a machine; every complaint names the file and what is missing, extra or wrong in it."""
    return read_as(path, _machine)


def read_task(path: Path | str) -> Task:
    """Read a machine's JSON file as a task: membership, or the classes that the file names."""
    return read_as(Path(path), lambda document: task_from_json(document, Path(path).stem))


def chosen_task(task: Task | str | Path | None) -> Task | str | None:
    """Return the task of a machine file where a path is given, or a name that ends in .json; anything else is left as it is."""
    if isinstance(task, Path) or (isinstance(task, str) and task.endswith(".json")):
        return read_task(task)
    return task


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
        "accepting": [_pair_to_json(pair) for pair in sorted(machine.accepting)],
    }


def task_from_json(document: Document, name: str = UNNAMED) -> Task:
    """Return the task that an object holds."""
    machine = _machine(document)
    fields = document.fields(required=_MACHINE_FIELDS, optional=_TASK_FIELDS)
    classes = _classes(fields["classes"], machine) if "classes" in fields else None
    return task_of_machine(machine, fields["name"].text() if "name" in fields else name, classes)


def task_to_json(task: Task) -> dict[str, object]:
    """Return a task as the object that a file holds; its classes stand in the order of the task."""
    written: dict[str, object] = {"name": task.name, **machine_to_json(task.machine)}
    if not task.is_membership:
        table = task.table()
        written["classes"] = [
            {"name": str(name), "where": [_pair_to_json(check) for check, found in table.items() if found == name]}
            for name in task.classes
        ]
    return written


def _pair_to_json(pair: Check) -> dict[str, str]:
    return {"state": pair[0], "zero_check": show_zero_check(pair[1])}


def _machine(document: Document) -> CounterMachine:
    fields = document.fields(required=_MACHINE_FIELDS, optional=_TASK_FIELDS)
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
        accepting=_pairs(fields["accepting"], states, counters),
    )


def _cases(parts: dict[str, Document], alphabet: tuple[str, ...], states: tuple[str, ...], counters: int) -> list[Case]:
    tokens = (parts["token"].text(),) if "token" in parts else alphabet
    chosen = (parts["state"].text(),) if "state" in parts else states
    return [Case(*case) for case in product(tokens, chosen, _checks(parts, counters))]


def _classes(listed: Document, machine: CounterMachine) -> dict[str, frozenset[Check]]:
    """Read the classes by their names; the last one may leave out where it is right, and gets the rest."""
    entries = list(listed.items())
    if not entries:
        listed.refuse("a list of at least one class")
    found: dict[str, frozenset[Check]] = {}
    for place, entry in enumerate(entries, start=1):
        parts = entry.fields(required=("name",), optional=("where",))
        name = parts["name"].text()
        if name in found or not name:
            parts["name"].refuse("a name that no other class has")
        if "where" not in parts and place < len(entries):
            raise BadInput(f"{entry.where}: field 'where' is missing; only the last class may leave it out")
        rest = frozenset(every_check(machine)).difference(*found.values())
        found[name] = _pairs(parts["where"], machine.states, machine.counters) if "where" in parts else rest
    return found


def _pairs(listed: Document, states: tuple[str, ...], counters: int) -> frozenset[Check]:
    found: set[Check] = set()
    for entry in listed.items():
        parts = entry.fields(required=(), optional=("state", "zero_check"))
        chosen = (parts["state"].text(),) if "state" in parts else states
        for state, check in product(chosen, _checks(parts, counters)):
            if (state, check) in found:
                raise BadInput(
                    f"{entry.where}: a second entry for state {state!r}, zero check {show_zero_check(check)}"
                )
            found.add((state, check))
    return frozenset(found)


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
