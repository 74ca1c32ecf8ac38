"""A GRU or an LSTM whose numbers are boxes: whatever lies in the boxes of a state, what follows lies in those of the next."""

from collections.abc import Sequence
from fractions import Fraction

from .boxes import Box, box_of, hull, mean, plus, sigmoid, tanh, times
from .claim import GatedModel
from .finding import require

State = tuple[tuple[Box, ...], tuple[Box, ...]]
"""The boxes of h, and of an LSTM's c; a GRU has none of those."""

Comparison = tuple[list[Box], Box, bool]
"""w, c and whether it is strict: w·h + c > 0, or ≥ 0."""

_LARGEST = 1 << 500


class GatedCell:
    """A model, its numbers in boxes. Rows stand gate after gate: r, z, n of a GRU and i, f, g, o of an LSTM."""

    def __init__(self, model: GatedModel) -> None:
        self.is_gru, self.units = model.cell == "gru", len(model.recurrent_weight[0])
        rows = list(zip(model.input_weight, model.input_bias, strict=True))
        self.from_token = [[_bounded(weight[token] + bias) for weight, bias in rows] for token in (0, 1)]
        self.recurrent = [[_bounded(weight) for weight in row] for row in model.recurrent_weight]
        self.bias = [_bounded(bias) for bias in model.recurrent_bias]
        self.comparisons = _comparisons(model)
        zeros = ((0, 0),) * self.units
        self.start: State = zeros, () if self.is_gru else zeros

    def step(self, state: State, token: int) -> State:
        """Return the boxes of the next state."""
        x = self.from_token[token]
        y = [_linear(row, state[0], bias) for row, bias in zip(self.recurrent, self.bias, strict=True)]
        return self._gru(x, y, state) if self.is_gru else self._lstm(x, y, state)

    def _gru(self, x: list[Box], y: list[Box], state: State) -> State:
        """Next comes h' = (1 − z)·n + z·h with n = tanh(x_n + r·y_n), where r and z are sigmoids of x + y."""
        reset, keep = (list(map(sigmoid, map(plus, self._gate(x, g), self._gate(y, g)))) for g in (0, 1))
        new = map(tanh, map(plus, self._gate(x, 2), map(times, reset, self._gate(y, 2))))
        return tuple(map(mean, keep, new, state[0])), ()

    def _lstm(self, x: list[Box], y: list[Box], state: State) -> State:
        """Next come c' = f·c + i·g and h' = o·tanh c', where g is the tanh and i, f and o are the sigmoids of x + y."""
        sums = list(map(plus, x, y))
        i, f, o = (map(sigmoid, self._gate(sums, g)) for g in (0, 1, 3))
        new = map(times, i, map(tanh, self._gate(sums, 2)))
        memory = tuple(map(plus, map(times, f, state[1]), new))
        return tuple(map(times, o, map(tanh, memory))), memory

    def _gate(self, rows: list[Box], gate: int) -> list[Box]:
        return rows[gate * self.units : (gate + 1) * self.units]

    def class_of(self, state: State) -> int | None:
        """Return the class that every h in the boxes gets, or None if they may not all get one."""
        hidden = state[0]
        sure = (index for index, needed in enumerate(self.comparisons) if all(_holds(one, hidden) for one in needed))
        return next(sure, None)

    def nanoseconds(self) -> int:
        """Return about what a step takes: two bounds of a tanh for each row and each h, and the products."""
        rows = len(self.recurrent)
        return 14_000 * (rows + self.units) + 1000 * rows * self.units


def joined(first: State, second: State) -> State:
    """Return the least boxes around two states."""
    return tuple(map(hull, first[0], second[0])), tuple(map(hull, first[1], second[1]))


def _comparisons(model: GatedModel) -> list[list[Comparison]]:
    """Return for each class what must hold: its output is above those of lower index, and not below those of higher index.

    A single output stands against 0, which has the lower index. Numbers are subtracted exactly, and put into boxes then.
    """
    lines = [[*weight, bias] for weight, bias in model.lines]
    if len(lines) == 1:
        lines.insert(0, [Fraction(0)] * len(lines[0]))

    def comparison(mine: int, other: int) -> Comparison:
        *weight, bias = (_bounded(x - y) for x, y in zip(lines[mine], lines[other], strict=True))
        return weight, bias, other < mine

    indices = range(len(lines))
    return [[comparison(mine, other) for other in indices if other != mine] for mine in indices]


def _holds(comparison: Comparison, hidden: Sequence[Box]) -> bool:
    weight, bias, strict = comparison
    low, _ = _linear(weight, hidden, bias)
    return low > 0 if strict else low >= 0


def _linear(weight: Sequence[Box], hidden: Sequence[Box], bias: Box) -> Box:
    for product in map(times, weight, hidden):
        bias = plus(bias, product)
    return bias


def _bounded(number: Fraction) -> Box:
    require(abs(number) <= _LARGEST, "a weight is too large to bound")
    return box_of(number)
