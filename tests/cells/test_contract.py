"""The contract of every cell, with one unit or several: a new one is held to it by being listed in its table.

One step, the same in every arithmetic; shapes; what is refused; a gradient that is the slope of the loss; and training that
depends on the seed alone. The gradient is held against PyTorch's in `tests/pytorch/test_cells.py`.
"""

from dataclasses import fields
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from every_cell import EVERY_CELL, every_cell, targets_along, weights_in_doubles

from tallystick.cells import Token
from tallystick.errors import BadInput, UnknownToken
from tallystick.numbers import ARITHMETICS, FUSED, exact, float_format
from tallystick.numbers.boxes import box_of
from tallystick.training.descent import CROSS_ENTROPY

STRINGS = ("(", "))", "(()", ")()(")


def array_of(kind):
    return lambda value, _: kind([float(value)] * 3)


ARRAYS = {
    "NumPy float16 array": (array_of(lambda values: np.array(values, np.float16)), np.float16),
    "NumPy float32 array": (array_of(lambda values: np.array(values, np.float32)), np.float32),
    "NumPy float64 array": (array_of(lambda values: np.array(values, np.float64)), np.float64),
    "JAX array": (array_of(lambda values: jnp.array(values, jnp.float32)), np.float32),
}
FLOATS = {name: (number, float_format(name).kind) for name, number in ARITHMETICS.items() if name != "rational"}


def reference(example, cell):
    """Traces in rationals, where each is exact, or in doubles for a cell that squashes; and how far each may be off, in ulps."""
    try:
        return [example.trace(cell, string) for string in STRINGS], 0
    except BadInput:
        doubles = cell.map_weights(ARITHMETICS["float64"])
        return [example.trace(doubles, string) for string in STRINGS], 40


# Every library adds up the terms of a gate in an order of its own, so there none is fused.
RUN_IN = {
    f"{cell}, {name}": (example, *kind)
    for cell, example in EVERY_CELL.items()
    for name, kind in (FLOATS | ARRAYS).items()
    if example.is_scalar or not name.endswith(FUSED)
}


@pytest.mark.parametrize(("example", "number", "dtype"), RUN_IN.values(), ids=RUN_IN)
def test_the_step_is_the_same_in_every_arithmetic(example, number, dtype):
    for seed in range(3):
        cell = example.cell(seed)
        expected, ulps = reference(example, cell)
        converted = cell.map_weights(number)
        found = [example.trace(converted, string) for string in STRINGS]
        for one, other in zip(found, expected, strict=True):
            for state, right in zip(one[1:], other[1:], strict=True):
                assert {value.dtype for value in state} == {np.dtype(dtype)}
                error = np.abs([np.asarray(x, float) - float(y) for x, y in zip(state, right, strict=True)]).max()
                assert error <= ulps * float(float_format(np.dtype(dtype).name).unit)


@every_cell
def test_the_step_in_boxes_holds_the_states(example):
    for seed in range(3):
        cell = example.cell(seed)
        expected, _ = reference(example, cell)
        boxed = cell.map_weights(box_of)
        for string, states in zip(STRINGS, expected, strict=True):
            for box, value in zip(example.trace(boxed, string)[-1], states[-1], strict=True):
                assert box.low <= value <= box.high
                assert box.high - box.low < 1e-12


@every_cell
def test_an_ensemble_is_a_cell_of_arrays(example):
    weights = example.drawn(range(5), "float64")
    together = weights.cell(example.kind)
    traces = [
        example.trace(weights.places(place).cell(example.kind), string) for place in range(5) for string in STRINGS
    ]
    found = [
        [tuple(h[place] if np.ndim(h) else h for h in state) for state in example.trace(together, string)]
        for place in range(5)
        for string in STRINGS
    ]
    for one, other, string in zip(found, traces, STRINGS * 5, strict=True):
        assert len(one) == len(string) + 1
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)


@every_cell
def test_strings_may_be_read_side_by_side(example):
    """A token whose entries are arrays is one token of each string; seeds along another axis are networks beside each other."""
    column = jax.tree.map(lambda array: array[..., None], example.drawn(range(5), "float64"))
    cell, strings = column.cell(example.kind), ["(()", ")((", "()(", ")))"]
    state = cell.initial_state
    for place in range(3):
        opening = np.array([string[place] == "(" for string in strings], float)
        state = cell.step(state, Token(opening, 1 - opening))
    for h, *alone in zip(cell.hidden(state), *(example.trace(cell, string)[-1] for string in strings), strict=True):
        assert np.shape(h) == (5, 4)
        np.testing.assert_allclose(h, np.concatenate(alone, axis=1), rtol=1e-13, atol=1e-15)


@every_cell
def test_a_strangers_character_is_refused(example):
    with pytest.raises(UnknownToken, match="position 2"):
        example.cell().map_weights(ARITHMETICS["float64"]).trace("(x")


@every_cell
def test_conversion_reads_exactly_and_names_the_field_that_does_not_fit(example):
    cell = example.cell()
    assert cell.map_weights(ARITHMETICS["float64"]).map_weights(exact) == cell
    first = fields(cell)[0].name
    with pytest.raises(BadInput, match=f"{first}: about 2\\^33 is too large for float16"):
        example.cell(value=Fraction(10**10)).map_weights(ARITHMETICS["float16"])


def every_cell_but(*later):
    """Every cell, of which some wait for `make test-long`: gates take seconds to compile."""
    marked = [pytest.param(cell, marks=pytest.mark.long if name in later else ()) for name, cell in EVERY_CELL.items()]
    return pytest.mark.parametrize("example", marked, ids=EVERY_CELL)


@every_cell_but("gru", "lstm")
@pytest.mark.parametrize("every_token", [False, True], ids=["last token", "every token"])
def test_the_gradient_of_training_is_the_slope_of_the_loss(example, every_token):
    """Carried by hand or sent back: as JAX differentiates the loss along the cell's own step, and as differences have it."""
    string = "(()"
    with jax.enable_x64(True):
        weights = weights_in_doubles(example, units=1)

        def loss(weights):
            outputs = zip(example.outputs(weights, string), targets_along(string), strict=True)
            losses = [CROSS_ENTROPY.loss(found, tuple(right)).sum() for found, right in outputs]
            return sum(losses) / len(losses) if every_token else losses[-1]

        found = example.gradient(weights, string, every_token=every_token)
        assert jax.tree.structure(found) == jax.tree.structure(weights)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), found, jax.grad(loss)(weights)
        )
        generator = np.random.default_rng(0)
        direction = jax.tree.map(lambda array: jnp.array(generator.normal(size=array.shape)), weights)
        ahead, behind = (
            loss(jax.tree.map(lambda w, d, size=size: w + size * d, weights, direction)) for size in (1e-6, -1e-6)
        )
        along = sum(jax.tree.leaves(jax.tree.map(lambda slope, d: float((slope * d).sum()), found, direction)))
        assert along == pytest.approx(float(ahead - behind) / 2e-6, rel=1e-6)


@every_cell_but("gru", "lstm")
def test_a_seeds_training_depends_on_nothing_beside_it(example):
    strings = ["(", "))", "()", ")("]
    few = example.trained([7, 3], strings, block=64)
    many = example.trained(range(130), strings, block=128)
    jax.tree.map(lambda one, other: np.testing.assert_array_equal(one, other[..., [7, 3]]), few, many)
    start = example.drawn([7, 3], units=1)
    assert any((a != b).any() for a, b in zip(jax.tree.leaves(start), jax.tree.leaves(few), strict=True))
