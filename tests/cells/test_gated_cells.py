"""The contract of every gated cell: one step, the same in every kind of number, shapes, refusals, determinism."""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.arithmetic import ARITHMETICS, exact, sigmoid
from tallystick.cells import ONE_HOT, Token
from tallystick.cells.gated import GATED_CELLS, GruCell, LstmCell, State
from tallystick.errors import BadInput, UnknownToken

every_cell = pytest.mark.parametrize("kind", GATED_CELLS.values(), ids=GATED_CELLS)
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
        if cell.gates == 3:
            r, z = (1 / (1 + np.exp(-x - y)) for x, y in zip(from_token[:2], from_hidden[:2], strict=True))
            n = np.tanh(from_token[2] + r * from_hidden[2])
            h = (1 - z) * n + z * h
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
            np.testing.assert_allclose(cell.final_state(string), by_hand(cell, string), rtol=1e-13, atol=1e-15)


@every_cell
@every_size
def test_states_are_vectors(kind, units):
    trace = some_cell(kind, units).trace("(()")
    assert len(trace) == 4
    assert trace[0] == State((0,) * units, (0,) * units if kind is LstmCell else ())
    assert {(len(state.hidden), len(state.memory)) for state in trace} == {(units, units if kind is LstmCell else 0)}


KINDS = {
    "float16": (np.float16, 2e-2),
    "float32": (np.float32, 1e-6),
    "float64": (np.float64, 1e-15),
    "NumPy float32 array": (lambda x: np.array([x] * 3, np.float32), 1e-6),
    "NumPy float64 array": (lambda x: np.array([x] * 3, np.float64), 1e-15),
    "JAX array": (lambda x: jnp.array([x] * 3, jnp.float32), 1e-6),
}


@every_cell
@every_size
@pytest.mark.parametrize(("number", "tolerance"), KINDS.values(), ids=KINDS)
def test_the_step_is_the_same_in_every_kind_of_number(kind, units, number, tolerance):
    cell = some_cell(kind, units)
    converted = cell.converted(lambda value, _: number(value))
    for string in ("(", "))", "(()"):
        for expected, found in zip(cell.final_state(string), converted.final_state(string), strict=True):
            assert getattr(found, "dtype", None) == getattr(number(0.5), "dtype", None)
            np.testing.assert_allclose(np.asarray(found, np.float64), expected, rtol=0, atol=10 * tolerance)
            again = cell.converted(lambda value, _: number(value)).final_state(string)
            assert all(np.array_equal(x, y) for x, y in zip(again, converted.final_state(string), strict=True))


@every_cell
def test_an_ensemble_is_a_cell_of_arrays(kind):
    together = kind(*some_weights(kind, 2, seed=3, entries=(4,)))
    for place in range(4):
        alone = together.converted(lambda value, _: value[place])  # noqa: B023 -- called at once
        for h, of_all in zip(alone.final_state("(()"), together.final_state("(()"), strict=True):
            np.testing.assert_allclose(h, of_all[place], rtol=1e-14)


@every_cell
def test_strings_may_be_read_side_by_side(kind):
    """A token whose entries are arrays is one token of each string."""
    cell, strings = some_cell(kind, 2), ["(()", ")((", "()("]
    state = cell.initial_state
    for place in range(3):
        opening = np.array([string[place] == "(" for string in strings], float)
        state = cell.step(state, Token(opening, 1 - opening))
    for place, string in enumerate(strings):
        np.testing.assert_allclose([h[place] for h in state.hidden], cell.final_state(string), rtol=1e-14)


@every_cell
def test_the_gradient_is_the_slope(kind):
    """JAX differentiates through the step: against differences of the same function in float64."""
    with jax.enable_x64(True):
        weights = jax.tree.map(jnp.float64, some_weights(kind, 2, seed=5))

        def total(weights):
            return sum(kind(*weights).final_state("(())("))

        gradient = jax.grad(total)(weights)
        leaves, structure = jax.tree.flatten(weights)
        for place, slope in enumerate(jax.tree.leaves(gradient)):
            around = [
                total(structure.unflatten([*leaves[:place], leaves[place] + side, *leaves[place + 1 :]]))
                for side in (1e-5, -1e-5)
            ]
            assert float(slope) == pytest.approx(float(around[0] - around[1]) / 2e-5, rel=1e-6, abs=1e-9)


def test_the_sigmoid_has_the_right_slope_everywhere():
    for x, slope in ((0.0, 0.25), (-200.0, 0.0), (200.0, 0.0), (1.0, 0.19661193)):
        assert jax.grad(sigmoid)(jnp.float32(x)) == pytest.approx(slope, abs=1e-7)


@every_cell
def test_whole_weights_of_zero_stay_rational(kind):
    cell = kind(((0, 0),) * kind.gates, ((1,),) * kind.gates, (0,) * kind.gates, (0,) * kind.gates)
    assert cell.final_state("(()") == (0,)
    with pytest.raises(BadInput, match="no rational number; bring the cell into floating point first"):
        some_cell(kind, 1).converted(exact).trace("(")


@every_cell
def test_conversion_reads_exactly_and_names_the_field(kind):
    cell = some_cell(kind, 2)
    assert cell.converted(exact).converted(ARITHMETICS["float64"]) == cell
    assert isinstance(cell.converted(exact).input_weight[0][0], Fraction)
    large = kind(*(jax.tree.map(lambda _: 10**10, some_weights(kind, 1, 0))))
    with pytest.raises(BadInput, match="input_weight: about 2\\^33 is too large for float16"):
        large.converted(ARITHMETICS["float16"])


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


@every_cell
def test_a_strangers_character_is_refused(kind):
    with pytest.raises(UnknownToken, match="position 2"):
        some_cell(kind, 1).trace("(x")


def test_the_gates_of_a_gru_with_its_inner_bias():
    """b_hn is multiplied by r: with r at 0 it does nothing, with r at 1 it is added."""

    def cell(reset):
        return GruCell(((reset, reset), (-50.0, -50.0), (0.0, 0.0)), ((0.0,),) * 3, (0.0,) * 3, (0.0, 0.0, 0.7))

    assert cell(-50.0).step(State((0.0,)), ONE_HOT["("]).hidden[0] == pytest.approx(0, abs=1e-15)
    assert cell(50.0).step(State((0.0,)), ONE_HOT["("]).hidden[0] == pytest.approx(np.tanh(0.7), rel=1e-14)
