"""Activations and roundings of rationals, between bounds; and from where on an executed activation is one number.

NumPy's tanh and sigmoid are taken to be within a few units in the last place of the true value, and to be what they tend to where
that is the only number of the format for some way around the true value. Tests measure this.
"""

from collections.abc import Callable
from fractions import Fraction

from tallystick.certificates.closed_forms.polyhedra import Undecided
from tallystick.errors import BadInput
from tallystick.numbers import Number, exact, hyperbolic_tangent, sigmoid
from tallystick.numbers.any_order import SATURATED, ULPS
from tallystick.numbers.balls import ball_of, digits
from tallystick.numbers.floats import FloatFormat, nearest

_DIGITS = 256

ROUND = "round"
"""In the place of an activation: a number is rounded to the format."""

ACTIVATIONS: dict[str, Callable[[Number], Number]] = {"tanh": hyperbolic_tangent, "sigmoid": sigmoid}
AT_ZERO = {"tanh": Fraction(0), "sigmoid": Fraction(1, 2)}
RANGES: dict[str, tuple[Fraction | None, Fraction | None]] = {
    "tanh": (Fraction(-1), Fraction(1)),
    "sigmoid": (Fraction(0), Fraction(1)),
    ROUND: (None, None),
}
"""What an activation lies between, whatever it is taken of."""

VANISHED = {"float16": 20, "bfloat16": 96, "float32": 106, "float64": 748}
"""From minus these numbers down, NumPy's sigmoid is exactly 0 in each format: e^x is below a quarter of the least number."""


def rounded(value: Fraction, form: FloatFormat) -> Fraction:
    """Return the nearest number of a format."""
    try:
        return exact(nearest(value, form))
    except BadInput:
        raise Undecided("a number leaves the range of the format") from None


def executed(name: str, value: Fraction, form: FloatFormat) -> Fraction:
    """Return an activation of a number of a format, as NumPy executes it."""
    return exact(ACTIVATIONS[name](nearest(value, form)))


def limit_of(name: str, least: Fraction | None, most: Fraction | None, form: FloatFormat) -> Fraction | None:
    """Return the one number that an executed activation is between two numbers, which are saturated; None where they are not.

    >>> from tallystick.numbers.floats import FORMATS
    >>> limit_of("tanh", None, Fraction(-12), FORMATS["float32"]), limit_of("sigmoid", Fraction(19), None, FORMATS["float32"])
    (Fraction(-1, 1), None)
    """
    tanh, one = SATURATED[form.name]
    above, below = (tanh, tanh) if name == "tanh" else (one, VANISHED[form.name])
    if least is not None and least >= above:
        return RANGES[name][1]
    return RANGES[name][0] if most is not None and most <= -below else None


def bounds_of(name: str, x: Fraction, form: FloatFormat | None) -> tuple[Fraction, Fraction]:
    """Return rationals between which an activation of a rational lies; as executed by a library that is off by a few units."""
    if name == ROUND:
        assert form is not None
        return rounded(x, form), rounded(x, form)
    if x == 0 and form is None:
        return AT_ZERO[name], AT_ZERO[name]
    with digits(_DIGITS):
        found = ACTIVATIONS[name](ball_of(x))
        ends = (found.lower().man_exp(), found.upper().man_exp())
    low, high = (int(mantissa) * Fraction(2) ** int(exponent) for mantissa, exponent in ends)
    if form is not None:  # a unit in the last place is at most twice the format's unit, relatively
        slack = 2 * ULPS * form.unit
        low, high = low - abs(low) * slack - ULPS * form.least, high + abs(high) * slack + ULPS * form.least
    least, most = RANGES[name]
    assert least is not None
    assert most is not None
    return max(low, least), min(high, most)
