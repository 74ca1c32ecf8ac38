"""What a counting theorem asks of a cell's weights: as findings in rationals, and as residuals that training can push to zero."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from tallystick.numbers.values import exact_number, is_writable

_LONGEST_RATIO = 20


class Condition(NamedTuple):
    """One condition of a theorem on one cell.

    Attributes:
        formula: what is asked for.
        holds: whether it holds.
        finding: what was found, in words.
        value: its left side; None where it does not exist.
        distance: how far an equation is off, its left side less its right one; None where there is no equation.
    """

    formula: str
    holds: bool
    finding: str
    value: Fraction | None
    distance: Fraction | None = None

    @classmethod
    def equation(cls, name: str, value: Fraction, target_name: str, target: Fraction) -> "Condition":
        """Return the condition that a value equals a target."""
        finding = f"{name} = {show(value)}, off by {show(value - target)}"
        return cls(f"{name} = {target_name}", value == target, finding, value, value - target)

    def as_json(self) -> dict[str, object]:
        """Return the condition as plain data, its numbers exact: whole, or "p/q"; None for one too long to write out."""
        numbers = {"value": self.value, "distance": self.distance}
        exactly = {
            name: exact_number(number) if number is not None and is_writable(number) else None
            for name, number in numbers.items()
        }
        return {**self._asdict(), **exactly}


def show(value: Fraction) -> str:
    """Write a rational as p/q where that is short, and as a decimal of six digits that a person can compare."""
    decimal = str((Decimal(value.numerator) / Decimal(value.denominator)).normalize(Context(prec=6)))
    text = str(value) if is_writable(value) else None
    if text is None or len(text) > _LONGEST_RATIO:
        return f"about {decimal}"
    return text if value.denominator == 1 else f"{text} ({decimal})"


Steps = tuple[Any, Any]
"""a and b, as arrays."""

Recurrent = tuple[Any, ...]
"""U, or P and Q, as arrays."""


@dataclass(frozen=True)
class Counting:
    """The conditions of one kind of cell as training uses them: what should be zero, and a point near by that meets them.

    Attributes:
        step_residual: what should be zero for the steps, given the recurrent weights.
        recurrent_residual: what should be zero for the recurrent weights.
        met_by: steps and recurrent weights near the given ones that meet both.
        only_counts_up: whether a must be positive, since the state never falls below zero.
    """

    step_residual: Callable[[Steps, Recurrent], Any]
    recurrent_residual: Callable[[Recurrent], Any]
    met_by: Callable[[Steps, Recurrent], tuple[Steps, Recurrent]]
    only_counts_up: bool = False


def opposite(steps: Steps, recurrent: Recurrent) -> Any:  # noqa: ANN401
    """Return a + b."""
    del recurrent
    return steps[0] + steps[1]


def unit(recurrent: Recurrent) -> Any:  # noqa: ANN401
    """Return U − 1."""
    return recurrent[0] - 1
