"""The horizons of linear cells with classes, all at once, in real arithmetic.

Length by length, the critical strings of all cells are run in float64 with a bound on the error. A comparison further from
its tie than the bound is decided, every other model goes to the rational path: the answer is exact, the floats only make it
fast. Exact counters need no lengths at all.
"""

from typing import NamedTuple

import numpy as np

from tallystick.cells import LinearCell
from tallystick.certificates.critical_strings import CriticalString, critical_strings, sides
from tallystick.certificates.ensemble_models import (
    UNLIMITED,
    Floats,
    Horizons,
    Mask,
    right_at_zero,
    single,
    size_of,
    some_of,
)
from tallystick.certificates.horizon import certify
from tallystick.certificates.verdict import Lengths
from tallystick.languages.brackets import OPEN
from tallystick.models import Model
from tallystick.readouts import BinaryReadout, Readout, TernaryReadout

_UNIT = 2.0**-53
_LONGEST = 20_000
_FEW = 4
"""So few models are quicker to decide one by one than by going on through the lengths."""


def linear_horizons(models: Model) -> Horizons:
    """Return the horizons of an ensemble of linear cells with binary or ternary readouts; every one is exact."""
    size = size_of(models)
    found = Horizons(np.full(size, -1), np.full(size, -1), np.ones(size, bool), np.ones(size, bool))
    _decide_exact_counters(models, found)
    with np.errstate(all="ignore"):  # whatever overflows is not decided in floats
        _run_lengths(models, found)
    for position in np.flatnonzero((found.all < 0) | (found.even < 0)):
        for answers, lengths in zip((found.all, found.even), Lengths, strict=True):
            horizon = certify(single(models, int(position)), lengths).horizon
            answers[position] = UNLIMITED if horizon is None else horizon
    return found


def _weights(models: Model) -> tuple[Floats, Floats, Floats]:
    """A, b and U."""
    assert isinstance(models.cell, LinearCell)
    return models.cell.open_step, models.cell.close_step, models.cell.recurrent_weight


def _outputs(readout: Readout) -> tuple[Floats, Floats]:
    """V and c, a row an output."""
    if isinstance(readout, TernaryReadout):
        return np.stack(readout.weight), np.stack(readout.bias)
    assert isinstance(readout, BinaryReadout)
    return readout.weight[None], readout.bias[None]


def _in_range(models: Model) -> Mask:
    """Say which models have U > 0 and weights that neither overflow nor lose digits to underflow."""
    a, b, U = _weights(models)
    v, c = _outputs(models.readout)
    weights = np.abs([a, b, U, *v, *c])
    return (U > 0) & ((weights == 0) | ((weights > 1e-50) & (weights < 1e50))).all(axis=0)  # noqa: PLR2004


class _Decided(NamedTuple):
    """Which models surely pass and which surely fail; the others lie too close to a tie."""

    passes: Mask
    fails: Mask


class _Errors:
    """How far a computed w·h + c may be off: w and c are differences, no larger than all weights, or all biases, together."""

    def __init__(self, readout: Readout, roundings: int) -> None:
        self.weight, self.bias = (roundings * _UNIT * np.abs(part).sum(axis=0) for part in _outputs(readout))

    def at(self, size: Floats) -> Floats:
        """Return the error where h is a sum of terms of this size, each off by so many relative roundings."""
        return self.weight * size + self.bias


def _decided(readout: Readout, index: int, h: Floats, error: Floats) -> _Decided:
    """Decide a class at h, where its comparisons are off by at most the error."""
    passes, fails = np.ones(len(h), bool), np.zeros(len(h), bool)
    for side in sides(readout, index):
        value = side.weight * h + side.bias
        passes &= value > error
        fails |= value < -error
    return _Decided(passes, fails)


def _decide_exact_counters(models: Model, found: Horizons) -> None:
    """A counter with U = 1 and b = −a that is right at d = 0 and on both sides of it is right for every count d.

    At d = 0 the state is 0 and the comparison is that of two biases, exact in floats.
    """
    a, b, U = _weights(models)
    counters = np.flatnonzero((U == 1) & (b == -a) & _in_range(models))
    chosen, a = some_of(models, counters), a[counters]
    classes = list(models.readout.classes)
    errors = _Errors(chosen.readout, roundings=8)
    below, above = (classes.index(models.readout.right_class(sign)) for sign in (-1, 1))
    for answers, lengths in zip((found.all, found.even), Lengths, strict=True):
        sure = right_at_zero(chosen.readout)
        for d, index in ((-lengths.stride, below), (lengths.stride, above)):
            sure &= _decided(chosen.readout, index, d * a, errors.at(np.abs(d * a))).passes
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

    def state(self, models: Model, string: CriticalString) -> tuple[Floats, Floats]:
        """Return h of a critical string, and the size of its terms."""
        a, b, _ = _weights(models)
        older, younger = (a, b) if string.first == OPEN else (b, a)
        if string.openings is None or string.closings is None:
            h = older * self.whole
            return h, np.abs(h)
        runs = (string.openings + 1, string.closings + 1)
        first, last = runs if string.first == OPEN else runs[::-1]
        early, late = older * (self.sums[first] * self.powers[last]), younger * self.sums[last]
        return early + late, np.abs(early) + np.abs(late)


def _run_lengths(models: Model, found: Horizons) -> None:
    """Go through the lengths until each model has failed at an even one, was handed on, or few are left.

    S_j takes two roundings a step and U^j one, a term at most three products more, and h, w·h + c and w itself one each:
    2N + 12 in all; 4N + 32 leaves room for products of errors and for the bound's own roundings.
    """
    a, b, U = _weights(models)
    # A drift at U = 1 can last for millions of lengths, and the rational path has a closed form for it.
    slow = (U == 1) & (np.abs(a + b) < 1e-3 * np.abs(a))
    active = np.flatnonzero((found.even < 0) & _in_range(models) & ~slow)
    models, powers = some_of(models, active), _Powers(U[active])
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
        active, models = active[going], some_of(models, going)
        powers.keep(going)


def _decided_length(models: Model, powers: _Powers, strings: list[CriticalString]) -> _Decided:
    size = size_of(models)
    passes, fails = np.ones(size, bool), np.zeros(size, bool)
    errors = _Errors(models.readout, roundings=4 * powers.length + 32)
    for string in strings:
        h, terms = powers.state(models, string)
        one = _decided(models.readout, string.right, h, errors.at(terms))
        passes &= one.passes
        fails |= one.fails
    return _Decided(passes, fails)
