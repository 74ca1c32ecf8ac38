"""A script as the kernel for GPUs reads it: what a step reads together lies together, so that its address is worked out once.

A string is a row of integers. Its brackets are bits of the first two, so that a token is a flag, and a step for strings of one
length reads only as many. What is asked of it follows, number by number, bit for bit.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tallystick.cells import Token
from tallystick.training.descent import enlarge_offset
from tallystick.training.fused.instructions import Flag
from tallystick.training.lessons import Script, Shape

_OPENING, _CLOSING, _LENGTH, _ASKED = range(4)
"""What the first integers of a row say; from the last of these places on it is what is asked."""


class Reading(NamedTuple):
    """What every block of networks reads.

    Attributes:
        strings: of each string the brackets of either kind as bits, the last token's first, which length it has, and what is
            asked of it.
        stages: how many strings for how many epochs.
        folded: Adam's numbers of each step.
        temperature: of each step.
        numbers: the strength of a regulariser and the learning rate.
    """

    strings: Int[Any, "string word"]
    stages: Int[Any, "stage 2"]
    folded: Float[Any, "step number"]
    temperature: Float[Any, " done"]
    numbers: Float[Any, " 2"]

    def branch(self, place: Array) -> Array:
        """Return the place of a string's length among those that have one."""
        return self.strings[place, _LENGTH].astype(jnp.int32)


String = tuple[list[Token], list[Array]]
"""A string's tokens, and what is asked of it."""


def lengths_of(script: Script) -> tuple[int, ...]:
    """Return the lengths of a script's strings, the most frequent first."""
    lengths, times = np.unique((script.opening + script.closing).sum(axis=1), return_counts=True)
    return tuple(int(lengths[place]) for place in np.argsort(-times, kind="stable"))


def reading_of(script: Script, lengths: tuple[int, ...], *, grows: bool) -> Reading:
    """Put a script together.

    Args:
        script: the script.
        lengths: the lengths that have a place; a string of any other is said to have the first.
        grows: whether gradients grow.
    """
    integer = jnp.int64 if script.asked.dtype == np.float64 else jnp.int32
    bits = 1 << jnp.arange(script.opening.shape[1], dtype=integer)[::-1]
    opening, closing = ((part.astype(integer) * bits).sum(axis=1) for part in (script.opening, script.closing))
    length, which = (script.opening + script.closing).sum(axis=1), jnp.zeros_like(opening)
    for place, own in enumerate(lengths):
        which += place * (length == own)
    asked = jax.lax.bitcast_convert_type(script.asked, integer)
    strings = jnp.concatenate([jnp.stack([opening, closing, which], axis=1), asked], axis=1)
    table = jnp.stack(enlarge_offset(script.folded) if grows else script.folded[:-1], axis=1)
    numbers = jnp.concatenate([script.strength, script.learning_rate])
    return Reading(_widen(strings), script.stages, _widen(table), script.temperature, numbers)


def _widen(table: Array) -> Array:
    """Add columns up to a power of two: the compiler then finds a row's numbers at constant distances from the first."""
    width = table.shape[1]
    return jnp.pad(table, ((0, 0), (0, (1 << (width - 1).bit_length()) - width)))


def read_string(strings: Array, place: Array, shape: Shape, dtype: Any, unpadded: Shape | None = None) -> String:  # noqa: ANN401
    """Read one string, and what is asked of it.

    Args:
        strings: the rows of all of them, or a reference to them.
        place: which string.
        shape: the shape of all strings with their padding.
        dtype: the type of the numbers.
        unpadded: the shape without padding of strings of one length, where this one is known to have it.
    """
    first = shape.tokens - unpadded.tokens if unpadded else 0
    opening, closing = (
        [Flag(word & (1 << bit), np.dtype(dtype)) for bit in reversed(range(shape.tokens - first))]
        for word in (strings[place, kind].astype(jnp.int32) for kind in (_OPENING, _CLOSING))
    )
    tokens = [Token(flag, flag.opposite if unpadded else other) for flag, other in zip(opening, closing, strict=True)]
    left_out, rows = (first, shape.tokens) if shape.every_token else (0, 1)
    asked = range(_ASKED + left_out * shape.targets, _ASKED + rows * shape.targets + shape.outputs)
    return tokens, [jax.lax.bitcast_convert_type(strings[place, word], dtype) for word in asked]
