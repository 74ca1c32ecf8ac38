import random
import re

import pytest
from strings import all_strings

from tallystick import LinearCell, ReluCell, SelectiveCell, exact, to_cell, to_machine
from tallystick.conversion import NotACell, NotACounter
from tallystick.languages.counter_machine import Add, CounterMachine, TimesZero
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.networks import Network, Readout

COUNTERS = [LinearCell(0.1, -0.1, 1), LinearCell(-2, 2, 1), SelectiveCell(1, -2, 0.5, 2), ReluCell(0.7, -0.7, 1)]


def accepted(cell, string):
    return Network(cell, Readout.zero()).class_of(string) == "accepted"


@pytest.mark.parametrize("cell", COUNTERS, ids=str)
def test_a_counter_converts_to_the_machine_it_equals(cell):
    machine = to_machine(cell)
    rational = cell.map_weights(exact)
    for string in all_strings(10):
        assert machine.accepts(string) == accepted(rational, string)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (LinearCell(1, -1, 1.5), "LinearCell is no counter: U = 1 fails: U = 3/2 (1.5), off by 1/2 (0.5)"),
        (LinearCell(2, -1, 1), "LinearCell is no counter: a/b = −1 fails: a/b = -2, off by -1"),
        (LinearCell(1, 0, 2), "a/b = −1 fails: b = 0, so a/b does not exist; U = 1 fails: U = 2, off by 1"),
        (SelectiveCell(3, 1, -3, -1 / 3), "SelectiveCell is no counter: P·Q = 1 fails: P·Q = "),
        (SelectiveCell(1, 1, -1, -1), "P ≠ −1 fails: P = -1"),
        (ReluCell(-1, 1, 1), "ReluCell is no counter: a > 0 fails: a = -1"),
    ],
)
def test_any_other_cell_fails_with_the_condition_and_the_distance(cell, message):
    with pytest.raises(NotACounter, match=re.escape(message)):
        to_machine(cell)


def stateless(*, at_zero, elsewhere):
    def update(case):
        opening, closing = elsewhere if case.zero_check[0] else at_zero
        return (opening if case.token == "(" else closing,)

    return CounterMachine.from_rules(alphabet=("(", ")"), update=update, accepts=lambda _, check: check == (0,))


def blind(opening, closing):
    return stateless(at_zero=(opening, closing), elsewhere=(opening, closing))


@pytest.mark.parametrize(
    ("machine", "cell"),
    [
        (READY_MACHINES["bb"], LinearCell(1, -1, 1)),
        (READY_MACHINES["semidyck1"], ReluCell(1, -1, 1)),
        (blind(Add(2), Add(-1)), LinearCell(2, -1, 1)),
        (blind(Add(3), TimesZero()), SelectiveCell(3, 0, 1, 0)),
        (blind(TimesZero(), TimesZero()), SelectiveCell(0, 0, 0, 0)),
        (stateless(at_zero=(Add(3), Add(0)), elsewhere=(Add(3), Add(-3))), ReluCell(3, -3, 1)),
        (stateless(at_zero=(Add(1), TimesZero()), elsewhere=(Add(1), Add(-1))), ReluCell(1, -1, 1)),
        (stateless(at_zero=(Add(4), Add(0)), elsewhere=(Add(4), Add(-2))), ReluCell(4, -2, 1)),
        (stateless(at_zero=(Add(0), Add(1)), elsewhere=(Add(-1), Add(1))), ReluCell(-1, 1, 1)),
        (stateless(at_zero=(TimesZero(), Add(1)), elsewhere=(Add(0), Add(1))), LinearCell(0, 1, 1)),
    ],
)
def test_a_stateless_machine_becomes_a_cell_whose_state_is_its_counter(machine, cell):
    assert to_cell(machine) == cell
    generator = random.Random(4)
    for string in [*all_strings(9), "".join(generator.choices("()", k=300))]:
        counters = [0, *(step.after.counters[0] for step in machine.run(string))]
        assert cell.trace(string) == counters
        assert machine.accepts(string) == accepted(cell, string)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (READY_MACHINES["anbn"], "alphabet: a b; a cell reads ( )"),
        (READY_MACHINES["dyck1"], "states: 2 of them"),
        (READY_MACHINES["dyck1-by-parity"], "updates: they look at the zero check"),
        (stateless(at_zero=(Add(3), Add(0)), elsewhere=(Add(3), Add(-2))), "updates: they look at the zero check"),
        (stateless(at_zero=(Add(1), Add(0)), elsewhere=(TimesZero(), Add(-1))), "updates: they look at the zero check"),
        (
            CounterMachine.from_rules(
                alphabet=("(", ")"), counters=2, update=lambda _: (Add(1), Add(1)), accepts=lambda *_: True
            ),
            "counters: 2; a cell has one",
        ),
        (
            CounterMachine.from_rules(
                alphabet=("(", ")"), update=lambda _: (Add(1),), accepts=lambda _, check: check == (1,)
            ),
            "accepting: not exactly the counter at zero",
        ),
    ],
)
def test_a_machine_that_is_no_cell_says_why(machine, message):
    with pytest.raises(NotACell, match=re.escape(message)):
        to_cell(machine)
