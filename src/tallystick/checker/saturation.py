"""Exact counters in floating point: an invariant over the count proves all strings, however long they are.

The certificate holds a box of states for each count d from −E to E. Beyond E each number of the state either stays in its box or
moves by the same step with each count, exactly, up to the depth K; the same holds below −E with steps of its own. The checker
proves the induction by itself: the start lies in the box of 0, each token leads from each box into the next one, and from each
state beyond E to that of the next count. Then all strings whose counts stay within ±K are right if all boxes lie in the right
classes; those are all of K tokens.

A number a + b·d is exact for all d in question if it is a multiple of a power of two that is normal, and no larger than 2^digits
times that power: then it is a number of the format. Of two terms the sum is rounded once, and so it is exact. Of more terms every
partial sum is exact if all are multiples of one power of two and their sizes add up to at most 2^digits times that power.

If the counter stops at ±K, so that one token more leads from K to K, strings of 2K tokens are right as well: one that has stopped
it has read K + 1 tokens, and the K − 1 that are left change neither its sign nor that of the count.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from .answers import Refused, Undecided, require
from .any_order import AnyOrder
from .arithmetic import Box, Boxes
from .boxes import BoxedNetwork
from .claims import Claim, Counterexample, Invariant, Network, Operation
from .effort import Limit
from .floating import Format
from .reading import list_of, number_of

METHOD = "saturation"
_MOST_BOXES, _MOST_RUNS = 1 << 18, 1 << 10
_TWO = 2


def invariant_from(evidence: dict[str, Any], size: int) -> Invariant:
    """Read an invariant of states of so many numbers."""
    edge, depth = evidence["edge"], evidence["depth"]
    require(type(edge) is int and edge >= 1 and (2 * edge + 1) * size <= _MOST_BOXES, "an edge is not 1 or more")
    require(type(depth) is int and depth > edge, "a depth is not beyond the edge")
    boxes: list[tuple[tuple[Fraction, Fraction], ...]] = []
    for found in list_of(evidence["boxes"], 2 * edge + 1):
        ends = [[number_of(end) for end in list_of(pair, 2)] for pair in list_of(found, size)]
        boxes.append(tuple((low, high) for low, high in ends))
    above, below = (
        tuple(None if slope is None else number_of(slope) for slope in list_of(evidence[side], size))
        for side in ("above", "below")
    )
    return Invariant(edge, depth, tuple(boxes), above, below)


def check_saturation(claim: Claim, network: Network, limit: Limit) -> None:
    """The invariant holds, its classes are right, and it reaches as far as the horizon; then the counterexample fails."""
    assert claim.invariant is not None
    require(not network.task.floored, "an invariant over the count is one of n − m")
    try:
        counter = _Counter(network, AnyOrder(claim.arithmetic), claim.invariant)
        counter.check_steps(limit)
        counter.check_classes(claim.stride)
        if claim.horizon > counter.depth or claim.counterexample is not None:
            counter.check_stop()
            require(claim.horizon <= 2 * counter.depth, "the horizon is beyond twice the depth")
        if claim.counterexample is not None:
            _check_counterexample(claim, counter, claim.counterexample)
    except Undecided:
        raise Refused("a number of the invariant may overflow") from None


def _check_counterexample(claim: Claim, counter: "_Counter", example: Counterexample) -> None:
    """Follow the counter, which stops at ±K, along the string."""
    require(example.length == claim.horizon + claim.stride, "the counterexample does not follow the horizon")
    require(claim.right_class(example.runs) == example.right, "the right class is not the string's")
    require(len(example.runs) <= _MOST_RUNS, "a counterexample of too many runs")
    count, depth = 0, counter.depth
    for token, size in example.runs:
        count = min(depth, max(-depth, count + (1 - 2 * token) * size))
    found = counter.boxed.class_of(counter.state(count))
    require(found == example.given != example.right, "the counterexample does not fail as it is said to")


class _Form(NamedTuple):
    """A number that is start + slope·d in every execution, exactly."""

    start: Fraction
    slope: Fraction

    def at(self, count: int) -> Fraction:
        return self.start + self.slope * count


class _Counter:
    """A network with an invariant."""

    def __init__(self, network: Network, arithmetic: AnyOrder, invariant: Invariant) -> None:
        self.network, self.arithmetic = network, arithmetic
        self.boxed = BoxedNetwork(network, arithmetic)
        self.edge, self.depth = invariant.edge, invariant.depth
        self.boxes = [tuple(map(self._box, boxes)) for boxes in invariant.boxes]
        self.forms = {1: self._forms(1, invariant.above), -1: self._forms(-1, invariant.below)}
        size = len(network.start)
        self.programs = [arithmetic.program_of(program, size) for program in network.steps]

    def _box(self, ends: tuple[Fraction, Fraction]) -> Box:
        """Read a box: its ends are numbers of the format, in units."""
        low, high = (self._units(end) for end in ends)
        require(low <= high, "a box without numbers")
        return low, high

    def _units(self, value: Fraction) -> int:
        found = value * self.arithmetic.unit
        most = 2 * self.arithmetic.most
        fine = found.denominator == 1 and abs(found) <= most and self.arithmetic.nearest(int(found)) == found
        require(fine, "a box ends at what is no number of the format")
        return int(found)

    def _forms(self, side: int, slopes: tuple[Fraction | None, ...]) -> list[_Form | None]:
        """Return what moves on a side, as a function of the count."""
        found: list[_Form | None] = []
        for (low, high), slope in zip(self.boxes[self.edge + side * self.edge], slopes, strict=True):
            require(slope is None or low == high, "what counts is no number at the edge")
            first = Fraction(low, self.arithmetic.unit)
            found.append(None if slope is None else _Form(first - slope * side * self.edge, slope))
        return found

    def state(self, count: int) -> Boxes:
        """Return the boxes of a count."""
        return self.boxes[self.edge + count] if abs(count) <= self.edge else self._between(count, count)

    def _between(self, first: int, last: int) -> Boxes:
        """Return the boxes around all states of some counts on one side, beyond the edge."""
        side = 1 if last > 0 else -1
        found: list[Box] = []
        for box, form in zip(self.boxes[self.edge + side * self.edge], self.forms[side], strict=True):
            if form is None:
                found.append(box)
                continue
            require(_is_exact(form, first, last, self.arithmetic.state), "what counts is no number of the format")
            ends = sorted(int(form.at(count) * self.arithmetic.unit) for count in (first, last))
            found.append((ends[0], ends[1]))
        return tuple(found)

    def check_steps(self, limit: Limit) -> None:
        """Each token leads from the states of a count into those of the next one."""
        require(_are_within(self.boxed.start, self.state(0)), "the start is not in the box of 0")
        for count in range(-self.edge, self.edge + 1):
            limit.stop_in_time()
            for token, after in ((0, count + 1), (1, count - 1)):
                if abs(after) <= self.edge:
                    image = self.boxed.step(self.state(count), token)
                    require(_are_within(image, self.state(after)), f"a token leads out of the box of {after}")
        for side, outward in ((1, 0), (-1, 1)):
            limit.stop_in_time()
            edge, depth = side * self.edge, side * self.depth
            self._check_family(side, outward, (edge, depth - side))
            self._check_family(side, 1 - outward, (edge + side, depth))

    def _check_family(self, side: int, token: int, counts: tuple[int, int]) -> None:
        """A token leads from the states of all counts between two, beyond the edge, to those of the next count."""
        first, last = sorted(counts)
        boxes = [*self._between(first, last)]
        forms = list(self.forms[side])
        for operation in self.programs[token].operations:
            boxes += self.arithmetic.run([operation])(boxes)
            forms.append(self._form(operation, boxes, forms, (first, last)))
        change, kept = 1 - 2 * token, self.boxes[self.edge + side * self.edge]
        for place, wanted, box in zip(self.programs[token].results, self.forms[side], kept, strict=True):
            if wanted is None:
                require(
                    _is_within(self.arithmetic.stored(boxes[place]), box),
                    "a token leads out of the box beyond the edge",
                )
            else:
                moved = _Form(wanted.at(change), wanted.slope)
                require(forms[place] == moved, "a number does not count beyond the edge")

    def _form(
        self, operation: Operation, boxes: list[Box], forms: list[_Form | None], counts: tuple[int, int]
    ) -> _Form | None:
        """Return what an operation gives, whose box is the last one, where that is exact in every execution."""
        low, high = boxes[-1]
        if low == high:
            return _Form(Fraction(low, self.arithmetic.unit), Fraction(0))
        taken = [forms[place] for place in operation.places]
        if operation.name == "positive_part":
            return taken[0] if boxes[operation.places[0]][0] >= 0 else None
        if operation.name == "product":
            return self._multiple(taken[0], taken[1], counts)
        return self._sum(operation, taken, counts) if operation.name == "sum" else None

    def _multiple(self, x: _Form | None, y: _Form | None, counts: tuple[int, int]) -> _Form | None:
        if x is None or y is None or (x.slope and y.slope):
            return None
        found = _Form(x.start * y.start, x.start * y.slope + x.slope * y.start)
        return found if _is_exact(found, *counts, self.arithmetic.form) else None

    def _sum(self, operation: Operation, taken: list[_Form | None], counts: tuple[int, int]) -> _Form | None:
        constants = [self._constant(constant) for constant in (operation.bias, *operation.constants)]
        weights = [self._constant(w) if self.arithmetic.is_exact(w) else None for w in operation.weights]
        found = [*constants, *(self._multiple(w, x, counts) for w, x in zip(weights, taken, strict=True))]
        terms = [term for term in found if term is not None and (term.start or term.slope)]
        if None in found:
            return None
        total = _Form(sum((term.start for term in terms), Fraction(0)), sum((t.slope for t in terms), Fraction(0)))
        if not _is_exact(total, *counts, self.arithmetic.form):
            return None
        if len(terms) <= _TWO:
            return total
        sizes = [max(abs(term.at(count)) for count in counts) for term in terms]
        power = _power(part for term in terms for part in term)
        form = self.arithmetic.form
        return total if _is_fine(power, form) and sum(sizes) <= power * 2**form.digits else None

    def _constant(self, value: Fraction) -> _Form | None:
        """Return a weight as it is rounded, unless it may become 0."""
        ((low, high),) = self.arithmetic.sums([Operation("sum", (), (), value)])([])
        return _Form(Fraction(low, self.arithmetic.unit), Fraction(0)) if low == high else None

    def check_stop(self) -> None:
        """One token more leads from K to K, and from −K to −K."""
        for count, token in ((self.depth, 0), (-self.depth, 1)):
            state = self.state(count)
            require(_are_within(self.boxed.step(state, token), state), "the counter does not stop at the depth")

    def check_classes(self, stride: int) -> None:
        """Every state of a count that a counted length has is in the right class."""
        below, zero, above = self.network.task.right
        for count in range(-self.edge, self.edge + 1):
            right = above if count > 0 else below if count < 0 else zero
            if count % stride == 0:
                self._check_class(self.state(count), right)
        self._check_class(self._between(self.edge, self.depth), above)
        self._check_class(self._between(-self.depth, -self.edge), below)

    def _check_class(self, state: Boxes, right: int) -> None:
        require(self.boxed.class_of(state) == right, "the states of a count are not in the right class")


def _is_within(inner: Box, outer: Box) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _are_within(inner: Boxes, outer: Boxes) -> bool:
    return all(map(_is_within, inner, outer))


def _power(numbers: Iterable[Fraction]) -> Fraction:
    """Return the greatest power of two of which all numbers are multiples; 0 where there is none, or they are all 0."""
    powers = [Fraction(x.numerator & -x.numerator, x.denominator) for x in numbers if x]
    return min(powers, default=Fraction(0)) if all(_is_dyadic(power) for power in powers) else Fraction(0)


def _is_dyadic(number: Fraction) -> bool:
    return number.denominator & number.denominator - 1 == 0


def _is_fine(power: Fraction, form: Format) -> bool:
    """Say whether multiples of a power of two are normal numbers, and remain so where small ones become 0."""
    return power * 2 ** (form.places - form.digits + 1) > 1


def _is_exact(number: _Form, first: int, last: int, form: Format) -> bool:
    """Say whether a number is one of the format, and no subnormal one, for all counts between two."""
    if not number.start and not number.slope:
        return True
    power, greatest = _power(number), max(abs(number.at(count)) for count in (first, last))
    return (
        _is_fine(power, form) and greatest <= power * 2**form.digits and 2 * greatest * 2**form.places <= form.greatest
    )
