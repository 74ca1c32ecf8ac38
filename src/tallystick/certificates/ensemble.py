"""The horizons of every model of an ensemble at once, in real arithmetic.

Length by length, the critical strings of all cells are run in float64 with a bound on the error. A comparison further from
its tie than the bound is decided, every other model goes to the rational path: the answer is exact, the floats only make it
fast. Exact counters need no lengths at all.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import LinearCell
from tallystick.certificates.critical_strings import CriticalString, critical_strings
from tallystick.certificates.horizon import certify
from tallystick.certificates.verdict import Lengths
from tallystick.errors import BadInput
from tallystick.languages.brackets import OPEN
from tallystick.models import Model
from tallystick.readouts import BinaryReadout, TernaryReadout

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

UNLIMITED = int(np.iinfo(np.int64).max)
"""Stands for an unlimited horizon: larger than every other, so that medians and maxima come out right."""

_UNIT = 2.0**-53
_LONGEST = 20_000
_FEW = 4
"""So few models are quicker to decide one by one than by going on through the lengths."""


class Horizons(NamedTuple):
    """The horizon of each model when all lengths count, and when only even ones do."""

    all: NDArray[np.int64]
    even: NDArray[np.int64]


def horizons(cells: LinearCell, readouts: BinaryReadout | TernaryReadout) -> Horizons:
    """Return the horizons of linear cells given as arrays, one entry a model, exactly as `certify` finds them.

    >>> cells = LinearCell(np.array([1.0, 1.0]), np.array([-1.0, -1.0]), np.array([1.0, 0.5]))
    >>> found = horizons(cells, BinaryReadout(np.array([1.0, 1.0]), np.array([-0.5, -0.5])))
    >>> (found.all == UNLIMITED).tolist(), found.even.tolist()[1:]
    ([True, False], [2])
    """
    models = _Models.read(cells, readouts)
    found = Horizons(*(np.full(len(models.a), -1) for _ in Lengths))
    _decide_exact_counters(models, found)
    with np.errstate(all="ignore"):  # whatever overflows is not decided in floats
        _run_lengths(models, found)
    for position in np.flatnonzero((found.all < 0) | (found.even < 0)):
        for answers, lengths in zip(found, Lengths, strict=True):
            horizon = certify(models.single(int(position)), lengths).horizon
            answers[position] = UNLIMITED if horizon is None else horizon
    return found


class _Side(NamedTuple):
    """A comparison w·h + c > 0, or ≥ 0, with bounds on what w and c are made of."""

    weight: Floats
    bias: Floats
    weight_size: Floats
    bias_size: Floats
    strict: bool


@dataclass(frozen=True)
class _Models:
    """The weights of an ensemble in float64, which holds every float32 exactly."""

    a: Floats
    b: Floats
    U: Floats
    v: tuple[Floats, ...]
    c: tuple[Floats, ...]

    @classmethod
    def read(cls, cells: LinearCell, readouts: BinaryReadout | TernaryReadout) -> "_Models":
        ternary = isinstance(readouts, TernaryReadout)
        a, b, U = cells.open_step, cells.close_step, cells.recurrent_weight
        v, c = (value if ternary else (value,) for value in (readouts.weight, readouts.bias))
        shape = np.shape(a)
        arrays = [_array(value, shape) for value in (a, b, U, *v, *c)]
        return cls(*arrays[:3], v=tuple(arrays[3 : 3 + len(v)]), c=tuple(arrays[3 + len(v) :]))

    @property
    def readout(self) -> BinaryReadout | TernaryReadout:
        """A readout of the ensemble's kind, for what does not depend on the weights."""
        return BinaryReadout(1) if len(self.v) == 1 else TernaryReadout((-1, 0, 1))

    def of(self, chosen: Any) -> "_Models":  # noqa: ANN401 -- a mask or an array of positions
        """Return some of the models."""
        v, c = (tuple(array[chosen] for array in arrays) for arrays in (self.v, self.c))
        return _Models(self.a[chosen], self.b[chosen], self.U[chosen], v, c)

    def single(self, position: int) -> Model:
        """Return one model."""
        v, c = ([float(array[position]) for array in arrays] for arrays in (self.v, self.c))
        cell = LinearCell(float(self.a[position]), float(self.b[position]), float(self.U[position]))
        if len(v) == 1:
            return Model(cell, BinaryReadout(v[0], c[0]))
        return Model(cell, TernaryReadout((v[0], v[1], v[2]), (c[0], c[1], c[2])))

    def sides(self, index: int) -> list[_Side]:
        """Return the comparisons that make up a class."""
        if len(self.v) == 1:
            sign = 1 if index else -1
            return [_Side(sign * self.v[0], sign * self.c[0], np.abs(self.v[0]), np.abs(self.c[0]), index == 1)]
        return [
            _Side(
                self.v[index] - self.v[other],
                self.c[index] - self.c[other],
                np.abs(self.v[index]) + np.abs(self.v[other]),
                np.abs(self.c[index]) + np.abs(self.c[other]),
                other < index,
            )
            for other in range(len(self.v))
            if other != index
        ]

    def in_range(self) -> Mask:
        """Say which models have U > 0 and weights that neither overflow nor lose digits to underflow."""
        weights = np.abs([self.a, self.b, self.U, *self.v, *self.c])
        return (self.U > 0) & ((weights == 0) | ((weights > 1e-50) & (weights < 1e50))).all(axis=0)  # noqa: PLR2004


