"""What each gated cell computes, from its definition, and what it refuses; what all cells share is in `test_contract.py`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import GRUS, ONE_HOT, Gru, GruCell, LstmCell
from tallystick.cells.vector import State
from tallystick.errors import BadInput
from tallystick.numbers import exact, sigmoid

KINDS = {"lstm": LstmCell, "gru": GruCell, "gru, reset before": GRUS["before"], "gru without reset": GRUS[False]}
every_cell = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
every_size = pytest.mark.parametrize("units", [1, 2, 3])


def some_weights(kind, units, seed, entries=()):
    """Random weights as nested tuples; with `entries`, each is an array of that shape."""
    generator = np.random.default_rng(seed)
    rows = kind.gates * units

    def numbers(size):
        return tuple(generator.normal(size=entries) if entries else float(generator.normal()) for _ in range(size))

    return (
        tuple(numbers(2) for _ in range(rows)),
        tuple(numbers(units) for _ in range(rows)),
        numbers(rows),
        numbers(rows),
    )


def some_cell(kind, units, seed=0):
    return kind(*some_weights(kind, units, seed))


def by_hand(cell, string):
    """The recurrence with NumPy's matrices, gate by gate as PyTorch's documentation writes it."""
    W, U, b_x, b_h = (
        np.array(part) for part in (cell.input_weight, cell.recurrent_weight, cell.input_bias, cell.recurrent_bias)
    )
    h = c = np.zeros(cell.units)
    for token in string:
        from_token = np.split(W[:, "()".index(token)] + b_x, cell.gates)
        from_hidden = np.split(U @ h + b_h, cell.gates)
        if isinstance(cell, Gru):
            gates = zip(from_token[:-1], from_hidden[:-1], strict=True)
            *reset, z = (1 / (1 + np.exp(-x - y)) for x, y in gates)
            recalled = {
                "after": lambda r, at=from_hidden[-1]: r[0] * at,
                "before": lambda r, at=h: np.split(U, cell.gates)[-1] @ (r[0] * at) + np.split(b_h, cell.gates)[-1],
                False: lambda _, at=from_hidden[-1]: at,
            }[cell.reset](reset)
            h = (1 - z) * np.tanh(from_token[-1] + recalled) + z * h
        else:
            i, f, g, o = (x + y for x, y in zip(from_token, from_hidden, strict=True))
            i, f, o = (1 / (1 + np.exp(-x)) for x in (i, f, o))
            c = f * c + i * np.tanh(g)
            h = o * np.tanh(c)
    return h


@every_cell
@every_size
def test_the_final_state_is_the_recurrence(kind, units):
    for seed in range(5):
        cell = some_cell(kind, units, seed)
        for string in ("", "(", ")(", "(()())", "))))((("):
            np.testing.assert_allclose(cell.final_state(string).hidden, by_hand(cell, string), rtol=1e-13, atol=1e-15)


@every_cell
@every_size
def test_states_are_vectors(kind, units):
    trace = some_cell(kind, units).trace("(()")
    assert len(trace) == 4
    assert trace[0] == State((0,) * units, (0,) * units if kind is LstmCell else ())
    assert {(len(state.hidden), len(state.memory)) for state in trace} == {(units, units if kind is LstmCell else 0)}


def test_the_sigmoid_has_the_right_slope_everywhere():
    for x, slope in ((0.0, 0.25), (-200.0, 0.0), (200.0, 0.0), (1.0, 0.19661193)):
        assert jax.grad(sigmoid)(jnp.float32(x)) == pytest.approx(slope, abs=1e-7)


@every_cell
def test_whole_weights_of_zero_stay_rational(kind):
    cell = kind(((0, 0),) * kind.gates, ((1,),) * kind.gates, (0,) * kind.gates, (0,) * kind.gates)
    assert cell.final_state("(()").hidden == (0,)
    with pytest.raises(BadInput, match="no rational number; bring the cell into floating point first"):
        some_cell(kind, 1).map_weights(exact).trace("(")


@every_cell
def test_bad_weights_are_named(kind):
    W, U, b_x, b_h = some_weights(kind, 2, 0)
    rows = 2 * kind.gates
    for changed, message in (
        ((W[:-1], U, b_x, b_h), f"input_weight: .* is not a tuple of {rows} rows of 2"),
        (((*W[:-1], (1.0,)), U, b_x, b_h), rf"input_weight\[{rows - 1}\]: \(1.0,\) is not a tuple of 2 numbers"),
        ((W, ((1.0, float("nan")), *U[1:]), b_x, b_h), r"recurrent_weight\[0\]\[1\]: nan is not a finite number"),
        ((W, (), b_x, b_h), "recurrent_weight: .* is not a matrix"),
        ((W, 3.0, b_x, b_h), "recurrent_weight: 3.0 is not a matrix"),
        ((W, U, b_x[1:], b_h), f"input_bias: .* is not a tuple of {rows} numbers"),
        ((W, U, b_x, (*b_h[1:], "1")), rf"recurrent_bias\[{rows - 1}\]: '1' is not a number"),
    ):
        with pytest.raises(BadInput, match=message):
            kind(*changed)


def test_the_gates_of_a_gru_with_its_inner_bias():
    """b_hn is multiplied by r: with r at 0 it does nothing, with r at 1 it is added."""

    def cell(reset):
        return GruCell(((reset, reset), (-50.0, -50.0), (0.0, 0.0)), ((0.0,),) * 3, (0.0,) * 3, (0.0, 0.0, 0.7))

    assert cell(-50.0).step(State((0.0,)), ONE_HOT["("]).hidden[0] == pytest.approx(0, abs=1e-15)
    assert cell(50.0).step(State((0.0,)), ONE_HOT["("]).hidden[0] == pytest.approx(np.tanh(0.7), rel=1e-14)
