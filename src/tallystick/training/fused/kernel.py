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
from tallystick.training.fused.instructions import Arrays
from tallystick.training.fused.numbering import SEEDS, Numbers, Writer, numbers
from tallystick.training.fused.programs import Layout, Program, program_of, trace
from tallystick.training.lessons import Script, Shape
from tallystick.training.methods import Method
from tallystick.training.weights import AnyWeights, PerSeed, compile_once


class Launch(NamedTuple):
    """How a kernel is laid out.

    Attributes:
        block: networks that are trained together.
        warps: groups of 32 threads that train them.
        sharing: how many of Adam's quotients share one reciprocal.
        counts_apart: whether the last epoch, whose right answers count, has a step of its own.
    """

    block: int
    warps: int
    sharing: int
    counts_apart: bool = False


_FEW_WEIGHTS, _SOME_WEIGHTS = 6, 16


def launch_for(shapes: tuple[tuple[int, ...], ...], precision: np.dtype) -> Launch:
    """Return the layout that measured best: the more numbers a network needs, the fewer networks share a thread.

    At most four quotients share a reciprocal, since a product of more divisors leaves the range of float32. A step of its own for
    the epoch that counts right answers pays for the linear cell with three outputs, and is taken for networks of that size. With
    fewer weights a longer kernel costs more than counting; with many, counting is little of a step, and a second one is slow to
    compile.
    """
    weights = sum(int(np.prod(shape)) for shape in shapes)
    few, some = weights <= _FEW_WEIGHTS, weights <= _SOME_WEIGHTS
    block = (512 if few else 256 if some else 128) if precision == np.float32 else (256 if few else 128)
    return Launch(block, warps=4, sharing=4, counts_apart=some and not few)


