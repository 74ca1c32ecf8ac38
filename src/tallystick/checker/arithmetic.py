"""What operations do to boxes: a number is known between two ends, and whatever lies in the boxes before lies in those after."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

from .claims import Operation, Program, Readout
from .exponential import shares_above

Box = tuple[Any, Any]
"""The box (low, high) holds all numbers from low to high, in units: whole numbers, or rationals."""

Boxes = tuple[Box, ...]
Run = Callable[[list[Box]], list[Box]]
"""From the boxes so far to some more."""

SQUASHED = ("tanh", "sigmoid")
"""The operations that leave the rationals."""


class Arithmetic(ABC):
    """How operations act on boxes."""

    unit: int
    """How many units 1 is."""
    stores = False
    """Whether the numbers of a state are rounded once more (`stored`)."""
    weight = 1
    """How many boxes of the first kind fill as much memory as one of these."""

    @abstractmethod
    def sums(self, operations: Sequence[Operation]) -> Run:
        """Return the sums w·x + … + c."""

    @abstractmethod
    def product(self, x: Box, y: Box) -> Box:
        """Multiply."""

    @abstractmethod
    def tanh(self, x: Box) -> Box:
        """Squash."""

    @abstractmethod
    def sigmoid(self, x: Box) -> Box:
        """Return 1 / (1 + e^(−x)) = (1 + tanh(x / 2)) / 2."""

    @abstractmethod
    def mean(self, share: Box, x: Box, y: Box) -> Box:
        """Return (1 − s)·x + s·y."""

    @abstractmethod
    def pairs(self, readout: Readout) -> Callable[[Boxes], tuple[bool | None, ...]]:
        """Return a function that says of each pair of outputs whether the first is surely above (or surely not; else None)."""

    @abstractmethod
    def is_narrow(self, box: Box) -> bool:
        """Say whether more digits would make a box narrower, since rounding alone made it wide."""

    @abstractmethod
    def time(self, operation: Operation) -> int:
        """Return about how many nanoseconds an operation takes."""

    def shares_above(self, outputs: Sequence[Box], threshold: Fraction) -> list[bool | None]:
        """Say of each output whether its share in the softmax is surely above a threshold, or surely not; else None."""
        return shares_above(outputs, self.unit.bit_length() - 1, threshold)

    def stored(self, x: Box) -> Box:
        """Return a number of a state as it is kept from one token to the next."""
        return x

    def program_of(self, program: Program, size: int) -> Program:
        """Return a program that begins with so many numbers, as it is run."""
        del size
        return program

    def positive_part(self, x: Box) -> Box:
        """Return max(0, x), which rises."""
        return max(x[0], 0), max(x[1], 0)

    def square(self, x: Box) -> Box:
        """Return x², which is never negative."""
        low, high = self.product(x, x)
        return (low if x[0] > 0 or x[1] < 0 else 0), high

    def step(self, x: Box) -> Box:
        """Return 1 above zero and 0 elsewhere, which rises."""
        return (self.unit if x[0] > 0 else 0), (self.unit if x[1] > 0 else 0)

    def check(self, boxes: list[Box]) -> None:  # noqa: B027 -- floats do not grow
        """Stop where numbers become too long to go on with."""

    def run(self, operations: Sequence[Operation]) -> Run:
        """Return operations of one name as a function."""
        name = operations[0].name
        if name == "sum":
            return self.sums(operations)
        act = self.function(name)
        first, *others = [
            getter(places) for places in zip(*(operation.places for operation in operations), strict=True)
        ]
        if not others:
            return lambda boxes: [*map(act, first(boxes))]
        return lambda boxes: [*map(act, first(boxes), *[other(boxes) for other in others])]

    def function(self, name: str) -> Callable[..., Box]:
        """Return an operation that is no sum as a function of boxes."""
        return getattr(self, name)


def getter(places: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return a function that picks the entries at some places."""
    if len(places) != 1:
        return itemgetter(*places) if places else lambda _: ()
    (place,) = places
    return lambda values: (values[place],)
