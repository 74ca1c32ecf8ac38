"""Where gated networks start: uniform in ±1/√units, as PyTorch draws them, from the seed alone."""

from functools import partial
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from tallystick.cells.gated import GatedCell
from tallystick.datasets.tasks import Task
from tallystick.training.gated.weights import GatedWeights
from tallystick.training.initial_weights import has_readout_bias

_TOKENS = 2
_MOST_OUTPUTS = 3


def fresh_gated_weights(
    kind: type[GatedCell], units: int, task: Task, seeds: Int[np.ndarray, " seed"], *, bias: bool, dtype: np.dtype
) -> GatedWeights:
    """Draw the initial weights of each seed, cell and readout alike uniform in ±1/√units.

    The same seed has the same cell in every task and precision, with biases and without.
    """
    rows = kind.gates * units
    shapes = [(rows, _TOKENS), (rows, units), (rows,), (rows,), (_MOST_OUTPUTS, units), (_MOST_OUTPUTS,)]
    sizes = [prod(shape) for shape in shapes]
    draws = np.asarray(_uniform_draws(jnp.asarray(seeds, jnp.uint32), sum(sizes)))
    scaled = (units**-0.5 * draws.T).astype(dtype)
    parts = np.split(scaled, np.cumsum(sizes)[:-1])
    W, U, b_x, b_h, V, c = (part.reshape(*shape, -1) for part, shape in zip(parts, shapes, strict=True))
    outputs = task.outputs
    readout_bias = (c[:outputs],) if has_readout_bias(task, bias=bias) else ()
    return GatedWeights(W, U, (b_x, b_h) if bias else (), V[:outputs], readout_bias)


@partial(jax.jit, static_argnums=1)
def _uniform_draws(seeds: jax.Array, number: int) -> jax.Array:
    def of_one_seed(seed: jax.Array) -> jax.Array:
        # Another key than that of the cells without gates, whose draws are of another number.
        key = jax.random.fold_in(jax.random.key(1, impl="threefry2x32"), seed)
        return jax.random.uniform(key, (number,), jnp.float32, minval=-1, maxval=1)

    return jax.vmap(of_one_seed)(seeds)
