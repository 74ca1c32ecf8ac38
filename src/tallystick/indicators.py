"""From weights to the indicators a, b, a/b and U, and to the conditions of the theorems with their distances."""

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import singledispatch
from typing import NamedTuple

from tallystick.arithmetic import exact
from tallystick.cells import Cell, LinearCell, ReluCell, SelectiveCell
from tallystick.documents import exact_number, is_writable
from tallystick.errors import BadInput

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

    def as_json(self) -> dict[str, object]:
        """Return the condition as plain data, its numbers exact: whole, or "p/q"; None for one too long to write out."""
        numbers = {"value": self.value, "distance": self.distance}
        exactly = {
            name: exact_number(number) if number is not None and is_writable(number) else None
            for name, number in numbers.items()
        }
        return {**self._asdict(), **exactly}


@dataclass(frozen=True)
class Indicators:
    """The paper's two indicators of a linear or ReLU cell, exactly.

    >>> found = indicators(LinearCell(1, -0.75, 1.25))
    >>> found.ab_ratio, found.ab_distance, found.recurrent_distance
    (Fraction(-4, 3), Fraction(-1, 3), Fraction(1, 4))
    """

    open_step: Fraction
    close_step: Fraction
    recurrent_weight: Fraction

    @property
    def ab_ratio(self) -> Fraction | None:
        """a/b, and None where b = 0."""
        return self.open_step / self.close_step if self.close_step else None

    @property
    def ab_distance(self) -> Fraction | None:
        """a/b − (−1): zero iff the first condition holds."""
        return None if self.ab_ratio is None else self.ab_ratio + 1

    @property
    def recurrent_distance(self) -> Fraction:
        """U − 1: zero iff the second condition holds."""
        return self.recurrent_weight - 1


def indicators(cell: LinearCell | ReluCell) -> Indicators:
    """Return the cell's indicators, its weights read exactly."""
    if not isinstance(cell, LinearCell | ReluCell):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"cell: a {type(cell).__name__} has no single U; conditions() decides it")
    cell = cell.converted(exact)
    return Indicators(cell.open_step, cell.close_step, cell.recurrent_weight)


@singledispatch
def conditions(cell: Cell) -> list[Condition]:
    """Return the conditions under which this kind of cell counts exactly, each decided in rationals."""
    raise BadInput(f"cell: no counting theorem is known for a {type(cell).__name__}")


@conditions.register
def _(cell: LinearCell) -> list[Condition]:
    """Theorem 1: a/b = −1 and U = 1."""
    found = indicators(cell)
    return [_ratio_is_minus_one(found), _equals("U", found.recurrent_weight, "1", Fraction(1))]


@conditions.register
def _(cell: ReluCell) -> list[Condition]:
    """Theorem 3: a > 0, b = −a and U = 1."""
    found = indicators(cell)
    a, b = found.open_step, found.close_step
    return [
        Condition("a > 0", a > 0, f"a = {_shown(a)}", a),
        _equals("b", b, "−a", -a),
        _equals("U", found.recurrent_weight, "1", Fraction(1)),
    ]


@conditions.register
def _(cell: SelectiveCell) -> list[Condition]:
    """Theorem 2: P·Q = 1, b = −Q·a, a ≠ 0 and P ≠ −1."""
    cell = cell.converted(exact)
    a, b, P, Q = cell.open_step, cell.close_step, cell.open_recurrent_weight, cell.close_recurrent_weight
    return [
        _equals("P·Q", P * Q, "1", Fraction(1)),
        _equals("b", b, "−Q·a", -Q * a),
        Condition("a ≠ 0", a != 0, f"a = {_shown(a)}", a),
        Condition("P ≠ −1", P != -1, f"P = {_shown(P)}", P),
    ]


def _ratio_is_minus_one(found: Indicators) -> Condition:
    if found.ab_ratio is None:
        return Condition("a/b = −1", holds=False, finding="b = 0, so a/b does not exist", value=None)
    return _equals("a/b", found.ab_ratio, "−1", Fraction(-1))


def _equals(name: str, value: Fraction, target_name: str, target: Fraction) -> Condition:
    finding = f"{name} = {_shown(value)}, off by {_shown(value - target)}"
    return Condition(f"{name} = {target_name}", value == target, finding, value, value - target)


def _shown(value: Fraction) -> str:
    """Write a rational as p/q where that is short, and as a decimal of six digits that a person can compare."""
    decimal = str((Decimal(value.numerator) / Decimal(value.denominator)).normalize(Context(prec=6)))
    text = str(value) if is_writable(value) else None
    if text is None or len(text) > _LONGEST_RATIO:
        return f"about {decimal}"
    return text if value.denominator == 1 else f"{text} ({decimal})"
