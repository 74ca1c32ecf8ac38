"""How many strings with n opening brackets have a sum of the weights of their `(` above a place t? Exactly, over all of them.

Meet in the middle: each token of a string has a weight, the youngest the first. For each number of opening brackets the sums
of the weights of either half are kept sorted, and pairs of a younger and an older sum are counted by looking one of them up
among the others. About 2^(N/2) numbers of memory in place of 2^N strings. Where the weights are the powers of a number U, as in
a cell with one unit, the older half has the weights of the younger one times U^k, so that one half is enough.

The sums are float64. Each is off by at most a bound that is carried along; pairs that lie closer to t than that are looked up
again as subsets and decided in whole numbers. A level is taken off every weight where that makes them smaller, since near a
counter all strings with n opening brackets lie close together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from math import lcm
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput

Floats = NDArray[np.float64]

_UNIT = 2.0**-53
_SMALLEST = 1e-250
_CHUNK = 1 << 14
MOST_CLOSE_PAIRS = 20_000
_MOST_SUBSETS = 1 << 20
"""The most subsets behind close pairs that are looked at one by one."""
LONGEST_WHOLE = 32
"""Up to this length whole numbers can do all the work, if too many pairs are close."""


@dataclass(frozen=True)
class Place:
    """A place on the line of sums, and whether a sum that equals it counts as above it."""

    value: Fraction
    counts: bool = False


def is_above(total: int, place: Place, scale: int) -> bool:
    """Say whether total / scale is above a place."""
    left, right = total * place.value.denominator, place.value.numerator * scale
    return left >= right if place.counts else left > right


class SubsetSums:
    """The sums of the weights of the opening brackets of all strings of one length."""

    def __init__(self, whole: Sequence[int], scale: int, ratio: Fraction | None = None) -> None:
        """Prepare the halves; nothing is listed before it is asked for.

        The weights are whole numbers over a scale. Where each is the one before it times the same number, `ratio` may say so.
        """
        self.whole, self.scale, self.ratio, self.length = whole, scale, ratio, len(whole)
        self.younger = (self.length + 1) // 2
        level = whole[0] if ratio is not None else sorted(whole)[self.younger - 1]
        self.level = level if sum(abs(weight - level) for weight in whole) < sum(map(abs, whole)) else 0

    @classmethod
    def of_powers(cls, U: Fraction, length: int) -> "SubsetSums":
        """Return those of the weights U^i, as a cell with one unit has them."""
        p, q = U.numerator, U.denominator
        return cls([p**i * q ** (length - 1 - i) for i in range(length)], q ** (length - 1), U)

    def extremes(self) -> list[tuple[int, int]]:
        """Return the least and greatest sum for each number of opening brackets, times the scale.

        They are the sums of as many of the least and of the greatest weights.
        """
        ordered, ends = sorted(self.whole), [(0, 0)]
        for least, greatest in zip(ordered, reversed(ordered), strict=True):
            ends.append((ends[-1][0] + least, ends[-1][1] + greatest))
        return ends

    def above(self, openings: int, place: Place) -> int:
        """Return how many strings with so many opening brackets have a sum above a place, exactly."""
        try:
            return self._by_floats(openings, place)
        except (_TooClose, OverflowError) as error:
            if self.length > LONGEST_WHOLE:
                close = "too many strings come closer to a threshold than rounding"
                reason = close if isinstance(error, _TooClose) else "the powers of U leave the range of floats"
                raise BadInput(
                    f"length: {self.length}: {reason}; at most {LONGEST_WHOLE} can be counted for this model"
                ) from None
            return self._by_whole_numbers(openings, place)

    def _splits(self, openings: int) -> Iterator[tuple[int, int]]:
        """Go through the ways to share the opening brackets between the halves."""
        older = self.length - self.younger
        for young in range(max(0, openings - older), min(self.younger, openings) + 1):
            yield young, openings - young

    # --- In floats ---

    @cached_property
    def _groups(self) -> tuple[list[Floats], list[Floats]]:
        """The sorted sums of the weights of the younger half, and of those of the older one, less the factor, by size."""
        younger, older = self._rounded
        groups, before = _groups_of(younger)
        if self.ratio is None:
            return groups, _groups_of(older)[0]
        return groups, groups if self.length % 2 == 0 else before

    @cached_property
    def _rounded(self) -> tuple[list[float], list[float]]:
        """The weights of both halves without level and factor, each rounded once: Python divides whole numbers so."""
        shifted = [weight - self.level for weight in self.whole]
        rounded = [weight / self.scale for weight in shifted]
        least = 0.0 if self.ratio is None else _SMALLEST  # a factor may enlarge what is lost of a tiny weight
        if any(
            weight and not least <= abs(number) < 1 / _SMALLEST for weight, number in zip(shifted, rounded, strict=True)
        ):
            raise OverflowError  # outside what the error bound below speaks of
        younger = rounded[: self.younger]
        return younger, rounded[self.younger :] if self.ratio is None else younger[: self.length - self.younger]

    def _by_floats(self, openings: int, place: Place) -> int:
        factor, younger, older = float(self._multiple), *self._groups
        constants = self._constants(openings, place)
        # A sum takes at most k roundings after its weights' own; the factor, its product, the constant and the difference
        # take four more. Each is relative to a part of `size`, whose own roundings the rest of the 16 covers.
        young_size, old_size = (sum(map(abs, weights)) for weights in self._rounded)
        size = young_size + abs(factor) * old_size + max(map(abs, constants.values()))
        error = (self.younger + 16) * _UNIT * size + self.length * _SMALLEST
        total, close = 0, list[tuple[int, float, int, float]]()
        for young, old in self._splits(openings):
            found = _pairs_above(younger[young], older[old], factor, constants[old], error)
            total += found.above
            close += [(young, y, old, o) for y, o in found.close]
            if len(close) > MOST_CLOSE_PAIRS:
                raise _TooClose
        return total + sum(self._correction(place, constants, *pair) for pair in close)

    @cached_property
    def _multiple(self) -> Fraction:
        """What the first weights are multiplied by to give those of the older half, where `ratio` says that they are."""
        return Fraction(1) if self.ratio is None else self.ratio**self.younger

    def _constants(self, openings: int, place: Place) -> dict[int, float]:
        """Return, for each number of `(` in the older half, t less what the level takes off, rounded once.

        The string's sum is above t iff y > constant − factor·o for the sums y and o of its halves.
        """
        level = Fraction(self.level, self.scale)
        start, step = place.value - level * openings, level * (self._multiple - 1)
        common = lcm(start.denominator, step.denominator)
        first, each = int(start * common), int(step * common)
        return {old: (first - old * each) / common for _, old in self._splits(openings)}

    def _correction(self, place: Place, constants: dict[int, float], young: int, y: float, old: int, o: float) -> int:
        """Return how many strings behind a close pair of floats are above the place, less how many were counted so."""
        youngers, olders = (
            _subsets(tuple(weights), count, value)
            for weights, count, value in zip(self._rounded, (young, old), (y, o), strict=True)
        )
        if len(youngers) * len(olders) > _MOST_SUBSETS:
            raise _TooClose
        counted = len(youngers) * len(olders) if y > constants[old] - float(self._multiple) * o else 0
        return sum(self._is_above(p, q, place) for p in youngers for q in olders) - counted

    # --- In whole numbers ---

    def _is_above(self, young: tuple[int, ...], old: tuple[int, ...], place: Place) -> bool:
        total = sum(self.whole[i] for i in young) + sum(self.whole[self.younger + i] for i in old)
        return is_above(total, place, self.scale)

    def _by_whole_numbers(self, openings: int, place: Place) -> int:
        younger, older = self._whole_groups
        total = 0
        for young, old in self._splits(openings):
            ys, rest = younger[young], len(younger[young])
            for o in reversed(older[old]):
                # As o falls, so does the number of y that it lifts above the place: one walk along the ys does.
                while rest and not is_above(ys[len(ys) - rest] + o, place, self.scale):
                    rest -= 1
                total += rest
        return total

    @cached_property
    def _whole_groups(self) -> tuple[list[list[int]], list[list[int]]]:
        return _sorted_sums(self.whole[: self.younger]), _sorted_sums(self.whole[self.younger :])


class _TooClose(Exception):
    """More pairs are close to a place than can be looked up."""


def _subsets(weights: tuple[float, ...], count: int, value: float) -> list[tuple[int, ...]]:
    """Return the subsets of weights whose sum, added up as `_groups_of` does, is exactly this float."""
    size = len(weights)
    tolerance = 8 * size * _UNIT * sum(map(abs, weights))
    found: list[tuple[int, ...]] = []
    for part in range(count + 1):
        low, low_sums = _small_subsets(weights, 0, size // 2, part)
        high, high_sums = _small_subsets(weights, size // 2, size, count - part)
        if not low or not high:
            continue
        first = np.searchsorted(low_sums, value - high_sums - tolerance)
        last = np.searchsorted(low_sums, value - high_sums + tolerance, "right")
        if (last - first).sum() > _MOST_SUBSETS:
            raise _TooClose
        for place in np.flatnonzero(last > first):
            candidates = (low[i] + high[place] for i in range(first[place], last[place]))
            found += [subset for subset in candidates if _add_up(weights, subset) == value]
    return found


def _groups_of(weights: list[float]) -> tuple[list[Floats], list[Floats]]:
    """Return the sorted sums of as many of the weights as the place in the list says, and the same without the last weight."""
    nothing: Floats = np.zeros(0)
    groups, before = [np.zeros(1)], list[Floats]()
    for weight in weights:
        pairs = zip([*groups, nothing], [nothing, *groups], strict=True)
        groups, before = [_merge(without, with_it + weight) for without, with_it in pairs], groups
    return groups, before


def _sorted_sums(weights: Sequence[int]) -> list[list[int]]:
    return [sorted(map(sum, combinations(weights, size))) for size in range(len(weights) + 1)]


def _merge(first: Floats, second: Floats) -> Floats:
    """Merge two sorted arrays."""
    both = np.concatenate([first, second])
    both.sort(kind="stable")
    return both


@dataclass(frozen=True)
class _Pairs:
    """How many pairs were found above in floats, and the pairs of floats that are too close to a tie to be sure of."""

    above: int
    close: frozenset[tuple[float, float]]


def _pairs_above(ys: Floats, olders: Floats, factor: float, constant: float, error: float) -> _Pairs:
    """Count the pairs with y > z for z = constant − factor·o. Both arrays are sorted."""
    order = slice(None, None, -1 if factor > 0 else 1)  # so that z rises
    zs, olders = (constant - factor * olders)[order], olders[order]
    margin = 2 * error  # for the y and for the z
    start, stop = (int(place) for place in np.searchsorted(zs, [ys[0] - margin, ys[-1] + margin]))
    above = start * len(ys)  # every y lies above the first of the z, and below the last ones
    zs, olders = zs[start:stop], olders[start:stop]
    if start == stop:
        return _Pairs(above, frozenset())
    low, high = (int(place) for place in np.searchsorted(ys, [zs[0] - margin, zs[-1] + margin]))
    above += (len(ys) - high) * len(zs)
    ys = ys[low:high]
    if len(zs) <= len(ys):
        below, close = _look_up(zs, ys, margin, "right")
        return _Pairs(above + len(zs) * len(ys) - below, frozenset((y, float(olders[i])) for i, y in close))
    below, close = _look_up(ys, zs, margin, "left")
    near = frozenset((float(ys[i]), float(olders[j])) for i, z in close for j in np.flatnonzero(zs == z))
    return _Pairs(above + below, near)


def _look_up(
    needles: Floats, stack: Floats, margin: float, side: Literal["left", "right"]
) -> tuple[int, list[tuple[int, float]]]:
    """Return the sum of the needles' places in a sorted stack, and each needle with each neighbour within a margin.

    Chunk by chunk: neighbouring needles fall into a short stretch of the stack, which stays in the processor's cache.
    """
    fenced = np.concatenate([[-np.inf], stack, [np.inf]])  # so that every place has a neighbour on both sides
    total, close = 0, list[tuple[int, float]]()
    for start in range(0, len(needles), _CHUNK):
        chunk = needles[start : start + _CHUNK]
        low, high = (int(place) for place in np.searchsorted(stack, chunk[[0, -1]], side))
        places = np.searchsorted(stack[low:high], chunk, side) + low
        total += int(places.sum())
        for i in np.flatnonzero((chunk - fenced[places] <= margin) | (fenced[places + 1] - chunk <= margin)):
            needle = float(chunk[i])
            first, last = np.searchsorted(stack, needle - margin), np.searchsorted(stack, needle + margin, "right")
            close += [(start + int(i), float(neighbour)) for neighbour in stack[first:last]]
            if len(close) > MOST_CLOSE_PAIRS:
                raise _TooClose
    return total, close


@lru_cache(maxsize=256)
def _small_subsets(
    weights: tuple[float, ...], start: int, stop: int, size: int
) -> tuple[list[tuple[int, ...]], Floats]:
    """Return the subsets of a stretch of the weights with their sums, sorted by them."""
    subsets = list(combinations(range(start, stop), size))
    sums = np.array([_add_up(weights, subset) for subset in subsets])
    order = np.argsort(sums)
    return [subsets[i] for i in order], sums[order]


def _add_up(weights: tuple[float, ...], subset: tuple[int, ...]) -> float:
    total = 0.0
    for i in subset:
        total += weights[i]
    return total