def _array(value: object, shape: tuple[int, ...]) -> Floats:
    array = np.asarray(value)
    if array.dtype.kind != "f" or array.itemsize > np.dtype(np.float64).itemsize or len(shape) != 1:
        raise BadInput("models: an ensemble's weights are arrays of one dimension, of float64 or less")
    if not np.isfinite(array).all():
        raise BadInput("models: a weight is not a finite number")
    return np.broadcast_to(array.astype(np.float64), shape)


class _Decided(NamedTuple):
    """Which models surely pass and which surely fail; the others lie too close to a tie."""

    passes: Mask
    fails: Mask


def _decided(sides: list[_Side], h: Floats, size: Floats, roundings: float) -> _Decided:
    """Decide a class at h, which is a sum of terms of this size, each off by so many relative roundings."""
    passes, fails = np.ones(len(h), bool), np.zeros(len(h), bool)
    for side in sides:
        value = side.weight * h + side.bias
        error = roundings * _UNIT * (side.weight_size * size + side.bias_size)
        passes &= value > error
        fails |= value < -error
    return _Decided(passes, fails)


def _decide_exact_counters(models: _Models, found: Horizons) -> None:
    """A counter with U = 1 and b = −a that is right at d = 0 and on both sides of it is right for every count d.

    At d = 0 the state is 0 and the comparison is that of two biases, exact in floats.
    """
    counters = np.flatnonzero((models.U == 1) & (models.b == -models.a) & models.in_range())
    chosen = models.of(counters)
    classes = list(models.readout.classes)
    right = [classes.index(models.readout.right_class(sign)) for sign in (-1, 0, 1)]
    zero = np.ones(len(counters), bool)
    for side in chosen.sides(right[1]):
        zero &= (side.bias > 0) | ((side.bias == 0) & (not side.strict))
    for answers, lengths in zip(found, Lengths, strict=True):
        sure = zero.copy()
        for d, index in ((-lengths.stride, right[0]), (lengths.stride, right[2])):
            h = d * chosen.a
            sure &= _decided(chosen.sides(index), h, np.abs(h), roundings=8).passes
        answers[counters[sure]] = UNLIMITED


class _Powers:
    """U^j and S_j = 1 + U + … + U^(j−1) around half the length, and S_N, carried from length to length."""

    def __init__(self, U: Floats) -> None:
        self.factor, self.length = U, 0
        zero, one = np.zeros(len(U)), np.ones(len(U))
        self.whole = zero
        # At k − 1, k and k + 1. Nothing asks for k − 1 before k = 1.
        self.powers, self.sums = [one, one, U], [zero, zero, one]

    def advance(self) -> None:
        self.length += 1
        self.whole = 1 + self.factor * self.whole
        if self.length % 2 == 0:
            self.powers = [*self.powers[1:], self.factor * self.powers[2]]
            self.sums = [*self.sums[1:], 1 + self.factor * self.sums[2]]

    def keep(self, chosen: Mask) -> None:
        self.factor, self.whole = self.factor[chosen], self.whole[chosen]
        self.powers, self.sums = ([array[chosen] for array in arrays] for arrays in (self.powers, self.sums))

    def in_range(self) -> Mask:
        return (self.powers[2] > 1e-100) & (self.whole < 1e100)  # noqa: PLR2004

    def state(self, models: _Models, string: CriticalString) -> tuple[Floats, Floats]:
        """Return h of a critical string, and the size of its terms."""
        older, younger = (models.a, models.b) if string.first == OPEN else (models.b, models.a)
        if string.openings is None or string.closings is None:
            h = older * self.whole
            return h, np.abs(h)
        runs = (string.openings + 1, string.closings + 1)
        first, last = runs if string.first == OPEN else runs[::-1]
        early, late = older * (self.sums[first] * self.powers[last]), younger * self.sums[last]
        return early + late, np.abs(early) + np.abs(late)


def _run_lengths(models: _Models, found: Horizons) -> None:
    """Go through the lengths until each model has failed at an even one, was handed on, or few are left.

    S_j takes two roundings a step and U^j one, a term at most three products more, and h, w·h + c and w itself one each:
    2N + 12 in all; 4N + 32 leaves room for products of errors and for the bound's own roundings.
    """
    # A drift at U = 1 can last for millions of lengths, and the rational path has a closed form for it.
    slow = (models.U == 1) & (np.abs(models.a + models.b) < 1e-3 * np.abs(models.a))
    active = np.flatnonzero((found.even < 0) & models.in_range() & ~slow)
    models, powers = models.of(active), _Powers(models.U[active])
    strings = [critical_strings(models.readout, parity) for parity in (0, 1)]
    while len(active) > _FEW and powers.length < _LONGEST:
        powers.advance()
        length = powers.length
        passes, fails = _decided_length(models, powers, strings[length % 2])
        passes &= powers.in_range()
        fails &= powers.in_range()
        waiting = found.all[active] < 0  # for those that failed at an odd length only even ones matter still
        found.all[active[fails & waiting]] = length - 1
        if length % 2 == 0:
            found.even[active[fails]] = length - 2
            going = passes
        else:
            going = passes | fails | ~waiting
        active, models = active[going], models.of(going)
        powers.keep(going)


def _decided_length(models: _Models, powers: _Powers, strings: list[CriticalString]) -> _Decided:
    passes, fails = np.ones(len(models.a), bool), np.zeros(len(models.a), bool)
    sides: dict[int, list[_Side]] = {}
    for string in strings:
        if string.right not in sides:
            sides[string.right] = models.sides(string.right)
        h, size = powers.state(models, string)
        one = _decided(sides[string.right], h, size, roundings=4 * powers.length + 32)
        passes &= one.passes
        fails |= one.fails
    return _Decided(passes, fails)
