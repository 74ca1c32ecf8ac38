"""What runs: a model in whole numbers, whatever its arithmetic."""

from abc import ABC, abstractmethod
from math import lcm

from .claim import Model
from .finding import require

_MOST_NANOSECONDS = 2 * 10**11

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
        self.model = model

    def advance(self) -> None:  # noqa: B027 -- most units stay as they are
        """Go on to the next length."""

    @abstractmethod
    def step(self, h: int, token: int) -> int:
        """Return the next state, or what is still to be squashed by tanh."""

    @abstractmethod
    def outputs(self, h: int) -> list[int]:
        """Return the readout's outputs at a state."""

    @abstractmethod
    def nanoseconds(self, length: int) -> int:
        """Return about what a step takes at a length: a check that would take too long is not begun."""

    def require_quick(self, steps: int, length: int) -> None:
        """Refuse what would take minutes."""
        require(steps * self.nanoseconds(length) <= _MOST_NANOSECONDS, f"length {length} would take too long to check")

    def image(self, ends: Ends, token: int) -> Ends:
        """Return the ends after a token: a falling map exchanges them."""
        low, high = ends
        first = self.step(low, token)
        second = first if low == high else self.step(high, token)
        return (first, second) if first <= second else (second, first)

    def stays_above(self, line: int, other: int, ends: Ends) -> bool:  # noqa: ARG002
        """Say whether an output that is above another at both ends is so between them, as exact lines are."""
        return True

    def class_between(self, ends: Ends) -> int | None:
        """Return the class of every state between two ends, or None if they may not all have one.

        One output is above 0 between two ends if it is at both. The zero check's `rejected` is all but 0, so it is sure
        only on one side of 0.
        """
        low, high = ends
        if self.model.readout == "zero":
            return 1 if low == high == 0 else 0 if low > 0 or high < 0 else None
        found = self._class_at(low)
        if found != self._class_at(high):
            return None
        if low == high or self.model.readout == "binary":
            return found
        others = {0, 1, 2} - {found}
        return found if all(self.stays_above(found, other, ends) for other in others) else None

    def _class_at(self, h: int) -> int:
        """Return the class of a state: of the greatest output, and the lowest index wins a tie."""
        outputs = self.outputs(h)
        return int(outputs[0] > 0) if len(outputs) == 1 else outputs.index(max(outputs))


def whole_lines(model: Model) -> list[tuple[int, int]]:
    """Bring the readout's lines to whole numbers, all by one positive factor."""
    common = lcm(1, *(number.denominator for line in model.lines for number in line))
    return [(int(v * common), int(c * common)) for v, c in model.lines]
