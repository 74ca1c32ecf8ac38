"""Learning-rate schedules: the factor on the learning rate, from the share of the steps that is done."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

Schedule = Callable[[Float[Array, ""]], Float[Array, ""]]
"""From the share of the steps done, in [0, 1), to the factor."""


def constant(done: Float[Array, ""]) -> Float[Array, ""]:
    """1 throughout, as in the paper."""
    return jnp.ones_like(done)


def cosine(done: Float[Array, ""]) -> Float[Array, ""]:
    """½(1 + cos πx): a half-wave from 1 down to 0, flat at both ends."""
    return (1 + jnp.cos(jnp.pi * done)) / 2


def linear(done: Float[Array, ""]) -> Float[Array, ""]:
    """1 − x: straight down to 0."""
    return 1 - done


def late_cosine(done: Float[Array, ""]) -> Float[Array, ""]:
    """1 over the first half, then a half-wave down to 0."""
    return cosine(jnp.maximum(2 * done - 1, 0))


SCHEDULES: dict[str, Schedule] = {
    "constant": constant,
    "cosine": cosine,
    "linear": linear,
    "late-cosine": late_cosine,
}
