"""What a traced program is before it is written: numbers that are computed alike are one, and zeros cost nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.training.fused.graph import INPUT, Graph, Phases, Step, Writing
from tallystick.training.fused.numbering import SEEDS, Walk, as_written, numbers
from tallystick.training.fused.programs import Layout, note_step, program_of, trace
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


@pytest.mark.parametrize("number", [1, 2, 3])
def test_phases_read_what_is_there(number):
    """What an operation reads was written in its own phase before it, or in an earlier one, and is not written over yet."""
    step = note_step(traced("linear", 1, bias=True), counts=True)
    phases, before = Phases(step, number), dict(enumerate(step.before))
    assert set(phases.phase.values()) == set(range(number))
    turns = {place: (phases.phase[place], turn) for turn, place in enumerate(phases.order)}
    gone = {before[kept]: turns[place] for place, numbers in phases.ready.items() for kept, _ in numbers}
    assert len(gone) + len(phases.rest) == len(before)
    for place in phases.order:
        for source in phases._sources(place):
            if source in turns:
                assert turns[source] < turns[place]
                is_later = turns[source][0] < turns[place][0]
                assert not is_later or (source in phases.at_home) != (source in phases.crossing)
            else:
                assert source not in gone or turns[place] <= gone[source]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_numbers_stay_until_the_last_phase_that_reads_them(number):
    """A step that swaps two numbers; the third becomes a product with what the first was, which is known late."""
    graph = Graph()
    x, y, z = (graph.note(INPUT, detail=place) for place in range(3))
    late = graph.note("exp", graph.note("sqrt", graph.note("sqrt", z)))
    step = Step(graph, [("float32", True)] * 3, [x, y, z], [y, x, graph.note("mul", x, late)], None)
    assert _run(step, Phases(step, number), [4.0, 9.0, 16.0]) == [9.0, 4.0, 4.0 * np.exp(2.0)]


class _Numbers:
    """Python's own numbers as vectors."""

    def apply(self, name, *operands):
        return {"copy": lambda x: x, "exp": np.exp, "sqrt": np.sqrt, "mul": np.multiply}[name](*operands)


def _run(step, phases, kept):
    """Go through the phases one after the other, with places for what crosses."""
    room = {}
    for phase in sorted(set(phases.phase.values())):

        def read(place, phase=phase):
            if step.graph.noted[place].name == INPUT:
                return kept[step.graph.noted[place].detail]
            if phases.phase[place] == phase:
                return None
            return kept[phases.at_home[place]] if place in phases.at_home else room[place]

        writing = Writing(step.graph, phases.added, _Numbers(), (), read)
        for place in (place for place in phases.order if phases.phase[place] == phase):
            value = writing.value(place)
            if place in phases.crossing:
                room[place] = value
            for number, ready in phases.ready[place]:
                kept[number] = writing.value(ready)
    return kept
