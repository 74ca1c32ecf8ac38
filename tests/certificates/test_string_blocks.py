from itertools import product

import numpy as np
import pytest

from tallystick.certificates.running.string_blocks import RightClasses, blocks, strings_of
from tallystick.languages.tasks import READY_TASKS

ASKED = [task for task in READY_TASKS.values() if task.classes]


@pytest.mark.parametrize("most", [1, 3, 4, 100])
@pytest.mark.parametrize("alphabet", [("a",), ("(", ")"), ("a", "b", "c")])
def test_blocks_go_through_all_strings_in_order(alphabet, most):
    for length in range(1, 5):
        found = list(blocks(len(alphabet), length, most))
        strings = [string for rows in found for string in strings_of(rows, alphabet)]
        assert strings == ["".join(tokens) for tokens in product(alphabet, repeat=length)]
        assert len({len(rows) for rows in found}) == 1
        assert len(found[0]) <= most


@pytest.mark.parametrize("task", ASKED, ids=lambda task: task.name)
def test_right_classes_are_those_of_the_machine_run_on_each_string(task):
    machine, right = task.machine, RightClasses(task)
    for length in range(1, 9 if len(task.alphabet) == 2 else 6):
        for rows in blocks(len(task.alphabet), length, most=50):
            for string, index in zip(strings_of(rows, task.alphabet), right.of_rows(rows).tolist(), strict=True):
                *_, last = machine.run(string)
                assert index == task.question(machine, last.after)
                assert task.classes[index] == task.right_class(string)


def test_right_classes_do_not_depend_on_the_order_of_the_strings():
    task = READY_TASKS["shuffle2"]
    rows = np.random.default_rng(0).integers(0, 4, (200, 12))
    right = RightClasses(task)
    expected = [task.classes.index(task.right_class(string)) for string in strings_of(rows, task.alphabet)]
    assert right.of_rows(rows).tolist() == expected
    assert right.of_rows(rows[::-1]).tolist() == expected[::-1]


def test_classes_in_another_order_have_other_indices():
    task = READY_TASKS["anbn"]
    rows = np.array([[0, 1], [1, 0]])
    turned = task.in_order(["accepted", "rejected"])
    assert RightClasses(task).of_rows(rows).tolist() == [1, 0]
    assert RightClasses(turned).of_rows(rows).tolist() == [0, 1]
