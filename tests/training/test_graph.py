"""What a traced program is before it is written: numbers that are computed alike are one, and zeros cost nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.training.fused.graph import INPUT, Graph, Phases, Step, Writing, phases_for, share_reciprocals
from tallystick.training.fused.instructions import Arrays
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


class Symbols:
    """Vectors whose numbers say what they were computed from: equal numbers for what is computed alike."""

    def __init__(self):
        self.known, self.kinds = {}, []

    def made(self, *how, kind):
        if how not in self.known:
            self.known[how] = len(self.known)
            self.kinds.append(kind)
        return self.known[how]

    def inputs(self, step):
        return [self.made("input", place, kind=kind) for place, (kind, _) in enumerate(step.inputs)]

    def constant(self, value):
        return self.made("constant", value.item(), kind=str(value.dtype))

    def number(self, value, like):
        return self.made("constant", value, kind=self.precision(like))

    def precision(self, value):
        return self.kinds[value]

    def convert(self, value, dtype):
        return self.made("conversion", value, kind=dtype)

    def apply(self, name, *operands):
        kind = "bool" if name in ("gt", "ge", "lt", "le", "eq", "ne") else self.precision(operands[-1])
        return self.made(name, *operands, kind=kind)

    def multiply_add(self, x, y, z):
        return self.made("multiply-add", x, y, z, kind=self.precision(x))


def in_phases(step, number, symbols):
    """Go through the phases one after the other, with rooms for what crosses; return what is kept, and who was right."""
    phases, given = Phases(step, number), symbols.inputs(step)
    where = {step.graph.noted[place].detail: kept for kept, place in enumerate(step.before)}
    state = [given[detail] for detail in where]
    rooms, right = {}, None
    for phase in range(number):

        def read(place, phase=phase):
            name, _, detail = step.graph.noted[place]
            if name == INPUT:
                return state[where[detail]] if detail in where else given[detail]
            if phases.phase.get(place, phase) == phase:
                return None
            return state[phases.at_home[place]] if place in phases.at_home else rooms[place]

        writing = Writing(step.graph, phases.added, symbols, ("float32", "float64"), read)
        for place in (place for place in phases.order if phases.phase[place] == phase):
            value = writing.value(place)
            if place in phases.crossing:
                rooms[place] = value
                assert symbols.precision(value) == phases.crossing[place]
            for kept, ready in phases.ready[place]:
                state[kept] = writing.value(ready)
            right = value if place == step.right else right
    right = writing.value(step.right) if step.counts and step.right not in phases.phase else right
    ends = [writing.value(place) for _, place in phases.rest]
    for (kept, _), end in zip(phases.rest, ends, strict=True):
        state[kept] = end
    return state, right


def at_once(step, symbols):
    wanted = [*step.after, step.right]
    *state, right = step.graph.write(wanted, symbols.inputs(step), symbols, ("float32", "float64"))
    return state, right if step.counts else None


def is_the_step(step, number):
    symbols = Symbols()
    return in_phases(step, number, symbols) == at_once(step, symbols)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize(("cell", "units"), [("linear", 1), ("linear", 2), ("relu", 1), ("gru", 1)])
def test_a_step_in_phases_is_the_step(cell, units, counts, number):
    step = note_step(traced(cell, units, bias=True), counts=counts)
    assert is_the_step(step, number)


def test_numbers_with_one_divisor_share_its_reciprocal():
    graph = Graph()
    x, y, total, other = given = [graph.note(INPUT, detail=place) for place in range(4)]
    after = [graph.apply("div", x, total), graph.apply("div", y, total), graph.apply("div", x, other), total]
    step = Step(graph, [("float64", True)] * 4, given, after, total, counts=False)
    shared = share_reciprocals(step)
    names = [shared.graph.noted[place].name for place in shared.graph.needed(shared.after)]
    assert (names.count("div"), names.count("mul")) == (2, 2)
    values = [np.float64(value) for value in (3.0, 5.0, 8.0, 7.0)]
    arrays = Arrays(native=False)
    found, expected = (one.graph.write(one.after, values, arrays, ()) for one in (shared, step))
    assert found == expected  # eighths are exact


def chain(*names):
    """A step of operations each of which waits for the one before."""
    graph = Graph()
    given = place = graph.note(INPUT, detail=0)
    for name in names:
        place = graph.note(name, place)
    return Step(graph, [("float32", True)], [given], [place], given, counts=False)


def test_a_step_with_longer_waits_has_more_phases():
    steps = [chain("add"), chain("exp", "exp"), note_step(traced("linear", 1, bias=True), counts=False)]
    assert [phases_for(step, most=3) for step in steps] == [1, 2, 3]
    assert phases_for(steps[2], most=2) == 2


def test_phases_are_about_as_long():
    """An exponential has a phase of its own here, though it begins before a third of the step is over."""
    phases = Phases(chain(*["neg"] * 8, "exp", *["neg"] * 11), 3)
    assert [phases.phase[place] for place in sorted(phases.order)] == [0] * 8 + [1] + [2] * 11


def made_step(after, right=lambda graph, x, *_: graph.note("sqrt", x), own=(True, True, True)):
    graph = Graph()
    inputs = [graph.note(INPUT, detail=place) for place in range(len(own))]
    kinds = [("float32", each) for each in own]
    return Step(graph, kinds, inputs, after(graph, *inputs), right(graph, *inputs), counts=True)


def late(graph, x):
    for name in ("sqrt", "sqrt", "exp"):
        x = graph.note(name, x)
    return x


MADE = {
    "a number takes the place of one that changes early": lambda graph, x, y, z: [
        y,
        graph.note("exp", y),
        graph.note("mul", x, late(graph, z)),
    ],
    "a number is read late, when its next one is known": lambda graph, x, y, z: [
        y,
        x,
        graph.note("mul", x, late(graph, z)),
    ],
    "a product whose parts lie in different phases": lambda graph, x, y, z: [
        graph.note("add", y, graph.note("mul", x, late(graph, z))),
        late(graph, x),
        z,
    ],
    "a constant in the type of what is known late": lambda graph, x, y, z: [
        graph.note("number", late(graph, x), detail=2.0),
        graph.note("exp", y),
        late(graph, z),
    ],
}


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("after", MADE.values(), ids=MADE)
def test_numbers_stay_until_the_last_phase_that_reads_them(after, number):
    step = made_step(after)
    assert is_the_step(step, number)


@pytest.mark.parametrize("number", [1, 2])
def test_what_all_networks_share_changes_at_the_end(number):
    """Two numbers that all networks share change places, and all are right."""
    shared = made_step(
        lambda graph, x, y, z: [y, x, graph.note("add", late(graph, z), x)],
        lambda graph, *_: graph.constant(np.float32(1)),
        own=(False, False, True),
    )
    assert is_the_step(shared, number)


def test_counting_the_right_answers_changes_no_rounding():
    """A product that a sum and the count of right answers read is rounded for both."""

    def step(counts):
        made = made_step(
            lambda graph, x, y, z: [x, y, graph.note("add", z, graph.note("mul", x, y))],
            lambda graph, x, y, _: graph.note("exp", graph.note("mul", x, y)),
        )
        return made._replace(counts=counts)

    symbols = Symbols()
    assert in_phases(step(counts=True), 2, symbols)[0] == in_phases(step(counts=False), 2, symbols)[0]
