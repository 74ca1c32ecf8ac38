"""The weights of an ensemble of networks in one of two layouts, and where training starts; the last axis is the seed.

Cells with one unit have one array per weight (`Weights`), which is what lets a step run over many seeds at once. Cells with
several units have one array per tensor (`TensorWeights`), so that the optimiser has six arrays to go through, however many
units there are. Both have the same methods. The draws depend on the seed alone, never on the block, the machine or the setting.

Threads draw and train side by side with the same programs, each of which is compiled by the first that asks (`compile_once`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from csv import DictReader
from functools import partial, wraps
from importlib.resources import files
from math import prod
from threading import Lock
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tallystick.cells import Cell, ScalarCell
from tallystick.languages.tasks import Task
from tallystick.networks import Readout
from tallystick.numbers import exact
from tallystick.numbers.values import Vector, layer, rows_of

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

PerSeed = Float[Any, " seed"]
"""One number per seed, as a NumPy or a JAX array."""


class Weights(NamedTuple):
    """W, U, W_b, v and c of networks with one unit; a missing bias is an empty tuple, and stays out of the training."""

    inputs: tuple[PerSeed, PerSeed]
    recurrent: tuple[PerSeed, ...]
    bias: tuple[PerSeed, ...]
    readout_weight: tuple[PerSeed, ...]
    readout_bias: tuple[PerSeed, ...]

    @property
    def example(self) -> Any:  # noqa: ANN401 -- a NumPy or a JAX array
        """One of the weights, with one entry per seed, for its shape and type."""
        return self.inputs[0]

    @property
    def steps(self) -> tuple[PerSeed, PerSeed]:
        """A and b: the input weights, with the bias where there is one."""
        opening, closing = (weight + self.bias[0] if self.bias else weight for weight in self.inputs)
        return opening, closing

    @property
    def factors(self) -> tuple[PerSeed, ...]:
        """U, or P and Q: the recurrent weights as conditions know them."""
        return self.recurrent

    def with_factors(self, factors: tuple[PerSeed, ...]) -> "Weights":
        """Return the weights with other recurrent weights."""
        return self._replace(recurrent=factors)

    def with_steps(self, a: PerSeed, b: PerSeed) -> "Weights":
        """Return the weights with other steps, and zeros as the bias, which the steps hold."""
        return self._replace(inputs=(a, b), bias=tuple(jnp.zeros_like(bias) for bias in self.bias))

    def cell(self, kind: type[Cell]) -> Any:  # noqa: ANN401 -- of that kind
        """Return the cells as one cell of arrays."""
        return kind.from_training(self.inputs, self.recurrent, self.bias)

    def outputs(self, hidden: Vector) -> tuple[Array, ...]:
        """Return v·h + c, output by output."""
        (h,) = hidden
        products = tuple(weight * h for weight in self.readout_weight)
        return tuple(p + c for p, c in zip(products, self.readout_bias, strict=True)) if self.readout_bias else products

    def readout(self) -> Readout:
        """Return the readouts as one readout of arrays."""
        bias = self.readout_bias or tuple(0 * weight for weight in self.readout_weight)
        return Readout(tuple((weight,) for weight in self.readout_weight), bias)

    def places(self, chosen: object) -> "Weights":
        """Return the weights of some of the seeds."""
        return jax.tree.map(lambda array: array[chosen], self)


class TensorWeights(NamedTuple):
    """W, U, the biases, V and c of networks with several units; a missing bias is an empty tuple."""

    inputs: Float[Any, "row token seed"]
    recurrent: Float[Any, "*shape seed"]
    bias: tuple[Float[Any, "row seed"], ...]
    readout_weight: Float[Any, "output unit seed"]
    readout_bias: tuple[Float[Any, "output seed"], ...]

    @property
    def example(self) -> Any:  # noqa: ANN401
        """One of the weights, with one entry per seed, for its shape and type."""
        return self.readout_weight[0, 0]

    @property
    def steps(self) -> tuple[Float[Any, "row seed"], Float[Any, "row seed"]]:
        """A and b: the columns of the input weights, with the biases where there are any."""
        opening, closing = (sum(self.bias, start=self.inputs[:, place]) for place in (0, 1))
        return opening, closing

    @property
    def factors(self) -> tuple[Any, ...]:
        """The recurrent weights as conditions know them: one array."""
        return (self.recurrent,)

    def with_factors(self, factors: tuple[Any, ...]) -> "TensorWeights":
        """Return the weights with other recurrent weights."""
        return self._replace(recurrent=factors[0])

    def with_steps(self, a: Float[Any, "row seed"], b: Float[Any, "row seed"]) -> "TensorWeights":
        """Return the weights with other steps, and zeros as the biases, which the steps hold."""
        return self._replace(inputs=jnp.stack((a, b), axis=1), bias=tuple(jnp.zeros_like(bias) for bias in self.bias))

    def sharpen(self, temperature: Array) -> "TensorWeights":
        """Multiply what makes the inputs of the gates, W, U and the biases, by a temperature."""
        bias = tuple(temperature * bias for bias in self.bias)
        return self._replace(inputs=temperature * self.inputs, recurrent=temperature * self.recurrent, bias=bias)

    def cell(self, kind: type[Cell]) -> Any:  # noqa: ANN401
        """Return the cells as one cell of arrays."""
        return kind.from_training(self.inputs, self.recurrent, self.bias)

    def outputs(self, hidden: Vector) -> tuple[Array, ...]:
        """Return V·h + c, output by output."""
        readout = self.readout()
        return tuple(layer(readout.weight, readout.bias, hidden))

    def readout(self) -> Readout:
        """Return the readouts as one readout of arrays."""
        missing = (0 * self.example,) * len(self.readout_weight)
        return Readout(
            rows_of(self.readout_weight, 2), rows_of(self.readout_bias[0], 1) if self.readout_bias else missing
        )

    def places(self, chosen: object) -> "TensorWeights":
        """Return the weights of some of the seeds."""
        return jax.tree.map(lambda array: array[..., chosen], self)


AnyWeights: TypeAlias = Any
"""`Weights` for a cell with one unit, `TensorWeights` for one with several."""

CELL_BOUND = 3**-0.5
"""1/√fan-in: a cell with one unit reads two inputs and its own state."""

READOUT_BOUND = 1.0
"""Its readout reads only h."""

_DRAWN = 12
"""How many numbers a seed draws at once. The place of each weight is fixed: a seed always gives the same weights."""

_DRAWN_TOGETHER = 128
"""Seeds are drawn in multiples of so many: every other number of them is a program of its own, half a second to compile."""

_INPUTS, _RECURRENT, _BIAS, _READOUT_WEIGHT, _READOUT_BIAS = map(slice, (0, 2, 4, 5, 8), (2, 4, 5, 8, 11))
"""Where the weights lie among the draws. Recurrent weights beyond the second have keys of their own."""

_SCALAR_KEY, _TENSOR_KEY = 0, 1
_MOST_OUTPUTS = 3


def fresh_weights(
    kind: type[Cell], task: Task, seeds: Int[np.ndarray, " seed"], *, bias: bool, dtype: np.dtype, units: int = 1
) -> AnyWeights:
    """Draw the initial weights of each seed.

    The same seed has the same cell in every task and precision, with biases and without: the draws are float32 and come from
    a key of its own. A cell with one unit draws uniformly in ±1/√3 and its readout in ±1; with several units cell and readout
    alike draw in ±1/√units, as PyTorch does, but for the factors λ of an LRU, which lie in a ring.
    """
    if issubclass(kind, ScalarCell):
        return _scalar_weights(kind, task, seeds, bias=bias, dtype=dtype)
    return _tensor_weights(kind, task, seeds, units, bias=bias, dtype=dtype)


def _scalar_weights(
    kind: type[ScalarCell], task: Task, seeds: Int[np.ndarray, " seed"], *, bias: bool, dtype: np.dtype
) -> Weights:
    draws = _draws(seeds, _DRAWN, _SCALAR_KEY)
    recurrent, further = draws[_RECURRENT], len(kind.recurrent_fields()) - len(draws[_RECURRENT])
    if further > 0:
        recurrent = [*recurrent, *np.asarray(_further_draws(jnp.asarray(seeds, jnp.uint32), further))]

    def scale(rows: Iterable[np.ndarray], bound: float) -> tuple[np.ndarray, ...]:
        return tuple((bound * row).astype(dtype, copy=False) for row in rows)

    opening, closing = scale(draws[_INPUTS], CELL_BOUND)
    return Weights(
        inputs=(opening, closing),
        recurrent=scale(recurrent[: len(kind.recurrent_fields())], CELL_BOUND),
        bias=scale(draws[_BIAS], CELL_BOUND) if bias else (),
        readout_weight=scale(draws[_READOUT_WEIGHT][: task.outputs], READOUT_BOUND),
        readout_bias=scale(draws[_READOUT_BIAS][: task.outputs], READOUT_BOUND)
        if has_readout_bias(task, bias=bias)
        else (),
    )


def _tensor_weights(
    kind: type[Cell], task: Task, seeds: Int[np.ndarray, " seed"], units: int, *, bias: bool, dtype: np.dtype
) -> TensorWeights:
    shapes = [*kind.shapes(units).values(), (_MOST_OUTPUTS, units), (_MOST_OUTPUTS,)]
    sizes = [prod(shape) for shape in shapes]
    draws = _draws(seeds, sum(sizes), _TENSOR_KEY)
    parts = np.split(draws, np.cumsum(sizes)[:-1])
    tensors = [part.reshape(*shape, -1) for part, shape in zip(parts, shapes, strict=True)]
    bound = units**-0.5
    U = kind.initial_recurrent(tensors.pop(1), bound).astype(dtype)
    W, *biases, V, c = ((bound * tensor).astype(dtype) for tensor in tensors)
    outputs = task.outputs
    readout_bias = (c[:outputs],) if has_readout_bias(task, bias=bias) else ()
    return TensorWeights(W, U, tuple(biases) if bias else (), V[:outputs], readout_bias)


def published_weights(task: Task, *, bias: bool, dtype: np.dtype) -> Weights:
    """Return the initial weights of the paper's ten runs, in the order of the seeds 0 to 9."""
    table = files("tallystick.datasets").joinpath("initial_weights.csv").read_text()
    rows = [
        row for row in DictReader(table.splitlines()) if row["task"] == task.name and row["bias"] == str(bias).lower()
    ]
    runs = [_weights_of_run(row) for row in sorted(rows, key=lambda row: int(row["seed"]))]
    return jax.tree.map(lambda *values: np.array(values, dtype), *runs)


