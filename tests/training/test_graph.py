"""What a traced program is before it is written: numbers that are computed alike are one, and zeros cost nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.training.fused.graph import INPUT, Graph
from tallystick.training.fused.numbering import SEEDS, Walk, as_written, numbers
from tallystick.training.fused.programs import Layout, program_of, trace
from tallystick.training.lessons import Shape
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

X = jnp.ones((3, SEEDS))


def operations(work, *arguments):
    """The names of the operations that a function needs, and of the products that only sums need."""
    graph, program = Graph(), jax.make_jaxpr(work)(*arguments)
    given = iter(range(100))
    inputs = [
        numbers([graph.note(INPUT, detail=next(given)) for _ in range(part.size // SEEDS)], part.shape)
        for part in arguments
    ]
    results = [place for part in Walk(graph).through(program, inputs) for place in part.values.ravel()]
    names = [graph.noted[place].name for place in graph.needed(results)]
    return sorted(name for name in names if name not in (INPUT, "constant")), len(graph.added_products(results))


@pytest.mark.parametrize(
    ("work", "names"),
    [
        (lambda x: x[0] + jnp.zeros(SEEDS), []),
        (lambda x: x[0] * jnp.zeros(SEEDS) + x[1] * jnp.ones(SEEDS) - 0.0, []),
        (lambda x: 0.0 - x[0], ["sub"]),
        (lambda x: (x[0] * x[1], x[0] * x[1]), ["mul"]),
        (lambda x: jnp.cos(x[0]) * 0 + x[1], []),
        (lambda x: jnp.pad(x[:1] * x[1], ((0, 2), (0, 0))) + x, ["add", "mul"]),
        (lambda x: jax.lax.scan(lambda h, y: (h * y + y, None), jnp.zeros(SEEDS), x)[0], ["add", "add", "mul", "mul"]),
    ],
)
def test_zeros_and_repeats_need_no_operation(work, names):
    assert operations(work, X)[0] == names


@pytest.mark.parametrize(
    ("work", "added"),
    [
        (lambda x: x[0] * x[1] + x[2], 1),
        (lambda x: (x[0] * x[1] + x[2], x[2] - x[0] * x[1]), 1),
        (lambda x: jnp.stack([x[0] * x[1], x[1]]) + x[:2], 1),
        (lambda x: (x[0] * x[1], x[0] * x[1] + x[2]), 0),
        (lambda x: jnp.sqrt(x[0] * x[1]) + x[0] * x[1], 0),
        (as_written(lambda x: x[0] * x[1] + x[2]), 0),
        (lambda x: as_written(lambda x: x[0] * x[1])(x) + x[2], 0),
    ],
)
def test_a_product_that_only_sums_need_is_part_of_them(work, added):
    assert operations(work, X)[1] == added


def traced(cell, units, *, bias):
    setting = Setting("binary", bias, 4, cell=cell, units=units)
    weights = fresh_weights(setting.kind, setting.goal, np.arange(2), bias=bias, dtype=setting.dtype, units=units)
    shape = Shape(tokens=4, outputs=1, targets=1, every_token=False)
    parts = (setting.kind, setting.goal, setting.procedure)
    return trace(program_of(weights, "float32", shape, *parts, Layout(SEEDS, sharing=1)))


@pytest.mark.parametrize(
    ("cell", "units", "bias", "equal"),
    [("lstm", 2, True, 16), ("lstm", 2, False, 0), ("linear", 3, True, 6), ("gru", 1, True, 4), ("linear", 1, True, 0)],
)
def test_moments_that_are_always_equal_are_kept_once(cell, units, bias, equal):
    """Both biases of a row have the same slope at every step, but for those of a GRU's new state."""
    found = traced(cell, units, bias=bias)
    assert len(found.groups) - len(found.kept) == equal
    values = list(range(len(found.kept)))
    assert found.take_apart(found.put_together(values)) == values
