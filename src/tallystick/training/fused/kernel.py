"""The kernel for GPUs: a block of networks is read once, trained over all epochs in registers, and written once."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array

from tallystick.cells import Cell, Token
from tallystick.languages.tasks import Task
from tallystick.training.fused.arithmetic import Folded
from tallystick.training.fused.instructions import in_instructions
from tallystick.training.fused.script import Script, Shape, learner_of
from tallystick.training.lessons import Exercise
from tallystick.training.loop import Learner, Student
from tallystick.training.methods import Method
from tallystick.training.weights import PerSeed, Weights


def read_exercise(script: Script, shape: Shape, place: Array) -> Exercise:
    """Read one string inside the kernel, where the script's arrays are references: its tokens are scalars."""
    opening, closing = script.opening[place], script.closing[place]
    dtype = script.asked.dtype
    bits = range(shape.tokens)
    tokens = [Token(_bit(opening, bit, dtype), _bit(closing, bit, dtype)) for bit in bits]
    rows = shape.tokens if shape.every_token else 1
    numbers = [script.asked[place, number] for number in range((rows + 1) * shape.outputs)]
    *targets, answers = (tuple(numbers[row * shape.outputs :][: shape.outputs]) for row in range(rows + 1))
    by_output: Any = tuple(zip(*targets, strict=True)) if shape.every_token else targets[0]
    return Exercise(tokens, by_output, answers)


def _bit(word: Array, place: int, dtype: np.dtype) -> Array:
    return jnp.where((word & (1 << place)) != 0, jnp.ones((), dtype), jnp.zeros((), dtype))


class Launch(NamedTuple):
    """How a kernel is laid out.

    Attributes:
        block: networks that are trained together.
        warps: groups of 32 threads that train them.
        sharing: how many of Adam's quotients share one reciprocal.
    """

    block: int
    warps: int
    sharing: int


_FEW_WEIGHTS = 6


def launch_for(weights: int, precision: np.dtype) -> Launch:
    """Return the layout that measured best: the more numbers a network needs, the fewer networks share a thread.

    At most four quotients share a reciprocal, since a product of more divisors leaves the range of float32.
    """
    few = weights <= _FEW_WEIGHTS
    block = (512 if few else 256) if precision == np.float32 else (256 if few else 128)
    return Launch(block, warps=4, sharing=2 if few else 4)


@partial(jax.jit, static_argnames=("shape", "kind", "task", "method", "launch", "interpret"))
def train_fused(
    weights: Weights,
    script: Script,
    *,
    shape: Shape,
    kind: type[Cell],
    task: Task,
    method: Method,
    launch: Launch,
    interpret: bool = False,
) -> tuple[Weights, PerSeed]:
    """Train a whole number of blocks of networks; return their weights and how many strings each network got right."""
    one = jax.ShapeDtypeStruct(weights.example.shape, weights.example.dtype)
    results = (jax.tree.map(lambda _: one, weights), one)
    structure = jax.tree.structure((weights, script, results))

    def kernel(*references: Any) -> None:  # noqa: ANN401 -- the weights and the script as references, then the results
        start, script, (ends, right) = jax.tree.unflatten(structure, references)
        initial = jax.tree.map(lambda reference: reference[...], start)
        learner = learner_of(
            initial,
            lambda done: Folded(*(table[done] for table in script.folded)),
            (script.strength[0], script.learning_rate[0]),
            kind=kind,
            task=task,
            method=method,
            sharing=launch.sharing,
        )
        student, score = _train(learner, initial, script, shape, native=not interpret)
        jax.tree.map(lambda reference, array: reference.__setitem__(..., array), ends, learner.weights(student))
        right[...] = score

    of_block = pl.BlockSpec((launch.block,), lambda place: (place,))
    call = pl.pallas_call(
        kernel,
        out_shape=jax.tree.leaves(results),
        grid=(len(weights.example) // launch.block,),
        in_specs=[of_block for _ in jax.tree.leaves(weights)] + [_whole(array) for array in jax.tree.leaves(script)],
        out_specs=[of_block for _ in jax.tree.leaves(results)],
        compiler_params=triton.CompilerParams(num_warps=launch.warps, num_stages=1),
        interpret=interpret,
    )
    return jax.tree.unflatten(jax.tree.structure(results), call(*jax.tree.leaves((weights, script))))


def _train(
    learner: Learner, initial: Weights, script: Script, shape: Shape, *, native: bool
) -> tuple[Student, PerSeed]:
    """Go through the stages; right answers count in the last epoch of the last stage."""

    def learn(exercise: Exercise, student: Student) -> tuple[Student, Array]:
        look = learner.look(exercise, student, script.asked.dtype)
        return learner.learn(student, look), look.right

    teach = in_instructions(learn) if native else learn

    def step(place: Array, student: Student) -> Student:
        return teach(read_exercise(script, shape, place), student)[0]

    def counted_step(place: Array, state: tuple[Student, Array]) -> tuple[Student, Array]:
        student, right = state
        student, is_right = teach(read_exercise(script, shape, place), student)
        return student, right + jnp.where(is_right, 1, 0).astype(right.dtype)

    student = learner.start()
    stages = script.stages.shape[0]
    for stage in range(stages):
        is_last = stage == stages - 1
        strings, epochs = script.stages[stage, 0], script.stages[stage, 1]
        student = jax.lax.fori_loop(
            0, epochs - is_last, lambda _, student, n=strings: jax.lax.fori_loop(0, n, step, student), student
        )
    return jax.lax.fori_loop(0, script.stages[stages - 1, 0], counted_step, (student, jnp.zeros_like(initial.example)))


def _whole(array: Array) -> pl.BlockSpec:
    """Let every block read all of an array."""
    return pl.BlockSpec(array.shape, lambda _: (0,) * array.ndim)