@compile_once
@partial(jax.jit, static_argnames=("shape", "kind", "task", "method", "launch", "interpret"))
def train_fused(
    weights: AnyWeights,
    script: Script,
    *,
    shape: Shape,
    kind: type[Cell],
    task: Task,
    method: Method,
    launch: Launch,
    interpret: bool = False,
) -> tuple[AnyWeights, PerSeed]:
    """Train a whole number of blocks of networks; return their weights and how many strings each network got right."""
    layout = Layout(launch.block, launch.sharing, counts_apart=launch.counts_apart)
    program = program_of(weights, str(script.asked.dtype), shape, kind, task, method, layout)
    leaves, structure = jax.tree.flatten(weights)
    rows = [leaf.reshape(-1, leaf.shape[-1]) for leaf in leaves]  # one row per number of a network
    right = jax.ShapeDtypeStruct((1, rows[0].shape[-1]), rows[0].dtype)
    results = [*(jax.ShapeDtypeStruct(row.shape, row.dtype) for row in rows), right]
    # Rows of a power of two let the compiler address their numbers by constant distances from the first.
    width = script.asked.shape[1]
    script = script._replace(asked=jnp.pad(script.asked, ((0, 0), (0, (1 << (width - 1).bit_length()) - width))))
    arguments = jax.tree.structure((rows, script, results))

    def kernel(*references: Any) -> None:  # noqa: ANN401 -- the weights and the script as references, then the results
        initial, script, ends = jax.tree.unflatten(arguments, references)
        found = _Training(program, script, initial, native=not interpret).run()
        for end, values in zip(ends, found, strict=True):
            for place, value in enumerate(values):
                end[place, :] = value

    of_block = [pl.BlockSpec((row.shape[0], launch.block), lambda place: (0, place)) for row in results]
    call = pl.pallas_call(
        kernel,
        out_shape=results,
        grid=(rows[0].shape[-1] // launch.block,),
        in_specs=[*of_block[:-1], *(_whole(array) for array in jax.tree.leaves(script))],
        out_specs=of_block,
        compiler_params=triton.CompilerParams(num_warps=launch.warps, num_stages=1),
        interpret=interpret,
    )
    *ends, right = call(*rows, *jax.tree.leaves(script))
    ends = [end.reshape(leaf.shape) for end, leaf in zip(ends, leaves, strict=True)]
    return jax.tree.unflatten(structure, ends), right[0]


def _whole(array: Array) -> pl.BlockSpec:
    """Let every block read all of an array."""
    return pl.BlockSpec(array.shape, lambda _: (0,) * array.ndim)


State = tuple[Any, list[Any], Any]
"""How many steps are done, the numbers of the student, one by one, and how many strings of this epoch were answered right."""


class _Training:
    """The loops around the traced programs, inside the kernel, where arrays are references."""

    def __init__(self, program: Program, script: Script, initial: list[Any], *, native: bool) -> None:
        self._program, self._script, self._traced = program, script, trace(program)
        # In float64 products are rounded as the compiled scan rounds them, so that the two stay together.
        self._writer = Writer(Arrays(native=native), multiply_adds=("float32",))
        self._initial = [
            numbers([rows[place, :] for place in range(int(np.prod(shape)))], (*shape, SEEDS))
            for rows, shape in zip(initial, program.shapes, strict=True)
        ]
        self._numbers = [_single(script.strength[0]), _single(script.learning_rate[0])]

    def run(self) -> list[list[Any]]:
        """Go through the stages; return the numbers of every weight, and who was right how often in the last epoch."""
        stages, nothing = self._script.stages, [_single(jnp.zeros((), self._program.precision))] * 3
        start = self._writer.write(self._traced.start, [*self._initial, *nothing, *self._numbers])
        state: State = (jnp.int32(0), self._values(start), self._none())
        apart, last = self._program.layout.counts_apart, stages.shape[0] - 1
        for stage in range(last + 1):
            epochs = stages[stage, 1] - int(apart and stage == last)
            epoch = partial(self._epoch, stages[stage, 0], counts=not apart)
            state = jax.lax.fori_loop(0, epochs, lambda _, state, epoch=epoch: epoch(state), state)
        done, values, right = self._epoch(stages[last, 0], state, counts=True) if apart else state
        temperature = _single(self._temperature(done))
        ended = self._writer.write(
            self._traced.weights,
            [*self._initial, *nothing[:2], temperature, *self._numbers, *self._traced.put_together(values)],
        )
        return [*([self._spread(value) for value in end.values.ravel()] for end in ended), [right]]

    def _epoch(self, strings: Array, state: State, *, counts: bool) -> State:
        """Go through the strings once; a step that does not count says nothing about who was right."""
        return jax.lax.fori_loop(0, strings, partial(self._step, counts=counts), (*state[:2], self._none()))

    def _step(self, place: Array, state: State, *, counts: bool) -> State:
        done, values, right = state
        *student, is_right = self._writer.write(self._traced.step, self._arguments(place, done, values))
        return done + 1, self._values(student), right + is_right.values.item() if counts else right

    def _none(self) -> Array:
        return jnp.zeros((self._program.layout.lanes,), self._program.precision)

    def _arguments(self, place: Array, done: Array, values: list[Any]) -> list[Numbers]:
        """Return what a step reads: the corrections, the string, what is asked of it, and the student."""
        tables = [*(table[done] for table in self._script.folded), self._temperature(done)]
        tokens, asked = read_string(self._script, self._program.shape, place)
        each = [number for token in tokens for number in token]
        singles = [*map(_single, tables), *self._numbers, *map(_single, [*each, *asked])]
        return [*self._initial, *singles, *self._traced.put_together(values)]

    def _temperature(self, done: Array) -> Array:
        return self._script.temperature[done if self._program.method.sharpens else 0]

    def _values(self, student: list[Numbers]) -> list[Any]:
        """Return the numbers of a student that are kept, each an array unless all networks share it."""
        kept = zip(self._traced.take_apart(student), self._traced.kept, strict=True)
        return [self._spread(value) if SEEDS in part.shape else jnp.asarray(value, part.dtype) for value, part in kept]

    def _spread(self, value: Any) -> Array:  # noqa: ANN401 -- an array, or a number that all networks share
        return jnp.broadcast_to(value, (self._program.layout.lanes,))


def _single(value: Any) -> Numbers:  # noqa: ANN401
    return numbers([value], ())


def read_string(script: Script, shape: Shape, place: Array) -> tuple[list[Token], list[Array]]:
    """Read one string, and what is asked of it; the script's arrays may be references."""
    opening, closing, dtype = script.opening[place], script.closing[place], script.asked.dtype
    tokens = [Token(*(_bit(word, bit, dtype) for word in (opening, closing))) for bit in range(shape.tokens)]
    rows = shape.tokens if shape.every_token else 1
    return tokens, [script.asked[place, number] for number in range(rows * shape.targets + shape.outputs)]


def _bit(word: Array, place: int, dtype: np.dtype) -> Array:
    return jnp.where((word & (1 << place)) != 0, jnp.ones((), dtype), jnp.zeros((), dtype))
