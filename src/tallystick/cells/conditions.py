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
"""a and b, as arrays; for a layer their first axis is the unit."""

Recurrent = tuple[Any, ...]
"""U, or P and Q, as arrays."""


@dataclass(frozen=True)
class RecurrentForm:
    """Recurrent weights made of other numbers, so that a condition holds whatever these are.

    Attributes:
        start: the numbers that recurrent weights are made of, or that training starts from.
        weights: the recurrent weights, given those numbers, the direction (a − b)/2 of the steps, and arrays of their shape.
    """

    start: Callable[[Recurrent], Recurrent]
    weights: Callable[[Recurrent, Any, Recurrent], Recurrent]


@dataclass(frozen=True)
class Counting:
    """The conditions of one kind of cell as training uses them: what should be zero, and a point near by that meets them.

    Attributes:
        step_residual: what should be zero for the steps, given the recurrent weights.
        recurrent_residual: what should be zero for the recurrent weights, given the steps.
        met_by: steps and recurrent weights near the given ones that meet both.
        closing_step: the b that undoes a, given the recurrent weights.
        unit: the form in which recurrent weights meet their condition by construction.
        only_counts_up: whether a must be positive, since the state never falls below zero.
    """

    step_residual: Callable[[Steps, Recurrent], Any]
    recurrent_residual: Callable[[Steps, Recurrent], Any]
    met_by: Callable[[Steps, Recurrent], tuple[Steps, Recurrent]]
    closing_step: Callable[[Any, Recurrent], Any]
    unit: RecurrentForm
    only_counts_up: bool = False

    def by_unit(self) -> "Counting":
        """Return the same conditions for every unit of a layer, whose recurrent weights are the columns of one array."""

        def met_by(steps: Steps, recurrent: Recurrent) -> tuple[Steps, Recurrent]:
            steps, met = self.met_by(steps, _columns(recurrent))
            return steps, _joined(met)

        return Counting(
            lambda steps, recurrent: self.step_residual(steps, _columns(recurrent)),
            lambda steps, recurrent: self.recurrent_residual(steps, _columns(recurrent)),
            met_by,
            lambda a, recurrent: self.closing_step(a, _columns(recurrent)),
            RecurrentForm(
                lambda recurrent: self.unit.start(_columns(recurrent)),
                lambda numbers, u, like: _joined(self.unit.weights(numbers, u, _columns(like))),
            ),
        )


def _columns(recurrent: Recurrent) -> Recurrent:
    return tuple(recurrent[0][:, place] for place in range(recurrent[0].shape[1]))


def _joined(columns: Recurrent) -> Recurrent:
    return (columns[0].__array_namespace__().stack(columns, axis=1),)


def opposite(steps: Steps, recurrent: Recurrent) -> Any:  # noqa: ANN401
    """Return a + b."""
    del recurrent
    return steps[0] + steps[1]


def minus(a: Any, recurrent: Recurrent) -> Any:  # noqa: ANN401
    """Return −a."""
    del recurrent
    return -a


def unit(steps: Steps, recurrent: Recurrent) -> Any:  # noqa: ANN401
    """Return U − 1."""
    del steps
    return recurrent[0] - 1


UNIT = RecurrentForm(lambda _: (), lambda _, __, like: (like[0].__array_namespace__().ones_like(like[0]),))
"""U = 1, with nothing to train."""


def keeps_direction(steps: Steps, recurrent: Recurrent) -> Any:  # noqa: ANN401
    """Return (U·u − u)/|u| for the direction u = (a − b)/2; with one unit that is U − 1, but for the sign."""
    u = (steps[0] - steps[1]) / 2
    xp = u.__array_namespace__()
    return (_product(recurrent[0], u) - u) / xp.sqrt(xp.sum(u * u, axis=0))


def nearest_layer(steps: Steps, recurrent: Recurrent) -> tuple[Steps, Recurrent]:
    """Return the steps ±u, u = (a − b)/2, and the matrix nearest to U that keeps u."""
    u = (steps[0] - steps[1]) / 2
    return (u, -u), _keep_direction(recurrent, u, recurrent)


def _keep_direction(recurrent: Recurrent, u: Any, like: Recurrent) -> Recurrent:  # noqa: ANN401
    """Return U + (u − U·u)·uᵀ/|u|², by which U·u = u and nothing changes across u."""
    del like
    (U,) = recurrent
    along = u / u.__array_namespace__().sum(u * u, axis=0)
    return (U + (u - _product(U, u))[:, None] * along[None],)


def _product(matrix: Any, vector: Any) -> Any:  # noqa: ANN401
    return matrix.__array_namespace__().sum(matrix * vector[None], axis=1)


LAYER_COUNTING = Counting(
    opposite, keeps_direction, nearest_layer, minus, RecurrentForm(lambda recurrent: recurrent, _keep_direction)
)
"""What makes every output of a linear layer count: a + b = 0, and U keeps the direction in which the steps point."""
