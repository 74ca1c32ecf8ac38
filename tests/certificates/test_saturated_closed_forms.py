"""LSTMs with saturated gates, which count exactly as executed until their memory is rounded."""

import random

import numpy as np
import pytest

from tallystick.cells import LstmCell, MatrixLayer, Stack, inputs_of
from tallystick.cells.vector import State
from tallystick.certificates.closed_forms.bounds import ACTIVATIONS, VANISHED, executed, limit_of
from tallystick.certificates.closed_forms.decider import decide_by_closed_form
from tallystick.certificates.languages.live_prefixes import decide_live_prefixes
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.languages.tasks import ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import Steps
from tallystick.numbers import FORMATS, exact, standard_floats
from tallystick.numbers.any_order import SATURATED


@pytest.fixture(autouse=True)
def _every_verdict_counts(monkeypatch):
    """Networks that fail early or are bounded by little are left to other deciders; here they are decided too."""
    monkeypatch.setattr("tallystick.certificates.closed_forms.decider._fails_early", lambda *_: False)
    monkeypatch.setattr("tallystick.certificates.closed_forms.decider._WORTHWHILE", 0)


def golden(size=127, recurrent=None, change=None):
    """The LSTM for aⁿbⁿ of Lan, Chemla and Katzir: the third memory counts, and each h is shown after one token alone."""
    none = (0, 0, 0)
    gates = [*[none] * 6, (size, 0, 0), (size, 0, 0), (0, size, -size)]
    gates += [(2 * size, 0, 0), (0, 2 * size, 0), (0, 0, 2 * size)]
    bias = [*[size] * 6, *none, *[-size] * 3]
    if change is not None:
        row, token, value = change
        gates[row] = tuple(value if place == token else weight for place, weight in enumerate(gates[row]))
    weights = ((-1.6, -12.7, -12.7), (12.3, 12.3, 0), (0, 11.2, 12.7))
    cell = LstmCell(tuple(gates), tuple(recurrent or [none] * 12), tuple(bias), (0,) * 12)
    stack = Stack((cell,), ((0, 1, 0), (0, 0, 1)), first=((1, 0, 0),))
    readout = Readout(weights, (0, -9.7, -9.7), "next", Steps(("#", "a", "b"), "#"))
    return Network(stack, readout, ready_task("anbn").with_empty(False))


def decide(network, arithmetic):
    with standard_floats():
        return decide_by_closed_form(network, Scope(Lengths.ALL, network.first_length, arithmetic, None))


def follow(network, arithmetic, limit):
    """Return the first failure up to a limit, or None, by running every prefix of a member."""
    with standard_floats():
        return decide_live_prefixes(network, Scope(Lengths.ALL, network.first_length, arithmetic, limit)).failure


def agrees(verdict, failure, limit):
    """Say whether a verdict is right, given the first failure up to a limit."""
    if verdict is None:
        return True
    if failure is None:
        return verdict.failure is None or verdict.failure.length > limit
    if verdict.outcome is Outcome.REFUTED:
        return verdict.failure.length == failure.length
    return verdict.outcome is Outcome.BOUNDED and verdict.horizon < failure.length


@pytest.mark.parametrize("arithmetic", FORMATS)
def test_a_saturated_lstm_fails_where_its_memory_is_first_rounded(arithmetic):
    deepest = 2 ** FORMATS[arithmetic].digits
    verdict = decide(golden(), arithmetic)
    assert (verdict.outcome, verdict.horizon) == (Outcome.REFUTED, 2 * deepest)
    assert verdict.failure.runs == (("a", deepest + 1), ("b", deepest))
    assert (verdict.failure.found, verdict.failure.right) == ("#", "b")


def test_numpy_loses_the_last_a_in_float32():
    executed_network = golden().in_arithmetic("float32")
    read_a, read_b = inputs_of(executed_network.alphabet).values()
    kind = FORMATS["float32"].kind

    def state(memory):
        return (State((kind(0),) * 3, (kind(1), kind(1), kind(memory))),)

    def after(memory, token):
        return executed_network.cell.step(state(memory), token)[0].memory

    for memory in (0, 1, 2**20 + 1, 2**24 - 2, 2**24 - 1):
        assert after(memory, read_a) == (1, 1, memory + 1)
        assert after(memory + 1, read_b) == (1, 1, memory)
    assert after(2**24, read_a) == (1, 1, 2**24)
    for memory, found in ((1, "#"), (2, "b"), (2**24, "b")):
        outputs = executed_network.outputs_of_state(executed_network.cell.step(state(memory), read_b))
        assert ("#", "a", "b")[int(np.argmax(outputs))] == found


