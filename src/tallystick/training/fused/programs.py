"""A training run as programs: the loop's own learner, in the form that needs the least arithmetic, traced for one string.

Both fused kernels are written from these programs, the one for processors in LLVM's vectors and the one for GPUs in Pallas, so
that every cell, task and method that can be traced goes through either.
"""

from collections.abc import Container, Iterable
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from tallystick.cells import Cell, GruCell, LinearCell, Token, VectorCell
from tallystick.languages.tasks import Task
from tallystick.training.descent import Folded, enlarge, folded_adam, shrink
from tallystick.training.fused.graph import INPUT, Graph, Step
from tallystick.training.fused.numbering import SEEDS, Numbers, Walk, as_written, numbers, own_shape, unwritable
from tallystick.training.gradients import Gradient, gradient_of, linear_gradient
from tallystick.training.layers import GATES, gate_gradient, with_bias_in_steps
from tallystick.training.lessons import Exercise, Shape
from tallystick.training.loop import Learner, Student
from tallystick.training.methods import Method
from tallystick.training.setting import Setting
from tallystick.training.weights import AnyWeights

SHARING = 2
"""How many of Adam's quotients share a reciprocal on processors, but for some networks of doubles."""


class Layout(NamedTuple):
    """How a program is laid out.

    Attributes:
        lanes: networks in a vector.
        sharing: how many of Adam's quotients share one reciprocal.
        vectors: vectors of networks that go through a string one after the other; a multiple of the phases.
        phases: phases of a step, each of which is done for another vector at the same time.
        counts_apart: whether the last epoch, whose right answers count, has a step of its own. Of few weights the counting is a
            good part of a step; of many a second step takes long to compile.
        grows: whether gradients grow from string to string, in place of the decay of their squares.
    """

    lanes: int
    sharing: int
    vectors: int = 1
    phases: int = 1
    counts_apart: bool = False
    grows: bool = False


class Program(NamedTuple):
    """What decides which code is compiled.

    Attributes:
        structure: how the weights are put together.
        shapes: the shape of each in one network.
        precision: the type of the weights.
        gradients: the type that slopes are computed in.
        shape: what is fixed of a script.
        kind: the kind of cell.
        task: what is asked.
        method: how it is trained.
        layout: how many networks are trained together.
    """

    structure: Any
    shapes: tuple[tuple[int, ...], ...]
    precision: str
    gradients: str
    shape: Shape
    kind: type[Cell]
    task: Task
    method: Method
    layout: Layout


def program_of(
    weights: AnyWeights,
    gradients: str,
    shape: Shape,
    kind: type[Cell],
    task: Task,
    method: Method,
    layout: Layout,
) -> Program:
    """Return what is compiled for weights like these."""
    leaves, structure = jax.tree.flatten(weights)
    return Program(structure, shapes_of(weights), str(leaves[0].dtype), gradients, shape, kind, task, method, layout)


def shapes_of(weights: AnyWeights) -> tuple[tuple[int, ...], ...]:
    """Return the shape of each array of one network."""
    return tuple(leaf.shape[:-1] for leaf in jax.tree.leaves(weights))


def missing_operation(weights: AnyWeights, setting: Setting, tokens: int, known: Container[str]) -> str | None:
    """Return the name of an operation that training needs and that is not known; None where there is none."""
    method, outputs = setting.procedure, setting.goal.outputs
    shape = Shape(tokens, outputs, outputs + bool(method.memory), method.every_token)
    parts = (setting.kind, setting.goal, method)
    program = program_of(weights, setting.gradient_dtype.name, shape, *parts, Layout(SEEDS, SHARING))
    return next(iter(unwritable(known, *trace(program)[:3])), None)


