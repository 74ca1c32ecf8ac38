"""A task says what is right: by the sign of a count, or by running its machine; in any order of its classes."""

import pickle
from itertools import permutations, product

import numpy as np
import pytest

from tallystick.errors import BadInput
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.languages.tasks import BINARY, COUNT, READY_TASKS, TASKS, TERNARY, ready_task, task_named


def strings(alphabet, longest):
    return ["".join(tokens) for length in range(longest + 1) for tokens in product(alphabet, repeat=length)]


@pytest.mark.parametrize("name", READY_MACHINES)
def test_membership_in_every_ready_machine_is_a_task(name):
    task, machine = ready_task(name), READY_MACHINES[name]
    assert task.alphabet == machine.alphabet
    for string in strings(task.alphabet, 8 if len(task.alphabet) == 2 else 5):
        assert (task.right_class(string) == "accepted") is machine.accepts(string), string
    assert task.is_by_sign is (name in ("bb", "semidyck1"))


@pytest.mark.parametrize("name", [name for name, task in READY_TASKS.items() if task.classes])
def test_the_classes_of_a_task_stand_in_any_order(name):
    task = ready_task(name)
    for order in permutations(task.classes):
        other = task.in_order(order)
        assert other.classes == order
        assert (other == task) is (order == task.classes)
        assert other.in_order([str(label) for label in task.classes]) == task
        for string in strings(task.alphabet, 4):
            assert other.right_class(string) == task.right_class(string)
        if task.is_by_sign:
            counts = np.arange(-3, 4)
            expected = [order.index(task.classes[place]) for place in task.right_classes(counts)]
            assert other.right_classes(counts).tolist() == expected
            assert [other.index_of_count(count) for count in counts] == expected


def test_a_ready_task_is_pickled_as_what_it_is():
    for task in (BINARY, COUNT, ready_task("shuffle2")):
        assert pickle.loads(pickle.dumps(task)) is task
    other = TERNARY.in_order(["Pos", "Neg", "Zero"])
    assert pickle.loads(pickle.dumps(other)) == other


def test_a_task_that_is_not_known_is_refused():
    with pytest.raises(BadInput, match="task: 'dyck1' is not one of binary, ternary, count"):
        task_named("dyck1")
    assert list(TASKS) == ["binary", "ternary", "count"]
    with pytest.raises(BadInput, match="task: 'dyck7' is not one of binary, ternary, count, bb, semidyck1, dyck1"):
        ready_task("dyck7")
    with pytest.raises(BadInput, match="classes: \\['Pos', 'Pos'\\] is not a list of the classes of the task 'binary'"):
        BINARY.in_order(["Pos", "Pos"])