LONG = [*((size, "bfloat16") for size in (40, 12, 8)), (20, "float16")]


@pytest.mark.parametrize(
    ("size", "arithmetic"),
    [
        *((size, "bfloat16") for size in (127, 20, 5)),
        (8, "float16"),
        *(pytest.param(*case, marks=pytest.mark.long) for case in LONG),
    ],
)
def test_less_saturated_lstms_are_undecided_or_right(size, arithmetic):
    limit = 600 if arithmetic == "bfloat16" else 300
    verdict = decide(golden(size), arithmetic)
    assert agrees(verdict, follow(golden(size), arithmetic, limit), limit)
    assert verdict is not None or size < 20


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_changed_lstms_are_undecided_or_right(seed):
    rng, decided = random.Random(seed), 0
    for _ in range(6):
        size = rng.choice([127, 60, 40, 20])
        change = rng.randrange(12), rng.randrange(3), rng.choice([-1, 0, 1]) * rng.choice([127, 60, 20, 12, 3])
        network = golden(size, change=change)
        verdict = decide(network, "bfloat16")
        decided += verdict is not None
        assert agrees(verdict, follow(network, "bfloat16", 540), 540), change
    assert decided > 2


@pytest.mark.parametrize("weight", [5, pytest.param(40, marks=pytest.mark.long)])
def test_gates_that_look_at_h_are_saturated_all_the_same(weight):
    rows = [(weight, -weight, weight)] * 6 + [(0, 0, 0)] * 2 + [(weight, 0, -weight)] + [(0, 0, 0)] * 3
    verdict = decide(golden(recurrent=rows), "float32")
    assert verdict.failure.runs == (("a", 2**24 + 1), ("b", 2**24))
    smaller = decide(golden(recurrent=rows), "bfloat16")
    assert smaller.failure.length == follow(golden(recurrent=rows), "bfloat16", 540).length == 513


def test_an_unsaturated_lstm_is_left_to_others():
    assert decide(golden(5), "float32") is None
    assert decide(golden(), "real") is None


def test_a_product_of_zero_and_an_infinite_number_is_not_zero():
    """The third unit shows 1,000 times the first, which no step looks at but for 0 times it."""
    matrix = ((1, 0, 0), (0, 0, 0), (1000, 0, 0))
    cell = MatrixLayer(((1, -1), (0, 1), (0, 0)), (matrix, matrix), (0, 0, 0))
    readout = Readout(((0, -1, 0), (1, 0, 0), (0, 0, 0)), (1, 0, 0.25), "next", Steps(("a", "b", "#"), "#"))
    network = Network(cell, readout, ready_task("anbn").with_empty(False))
    failure = follow(network, "float16", 300)
    assert failure.length == 67
    assert agrees(decide(network, "float16"), failure, 300)


# --- What is assumed of NumPy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_numpys_functions_are_the_number_that_they_tend_to(name):
    form = FORMATS[name]
    (tanh, one), zero = SATURATED[name], VANISHED[name]
    generator = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for function, edge, value in (
            ("tanh", tanh, 1),
            ("tanh", -tanh, -1),
            ("sigmoid", one, 1),
            ("sigmoid", -zero, 0),
        ):
            near = edge * (1 + generator.random(2000))
            far = edge * 2.0 ** generator.uniform(0, np.log2(float(form.greatest) / 1000), 2000)
            numbers = np.concatenate([[edge], near, far]).astype(form.kind)
            assert (ACTIVATIONS[function](numbers) == form.kind(value)).all()
            for number in numbers[::97]:
                assert executed(function, exact(number), form) == value
            beyond = (exact(edge), None) if edge > 0 else (None, exact(edge))
            assert limit_of(function, *beyond, form) == value
            assert limit_of(function, exact(min(edge, -1)), exact(max(edge, 1)), form) is None
