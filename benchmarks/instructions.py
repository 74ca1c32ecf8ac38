"""The instructions that a step of training needs, counted in the program of the step itself.

JAX traces the step of the fused kernels once (look at a string, learn from it), with the string's tokens and targets as numbers
that all seeds share. A walk through the trace then counts, for each string of a training set, what is left to do for every seed
when those numbers are known:

- what all seeds share is worked out once and counts nothing;
- adding 0, multiplying by 0 or 1, and what nothing depends on afterwards count nothing: so neither does padding, nor most of
  the first token, which finds h = 0;
- what is worked out twice counts once;
- a division is a reciprocal, shared by all that divide by the same number, and a multiplication;
- a product that is only added to something counts with that addition as one instruction;
- a change of sign counts nothing: it is part of the instruction that reads the number;
- any other operation counts as one, by its name, so that a machine can say what a root or an exponential costs it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import Token
from tallystick.training.ensemble import training_precision
from tallystick.training.fused.arithmetic import Folded
from tallystick.training.fused.programs import SHARING
from tallystick.training.fused.script import learner_of
from tallystick.training.lessons import Exercise, Lessons, course_of, lessons_of
from tallystick.training.loop import Learner, Student
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

ADDITION, MULTIPLICATION, MULTIPLY_ADD, RECIPROCAL = "addition", "multiplication", "multiply-add", "reciprocal"
_INPUT, _SIGN = "input", "sign"
_NAMES = {"add": ADDITION, "sub": "subtraction", "add_any": ADDITION, "mul": MULTIPLICATION, "neg": _SIGN}
_ADDITIONS = (ADDITION, "subtraction")
_UNCHANGED = ("broadcast_in_dim", "reshape", "squeeze", "copy", "stop_gradient")
# More than one, so that an array with one entry per seed can be told from a number that all seeds share.
_SEEDS = 2


def step_instructions(setting: Setting, strings: list[str]) -> dict[str, float]:
    """Return how often each instruction is done for one seed in a step, on average over the strings of an epoch."""
    lessons = lessons_of(setting, strings)
    program = _step_program(setting, strings, lessons)
    # The same string twice needs the same instructions.
    times = Counter(_numbers(_exercise(lessons, place)) for place in range(len(strings)))
    counted: Counter[str] = Counter()
    for numbers, repeats in times.items():
        walk = _Walk()
        ends = walk.through(program.jaxpr, _arguments(program, numbers))
        counted.update({name: repeats * size for name, size in walk.needed_for(ends).items()})
    return {name: size / len(strings) for name, size in sorted(counted.items())}


class Shared(NamedTuple):
    """A number that is the same for all seeds: known, or told from others by its label."""

    value: float | None
    label: int = 0


Value = Shared | int
"""What all seeds share, or the place of the instruction that works it out for each."""


@dataclass(frozen=True)
class Instruction:
    """One operation on numbers of which every seed has its own."""

    name: str
    operands: tuple[Value, ...]
    detail: str = ""


_labels = count(1)


def _unknown() -> Shared:
    return Shared(None, next(_labels))


def _step_program(setting: Setting, strings: list[str], lessons: Lessons) -> Any:  # noqa: ANN401 -- JAX's program
    """Return the program of a step, whose first arguments are a lesson's numbers."""
    course = course_of(setting, strings)
    parts: dict[str, Any] = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure}
    drawn = fresh_weights(setting.kind, setting.goal, np.arange(_SEEDS), bias=setting.bias, dtype=setting.dtype)
    with training_precision(setting):
        initial = jax.tree.map(jnp.asarray, drawn)
        numbers = (jnp.asarray(course.strength), jnp.asarray(course.learning_rate))
        folded = Folded(*numbers)  # whatever numbers: the walk does not know them

        def learner(folded: Folded) -> Learner:
            return learner_of(initial, lambda _: folded, numbers, sharing=SHARING, **parts)

        def step(exercise: Exercise, folded: Folded, student: Student) -> Student:
            learned = learner(folded)
            return learned.learn(student, learned.look(exercise, student, setting.gradient_dtype))

        lesson = jax.tree.map(jnp.asarray, _exercise(lessons, 0))
        return jax.make_jaxpr(step)(lesson, folded, learner(folded).start())


def _exercise(lessons: Lessons, place: int) -> Exercise:
    tokens = zip(lessons.opening[place], lessons.closing[place], strict=True)
    targets, answers = np.moveaxis(lessons.targets[place], -1, 0), lessons.answers[place]
    return Exercise([Token(*token) for token in tokens], tuple(targets), tuple(answers))


def _numbers(exercise: Exercise) -> tuple[float | None, ...]:
    """Return the lesson's numbers in the order of the program's arguments; None for an argument that is an array."""
    return tuple(float(leaf) if np.ndim(leaf) == 0 else None for leaf in jax.tree.leaves(exercise))


def _arguments(program: Any, numbers: tuple[float | None, ...]) -> list[Shared | None]:  # noqa: ANN401
    """Return what is known of each constant and argument; None where every seed has its own."""
    known = [*(_unknown() for _ in program.jaxpr.constvars), *(_unknown() if n is None else Shared(n) for n in numbers)]
    rest = (program.jaxpr.constvars + program.jaxpr.invars)[len(known) :]
    return [*known, *(None if variable.aval.shape else _unknown() for variable in rest)]


