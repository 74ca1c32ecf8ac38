"""Cells whose recurrent weight depends on the token, as in gated linear RNNs and selective state-space models.

One unit has a factor for each token; a layer has a vector of factors, one per unit, or a whole matrix.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from tallystick.cells.cell import TOKENS, Input, ScalarCell, Shape
from tallystick.cells.conditions import Condition, Counting, Recurrent, RecurrentForm, Steps, show
from tallystick.cells.vector import AffineLayer
from tallystick.numbers import Number, exact
from tallystick.numbers.values import Matrix, Vector, layer

_LEAST_FACTOR = 2.0**-4
"""Where a projection would take a factor to zero or below, it stops here: beyond lies no counter to go to."""


def _undone(steps: Steps, recurrent: Recurrent) -> Any:  # noqa: ANN401 -- an array
    """Return b + Q·a, what `()` leaves of the step."""
    return steps[1] + recurrent[1] * steps[0]


def _inverse(steps: Steps, recurrent: Recurrent) -> Any:  # noqa: ANN401
    """Return P·Q − 1."""
    del steps
    return recurrent[0] * recurrent[1] - 1


def _near_counter(steps: Steps, recurrent: Recurrent) -> tuple[Steps, Recurrent]:
    """Scale P and Q alike until P·Q = 1, then take the nearest steps with b = −Q·a."""
    xp = recurrent[0].__array_namespace__()
    opening, closing = (xp.maximum(weight, _LEAST_FACTOR) for weight in recurrent)
    P = xp.sqrt(opening / closing)
    Q = 1 / P
    a = (steps[0] - Q * steps[1]) / (1 + Q * Q)
    return (a, -Q * a), (P, Q)


def _powers(numbers: Recurrent, direction: Any, like: Recurrent) -> Recurrent:  # noqa: ANN401
    """Return P = e^σ and Q = e^−σ, which no step of training can make negative."""
    del direction, like
    (sigma,) = numbers
    xp = sigma.__array_namespace__()
    return xp.exp(sigma), xp.exp(-sigma)


_COUNTING = Counting(
    _undone,
    _inverse,
    _near_counter,
    lambda a, recurrent: -recurrent[1] * a,
    RecurrentForm(lambda recurrent: recurrent[1:], _powers),
)


@final
@dataclass(frozen=True)
class SelectiveCell(ScalarCell):
    """h' = P·h + a on `(` and h' = Q·h + b on `)`.

    Attributes:
        open_step: a, what `(` adds.
        close_step: b, what `)` adds.
        open_recurrent_weight: P, the factor on the previous state when `(` is read.
        close_recurrent_weight: Q, the same for `)`.

    >>> SelectiveCell(1, -2, open_recurrent_weight=0.5, close_recurrent_weight=2).trace("(())")
    [0, 1.0, 1.5, 1.0, 0.0]
    """

    open_recurrent_weight: Number
    close_recurrent_weight: Number

    name = "selective"
    scales = True
    deciders = ("theorem", "exact depth", "search")
    counting = _COUNTING

    @property
    def is_affine(self) -> bool:
        """True: its matrices are the numbers P and Q."""
        return True

    def step(self, state: Number, token: Input) -> Number:
        """Return P·h + a or Q·h + b: multiply, then add."""
        weight = token.choose(self.open_recurrent_weight, self.close_recurrent_weight)
        return weight * state + token.choose(self.open_step, self.close_step)

    def conditions(self) -> list[Condition]:
        """Return Theorem 2: P·Q = 1, b = −Q·a, a ≠ 0 and P ≠ −1."""
        cell = self.map_weights(exact)
        a, b, P, Q = cell.open_step, cell.close_step, cell.open_recurrent_weight, cell.close_recurrent_weight
        return [
            Condition.equation("P·Q", P * Q, "1", Fraction(1)),
            Condition.equation("b", b, "−Q·a", -Q * a),
            Condition("a ≠ 0", a != 0, f"a = {show(a)}", a),
            Condition("P ≠ −1", P != -1, f"P = {show(P)}", P),
        ]


@final
@dataclass(frozen=True)
class SelectiveLayer(AffineLayer):
    """h' = A(x)∘h + W·x + b, unit by unit, with the factors A(x) = R·x: diagonal matrices, which commute.

    Attributes:
        input_weight: W, one row per unit, one column per entry of x.
        recurrent_weight: R, one row per unit, one column per entry of x: for a bracket, the factors when `(` and `)` are read.
        input_bias: b, one number per unit.

    >>> SelectiveLayer(((1, -2), (1, 1)), ((0.5, 2), (1, 0)), (0, 0)).trace("(()")
    [(0, 0), (1.0, 1), (1.5, 2), (1.0, 1)]
    """

    name = "selective"
    counting = _COUNTING.by_unit()

    @classmethod
    def shapes(cls, units: int, inputs: int = TOKENS) -> dict[str, Shape]:
        """Return the shapes: a row per unit, a column per entry of x."""
        return {"input_weight": (units, inputs), "recurrent_weight": (units, inputs), "input_bias": (units,)}

    def step(self, state: Vector, token: Input) -> Vector:
        """Return h': multiply, then add."""
        terms = token.weigh(self.input_weight, self.input_bias)
        factors = (token.choose(*row) for row in self.recurrent_weight)
        return tuple(factor * h + term for factor, h, term in zip(factors, state, terms, strict=True))


@final
@dataclass(frozen=True)
class MatrixLayer(AffineLayer):
    """h' = (Σ_i x_i·A_i)·h + W·x + b: a matrix for each token.

    Attributes:
        input_weight: W, one row per unit, one column per entry of x.
        recurrent_weight: the matrices A_i, one per entry of x: for a bracket, those of `(` and `)`.
        input_bias: b, one number per unit.

    >>> swap, keep = ((0, 1), (1, 0)), ((1, 0), (0, 1))
    >>> MatrixLayer(((1, -1), (0, 0)), (swap, keep), (0, 0)).trace("((")
    [(0, 0), (1, 0), (1, 1)]
    """

    recurrent_weight: tuple[Matrix, ...]

    name = "selective"

    @classmethod
    def shapes(cls, units: int, inputs: int = TOKENS) -> dict[str, Shape]:
        """Return the shapes: one square matrix per entry of x."""
        return {"input_weight": (units, inputs), "recurrent_weight": (inputs, units, units), "input_bias": (units,)}

    def step(self, state: Vector, token: Input) -> Vector:
        """Return h': the matrix of the token times h, then what the token adds."""
        terms = token.weigh(self.input_weight, self.input_bias)
        return tuple(layer(token.mixture(self.recurrent_weight), tuple(terms), state))
