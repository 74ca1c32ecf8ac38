"""Adam here is optax's Adam."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tallystick.training.descent import adam, corrections


@pytest.mark.parametrize(("dtype", "tolerance"), [(jnp.float64, 1e-13), (jnp.float32, 2e-6)])
def test_many_steps_agree_with_optax(dtype, tolerance):
    with jax.enable_x64(True):
        generator = np.random.default_rng(0)
        weights = {"a": jnp.array(generator.normal(size=5), dtype), "b": (jnp.array(generator.normal(size=5), dtype),)}
        ours, theirs = adam(partial(corrections, learning_rate=0.005)), optax.adam(0.005)
        states, ends = [ours.init(weights), theirs.init(weights)], [weights, weights]
        updates = [jax.jit(optimiser.update) for optimiser in (ours, theirs)]
        for _ in range(300):
            slope = jax.tree.map(
                lambda w: jnp.array(generator.normal(size=w.shape) * 10 ** generator.uniform(-6, 2), dtype), weights
            )
            for place, update in enumerate(updates):
                changes, states[place] = update(slope, states[place], ends[place])
                ends[place] = optax.apply_updates(ends[place], changes)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=300 * 0.005 * tolerance), *ends)
        assert all(array.dtype == dtype for array in jax.tree.leaves(ends))