class Traced(NamedTuple):
    """The parts of a run as programs, and the student that goes from one to the next.

    Attributes:
        start: from the initial weights to a student.
        step: from a student and a string to the next student, and who was right.
        weights: from a student to its weights.
        shrink: where gradients grow, from a student at the end of an epoch and a factor to the next epoch's student.
        student: the shape and the type of each array of a student.
        groups: of each number of a student, which of the kept numbers it equals.
    """

    start: Any
    step: Any
    weights: Any
    shrink: Any
    student: list[Any]
    groups: list[int]

    @property
    def kept(self) -> list[Any]:
        """The arrays that the kept numbers are of."""
        parts = [part for part in self.student for _ in range(_size(part))]
        return [parts[place] for place in _firsts(self.groups)]

    def take_apart(self, student: list[Numbers]) -> list[Any]:
        """Return the numbers of a student that are kept."""
        values = [value for part in student for value in part.values.ravel()]
        return [values[place] for place in _firsts(self.groups)]

    def put_together(self, values: list[Any]) -> list[Numbers]:
        """Return a student from its kept numbers."""
        each = iter([values[group] for group in self.groups])
        return [numbers([next(each) for _ in range(_size(part))], part.shape) for part in self.student]


def note_step(traced: Traced, *, counts: bool) -> Step:
    """Note a step with the kept numbers as its last inputs."""
    graph, parts = Graph(), [variable.aval for variable in traced.step.jaxpr.invars[: -len(traced.student)]]
    each = [part for part in parts for _ in range(_size(part))] + traced.kept
    places = [graph.note(INPUT, detail=place) for place in range(len(each))]
    rest, before = iter(places), places[-len(traced.kept) :]
    given = [numbers([next(rest) for _ in range(_size(part))], part.shape) for part in parts]
    *student, right = Walk(graph).through(traced.step, [*given, *traced.put_together(before)])
    inputs = [(str(part.dtype), SEEDS in part.shape) for part in each]
    return Step(graph, inputs, before, traced.take_apart(student), right.values.item(), counts)


def _size(part: Any) -> int:  # noqa: ANN401 -- a shape and its type
    return int(np.prod(own_shape(part.shape), dtype=int))


def _firsts(groups: list[int]) -> list[int]:
    """Return the place of the first number of each group."""
    return [groups.index(group) for group in range(max(groups) + 1)]


def _learner(program: Program, initial: AnyWeights, folded: Folded, rates: tuple[Array, Array]) -> Learner:
    """Return the loop's own learner, with the forms of Adam and of the gradient that need the least arithmetic.

    Args:
        program: what is trained, and how.
        initial: the weights before the first step.
        folded: Adam's two numbers at this step.
        rates: the strength of a regulariser and the learning rate.
    """
    parts: dict[str, Any] = {"kind": program.kind, "task": program.task, "method": program.method}
    layout = program.layout
    optimiser = folded_adam(lambda _: folded, program.method.momenta, layout.sharing, grows=layout.grows)
    return Learner(initial, optimiser, *rates, **parts, gradient=_gradient(**parts, growth=folded.growth))


def _gradient(kind: type[Cell], task: Task, method: Method, growth: Array | None) -> Gradient:
    """Return the gradient with the least arithmetic, as many times as large as it has grown."""
    # Errors are differences of nearly equal numbers, so their rounding decides where training ends.
    objective = method.objective(task)
    objective = replace(objective, error=as_written(objective.error))
    if growth is not None:
        objective = enlarge(objective, growth)
    if kind is LinearCell and not method.every_token:
        return linear_gradient(objective)
    if kind in GATES:
        gradient = gate_gradient(kind, objective, every_token=method.every_token, memory=bool(method.memory))
    else:
        gradient = gradient_of(kind, objective, every_token=method.every_token)
    return with_bias_in_steps(gradient) if issubclass(kind, VectorCell) and kind is not GruCell else gradient


def trace(program: Program) -> Traced:
    """Trace the learner for one string; what is not of a network is one number."""
    return _trace(program._replace(layout=Layout(SEEDS, program.layout.sharing, grows=program.layout.grows)))