def _weights_of_run(row: dict[str, str]) -> Weights:
    def numbers(*fields: str) -> tuple[float, ...]:
        return tuple(float(exact(text, field)) for field in fields for text in row[field].split())

    open_weight, close_weight, recurrent = numbers("open_weight", "close_weight", "recurrent_weight")
    return Weights(
        inputs=(open_weight, close_weight),
        recurrent=(recurrent,),
        bias=numbers("cell_bias"),
        readout_weight=numbers("readout_weight"),
        readout_bias=numbers("readout_bias"),
    )


def nudge_weights(weights: Weights, size: float, seed: int) -> Weights:
    """Change every weight by a random relative amount of at most `size`, the way rounding would."""
    generator = np.random.default_rng(seed)

    def nudge(array: np.ndarray) -> np.ndarray:
        factors = 1 + size * generator.uniform(-1, 1, array.shape)
        return (array * factors).astype(array.dtype)

    return jax.tree.map(nudge, weights)


def has_readout_bias(task: Task, *, bias: bool) -> bool:
    """Say whether the readout has a bias: one with several outputs always does, any other if the cell does."""
    return bias or task.outputs > 1


def _key(seed: jax.Array, layout: int = _SCALAR_KEY) -> jax.Array:
    return jax.random.fold_in(jax.random.key(layout, impl="threefry2x32"), seed)


