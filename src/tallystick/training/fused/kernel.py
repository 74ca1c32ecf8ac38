"""The kernel for GPUs: a block of networks is read once, trained over all epochs in registers, and written once."""

from functools import partial
from math import log
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array

from tallystick.cells import Cell, ScalarCell, Token
from tallystick.languages.tasks import Task
from tallystick.training.descent import Folded
from tallystick.training.fused.instructions import Arrays
from tallystick.training.fused.numbering import SEEDS, Numbers, Writer, numbers
from tallystick.training.fused.programs import Layout, Program, program_of, trace
from tallystick.training.fused.reading import Reading, String, lengths_of, read_string, reading_of
from tallystick.training.layers import GATES
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
        lengths: the lengths of strings, the most frequent first, each of which has a step of its own that knows of no padding;
            where none are named, one step takes strings of every length.
        grows: whether gradients grow from string to string, which spares the decay of Adam's squares.
    """

    block: int
    warps: int
    sharing: int
    counts_apart: bool = False
    lengths: tuple[int, ...] = ()
    grows: bool = False


_FEW_WEIGHTS, _SOME_WEIGHTS, _SEVERAL_WEIGHTS = 6, 16, 40

_MOST_LENGTHS, _MOST_GROWTH = 4, 2


def launch_for(shapes: tuple[tuple[int, ...], ...], script: Script, kind: type[Cell], method: Method) -> Launch:
    """Return the layout that measured best: the more numbers a network needs, the fewer networks share a thread.

    At most four quotients share a reciprocal, since a product of more divisors leaves the range of float32. A step of its own for
    the epoch that counts right answers pays for the linear cell with three outputs, and is taken for networks of that size. With
    fewer weights a longer kernel costs more than counting; with many, counting is little of a step, and a second one is slow to
    compile.

    A step for each length of strings pays where a token is a good part of what a string costs, which it is not in a cell with
    gates. Such steps take longer to compile, too, so there are few of them.

    Gradients may grow where the error is all that they come from, and where they grow so little that float32 still holds products
    of divisors. It pays in float32, except for networks of the size of the linear cell with three outputs.
    """
    weights = sum(int(np.prod(shape)) for shape in shapes)
    few, some, several = (weights <= most for most in (_FEW_WEIGHTS, _SOME_WEIGHTS, _SEVERAL_WEIGHTS))
    is_single, apart = script.asked.dtype == np.float32, some and not few
    block = (512 if few else 256 if some else 128) if is_single else (256 if few else 128)
    lengths = lengths_of(script)
    has_steps = several and kind not in GATES and min(lengths) > 0 and len(lengths) <= _MOST_LENGTHS
    decay = method.momenta.square_decay
    is_small = decay > 0 and len(script.asked) * -log(decay) / 2 <= log(_MOST_GROWTH)
    grows = is_single and not apart and method.regulariser is None and is_small
    return Launch(block, 4, 4, counts_apart=apart, lengths=lengths if has_steps else (), grows=grows)


@compile_once
@partial(jax.jit, static_argnames=("shape", "kind", "task", "method", "launch", "interpret"))
def train_fused(  # noqa: PLR0913 -- three arrays, and what decides which kernel is compiled, each with its name
    weights: AnyWeights,
    script: Script,
    seeds: Array,
    *,
    shape: Shape,
    kind: type[Cell],
    task: Task,
    method: Method,
    launch: Launch,
    interpret: bool = False,
) -> tuple[AnyWeights, PerSeed]:
    """Train a whole number of blocks of networks; return their weights and how many strings each network got right.

    Only the first `seeds` networks count; the others fill up the last blocks. A block without a network that counts does nothing,
    so its results have no meaning, and the device has room for blocks that train.
    """
    layout = Layout(launch.block, launch.sharing, counts_apart=launch.counts_apart, grows=launch.grows)
    program = program_of(weights, str(script.asked.dtype), shape, kind, task, method, layout)
    leaves, structure = jax.tree.flatten(weights)
    rows = [leaf.reshape(-1, leaf.shape[-1]) for leaf in leaves]  # one row per number of a network
    right = jax.ShapeDtypeStruct((1, rows[0].shape[-1]), rows[0].dtype)
    results = [*(jax.ShapeDtypeStruct(row.shape, row.dtype) for row in rows), right]
    reading = reading_of(script, launch.lengths, grows=launch.grows)
    given = (rows, reading, jnp.ravel(seeds))
    arguments = jax.tree.structure((given, results))

    def kernel(*references: Any) -> None:  # noqa: ANN401 -- what is given as references, then the results
        (initial, reading, seeds), ends = jax.tree.unflatten(arguments, references)

        @pl.when(pl.program_id(0) * launch.block < seeds[0])
        def train() -> None:
            found = _Training(program, reading, initial, launch.lengths, native=not interpret).run()
            for end, values in zip(ends, found, strict=True):
                for place, value in enumerate(values):
                    end[place, :] = value

    of_block = [pl.BlockSpec((row.shape[0], launch.block), lambda place: (0, place)) for row in results]
    call = pl.pallas_call(
        kernel,
        out_shape=results,
        grid=(rows[0].shape[-1] // launch.block,),
        in_specs=[*of_block[:-1], *(_whole(array) for array in jax.tree.leaves(given[1:]))],
        out_specs=of_block,
        compiler_params=triton.CompilerParams(num_warps=launch.warps, num_stages=1),
        interpret=interpret,
    )
    *ends, right = call(*jax.tree.leaves(given))
    ends = [end.reshape(leaf.shape) for end, leaf in zip(ends, leaves, strict=True)]
    return jax.tree.unflatten(structure, ends), right[0]


def _whole(array: Array) -> pl.BlockSpec:
    """Let every block read all of an array."""
    return pl.BlockSpec(array.shape, lambda _: (0,) * array.ndim)


_GROWTH = Folded._fields.index("growth")

State = tuple[Any, list[Any], Any]
"""How many steps are done, the numbers of the student, one by one, and how many strings of this epoch were answered right."""


class _Training:
    """The loops around the traced programs, inside the kernel, where arrays are references."""

    def __init__(
        self,
        program: Program,
        reading: Reading,
        initial: list[Any],
        lengths: tuple[int, ...],
        *,
        native: bool,
    ) -> None:
        self._program, self._reading, self._traced = program, reading, trace(program)
        self._columns = len(Folded._fields) if program.layout.grows else _GROWTH
        self._shapes = [program.shape._replace(tokens=length) for length in lengths]
        # In float64 products are rounded as the compiled scan rounds them, so that the two stay together.
        self._writer = Writer(Arrays(native=native), multiply_adds=("float32",))
        self._initial = [
            numbers([rows[place, :] for place in range(int(np.prod(shape)))], (*shape, SEEDS))
            for rows, shape in zip(initial, program.shapes, strict=True)
        ]
        self._numbers = [_single(reading.numbers[place]) for place in range(2)]

    def run(self) -> list[list[Any]]:
        """Go through the stages; return the numbers of every weight, and who was right how often in the last epoch."""
        stages = self._reading.stages
        nothing = [_single(jnp.zeros((), self._program.precision))] * (self._columns + 1)
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
            [*self._initial, *nothing[1:], temperature, *self._numbers, *self._traced.put_together(values)],
        )
        return [*([self._spread(value) for value in end.values.ravel()] for end in ended), [right]]

    def _epoch(self, strings: Array, state: State, *, counts: bool) -> State:
        """Go through the strings once; a step that does not count says nothing about who was right."""
        done, values, right = jax.lax.fori_loop(
            0, strings, partial(self._step, counts=counts), (*state[:2], self._none())
        )
        if self._program.layout.grows:
            last = self._reading.folded.shape[0] - 1
            now, then = (self._reading.folded[step, _GROWTH] for step in (done - 1, jnp.minimum(done, last)))
            factor = _single(jnp.where(then < now, jnp.asarray(0.5, now.dtype), jnp.asarray(1, now.dtype)))
            student = self._writer.write(self._traced.shrink, [*self._traced.put_together(values), factor])
            values = self._values(student)
        return done, values, right

    def _step(self, place: Array, state: State, *, counts: bool) -> State:
        done, values, right = state
        if not self._shapes:
            values, is_right = self._learn(self._program.shape, place, done, values)
        else:
            steps = [partial(self._learn, shape) for shape in self._shapes]
            values, is_right = jax.lax.switch(self._reading.branch(place), steps, place, done, values)
        return done + 1, values, right + is_right if counts else right

    def _learn(self, shape: Shape, place: Array, done: Array, values: list[Any]) -> tuple[list[Any], Array]:
        """Learn from one string; numbers that are equal after every string of the longest length are so after any."""
        step = trace(self._program._replace(shape=shape)).step
        own = shape if self._shapes else None
        string = read_string(self._reading.strings, place, self._program.shape, self._program.gradients, own)
        # In cells with one unit most tokens are added to other numbers, as numbers.
        if issubclass(self._program.kind, ScalarCell):
            string = [Token(*(flag.number for flag in token)) for token in string[0]], string[1]
        *student, is_right = self._writer.write(step, self._arguments(done, string, values))
        return self._values(student), self._spread(is_right.values.item())

    def _none(self) -> Array:
        return jnp.zeros((self._program.layout.lanes,), self._program.precision)

    def _arguments(self, done: Array, string: String, values: list[Any]) -> list[Numbers]:
        """Return what a step reads: the corrections, the string, what is asked of it, and the student."""
        tokens, asked = string
        tables = [*(self._reading.folded[done, place] for place in range(self._columns)), self._temperature(done)]
        each = [number for token in tokens for number in token]
        singles = [*map(_single, tables), *self._numbers, *map(_single, [*each, *asked])]
        return [*self._initial, *singles, *self._traced.put_together(values)]

    def _temperature(self, done: Array) -> Array:
        return self._reading.temperature[done if self._program.method.sharpens else 0]

    def _values(self, student: list[Numbers]) -> list[Any]:
        """Return the numbers of a student that are kept, each an array unless all networks share it."""
        kept = zip(self._traced.take_apart(student), self._traced.kept, strict=True)
        return [self._spread(value) if SEEDS in part.shape else jnp.asarray(value, part.dtype) for value, part in kept]

    def _spread(self, value: Any) -> Array:  # noqa: ANN401 -- an array, or a number that all networks share
        return jnp.broadcast_to(value, (self._program.layout.lanes,))


def _single(value: Any) -> Numbers:  # noqa: ANN401
    return numbers([value], ())
