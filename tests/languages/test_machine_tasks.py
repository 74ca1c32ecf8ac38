"""Any machine is a task: membership with the empty string in or out, or classes by state and zero check; read from a file too."""

import json
import pickle
import re
from itertools import product
from pathlib import Path

import pytest

from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.languages.counter_machine import Add, CounterMachine
from tallystick.languages.machine_files import (
    chosen_task,
    machine_to_json,
    read_machine,
    read_task,
    task_from_json,
    task_to_json,
)
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.languages.task import read_string, string_text
from tallystick.languages.tasks import DYCK1_PREFIX, READY_TASKS, TERNARY, ready_task, task_of_machine

MEMBERSHIPS = [task for task in READY_TASKS.values() if task.is_membership]


def strings(alphabet, longest):
    return [tokens for length in range(longest + 1) for tokens in product(alphabet, repeat=length)]


def prefix_class(string):
    depth = 0
    for token in string:
        depth += 1 if token == "(" else -1
        if depth < 0:
            return "invalid"
    return "incomplete" if depth else "valid"


def test_prefixes_of_dyck1_against_their_definition():
    for string in strings("()", 11):
        assert DYCK1_PREFIX.right_class(string) == prefix_class(string), string
    other = DYCK1_PREFIX.in_order(["invalid", "valid", "incomplete"])
    for string in strings("()", 6):
        assert other.right_class(string) == prefix_class(string)
    assert other.in_order(DYCK1_PREFIX.classes) == DYCK1_PREFIX
    assert pickle.loads(pickle.dumps(other)) == other
    assert not DYCK1_PREFIX.is_by_sign


@pytest.mark.parametrize("task", MEMBERSHIPS, ids=lambda task: task.name)
def test_the_empty_string_alone_changes(task):
    for member in (True, False):
        other = task.with_empty(member)
        assert other.empty is member
        assert (other.right_class("") == "accepted") is member
        for string in strings(task.alphabet, 8 if len(task.alphabet) == 2 else 5)[1:]:
            assert other.right_class(string) == task.right_class(string), string
        again = pickle.loads(pickle.dumps(other))
        assert again == other
        assert again.with_empty(member) == other
        assert again.in_order(other.classes[::-1]).right_class("") == other.right_class("")
        # The configuration of the empty string may come back, as after () in bb, and is a member then.
        assert other.with_empty(not member).right_class("") != other.right_class("")


def test_what_may_follow_the_empty_string_follows_its_membership():
    task = ready_task("anbn")
    allowed = {
        flag: task.with_empty(flag).futures.allowed(task.with_empty(flag).machine.start) for flag in (True, False)
    }
    assert allowed == {True: {0, 2}, False: {0}}


def test_only_membership_of_the_empty_string_is_a_choice():
    for task in (TERNARY, DYCK1_PREFIX):
        with pytest.raises(BadInput, match=f"empty: '{task.name}' has the classes .*; only membership"):
            task.with_empty(True)


@pytest.mark.parametrize("task", [*MEMBERSHIPS, DYCK1_PREFIX], ids=lambda task: task.name)
def test_a_table_says_what_is_right(task):
    table = task.table()
    for string in strings(task.alphabet, 5):
        state, counters = task.configuration(string)
        assert table[state, tuple(int(counter != 0) for counter in counters)] == task.right_class(string)


@pytest.mark.parametrize("name", ["binary", "ternary", "count"])
def test_the_sign_of_a_count_has_no_table(name):
    with pytest.raises(BadInput, match=f"task: '{name}' asks for more of the counters than which of them are zero"):
        ready_task(name).table()


STACK = CounterMachine.from_rules(
    alphabet=("push", "pop", "-"),
    states=("fine", "broken"),
    update=lambda case: (Add({"push": 1, "pop": -1, "-": 0}[case.token]),),
    transition=lambda case: "broken" if case.token == "pop" and case.zero_check == (0,) else case.state,
    accepts=lambda state, check: state == "fine" and check == (0,),
)


def test_tokens_may_have_long_names():
    assert STACK.accepts(read_string("push - pop", STACK.alphabet))
    assert not STACK.accepts(read_string("push - - push pop", STACK.alphabet))
    assert read_string("", STACK.alphabet) == ()
    for string in strings(STACK.alphabet, 3):
        assert read_string(string_text(string, STACK.alphabet), STACK.alphabet) == string
    with pytest.raises(BadInput, match="unknown token 'pushpop' at position 2; the alphabet is push pop -"):
        STACK.accepts(read_string("push pushpop", STACK.alphabet))


def file_of(tmp_path, content):
    path = Path(tmp_path / "stack.json")
    path.write_text(json.dumps(content))
    return path


CLASSES = [
    {"name": "empty", "where": [{"state": "fine", "zero_check": "0"}]},
    {"name": "broken", "where": [{"state": "broken"}]},
    {"name": "waiting"},
]


def test_a_machine_file_is_a_task(tmp_path):
    path = file_of(tmp_path, machine_to_json(STACK))
    assert read_task(path) == task_of_machine(STACK, "stack") == chosen_task(str(path)) == chosen_task(path)
    path = file_of(tmp_path, {**machine_to_json(STACK), "classes": CLASSES, "name": "pile"})
    task = read_task(path)
    assert (task.name, task.classes, read_machine(path)) == ("pile", ("empty", "broken", "waiting"), STACK)
    assert [task.right_class(tuple(text.split())) for text in ("", "push -", "pop push")] == [
        "empty",
        "waiting",
        "broken",
    ]
    assert pickle.loads(pickle.dumps(task)) == task
    for known in ("anbn", "nothing"):
        assert chosen_task(known) == known


@pytest.mark.parametrize("name", [*READY_MACHINES, "dyck1-prefix"])
def test_a_task_reads_back_equal(name):
    task = ready_task(name)
    assert task_from_json(Document(task_to_json(task), "file")) == task
    if not task.is_membership:
        other = task.in_order(task.classes[::-1])
        assert task_from_json(Document(task_to_json(other), "file")) == other


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([], "classes: [] is not a list of at least one class"),
        ([{"name": "x"}, {"name": "y"}], "classes[0]: field 'where' is missing; only the last class may leave it out"),
        ([CLASSES[0], CLASSES[0]], 'classes[1]: name: "empty" is not a name that no other class has'),
        (CLASSES[:2], "classes: state 'fine', zero check 1 is in none of 'empty', 'broken'"),
        (
            [CLASSES[0], {"name": "rest", "where": [{}]}],
            "classes: state 'fine', zero check 0 is in the class 'rest' and in another one",
        ),
        (
            [{"name": "one", "where": [{"state": "lost"}]}, {"name": "rest"}],
            "classes: state 'lost', zero check 0 is not a state and a zero check of the machine",
        ),
        ([{"name": "one", "where": [{"zero_check": "00"}]}], 'zero_check: "00" is not 1 of 0, 1 and *'),
        (
            [{"name": "accepted", "where": [{"state": "fine"}]}, {"name": "rejected"}],
            "classes: what is accepted the machine itself says; leave the classes out",
        ),
    ],
)
def test_classes_that_do_not_fit_are_refused(tmp_path, classes, message):
    path = file_of(tmp_path, {**machine_to_json(STACK), "classes": classes})
    with pytest.raises(BadInput, match=re.escape(message)) as refusal:
        read_task(path)
    assert str(refusal.value).startswith(str(path))
