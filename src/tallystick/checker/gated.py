"""All strings to the horizon of a GRU or an LSTM, in boxes around the states of groups of strings.

A group holds the strings of one length with the same number of `)` and the same last tokens. One box a number holds the states
of them all: the boxes of a longer group are the least around what leads into it. A length is right if the boxes of every group
lie in the right class. The more last tokens are told apart, the closer the boxes and the longer the work.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from operator import add, mul, sub
from typing import NamedTuple

from .answers import TooCostly, Undecided, require, shown
from .claims import Counterexample, GatedClaim, GatedModel, class_of_count
from .effort import Limit, product_time
from .tanh import tanh_above, tanh_below, tanh_time

# --- Boxes: a number known between two multiples of a unit 2^−places, every operation rounded outward ----------------

Box = tuple[int, int]
"""The box (low, high) holds all numbers from low to high units."""


def box_of(number: Fraction, places: int) -> Box:
    """Return the least box around a number."""
    low, rest = divmod(number.numerator << places, number.denominator)
    return low, low + (rest > 0)


def plus(first: Box, second: Box) -> Box:
    """Add: nothing is rounded."""
    return first[0] + second[0], first[1] + second[1]


def times(first: Box, second: Box, places: int) -> Box:
    """Multiply: the least and the greatest product are among those of the ends."""
    (a, b), (c, d) = first, second
    products = (a * c, a * d, b * c, b * d)
    return min(products) >> places, -(-max(products) >> places)


# A gate without recurrent weights sees the same two sums again and again.
@lru_cache(maxsize=1024)
def tanh(x: Box, places: int) -> Box:
    """Squash: tanh rises."""
    return tanh_below(x[0], 1 << places, places), tanh_above(x[1], 1 << places, places)


@lru_cache(maxsize=1024)
def sigmoid(x: Box, places: int) -> Box:
    """1 / (1 + e^(−x)) = (1 + tanh(x / 2)) / 2."""
    unit = 1 << places
    low, high = tanh_below(x[0], 2 * unit, places), tanh_above(x[1], 2 * unit, places)
    return unit + low >> 1, -(-(unit + high) >> 1)


def mean(share: Box, first: Box, second: Box, places: int) -> Box:
    """(1 − s)·x + s·y for a share s from 0 to 1: it rises with x and with y, and is linear in s, so that the ends decide."""
    unit = 1 << places
    ends = [((unit - s) * first[0] + s * second[0], (unit - s) * first[1] + s * second[1]) for s in share]
    return min(low for low, _ in ends) >> places, -(-max(high for _, high in ends) >> places)


def hull(first: Box, second: Box) -> Box:
    """Return the least box around two."""
    return min(first[0], second[0]), max(first[1], second[1])


class Row(NamedTuple):
    """A sum w·h + c over numbers h from −1 to 1.

    Attributes:
        weights: each w in units, rounded down.
        sizes: the same without their signs.
        low, high: what the bias, and the rounding of the weights, add at least and at most.
    """

    weights: list[int]
    sizes: list[int]
    low: int
    high: int

    def ends(self, doubled: list[int], widths: list[int], places: int) -> Box:
        """Return bounds of the sum, in 2^−(2·places + 1): each h is the middle of its box, give or take half its width."""
        middle, reach = sum(map(mul, self.weights, doubled)), sum(map(mul, self.sizes, widths))
        return middle - reach + (self.low << places + 1), middle + reach + (self.high << places + 1)


def row_of(weights: Sequence[Fraction], bias: Fraction, places: int) -> Row:
    """Put a sum into whole numbers: a weight that is rounded changes the sum by less than a unit."""
    boxes, (low, high) = [box_of(weight, places) for weight in weights], box_of(bias, places)
    slack = sum(high > low for low, high in boxes)
    rounded = [low for low, _ in boxes]
    return Row(rounded, list(map(abs, rounded)), low - slack, high + slack)


# --- A cell in boxes: whatever lies in the boxes of a state, what follows lies in those of the next ----------------------------

State = tuple[tuple[Box, ...], tuple[Box, ...]]
"""The boxes of h, and of an LSTM's c; a GRU has none of those."""

Comparison = tuple[Row, bool]
"""A sum that is above 0, or where it is not strict at least 0."""