class _Walk:
    """A walk through the program that notes the instructions done for each seed."""

    def __init__(self) -> None:
        self._noted: list[Instruction] = []
        self._places: dict[Instruction, int] = {}

    def through(self, program: Any, arguments: Sequence[Value | None]) -> list[Value]:  # noqa: ANN401
        """Go through a program; return its results."""
        known: dict[Any, Value] = {}
        for variable, argument in zip(program.constvars + program.invars, arguments, strict=True):
            known[variable] = self._input(variable) if argument is None else argument

        def value_of(variable: Any) -> Value:  # noqa: ANN401 -- a variable, or a number written into the program
            return known[variable] if not hasattr(variable, "val") else _literal(variable.val)

        for equation in program.eqns:
            operands = [value_of(variable) for variable in equation.invars]
            known.update(zip(equation.outvars, self._results(equation, operands), strict=True))
        return [value_of(variable) for variable in program.outvars]

    def needed_for(self, ends: list[Value]) -> Counter[str]:
        """Count the instructions that the results need, products and additions fused."""
        uses: Counter[int] = Counter()
        open_places = [end for end in ends if isinstance(end, int)]
        uses.update(open_places)
        needed: set[int] = set()
        while open_places:
            place = open_places.pop()
            if place not in needed:
                needed.add(place)
                before = [operand for operand in self._noted[place].operands if isinstance(operand, int)]
                uses.update(before)
                open_places += before
        counted = Counter(self._noted[place].name for place in needed)
        fused = sum(self._has_lone_product(place, uses) for place in needed)
        additions = sum(counted.pop(name, 0) for name in _ADDITIONS) - fused
        counted.update({ADDITION: additions, MULTIPLICATION: -fused, MULTIPLY_ADD: fused})
        return Counter({name: size for name, size in counted.items() if size > 0 and name not in (_INPUT, _SIGN)})

    def _has_lone_product(self, place: int, uses: Counter[int]) -> bool:
        """Return whether an instruction is an addition of a product that nothing else uses, so that both are one."""
        instruction = self._noted[place]
        return instruction.name in _ADDITIONS and any(
            self._is_lone_product(value, uses) for value in instruction.operands
        )

    def _is_lone_product(self, value: Value, uses: Counter[int]) -> bool:
        if isinstance(value, Shared) or uses[value] > 1:
            return False
        instruction = self._noted[value]
        if instruction.name == _SIGN:
            return self._is_lone_product(instruction.operands[0], uses)
        return instruction.name == MULTIPLICATION

    def _results(self, equation: Any, operands: list[Value]) -> list[Value]:  # noqa: ANN401
        """Return the results of one operation of the program."""
        inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        if inner is not None:
            program = getattr(inner, "jaxpr", inner)
            return self.through(program, [*(_unknown() for _ in program.constvars), *operands])
        if all(isinstance(operand, Shared) for operand in operands):
            return [_shared_result(equation, [o for o in operands if isinstance(o, Shared)]) for _ in equation.outvars]
        return [self._result(equation, operands)]

    def _result(self, equation: Any, operands: list[Value]) -> Value:  # noqa: ANN401
        name = equation.primitive.name
        if name in _UNCHANGED or (name == "convert_element_type" and _has_same_type(equation)):
            return operands[0]
        if name in ("slice", "stack") and equation.invars[0].aval.size == equation.outvars[0].aval.size:
            return operands[0]  # the one row of an array that has one
        if name in ("add", "add_any", "sub"):
            return self._sum(_NAMES[name], *operands)
        rewritten = {"mul": self._product, "div": self._quotient, "logistic": self._logistic}
        if name in rewritten:
            return rewritten[name](*operands)
        return self._note(_NAMES.get(name, name), *operands, detail=str(equation.params))

    def _quotient(self, left: Value, right: Value) -> Value:
        return self._product(left, self._note(RECIPROCAL, right))

    def _logistic(self, value: Value) -> Value:
        """Return the place of 1/(1 + e^−x)."""
        power = self._note("exp", self._note(_SIGN, value))
        return self._note(RECIPROCAL, self._sum(ADDITION, Shared(1.0), power))

    def _product(self, left: Value, right: Value) -> Value:
        if Shared(0.0) in (left, right):
            return Shared(0.0)
        for one, other in ((left, right), (right, left)):
            if one == Shared(1.0):
                return other
        return self._note(MULTIPLICATION, left, right)

    def _sum(self, name: str, left: Value, right: Value) -> Value:
        if right == Shared(0.0):
            return left
        if left == Shared(0.0):
            return right if name == ADDITION else self._note(_SIGN, right)
        return self._note(name, left, right)

    def _input(self, variable: Any) -> int:  # noqa: ANN401
        return self._note(_INPUT, detail=f"{id(variable)}")

    def _note(self, name: str, *operands: Value, detail: str = "") -> int:
        """Return the place of an instruction, noting it if it is new."""
        instruction = Instruction(name, operands, detail)
        if instruction not in self._places:
            self._places[instruction] = len(self._noted)
            self._noted.append(instruction)
        return self._places[instruction]


def _literal(number: Any) -> Shared:  # noqa: ANN401
    return Shared(float(number)) if np.ndim(number) == 0 else _unknown()


def _has_same_type(equation: Any) -> bool:  # noqa: ANN401
    (before,), (after,) = equation.invars, equation.outvars
    return before.aval.dtype == after.aval.dtype


def _shared_result(equation: Any, operands: list[Shared]) -> Shared:  # noqa: ANN401
    """Return what all seeds share as shared again; its value is known after sums, products and copies."""
    name, values = equation.primitive.name, [operand.value for operand in operands]
    if name == "mul" and 0.0 in values:
        return Shared(0.0)
    if name in (*_UNCHANGED, "convert_element_type"):
        return operands[0]
    if any(value is None for value in values):
        return _unknown()
    followed = {"mul": np.multiply, "add": np.add, "add_any": np.add, "sub": np.subtract}
    return Shared(float(followed[name](*values))) if name in followed else _unknown()
