"""How many of all 2^N strings does a linear network get right, in real arithmetic? In closed form, but for the ones in question.

An output is what `)))…` gives and the terms δ_k of the opening brackets (`affine`), so a comparison of a readout asks whether
their sum σ is above a place. For n opening brackets the extremes of σ tell whether all strings, or none, are; only where they
straddle the place are strings counted, by meeting in the middle (`subset_sums`). Where the terms have few distinct values, as
those of a counter do, what remains is a sum of products of binomials.

A cell with one unit has δ_k = U^k for all outputs, up to a factor. Many networks of several units have one sequence for all
outputs, too: those with a single output, or with the outputs −v·h, 0 and v·h. Each class is then an interval of σ, the same for
every count. Where a class depends on several sequences, the comparisons that the extremes do not decide are looked at together
(`joint_sums`), which goes less far.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod
from typing import NamedTuple

from tallystick.cells import LinearCell
from tallystick.certificates.linear.affine import AffineNetwork, affine_network
from tallystick.certificates.linear.joint_sums import Line, strings_above
from tallystick.certificates.linear.responses import Precision, ResponseMaker
from tallystick.certificates.linear.subset_sums import Place, SubsetSums, is_above
from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY
from tallystick.networks import Network, Readout
from tallystick.networks.readout import SIGN, Form
from tallystick.numbers import exact

LONGEST = 56
"""The longest length counted: 2^28 sums of a half are 2 GiB."""


def right_strings(model: Network, length: int) -> tuple[list[int], list[int]]:
    """Return, class by class, how many strings of a length should get it and how many of these do; the weights are rationals."""
    strings, correct = ([0] * len(model.task.classes) for _ in range(2))
    counter = _Counter(model, length)
    for openings in range(length + 1):
        index = model.task.index_of_count(2 * openings - length)
        strings[index] += comb(length, openings)
        correct[index] += counter.in_class(openings, index)
    return strings, correct


@dataclass(frozen=True)
class _Interval:
    """The σ above one place and not above another; None is no end."""

    above: Place | None
    not_above: Place | None


class _Comparison(NamedTuple):
    """A comparison of a readout: slope·σ + height must be above 0, or at least 0, for the sums σ of one of the sequences."""

    sums: int
    slope: Fraction
    height: Fraction
    strict: bool


class _Counter:
    """Counts the strings of one length whose class is a given one, by number of opening brackets."""

    def __init__(self, model: Network, length: int) -> None:
        self.model, self.length = model, length
        self.sums: list[SubsetSums] = []
        self.extremes: list[list[tuple[int, int]]] = []
        self.few: list[list[tuple[int, int]] | None] = []
        self.intervals: dict[int, list[tuple[int, _Interval]] | None] = {}

    def in_class(self, openings: int, index: int) -> int:
        """Return how many strings with so many opening brackets get a class."""
        if not self.model.readout.comparisons[index]:  # rejected: whatever is not accepted
            return comb(self.length, openings) - self.in_class(openings, 1 - index)
        if index not in self.intervals:
            self.intervals[index] = self._intervals(index)
        found = self.intervals[index]
        if found is None:
            return 0
        if len(found) != 1:
            if any(self._is_outside(openings, *one) for one in found):
                return 0
            found = [one for one in found if not self._is_inside(openings, *one)]
            if not found:
                return comb(self.length, openings)
            if len(found) > 1:
                return strings_above([line for one in found for line in self._lines(*one)], self.length, openings)
        ((which, interval),) = found
        over = comb(self.length, openings) if interval.above is None else self._above(openings, which, interval.above)
        return over - (0 if interval.not_above is None else self._above(openings, which, interval.not_above))

    def _intervals(self, index: int) -> list[tuple[int, _Interval]] | None:
        """Return for each sequence that a class depends on the σ that it needs; None where no string gets the class."""
        lower, upper = dict[int, list[Place]](), dict[int, list[Place]]()
        for form in self.model.readout.forms(index):
            which, slope, height, strict = self._comparison(form)
            if slope == 0:
                if height < 0 or (strict and height == 0):
                    return None
            elif slope > 0:
                lower.setdefault(which, []).append(Place(-height / slope, counts=not strict))
            else:
                upper.setdefault(which, []).append(Place(-height / slope, counts=strict))
        found: list[tuple[int, _Interval]] = []
        for which in sorted({*lower, *upper}):
            # Of equal places the one that leaves the tie out binds.
            above = max(lower.get(which, []), key=lambda place: (place.value, not place.counts), default=None)
            not_above = min(upper.get(which, []), key=lambda place: (place.value, not place.counts), default=None)
            if _is_empty(above, not_above):
                return None
            found.append((which, _Interval(above, not_above)))
        return found

    # --- The sequences ---

    def _keep(self, sums: SubsetSums) -> None:
        self.sums.append(sums)
        self.extremes.append(sums.extremes())
        numbers = Counter(sums.whole)
        is_few = prod(number + 1 for number in numbers.values()) <= self.length**2
        self.few.append(list(numbers.items()) if is_few else None)

    def _comparison(self, form: Form) -> _Comparison:
        """Return a comparison of a readout, keeping its sequence if that is new."""
        cell = self.model.cell
        return self._of_one_unit(cell, form) if isinstance(cell, LinearCell) else self._of_several_units(form)

    def _of_one_unit(self, cell: LinearCell, form: Form) -> _Comparison:
        """Return a comparison of a cell with one unit, where h = b·Σ U^i + (a − b)·σ."""
        if not self.sums:
            self._keep(SubsetSums.of_powers(exact(cell.recurrent_weight), self.length))
        start = cell.close_step * Fraction(sum(self.sums[0].whole), self.sums[0].scale)
        (weight,) = form.weight
        return _Comparison(0, weight * (cell.open_step - cell.close_step), weight * start + form.bias, form.strict)

    def _of_several_units(self, form: Form) -> _Comparison:
        """Return a comparison of any linear network; a positive factor leaves its sign as it is."""
        terms, height = terms_of(self.model, form, self.length)
        if not any(terms):
            return _Comparison(0, Fraction(0), Fraction(height), form.strict)
        for which, known in enumerate(self.sums):
            slope = _ratio(terms, known.whole)
            if slope is not None:
                return _Comparison(which, slope * known.scale, Fraction(height), form.strict)
        scale = 1 << max(map(int.bit_length, terms))  # so that doubles hold the weights
        self._keep(SubsetSums(terms, scale))
        return _Comparison(len(self.sums) - 1, Fraction(scale), Fraction(height), form.strict)

    # --- The strings ---

    def _is_inside(self, openings: int, which: int, interval: _Interval) -> bool:
        """Say whether the extremes of σ show that all strings lie in an interval."""
        (low, high), scale = self.extremes[which][openings], self.sums[which].scale
        over = interval.above is None or is_above(low, interval.above, scale)
        return over and (interval.not_above is None or not is_above(high, interval.not_above, scale))

    def _is_outside(self, openings: int, which: int, interval: _Interval) -> bool:
        """Say whether they show that none does."""
        (low, high), scale = self.extremes[which][openings], self.sums[which].scale
        under = interval.above is not None and not is_above(high, interval.above, scale)
        return under or (interval.not_above is not None and is_above(low, interval.not_above, scale))

    def _above(self, openings: int, which: int, place: Place) -> int:
        """Return how many strings have σ above a place; all or none, where the extremes say so."""
        sums, (low, high) = self.sums[which], self.extremes[which][openings]
        if is_above(low, place, sums.scale):
            return comb(self.length, openings)
        if not is_above(high, place, sums.scale):
            return 0
        few = self.few[which]
        if few is not None:
            return sum(size for value, size in _few_sums(few, openings) if is_above(value, place, sums.scale))
        if self.length > LONGEST:
            raise BadInput(f"length: {self.length} is too long to count; at most {LONGEST}")
        return sums.above(openings, place)

    def _lines(self, which: int, interval: _Interval) -> Iterator[Line]:
        """Return what makes an interval as comparisons with 0 in whole numbers."""
        sums = self.sums[which]
        for place, sign in ((interval.above, 1), (interval.not_above, -1)):
            if place is not None:
                up, down = sign * place.value.denominator, sign * place.value.numerator * sums.scale
                yield Line([up * weight for weight in sums.whole], -down, strict=place.counts != (sign > 0))


def terms_of(network: Network, form: Form, length: int) -> tuple[list[int], int]:
    """Return δ and the output of `)))…` for a linear form of the state, all times one positive number.

    >>> network = Network(LinearCell(1, -1, Fraction(1, 2)), Readout.binary(1))
    >>> terms_of(network, Form((Fraction(1),), Fraction(3), strict=True), 3)
    ([8, 4, 2], 5)
    """
    affine = _asked_for_a_form(network, form)
    assert affine is not None
    assert affine.is_shared
    found = ResponseMaker(affine).upto(length, Precision.EXACT)
    if found is None:
        raise BadInput(
            f"length: {length}: the numbers of this network are too long to count exactly; take a shorter one"
        )
    ((output, direction, _),) = affine.forms[1]
    terms = [direction * int(term) for term in found.openings[output]]
    return terms, direction * int(found.constants[output] + found.drifts[output].sum())


def has_one_matrix(network: Network) -> bool:
    """Say whether a network is linear and has one matrix for both tokens."""
    affine = _asked_for_a_form(network, Form((Fraction(0),) * network.cell.units, Fraction(0), strict=True))
    return affine is not None and affine.is_shared


def _asked_for_a_form(network: Network, form: Form) -> AffineNetwork | None:
    """Return the network with one output, the form."""
    return affine_network(Network(network.cell, Readout((form.weight,), (form.bias,), SIGN), BINARY))


def _ratio(terms: Sequence[int], others: Sequence[int]) -> Fraction | None:
    """Return what multiplies the other terms to give these; None where there is no such number."""
    place = next(place for place, other in enumerate(others) if other)
    slope = Fraction(terms[place], others[place])
    same = all(term * slope.denominator == slope.numerator * other for term, other in zip(terms, others, strict=True))
    return slope if same else None


def _few_sums(numbers: list[tuple[int, int]], openings: int) -> Iterator[tuple[int, int]]:
    """Return σ and how many strings have it, given each distinct weight and how often it occurs.

    How many opening brackets stand on each of the weights tells σ.
    """
    (weight, number), *others = numbers
    if not others:
        if openings <= number:
            yield openings * weight, comb(number, openings)
        return
    for size in range(min(number, openings) + 1):
        ways = comb(number, size)
        for value, rest in _few_sums(others, openings - size):
            yield size * weight + value, ways * rest


def _is_empty(above: Place | None, not_above: Place | None) -> bool:
    """Say whether no σ is above the one and not above the other."""
    if above is None or not_above is None:
        return False
    if above.value == not_above.value:
        return not above.counts or not_above.counts
    return above.value > not_above.value
