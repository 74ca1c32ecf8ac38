"""Strings as one-hot arrays, padded on the left: a token that is neither bracket leaves a state of zero at zero."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from tallystick.errors import BadInput, check_tokens
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN

MOST_TOKENS = 2**26
"""Of all strings, each as long as the longest: memory has to hold them several times."""


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
    if len(strings) * width > MOST_TOKENS:
        raise BadInput(
            f"strings: {len(strings):,}, the longest of {width:,} tokens, make a table of more than {MOST_TOKENS:,} tokens; "
            "long ones and short ones are better tested apart"
        )
    padded = np.frombuffer("".join(string.rjust(width) for string in strings).encode("ascii"), np.uint8)
    return Encoded(*(padded.reshape(len(strings), width) == ord(token) for token in (OPEN, CLOSE)))
