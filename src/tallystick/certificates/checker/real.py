"""Machines in real numbers."""

from math import lcm

from .claim import Model
from .machine import Ends, Machine, whole_lines
from .tanh import tanh_above, tanh_below


class Exact(Machine):
    """Linear, selective and ReLU cells: H_N = E·Dᴺ·h_N is whole, for common denominators E of the steps and D of the weights."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.factor = lcm(*(weight.denominator for weight in model.weights))
        self.scale = lcm(*(step.denominator for step in model.steps))
        self.weights = [int(weight * self.factor) for weight in model.weights]
        self.steps = [int(step * self.scale) for step in model.steps]
        self.lines = whole_lines(model)

    def advance(self) -> None:
        """Go on to the next length, whose unit is finer by D."""
        self.scale *= self.factor
        self.steps = [step * self.factor for step in self.steps]

    def step(self, h: int, token: int) -> int:
        """Return H_(N+1) = (D·U)·H_N + (E·Dᴺ⁺¹)·c; max(0, ·) is kept by a positive factor."""
        h = self.weights[token] * h + self.steps[token]
        return max(h, 0) if self.model.cell == "relu" else h

    def outputs(self, h: int) -> list[int]:
        """Return v·H + c·E·Dᴺ, which orders the outputs as v·h + c does."""
        return [v * h + c * self.scale for v, c in self.lines]

    def nanoseconds(self, length: int) -> int:
        """A product of numbers of m and n digits takes about m·n."""
        digits = max(number.bit_length() for number in (*self.weights, self.factor))
        state = length * digits + self.scale.bit_length() + max(step.bit_length() for step in self.steps)
        return 1000 + state * (digits + 500) // 1000


class RealTanh(Machine):
    """A tanh cell: the bounds of h are multiples of 2^−places, and what is squashed is exact: U·h + c = x / (D·2^places)."""

    enclosing = True

    def __init__(self, model: Model, places: int) -> None:
        super().__init__(model)
        self.places, self.scale = places, 1 << places
        numbers = (model.weights[0], *model.steps)
        common = lcm(*(number.denominator for number in numbers))
        self.weight, *self.steps = (int(number * common) for number in numbers)
        self.divisor = common * self.scale
        self.lines = whole_lines(model)

    def step(self, h: int, token: int) -> int:
        """Return x."""
        return self.weight * h + self.steps[token] * self.scale

    def image(self, ends: Ends, token: int) -> Ends:
        """Return bounds of tanh, which rises, between the ends of x."""
        low, high = super().image(ends, token)
        return tanh_below(low, self.divisor, self.places), tanh_above(high, self.divisor, self.places)

    def outputs(self, h: int) -> list[int]:
        """Return the outputs at a bound."""
        return [v * h + c * self.scale for v, c in self.lines]

    def nanoseconds(self, length: int) -> int:  # noqa: ARG002
        """Divisions take the time, of numbers of so many places."""
        return 20_000 + (self.places + self.divisor.bit_length()) ** 2 // 20
