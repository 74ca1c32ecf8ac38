"""How many strings with n opening brackets meet several comparisons at once, each with weights of its own? Exactly, over all.

A single comparison is counted by sorting (`subset_sums`). Several of them are looked at string by string: all sums of both
halves of a string, and all pairs of them, in whole numbers of 64 bits. Longer weights are rounded down, and the strings that
then lie too close to a comparison are looked at again in full.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput

Wholes = NDArray[np.int64]

LONGEST = 26
"""The longest length: 2^26 strings take a few seconds."""
_DIGITS = 61
_AT_ONCE = 1 << 20
_MOST_CLOSE = 1 << 17


class Line(NamedTuple):
    """The weights of the opening brackets and what is added to them; the sum must be above 0, or at least 0."""

    weights: list[int]
    height: int
    strict: bool


def strings_above(lines: list[Line], length: int, openings: int) -> int:
    """Return how many strings with so many opening brackets meet all comparisons.

    >>> strings_above([Line([1, 2, 4], -2, strict=True), Line([4, 2, 1], -2, strict=True)], 3, 2)
    3
    """
    if length > LONGEST:
        raise BadInput(
            f"length: {length}: the classes of this network depend on several sums at once; at most {LONGEST} can be counted"
        )
    short, errors = [_shorten(line) for line in lines], [_error(line) for line in lines]
    half = (length + 1) // 2
    total = 0
    for young in range(max(0, openings - (length - half)), min(half, openings) + 1):
        first = list(combinations(range(half), young))
        second = list(combinations(range(half, length), openings - young))
        rows, columns = _sums(short, first), _sums(short, second)
        step = max(1, _AT_ONCE // len(second))
        for start in range(0, len(first), step):
            sure, close = _decide(short, errors, rows[:, start : start + step], columns)
            total += sure
            if len(close) > _MOST_CLOSE:
                raise BadInput(f"length: {length}: too many strings come closer to a comparison than 61 digits tell")
            total += sum(_meets(lines, (*first[start + int(i)], *second[int(j)])) for i, j in close)
    return total


def _places(line: Line) -> int:
    """Return how many binary places are too many for sums in 64 bits."""
    return max(0, (abs(line.height) + sum(map(abs, line.weights))).bit_length() - _DIGITS)


def _shorten(line: Line) -> Line:
    places = _places(line)
    return Line([weight >> places for weight in line.weights], line.height >> places, line.strict)


def _error(line: Line) -> int:
    """Return how far a sum of a comparison may be off once it is shortened."""
    return len(line.weights) + 1 if _places(line) else 0


def _sums(lines: list[Line], subsets: list[tuple[int, ...]]) -> Wholes:
    """Return the sums of all subsets, one row per comparison."""
    return np.array([[sum(line.weights[i] for i in one) for one in subsets] for line in lines], np.int64)


def _decide(lines: list[Line], errors: list[int], rows: Wholes, columns: Wholes) -> tuple[int, NDArray[np.int64]]:
    """Return how many pairs surely meet all comparisons, and the pairs of which that is not sure."""
    met = np.ones((rows.shape[1], columns.shape[1]), bool)
    may_meet = met.copy()
    for line, error, row, column in zip(lines, errors, rows, columns, strict=True):
        values = row[:, None] + (column + line.height)
        met &= values > error if line.strict or error else values >= 0
        may_meet &= values >= -error if error else (values > 0 if line.strict else values >= 0)
    return int(np.count_nonzero(met)), np.argwhere(may_meet & ~met)


def _meets(lines: list[Line], chosen: tuple[int, ...]) -> bool:
    values = (sum(line.weights[i] for i in chosen) + line.height for line in lines)
    return all(value > 0 if line.strict else value >= 0 for line, value in zip(lines, values, strict=True))
