import random
import re
from fractions import Fraction
from itertools import product

import pytest
from published_cases import network_of
from strings import all_strings

from tallystick import LinearCell, LinearLayer, ReluCell, SelectiveCell, certify, exact, extract, to_cell, to_machine
from tallystick.conversion import NotACell, NotACounter
from tallystick.languages.counter_machine import Add, CounterMachine, TimesZero
from tallystick.languages.minimal_machines import minimal_machine
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.languages.tasks import ready_task
from tallystick.networks import Network, Readout
from tallystick.reports.figure_machine import machine_figure

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


# --- The machine that a network equals ----------------------------------------------------------------------------------------


def random_machine(rng):
    """Return a machine whose states p and P do the same, and so do q and Q; each leads to one of two twins, by chance."""
    updates = [Add(1), Add(-1), Add(0), TimesZero()]
    does = {case: (rng.choice(updates), rng.choice("pq")) for case in product("ab", "pq", [(0,), (1,)])}
    accepted = {pair for pair in product("pq", [(0,), (1,)]) if rng.random() < 0.4}

    def of(case):
        return does[case.token, case.state.lower(), case.zero_check]

    return CounterMachine.from_rules(
        alphabet=("a", "b"),
        states=("p", "q", "P", "Q"),
        update=lambda case: (of(case)[0],),
        transition=lambda case: rng.choice([of(case)[1], of(case)[1].upper()]),
        accepts=lambda state, check: (state.lower(), check) in accepted,
    )


def test_a_minimal_machine_accepts_the_same_and_has_no_twins():
    rng = random.Random(7)
    for machine in (random_machine(rng) for _ in range(40)):
        found = minimal_machine(machine)
        assert len(found.states) <= 2
        for length in range(7):
            for tokens in product("ab", repeat=length):
                assert found.accepts(tokens) == machine.accepts(tokens)


def test_a_zero_check_is_a_machine_of_its_own_whatever_its_task():
    rng = random.Random(3)
    for _ in range(8):
        steps = [Fraction(rng.randint(-4, 4), rng.choice([1, 2, 3])) for _ in range(2)]
        start = Fraction(rng.randint(-3, 3), 2)
        layer = LinearLayer((tuple(steps), (1, 5)), ((1, 0), (0, 2)), (0, 0), (0, 0))
        network = Network(layer, Readout(((1, 0),), (start,), "zero"), ready_task("bb"))
        machine, horizon, *_ = extract(network)
        assert horizon is None
        for string in all_strings(7):
            assert machine.accepts(string) == (network.class_of(string) == "accepted")


def test_any_other_network_equals_the_machine_of_its_task_as_far_as_is_proved():
    counter = extract(Network(LinearCell(1, -1, 1), Readout.binary(1)))
    assert (counter.machine, counter.horizon) == (READY_MACHINES["bb"], None)
    leaky = Network(LinearCell(1, -1, 0.9), Readout.binary(1))
    assert extract(leaky).horizon == certify(leaky).horizon > 0


def test_a_network_that_fails_at_once_equals_no_machine():
    with pytest.raises(
        NotACounter, match="differs from the machine of its task 'binary' on strings of length 1 already"
    ):
        extract(Network(LinearCell(-1, 1, 1), Readout.binary(1)))


def test_a_published_network_equals_a_machine_at_every_length():
    machine, horizon, _, where = extract(network_of("mdlrnn_an_bn"))
    assert (horizon, where) == (None, "wherever the machine leaves one token to come next")
    assert [string for string in map("".join, product("ab", repeat=4)) if machine.accepts(string)] == ["aabb"]


@pytest.mark.parametrize("name", READY_MACHINES)
def test_a_machine_is_drawn_with_all_its_states_and_updates(name):
    figure = machine_figure(READY_MACHINES[name])
    written = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(state in written for state in READY_MACHINES[name].states)
    assert all(str(update) in written for updates in READY_MACHINES[name].updates.values() for update in updates)