class GatedCell:
    """A model, its numbers in boxes. Rows stand gate after gate: r, z, n of a GRU and i, f, g, o of an LSTM."""

    def __init__(self, model: GatedModel, places: int) -> None:
        self.is_gru, self.units, self.places = model.cell == "gru", len(model.recurrent_weight[0]), places
        inputs = list(zip(model.input_weight, model.input_bias, strict=True))
        self.from_token = [[box_of(weight[token] + bias, places) for weight, bias in inputs] for token in (0, 1)]
        recurrent = zip(model.recurrent_weight, model.recurrent_bias, strict=True)
        self.rows = [row_of(weights, bias, places) for weights, bias in recurrent]
        self.comparisons = _comparisons(model, places)
        zeros = ((0, 0),) * self.units
        self.start: State = zeros, () if self.is_gru else zeros

    def step(self, state: State, token: int) -> State:
        """Return the boxes of the next state."""
        places = self.places
        doubled, widths = _middles(state[0])
        ends = [row.ends(doubled, widths, places) for row in self.rows]
        y = [(low >> places + 1, -(-high >> places + 1)) for low, high in ends]
        return (self._gru if self.is_gru else self._lstm)(self.from_token[token], y, state)

    def _gru(self, x: list[Box], y: list[Box], state: State) -> State:
        """Next comes h' = (1 − z)·n + z·h with n = tanh(x_n + r·y_n), where r and z are sigmoids of x + y."""
        reset, keep = (
            [self._sigmoid(total) for total in map(plus, self._gate(x, g), self._gate(y, g))] for g in (0, 1)
        )
        terms = map(self._times, reset, self._gate(y, 2))
        new = [self._tanh(total) for total in map(plus, self._gate(x, 2), terms)]
        return tuple(mean(z, n, h, self.places) for z, n, h in zip(keep, new, state[0], strict=True)), ()

    def _lstm(self, x: list[Box], y: list[Box], state: State) -> State:
        """Next come c' = f·c + i·g and h' = o·tanh c', where g is the tanh and i, f and o are the sigmoids of x + y."""
        sums = list(map(plus, x, y))
        i, f, o = (map(self._sigmoid, self._gate(sums, g)) for g in (0, 1, 3))
        new = map(self._times, i, map(self._tanh, self._gate(sums, 2)))
        memory = tuple(map(plus, map(self._times, f, state[1]), new))
        return tuple(map(self._times, o, map(self._tanh, memory))), memory

    def _gate(self, rows: list[Box], gate: int) -> list[Box]:
        return rows[gate * self.units : (gate + 1) * self.units]

    def _times(self, first: Box, second: Box) -> Box:
        return times(first, second, self.places)

    def _tanh(self, x: Box) -> Box:
        return tanh(x, self.places)

    def _sigmoid(self, x: Box) -> Box:
        return sigmoid(x, self.places)

    def class_of(self, state: State) -> int | None:
        """Return the class that every h in the boxes gets, or None if they may not all get one."""
        doubled, widths = _middles(state[0])

        def holds(comparison: Comparison) -> bool:
            row, strict = comparison
            low, _ = row.ends(doubled, widths, self.places)
            return low > 0 if strict else low >= 0

        return next((index for index, needed in enumerate(self.comparisons) if all(map(holds, needed))), None)

    def is_narrow(self, state: State) -> bool:
        """Say whether the boxes of h are as narrow as if only rounding had made them wide."""
        return all(high - low < 1 << self.places // 2 for low, high in state[0])

    def time(self) -> int:
        """Return about how many nanoseconds a step takes: two bounds of tanh for each row and each h, and the products."""
        sums = [*self.rows, *(row for needed in self.comparisons for row, _ in needed)]
        products = sum(2 * product_time(max(size.bit_length() for size in row.sizes), self.places) for row in sums)
        squashed = len(self.rows) + self.units
        return products * self.units + squashed * (4000 + 2 * tanh_time(self.places + 1, self.places))


def _middles(boxes: Sequence[Box]) -> tuple[list[int], list[int]]:
    """Return twice the middle of each box, and its width."""
    lows, highs = [low for low, _ in boxes], [high for _, high in boxes]
    return list(map(add, lows, highs)), list(map(sub, highs, lows))


def joined(first: State, second: State) -> State:
    """Return the least boxes around two states."""
    return tuple(map(hull, first[0], second[0])), tuple(map(hull, first[1], second[1]))


def _comparisons(model: GatedModel, places: int) -> list[list[Comparison]]:
    """Return for each class what must hold: its output is above those of lower index, and not below those of higher index.

    A single output stands against 0, which has the lower index. Numbers are subtracted exactly. A power of two as a factor
    changes no sign, so that a readout is read as precisely however small it is.
    """
    lines = [[*weight, bias] for weight, bias in model.lines]
    if len(lines) == 1:
        lines.insert(0, [Fraction(0)] * len(lines[0]))

    def comparison(mine: int, other: int) -> Comparison:
        exact = [x - y for x, y in zip(lines[mine], lines[other], strict=True)]
        size = max((x.numerator.bit_length() - x.denominator.bit_length() for x in exact if x), default=0)
        *weights, bias = (x * Fraction(2) ** -size for x in exact)
        return row_of(weights, bias, places), other < mine

    indices = range(len(lines))
    return [[comparison(mine, other) for other in indices if other != mine] for mine in indices]


# --- The check --------------------------------------------------------------------------------------------------------------

_SUFFIXES = (1, 4, 8, 11, 14, 16)
_PLACES = (96, 384, 1536, 6144)
_MOST_BOXES = 1 << 23
"""As many as fit into the memory of any machine, at about 150 bytes each."""

Groups = dict[tuple[int, int], State]
"""By the number of `)`, and the last tokens as a binary number."""


def check_gated(claim: GatedClaim, limit: Limit) -> None:
    """The counterexample follows the horizon and fails, and every counted length to the horizon is right.

    Where boxes do not tell, they are drawn closer: by more digits if only rounding made them wide, else by smaller groups.
    """
    example = claim.counterexample
    if example is not None:
        _decide(claim, lambda cell, _: _check_counterexample(claim, cell, example, limit))
    _decide(claim, lambda cell, suffix: _check_lengths(claim, cell, suffix, limit))


def _decide(claim: GatedClaim, verify: Callable[[GatedCell, int], None]) -> None:
    """Verify something in boxes that are drawn ever closer."""
    digits, suffixes = iter(_PLACES), iter(_SUFFIXES)
    cell, suffix = GatedCell(claim.model, next(digits)), next(suffixes)
    while True:
        try:
            return verify(cell, suffix)
        except Undecided as undecided:
            places = next(digits, None) if undecided.narrow else cell.places
            suffix = suffix if undecided.narrow else next(suffixes, None)
        if places is None or suffix is None:
            raise TooCostly("the boxes around the states do not decide")
        cell = cell if places == cell.places else GatedCell(claim.model, places)


def _check_counterexample(claim: GatedClaim, cell: GatedCell, example: Counterexample, limit: Limit) -> None:
    length = sum(size for _, size in example.runs)
    count = sum((1 - 2 * token) * size for token, size in example.runs)
    require(length == claim.horizon + claim.stride, "the counterexample does not follow the horizon")
    require(class_of_count(claim.model.readout, count) == example.right, "the right class is not the string's")
    limit.allow(length * cell.time(), f"a string of length {shown(length)}")
    state = cell.start
    for place, token in enumerate(example.tokens(), start=1):
        limit.go_on(place, length)
        state = cell.step(state, token)
    found = cell.class_of(state)
    if found is None:
        raise Undecided
    require(found == example.given != example.right, "the counterexample does not fail as it is said to")


def _check_lengths(claim: GatedClaim, cell: GatedCell, suffix: int, limit: Limit) -> None:
    limit.allow(2 * _groups_to(claim.horizon, suffix) * cell.time(), f"length {shown(claim.horizon)}")
    if _groups_at(claim.horizon, suffix) * sum(map(len, cell.start)) > _MOST_BOXES:
        raise TooCostly(f"length {shown(claim.horizon)} has too many groups of strings for the memory")
    groups: Groups = {(0, 0): cell.start}
    for length in range(1, claim.horizon + 1):
        groups = _longer(groups, cell, (1 << suffix) - 1, lambda length=length: limit.go_on(length, claim.horizon))
        for (closing, _), state in groups.items() if length % claim.stride == 0 else ():
            found, right = cell.class_of(state), class_of_count(claim.model.readout, length - 2 * closing)
            require(found in (right, None), f"a string of length {length} fails")
            if found is None:
                raise Undecided(narrow=length <= suffix or cell.is_narrow(state))


def _longer(groups: Groups, cell: GatedCell, kept: int, go_on: Callable[[], None]) -> Groups:
    longer: Groups = {}
    for (closing, last), state in groups.items():
        go_on()
        for token in (0, 1):
            target, image = (closing + token, (last << 1 | token) & kept), cell.step(state, token)
            longer[target] = joined(longer[target], image) if target in longer else image
    return longer


def _groups_at(length: int, suffix: int) -> int:
    """How many groups a length has."""
    return 1 << length if length <= suffix else (length - suffix + 1) << suffix


def _groups_to(horizon: int, suffix: int) -> int:
    """How many groups the lengths below the horizon have."""
    longer = max(0, horizon - suffix)
    return (1 << min(horizon, suffix)) - 1 + (longer * (longer + 1) // 2 << suffix)
