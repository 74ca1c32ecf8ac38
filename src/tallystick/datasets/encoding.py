"""Strings as one-hot arrays, padded on the left: a token that is neither bracket leaves a state of zero at zero."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from tallystick.errors import check_tokens
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN


class Encoded(NamedTuple):
    """Strings as two arrays of the same shape: where an opening bracket stands, and where a closing one."""

    opening: Bool[np.ndarray, "string token"]
    closing: Bool[np.ndarray, "string token"]


def encode(strings: list[str], width: int = 0) -> Encoded:
    """Return the strings one a row, right-aligned in the longest string's width or `width`, if that is more.

    >>> encode(["()", ")"]).closing.astype(int).tolist()
    [[0, 1], [0, 1]]
    """
    for string in strings:
        check_tokens(string, ALPHABET)
    width = max([width, *map(len, strings)])
    padded = np.array([list(string.rjust(width)) for string in strings]).reshape(len(strings), width)
    return Encoded(padded == OPEN, padded == CLOSE)
