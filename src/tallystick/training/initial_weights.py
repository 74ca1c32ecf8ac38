"""Where training starts: uniform draws that depend on the seed alone, never on the block, the machine or the setting."""

from functools import partial
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from tallystick.cells import Cell, ScalarCell
from tallystick.datasets.published import published_initial_weights
from tallystick.languages.tasks import Task
from tallystick.training.weights import AnyWeights, TensorWeights, Weights

CELL_BOUND = 3**-0.5
"""1/√fan-in: a cell with one unit reads two inputs and its own state."""

READOUT_BOUND = 1.0
"""Its readout reads h alone."""

_DRAWN = 12
"""How many numbers a seed draws at once. Which place each weight takes is fixed: seeds are to give what they always gave."""

_RECURRENT, _BIAS, _READOUT_WEIGHT, _READOUT_BIAS = slice(2, 4), 4, 5, 8
"""Where the weights after the two steps lie. Recurrent weights beyond the second have keys of their own."""

_SCALAR_KEY, _TENSOR_KEY = 0, 1
_MOST_OUTPUTS = 3


def fresh_weights(
    kind: type[Cell], task: Task, seeds: Int[np.ndarray, " seed"], *, bias: bool, dtype: np.dtype, units: int = 1
) -> AnyWeights:
    """Draw the initial weights of each seed.

    The same seed has the same cell in every task and precision, with biases and without: the draws are float32 and come from
    a key of its own. A cell with one unit draws uniformly in ±1/√3 and its readout in ±1; with several units cell and readout
    alike draw in ±1/√units, as PyTorch does.
    """
    if issubclass(kind, ScalarCell):
        return _scalar_weights(kind, task, seeds, bias=bias, dtype=dtype)
    return _tensor_weights(kind, task, seeds, units, bias=bias, dtype=dtype)


def _scalar_weights(
    kind: type[ScalarCell], task: Task, seeds: Int[np.ndarray, " seed"], *, bias: bool, dtype: np.dtype
) -> Weights:
    draws = np.asarray(_uniform_draws(jnp.asarray(seeds, jnp.uint32), _DRAWN, _SCALAR_KEY))
    cell, readout = (CELL_BOUND * draws).astype(dtype), (READOUT_BOUND * draws).astype(dtype)
    return Weights(
        inputs=(cell[:, 0], cell[:, 1]),
        recurrent=_recurrent(cell, len(kind.recurrent_fields()), seeds),
        bias=(cell[:, _BIAS],) if bias else (),
        readout_weight=tuple(readout[:, _READOUT_WEIGHT + place] for place in range(task.outputs)),
        readout_bias=tuple(readout[:, _READOUT_BIAS + place] for place in range(task.outputs))
        if has_readout_bias(task, bias=bias)
        else (),
    )


def _recurrent(cell: np.ndarray, number: int, seeds: np.ndarray) -> tuple[np.ndarray, ...]:
    first = tuple(cell.T[_RECURRENT])[:number]
    if number <= len(first):
        return first
    further = np.asarray(_further_draws(jnp.asarray(seeds, jnp.uint32), number - len(first)))
    return (*first, *(CELL_BOUND * further).astype(cell.dtype).T)


def _tensor_weights(
    kind: type[Cell], task: Task, seeds: Int[np.ndarray, " seed"], units: int, *, bias: bool, dtype: np.dtype
) -> TensorWeights:
    shapes = [*kind.shapes(units).values(), (_MOST_OUTPUTS, units), (_MOST_OUTPUTS,)]
    sizes = [prod(shape) for shape in shapes]
    draws = np.asarray(_uniform_draws(jnp.asarray(seeds, jnp.uint32), sum(sizes), _TENSOR_KEY))
    parts = np.split((units**-0.5 * draws.T).astype(dtype), np.cumsum(sizes)[:-1])
    W, U, *biases, V, c = (part.reshape(*shape, -1) for part, shape in zip(parts, shapes, strict=True))
    outputs = task.outputs
    readout_bias = (c[:outputs],) if has_readout_bias(task, bias=bias) else ()
    return TensorWeights(W, U, tuple(biases) if bias else (), V[:outputs], readout_bias)


def published_weights(task: Task, *, bias: bool, dtype: np.dtype) -> Weights:
    """Return the initial weights of the paper's ten runs."""
    runs = published_initial_weights(task, bias=bias)

    def arrays(field: str) -> tuple[np.ndarray, ...]:
        return tuple(np.array(values, dtype) for values in zip(*(getattr(run, field) for run in runs), strict=True))

    opening, closing = arrays("inputs")
    others = (arrays(field) for field in ("recurrent", "bias", "readout_weight", "readout_bias"))
    return Weights((opening, closing), *others)


def nudged(weights: Weights, size: float, seed: int) -> Weights:
    """Change every weight by a random relative amount of at most `size`, the way rounding would."""
    generator = np.random.default_rng(seed)

    def nudge(array: np.ndarray) -> np.ndarray:
        factors = 1 + size * generator.uniform(-1, 1, array.shape)
        return (array * factors).astype(array.dtype)

    return jax.tree.map(nudge, weights)


def has_readout_bias(task: Task, *, bias: bool) -> bool:
    """Say whether the readout has a bias: one with several outputs always, any other when the cell has."""
    return bias or task.outputs > 1


def _key(seed: jax.Array, layout: int = _SCALAR_KEY) -> jax.Array:
    return jax.random.fold_in(jax.random.key(layout, impl="threefry2x32"), seed)


@partial(jax.jit, static_argnums=(1, 2))
def _uniform_draws(seeds: jax.Array, number: int, layout: int) -> jax.Array:
    def of_one_seed(seed: jax.Array) -> jax.Array:
        return jax.random.uniform(_key(seed, layout), (number,), jnp.float32, minval=-1, maxval=1)

    return jax.vmap(of_one_seed)(seeds)


@partial(jax.jit, static_argnames="number")
def _further_draws(seeds: jax.Array, number: int) -> jax.Array:
    """Draw each weight by itself, so that a cell's third weight is the same however many follow."""

    def one(seed: jax.Array, place: jax.Array) -> jax.Array:
        return jax.random.uniform(jax.random.fold_in(_key(seed), place), (), jnp.float32, minval=-1, maxval=1)

    return jax.vmap(jax.vmap(one, (None, 0)), (0, None))(seeds, jnp.arange(number, dtype=jnp.uint32))
