"""What runs: a model in whole numbers, whatever its arithmetic. Here the machines in real numbers; `floating` has the others."""

from abc import ABC, abstractmethod
from math import lcm

from .claims import Model
from .effort import product_time
from .tanh import tanh_above, tanh_below, tanh_time

Ends = tuple[int, int]
"""The least and the greatest state of some strings, or bounds of these."""


class Machine(ABC):
    """A model whose states are whole numbers of a unit 1 / scale, which may change from one length to the next.

    Each token's map is monotone in h, rounding included, so it takes everything between two ends to what lies between the
    images of the ends. Outputs of the readout are whole numbers of one unit, and monotone in h too.
    """

    scale: int
    enclosing = False
    """Whether an image may be wider than what it bounds, as those of tanh are."""

    def __init__(self, model: Model) -> None:
        self.model, self.decision = model, model.readout.decision
        signs = {sign: [sign, 0] for sign in (-1, 0, 1)} if len(model.lines) == 1 else {}
        self.by_sign = {sign: self._compare(outputs) for sign, outputs in signs.items()}
        """Of a single output its sign tells all, which is quicker."""

    def advance(self) -> None:  # noqa: B027 -- most units stay as they are
        """Go on to the next length."""

    @abstractmethod
    def step(self, h: int, token: int) -> int:
        """Return the next state, or what is still to be squashed by tanh."""

    @abstractmethod
    def outputs(self, h: int) -> list[int]:
        """Return the readout's outputs at a state."""

    @abstractmethod
    def time(self, length: int) -> int:
        """Return about how many nanoseconds a group of strings of a length takes: its images and its class."""

    def image(self, ends: Ends, token: int) -> Ends:
        """Return the ends after a token: a falling map exchanges them."""
        low, high = ends
        first = self.step(low, token)
        second = first if low == high else self.step(high, token)
        return (first, second) if first <= second else (second, first)

    def class_between(self, ends: Ends) -> int | None:
        """Return the class of every state between two ends, or None if they may not all have one."""
        return self.decision.class_of(self.above_at(ends))

    def above_at(self, ends: Ends) -> tuple[bool | None, ...]:
        """Say of each pair of outputs whether the first is above the second at both ends, or at neither; else None.

        Exact lines are in the same order between two ends.
        """
        low, high = ends
        above = self._above(low)
        again = above if low == high else self._above(high)
        if again == above:
            return above
        return tuple([first if first is last else None for first, last in zip(above, again, strict=True)])

    def _above(self, h: int) -> tuple[bool, ...]:
        """Say of each pair of outputs whether the first is above the second."""
        outputs = self.outputs(h)
        if self.by_sign:
            (output,) = outputs
            return self.by_sign[(output > 0) - (output < 0)]
        outputs.append(0)
        return self._compare(outputs)

    def _compare(self, outputs: list[int]) -> tuple[bool, ...]:
        return tuple([outputs[greater] > outputs[less] for greater, less in self.decision.pairs])


_OVERHEAD = 2500
"""Nanoseconds that a group takes whatever its numbers: calls, comparisons, the clock."""


class Exact(Machine):
    """Linear, selective and ReLU cells: H_N = E·Dᴺ·h_N is whole, for common denominators E of the steps and D of the weights."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.factor = lcm(*(weight.denominator for weight in model.weights))
        self.scale = lcm(*(step.denominator for step in model.steps))
        self.weights = [int(weight * self.factor) for weight in model.weights]
        self.steps = [int(step * self.scale) for step in model.steps]
        slopes, biases = _whole_lines(model)
        self.lines = [(v, c * self.scale) for v, c in zip(slopes, biases, strict=True)]

    def advance(self) -> None:
        """Go on to the next length, whose unit is finer by D."""
        self.scale *= self.factor
        self.steps = [step * self.factor for step in self.steps]
        self.lines = [(v, c * self.factor) for v, c in self.lines]

    def step(self, h: int, token: int) -> int:
        """Return H_(N+1) = (D·U)·H_N + (E·Dᴺ⁺¹)·c; max(0, ·) is kept by a positive factor."""
        h = self.weights[token] * h + self.steps[token]
        return max(h, 0) if self.model.cell == "relu" else h

    def outputs(self, h: int) -> list[int]:
        """Return v·H + c·E·Dᴺ, which orders the outputs as v·h + c does."""
        return [v * h + c for v, c in self.lines]

    def time(self, length: int) -> int:
        """Four products by a weight, two by each slope, and those of the units, of states that grow with the length."""
        weight = _bits(*self.weights, self.factor)
        state = length * (weight + 1) + _bits(self.scale) + _bits(*self.steps)
        readout = sum(2 * product_time(_bits(v), state) for v, _ in self.lines)
        units = product_time(weight, state + _bits(*(c for _, c in self.lines))) * (3 + len(self.lines)) // (length + 1)
        return _OVERHEAD + 4 * product_time(weight, state) + readout + units


class RealTanh(Machine):
    """A tanh cell: the bounds of h are multiples of 2^−places, and what is squashed is exact: U·h + c = x / (D·2^places)."""

    enclosing = True

    def __init__(self, model: Model, places: int) -> None:
        super().__init__(model)
        self.places, self.scale = places, 1 << places
        numbers = (model.weights[0], *model.steps)
        common = lcm(*(number.denominator for number in numbers))
        self.weight, *steps = (int(number * common) for number in numbers)
        self.steps = [step << places for step in steps]
        self.divisor = common << places
        self.slopes, biases = _whole_lines(model)
        self.biases = [bias << places for bias in biases]

    def step(self, h: int, token: int) -> int:
        """Return x."""
        return self.weight * h + self.steps[token]

    def image(self, ends: Ends, token: int) -> Ends:
        """Return bounds of tanh, which rises, between the ends of x."""
        low, high = super().image(ends, token)
        return tanh_below(low, self.divisor, self.places), tanh_above(high, self.divisor, self.places)

    def outputs(self, h: int) -> list[int]:
        """Return the outputs at a bound."""
        return [v * h + c for v, c in zip(self.slopes, self.biases, strict=True)]

    def time(self, length: int) -> int:  # noqa: ARG002
        """Four bounds of tanh, four products by the weight and two by each slope."""
        readout = sum(2 * product_time(_bits(slope), self.places) for slope in self.slopes)
        argument = product_time(_bits(self.weight), self.places) + _bits(*self.steps) // 10
        return _OVERHEAD + 4 * (tanh_time(_bits(self.divisor), self.places) + argument) + readout


def _whole_lines(model: Model) -> tuple[list[int], list[int]]:
    """Bring the slopes and biases of the readout to whole numbers, all by one positive factor."""
    common = lcm(1, *(number.denominator for line in model.lines for number in line))
    return [int(v * common) for v, _ in model.lines], [int(c * common) for _, c in model.lines]


def _bits(*numbers: int) -> int:
    """Return the most bits that one of some numbers has."""
    return max((number.bit_length() for number in numbers), default=0)
