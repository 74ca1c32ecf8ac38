"""The horizons of linear cells with classes, all at once, in real arithmetic.

Length by length, the critical strings of all cells are run in float64 with a bound on the error. A comparison further from
its tie than the bound is decided, every other model goes to the rational path: the answer is exact, the floats only make it
fast. Exact counters need no lengths at all.

What decides a length is written for arrays of any library, so that a GPU can go through the lengths, too.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import LinearCell
from tallystick.certificates.deciders import certify_network
from tallystick.certificates.one_unit.sorted_strings import CriticalString, critical_strings, right_at_zero, sides
from tallystick.certificates.verdict import REAL, UNLIMITED, Horizons, Lengths
from tallystick.languages.brackets import OPEN
from tallystick.networks import Network, Readout

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_UNIT = 2.0**-53
_LONGEST = 20_000
_FEW = 4
"""So few models are quicker to decide one by one than by going on through the lengths."""


class FirstFailures(NamedTuple):
    """The horizons of models that failed, over all and over even lengths; −1 where that is not known yet."""

    all: np.ndarray
    even: np.ndarray


HeadStart = Callable[[Network, Mask], FirstFailures]
"""Goes through the first lengths of some of the models in another place; what it leaves open is decided here."""


def linear_horizons(models: Network, head_start: HeadStart | None = None) -> Horizons:
    """Return the horizons of an ensemble of linear cells with binary or ternary readouts; every one is exact."""
    size = size_of(models)
    found = Horizons(np.full(size, -1), np.full(size, -1), np.ones(size, bool), np.ones(size, bool))
    _decide_exact_counters(models, found)
    if head_start is not None:
        _take(head_start(models, _can_run(models, found)), found)
    _run_lengths(models, found)  # whatever overflows is not decided in floats
    for position in np.flatnonzero((found.all < 0) | (found.even < 0)):
        for answers, lengths in zip((found.all, found.even), Lengths, strict=True):
            horizon = certify_network(models.place(int(position)), lengths, REAL, None).horizon
            answers[position] = UNLIMITED if horizon is None else horizon
    return found


def size_of(models: Network) -> int:
    """Return how many models there are."""
    return len(models.scalar_cell.open_step)


def some_of(models: Network, chosen: object) -> Network:
    """Return some of the models, by a mask, a slice or an array of positions."""

    def part(values: Any, _: str) -> Floats:  # noqa: ANN401 -- an array
        return values[chosen]

    return models.map_weights(part)


def _weights(models: Network) -> tuple[Floats, Floats, Floats]:
    """Return a, b and U."""
    assert isinstance(models.scalar_cell, LinearCell)
    return models.scalar_cell.open_step, models.scalar_cell.close_step, models.scalar_cell.recurrent_weight


def _outputs(readout: Readout) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    """Return v and c, one array per output."""
    return tuple(row[0] for row in readout.weight), readout.bias


def _in_range(models: Network) -> Mask:
    """Say which models have U > 0 and weights that neither overflow nor lose digits to underflow."""
    a, b, U = _weights(models)
    v, c = _outputs(models.readout)
    weights = np.abs([a, b, U, *v, *c])
    return (U > 0) & ((weights == 0) | ((weights > 1e-50) & (weights < 1e50))).all(axis=0)  # noqa: PLR2004


def _take(failures: FirstFailures, found: Horizons) -> None:
    for answers, known in zip((found.all, found.even), failures, strict=True):
        np.copyto(answers, known, where=(known >= 0) & (answers < 0))


class Decided(NamedTuple):
    """Which models surely pass and which surely fail; the others lie too close to a tie."""

    passes: Any
    fails: Any

    @classmethod
    def of_all(cls, parts: Iterable["Decided"]) -> "Decided":
        """Decide for several comparisons: each must pass, and one that fails is enough."""
        passes, fails = zip(*parts, strict=True)
        return cls(reduce(lambda x, y: x & y, passes), reduce(lambda x, y: x | y, fails))


class _Errors:
    """How far a computed w·h + c may be off: w and c are differences, no larger than all weights, or all biases, together."""

    def __init__(self, readout: Readout, roundings: Any) -> None:  # noqa: ANN401 -- a number of any kind
        self.weight, self.bias = (
            roundings * _UNIT * sum(map(abs, part[1:]), start=abs(part[0])) for part in _outputs(readout)
        )

    def at(self, size: Floats) -> Floats:
        """Return the error where h is a sum of terms of this size, each off by so many relative roundings."""
        return self.weight * size + self.bias


def _decide(readout: Readout, index: int, h: Floats, error: Floats) -> Decided:
    """Decide a class at h, where its comparisons are off by at most the error."""
    values = [side.weight * h + side.bias for side in sides(readout, index)]
    return Decided.of_all(Decided(value > error, value < -error) for value in values)


def _decide_exact_counters(models: Network, found: Horizons) -> None:
    """Decide counters with U = 1 and b = −a: one that is right at d = 0 and on both sides of it is right for every count d.

    At d = 0 the state is 0 and the comparison is that of two biases, exact in floats.
    """
    a, b, U = _weights(models)
    counters = np.flatnonzero((U == 1) & (b == -a) & _in_range(models))
    chosen, a = some_of(models, counters), a[counters]
    errors = _Errors(chosen.readout, roundings=8)
    below, above = (models.task.index_of_count(sign) for sign in (-1, 1))
    for answers, lengths in zip((found.all, found.even), Lengths, strict=True):
        sure = right_at_zero(chosen)
        for d, index in ((-lengths.stride, below), (lengths.stride, above)):
            sure &= _decide(chosen.readout, index, d * a, errors.at(np.abs(d * a))).passes
        answers[counters[sure]] = UNLIMITED


class Powers(NamedTuple):
    """U^j and S_j = 1 + U + … + U^(j−1) at j = k − 1, k and k + 1, half the length N being k; and S_N."""

    factor: Any
    whole: Any
    powers: tuple[Any, Any, Any]
    sums: tuple[Any, Any, Any]

    @classmethod
    def at_zero(cls, U: Any) -> "Powers":  # noqa: ANN401
        """Begin at the empty string; nothing asks for k − 1 before k = 1."""
        zero, one = 0 * U, 0 * U + 1
        return cls(U, zero, (one, one, U), (zero, zero, one))

    def longer(self, *, even: bool) -> "Powers":
        """Go to the next length, an even or an odd one."""
        U, (_, *powers), (_, *sums) = self.factor, self.powers, self.sums
        whole = 1 + U * self.whole
        if not even:
            return self._replace(whole=whole)
        return Powers(U, whole, (powers[0], powers[1], U * powers[1]), (sums[0], sums[1], 1 + U * sums[1]))

    def some(self, chosen: Mask) -> "Powers":
        """Return those of some of the models."""
        pick = tuple(tuple(array[chosen] for array in arrays) for arrays in (self.powers, self.sums))
        return Powers(self.factor[chosen], self.whole[chosen], *pick)  # pyright: ignore[reportArgumentType]

    def in_range(self) -> Any:  # noqa: ANN401
        """Say where nothing comes near overflow or underflow."""
        return (self.powers[2] > 1e-100) & (self.whole < 1e100)  # noqa: PLR2004

    def state(self, models: Network, string: CriticalString) -> tuple[Any, Any]:
        """Return h of a critical string, and the size of its terms."""
        a, b, _ = _weights(models)
        older, younger = (a, b) if string.first == OPEN else (b, a)
        if string.openings is None or string.closings is None:
            h = older * self.whole
            return h, abs(h)
        runs = (string.openings + 1, string.closings + 1)
        first, last = runs if string.first == OPEN else runs[::-1]
        early, late = older * (self.sums[first] * self.powers[last]), younger * self.sums[last]
        return early + late, abs(early) + abs(late)


def _can_run(models: Network, found: Horizons) -> Mask:
    """Say which models are to go through the lengths.

    A drift at U = 1 can last for millions of them, and the rational path has a closed form for it.
    """
    a, b, U = _weights(models)
    slow = (U == 1) & (np.abs(a + b) < 1e-3 * np.abs(a))
    return (found.even < 0) & _in_range(models) & ~slow


def _run_lengths(models: Network, found: Horizons) -> None:
    """Go through the lengths until each model has failed at an even one, was handed on, or few are left."""
    active = np.flatnonzero(_can_run(models, found))
    models, powers = some_of(models, active), Powers.at_zero(_weights(models)[2][active])
    strings = [critical_strings(models.task, parity) for parity in (0, 1)]
    length = 0
    while len(active) > _FEW and length < _LONGEST:
        length, is_even = length + 1, length % 2 == 1
        powers = powers.longer(even=is_even)
        passes, fails = decide_length(models, powers, strings[length % 2], length)
        waiting = found.all[active] < 0  # for those that failed at an odd length only even ones matter still
        found.all[active[fails & waiting]] = length - 1
        if is_even:
            found.even[active[fails]] = length - 2
            going = passes
        else:
            going = passes | fails | ~waiting
        active, models, powers = active[going], some_of(models, going), powers.some(going)


def decide_length(models: Network, powers: Powers, strings: list[CriticalString], length: Any) -> Decided:  # noqa: ANN401
    """Decide a length by its critical strings.

    S_j takes two roundings a step and U^j one, a term at most three products more, and h, w·h + c and w itself one each:
    2N + 12 in all; 4N + 32 leaves room for products of errors and for the bound's own roundings.
    """
    errors = _Errors(models.readout, roundings=4 * length + 32)
    states = [(string.right, *powers.state(models, string)) for string in strings]
    found = Decided.of_all(_decide(models.readout, right, h, errors.at(terms)) for right, h, terms in states)
    return Decided(found.passes & powers.in_range(), found.fails & powers.in_range())