@cache
def _trace(program: Program) -> Traced:
    shape, method = program.shape, program.method
    own, seen = (jax.ShapeDtypeStruct((), dtype) for dtype in (program.precision, program.gradients))
    leaves = [jax.ShapeDtypeStruct((*of, SEEDS), program.precision) for of in program.shapes]
    rows = shape.tokens if shape.every_token else 1
    asked = [seen] * ((rows * shape.targets) + shape.outputs)
    folded = Folded(own, own, own if program.layout.grows else None)
    fixed = (jax.tree.unflatten(program.structure, leaves), folded, own, (own, own))
    learner = partial(_learner, program)

    def start(initial: AnyWeights, folded: Folded, _: Any, numbers: tuple[Any, Any]) -> Student:  # noqa: ANN401
        return learner(initial, folded, numbers).start()

    def learn(
        initial: AnyWeights,
        folded: Folded,
        temperature: Any,  # noqa: ANN401 -- a number
        numbers: tuple[Any, Any],
        string: list[Token],
        asked: list[Any],
        student: Student,
    ) -> tuple[Student, Any]:
        learned = learner(initial, folded, numbers)
        exercise = exercise_of(string, asked, shape, as_arrays=issubclass(program.kind, VectorCell))
        look = learned.look(exercise, student, jnp.dtype(program.gradients), temperature if method.sharpens else None)
        is_right = jnp.where(look.right, *(jnp.asarray(number, program.precision) for number in (1, 0)))
        return learned.learn(student, look), is_right

    def weights(
        initial: AnyWeights,
        folded: Folded,
        temperature: Any,  # noqa: ANN401
        numbers: tuple[Any, Any],
        student: Student,
    ) -> AnyWeights:
        return learner(initial, folded, numbers).weights(student, temperature if method.sharpens else None)

    def shrink_moments(student: Student, factor: Any) -> Student:  # noqa: ANN401
        return student._replace(moments=shrink(student.moments, factor))

    with jax.enable_x64("float64" in (program.precision, program.gradients)):
        started, student = jax.make_jaxpr(start, return_shape=True)(*fixed)
        arguments = (*fixed, [Token(seen, seen)] * shape.tokens, asked, student)
        step = jax.make_jaxpr(learn)(*arguments)
        ended = jax.make_jaxpr(weights)(*fixed, student)
        shrunk = jax.make_jaxpr(shrink_moments)(student, own) if program.layout.grows else None
    parts = jax.tree.leaves(student)
    return Traced(started, step, ended, shrunk, parts, _equal_numbers(started, step, parts))


def _equal_numbers(start: Any, step: Any, student: list[Any]) -> list[int]:  # noqa: ANN401 -- JAX's programs
    """Put the numbers of a student into groups that are equal at the start and after every step.

    The moments of two biases that are added to the same sum are an example. Numbers that are computed alike at the start are
    taken for equal until a step computes them differently.
    """
    graph = Graph()
    walk, kinds = Walk(graph), [(str(part.dtype), SEEDS in part.shape) for part in student for _ in range(_size(part))]

    def given(variable: Any, place: int) -> Numbers:  # noqa: ANN401
        part = variable.aval
        return numbers([graph.note(INPUT, detail=(place, number)) for number in range(_size(part))], part.shape)

    def places(results: list[Numbers]) -> list[int]:
        return [place for part in results[: len(student)] for place in part.values.ravel()]

    before = [given(variable, place) for place, variable in enumerate(step.jaxpr.invars[: -len(student)])]
    groups = _number(zip(kinds, places(walk.through(start, before[: len(start.jaxpr.invars)])), strict=True))
    while True:
        equal = [graph.note(INPUT, detail=("student", group)) for group in groups]
        each = iter(equal)
        arrays = [numbers([next(each) for _ in range(_size(part))], part.shape) for part in student]
        finer = _number(zip(groups, places(walk.through(step, [*before, *arrays])), strict=True))
        if finer == groups:
            return groups
        groups = finer


def _number(keys: Iterable[Any]) -> list[int]:
    """Number keys in the order in which they first occur."""
    seen: dict[Any, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def exercise_of(string: list[Token], asked: list[Any], shape: Shape, *, as_arrays: bool) -> Exercise:
    """Put one string together: as single tokens, or with the tokens as an axis, which layers and gates take."""
    rows = shape.tokens if shape.every_token else 1
    answers = tuple(asked[rows * shape.targets :])
    by_row = [asked[row * shape.targets :][: shape.targets] for row in range(rows)]
    targets: Any = tuple(zip(*by_row, strict=True)) if shape.every_token else tuple(by_row[0])
    if not as_arrays:
        return Exercise(string, targets, answers)
    stacked = tuple(jnp.stack(target) for target in targets) if shape.every_token else targets
    return Exercise(Token(*map(jnp.stack, zip(*string, strict=True))), stacked, answers)