def _draws(seeds: Int[np.ndarray, " seed"], number: int, layout: int) -> Float[np.ndarray, "number seed"]:
    """Return what `_uniform_draws` draws, for a multiple of `_DRAWN_TOGETHER` seeds of which the last are left out again."""
    if not len(seeds):  # whoever asks for the shapes alone need not wait for a program
        return np.zeros((number, 0), np.float32)
    padded = np.zeros(-(-len(seeds) // _DRAWN_TOGETHER) * _DRAWN_TOGETHER, np.uint32)
    padded[: len(seeds)] = seeds
    return np.asarray(_uniform_draws(padded, number, layout))[:, : len(seeds)]


def compile_once(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let the first call of a jitted function with arguments of some shape end before others of that shape begin.

    JAX compiles a program anew in every thread that calls it before the first one has ended. Parts of a run begin side by side
    and need the same programs, so each would be compiled once per core. Arguments by place are arrays, and arguments by name
    are static.
    """
    begun: defaultdict[Any, Lock] = defaultdict(Lock)
    done: set[Any] = set()
    own = Lock()

    @wraps(function)
    def call(*arguments: Arguments.args, **static: Arguments.kwargs) -> Result:
        leaves, structure = jax.tree.flatten(arguments)
        kinds = tuple((np.shape(leaf), str(getattr(leaf, "dtype", type(leaf)))) for leaf in leaves)
        context = (jax.config.jax_default_device, jax.config.jax_enable_x64)  # pyright: ignore[reportAttributeAccessIssue]
        key = (structure, kinds, tuple(static.items()), context)
        if key in done:
            return function(*arguments, **static)
        with own:
            first = begun[key]
        with first:
            result = function(*arguments, **static)
            done.add(key)
        return result

    return call


@compile_once
@partial(jax.jit, static_argnums=(1, 2))
def _uniform_draws(seeds: jax.Array, number: int, layout: int) -> Float[Array, "number seed"]:
    """Draw so many numbers for each seed, one row per weight: whatever is done to a weight later reads memory in order."""

    def of_one_seed(seed: jax.Array) -> jax.Array:
        return jax.random.uniform(_key(seed, layout), (number,), jnp.float32, minval=-1, maxval=1)

    return jax.vmap(of_one_seed, out_axes=1)(seeds)


@partial(jax.jit, static_argnames="number")
def _further_draws(seeds: jax.Array, number: int) -> Float[Array, "number seed"]:
    """Draw each weight with a key of its own, so that a cell's third weight is the same however many follow."""

    def one(seed: jax.Array, place: jax.Array) -> jax.Array:
        return jax.random.uniform(jax.random.fold_in(_key(seed), place), (), jnp.float32, minval=-1, maxval=1)

    return jax.vmap(jax.vmap(one, (0, None)), (None, 0))(seeds, jnp.arange(number, dtype=jnp.uint32))
