"""The instructions that a step of training needs, counted in the program that the fused kernels are written from.

The graph of the step (look at a string, learn from it) is made for each string of a training set, with its tokens and targets as
known numbers. What is left to do for every seed is counted:

- what all seeds share is worked out once and counts nothing;
- adding 0, multiplying by 0 or 1, and what nothing depends on afterwards count nothing: so neither does padding, nor most of
  the first token, which finds h = 0;
- what is worked out twice counts once;
- a division is a reciprocal, shared by all that divide by the same number, and a multiplication;
- a product that only sums need counts with each of them as one instruction;
- a change of sign counts nothing: it is part of the instruction that reads the number;
- any other operation counts as one, by its name, so that a machine can say what a root or an exponential costs it.
"""

from collections import Counter
from typing import Any

import numpy as np

from tallystick.training.ensemble import training_precision
from tallystick.training.fused.graph import AS_WRITTEN, CONSTANT, CONVERSION, INPUT, NUMBER, PRODUCT, SUMS, Graph, Place
from tallystick.training.fused.numbering import SEEDS, Numbers, Walk, numbers, own_shape
from tallystick.training.fused.programs import SHARING, Layout, Traced, program_of, trace
from tallystick.training.lessons import Script, Shape, course_of, lessons_of, script_of
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

ADDITION, MULTIPLICATION, MULTIPLY_ADD, RECIPROCAL = "addition", "multiplication", "multiply-add", "reciprocal"
_SHARED = "shared"
_FREE = (INPUT, CONSTANT, NUMBER, CONVERSION, "neg", "stop_gradient", "copy")


def step_instructions(setting: Setting, strings: list[str]) -> dict[str, float]:
    """Return how often each instruction is done for one seed in a step, on average over the strings of an epoch."""
    with training_precision(setting):
        script, shape = script_of(lessons_of(setting, strings), course_of(setting, strings), setting.procedure)
        traced = _trace(setting, str(script.asked.dtype), shape)
        # The same string twice needs the same instructions.
        times = Counter(_lesson(script, place) for place in range(len(strings)))
        counted: Counter[str] = Counter()
        for lesson, repeats in times.items():
            for name, size in _instructions(traced, lesson, str(script.asked.dtype)).items():
                counted[name] += repeats * size
    return {name: size / len(strings) for name, size in sorted(counted.items())}


def _trace(setting: Setting, gradients: str, shape: Shape) -> Traced:
    sizes: dict[str, Any] = {"bias": setting.bias, "dtype": setting.dtype, "units": setting.units}
    example = fresh_weights(setting.kind, setting.goal, np.arange(1), **sizes)
    parts = (setting.kind, setting.goal, setting.procedure, Layout(SEEDS, SHARING))
    return trace(program_of(example, gradients, shape, *parts))


def _lesson(script: Script, place: int) -> tuple[float, ...]:
    """Return a string's numbers in the order of the program's arguments: its tokens, and what is asked of it."""
    tokens = zip(script.opening[place], script.closing[place], strict=True)
    return (*(float(part) for token in tokens for part in token), *map(float, np.asarray(script.asked)[place]))


def _instructions(traced: Traced, lesson: tuple[float, ...], precision: str) -> Counter[str]:
    """Count what a step does for each seed; of the next student only what is kept is needed."""
    graph, variables = Graph(), traced.step.jaxpr.invars
    known = [numbers([graph.constant(np.asarray(number, precision))], ()) for number in lesson]
    before = variables[: len(variables) - len(known) - len(traced.student)]
    given = [_given(graph, variable.aval.shape, place) for place, variable in enumerate(before)]
    kept = [graph.note(_kind(part.shape), detail=("student", place)) for place, part in enumerate(traced.kept)]
    *student, _ = Walk(graph).through(traced.step, [*given, *known, *traced.put_together(kept)])
    return _count(graph, traced.take_apart(student))


def _given(graph: Graph, shape: tuple[int, ...], place: int) -> Numbers:
    """Return an argument of the program, number by number."""
    size = int(np.prod(own_shape(shape)))
    return numbers([graph.note(_kind(shape), detail=(place, number)) for number in range(size)], shape)


def _kind(shape: tuple[int, ...]) -> str:
    """Say whether every seed has its own of an array, or all share it."""
    return INPUT if SEEDS in shape else _SHARED


def _count(graph: Graph, results: list[Place]) -> Counter[str]:
    needed, added = graph.needed(results), graph.added_products(results)
    uses = Counter(operand for place in needed for operand in graph.noted[place].operands)
    counted: Counter[str] = Counter()
    taken: Counter[Place] = Counter()
    shared: set[Place] = set()
    divisors: set[Place] = set()
    for place in needed:
        name, operands, detail = graph.noted[place]
        if name in (_SHARED, CONSTANT) or (operands and all(operand in shared for operand in operands)):
            shared.add(place)
        elif name in SUMS:
            products = [one for one in operands if one in added and one not in shared and detail != AS_WRITTEN]
            taken.update(products[:1])
            counted[MULTIPLY_ADD if products else ADDITION] += 1
        elif name == "div":
            divisors.add(operands[1])
            counted[MULTIPLICATION] += 1
        elif name == "logistic":
            counted.update(("exp", ADDITION, RECIPROCAL))
        elif name == PRODUCT:
            counted[MULTIPLICATION] += place not in added
        elif name not in _FREE:
            counted[name] += 1
    # A product that some sum adds beside another one is computed after all.
    counted[MULTIPLICATION] += sum(taken[place] < uses[place] for place in added - shared)
    counted[RECIPROCAL] += len(divisors)
    return Counter({name: size for name, size in counted.items() if size})
