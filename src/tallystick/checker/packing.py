"""Many sums over the same numbers at once, by one product of long whole numbers for each of these.

The weights that a number has in all sums stand side by side in one long number, each in a lane that is wide enough for its sum.
What the products add up to then holds all the sums, and bytes are cut out of it where a lane begins and ends.
"""

from collections.abc import Callable, Sequence
from operator import add, mul, sub
from typing import NamedTuple

_FEWEST = 3
"""As many sums as are worth it."""
_LONGEST = 256
"""The most binary digits that weights add to a lane."""


class Terms(NamedTuple):
    """A sum Σ weight·number / common + bias / common, in units; `places` are those of the numbers."""

    weights: list[int]
    places: list[int]
    bias: int
    common: int

    @property
    def is_plain(self) -> bool:
        """Whether two numbers are added, and nothing more."""
        return self.weights == [1, 1] and self.common == 1 and not self.bias


Packed = Callable[[Sequence[int], Sequence[int]], list[tuple[int, int]]]
"""From the low and the high ends of numbers to the boxes of all sums."""


def packed_sums(sums: Sequence[Terms], places: list[int], digits: int) -> Packed | None:
    """Return a function that finds all sums over numbers whose ends are below 2^(digits − 1) units, rounded outward.

    Args:
        sums: what is added up.
        places: those of all numbers, in the order in which they will be given.
        digits: binary digits of twice the middles and of the widths.

    Returns:
        None where the weights are no binary fractions, or where there are too few sums or weights to be worth it.
    """
    if len(sums) < _FEWEST or any(one.common & one.common - 1 for one in sums):
        return None
    if 2 * sum(len(one.places) for one in sums) < len(sums) * len(places):
        return None
    # All sums are brought to one divisor 2^drop, which is made of whole bytes: they are not cut out of a lane.
    drop = -(-max(2 * one.common for one in sums).bit_length() // 8) * 8
    rows, order = [[0] * len(places) for _ in sums], {place: index for index, place in enumerate(places)}
    for row, one in zip(rows, sums, strict=True):
        for weight, place in zip(one.weights, one.places, strict=True):
            row[order[place]] = (weight << drop - 1) // one.common
    biases = [(one.bias << drop) // one.common for one in sums]
    # A lane holds a sum and half the lane, which makes it positive.
    most = 2 * (max(sum(map(abs, row)) for row in rows) << digits) + max(map(abs, biases)) + (1 << drop)
    lane = -(-(most.bit_length() + 1) // 8) * 8
    if lane > digits + _LONGEST:
        return None
    columns = [_pack(column, lane) for column in zip(*rows, strict=True)]
    sizes = [_pack([*map(abs, column)], lane) for column in zip(*rows, strict=True)]
    half, size = 1 << lane - 1, len(sums) * lane // 8
    below = _pack([half + bias for bias in biases], lane)
    above = _pack([half + bias + (1 << drop) - 1 for bias in biases], lane)
    cuts = [slice((lane * place + drop) // 8, lane * (place + 1) // 8) for place in range(len(sums))]
    centre, number = half >> drop, int.from_bytes

    def totals(lows: Sequence[int], highs: Sequence[int]) -> list[tuple[int, int]]:
        middles, reaches = sum(map(mul, columns, map(add, lows, highs))), sum(map(mul, sizes, map(sub, highs, lows)))
        low = (middles - reaches + below).to_bytes(size, "little")
        high = (middles + reaches + above).to_bytes(size, "little")
        return [(number(low[cut], "little") - centre, number(high[cut], "little") - centre) for cut in cuts]

    return totals


def _pack(numbers: Sequence[int], lane: int) -> int:
    """Put whole numbers side by side."""
    above, below = (b"".join(max(0, sign * one).to_bytes(lane // 8, "little") for one in numbers) for sign in (1, -1))
    return int.from_bytes(above, "little") - int.from_bytes(below, "little")
