"""The factors of state-space models from the parameters that training has: those of LRU, and S4D's with its discretisation.

    LRU:  λ = exp(−exp(nu_log) + i·exp(theta_log)), and B is multiplied by γ = exp(gamma_log)
    S4D:  A = −exp(log_A_real) + i·A_imag and Δ = exp(log_dt); then by the zero-order hold λ = exp(Δ·A) and B̄ = (λ − 1)/A·B, or
          bilinearly λ = (1 + Δ·A/2)/(1 − Δ·A/2) and B̄ = Δ/(1 − Δ·A/2)·B

Such numbers are transcendental, so no file holds them and no network has them: each is rounded to the nearest float64, once,
from 60 digits, and the network that is certified is the one with these float64 numbers.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

from tallystick.errors import BadInput

DISCRETISATIONS = ("zoh", "bilinear")

_DIGITS = 100
_LARGEST = 40
"""The greatest size of a logarithm that is read, which keeps every number far from where a float64 overflows."""
_LARGEST_RATE = 1 << 50
_HALVINGS = 120
"""An angle below 2^50·e^40 < 2^108 is halved so often that a short series serves; doubling it again costs 37 of 100 digits."""


class Complex(NamedTuple):
    """A complex number whose parts are of one kind."""

    real: Decimal
    imaginary: Decimal

    def __mul__(self, other: object) -> "Complex":  # pyright: ignore[reportIncompatibleMethodOverride] -- no tuple is repeated
        assert isinstance(other, Complex)
        a, b, c, d = *self, *other
        return Complex(a * c - b * d, a * d + b * c)

    def over(self, other: "Complex") -> "Complex":
        """Return this number divided by another."""
        size = other.real**2 + other.imaginary**2
        return self * Complex(other.real / size, -other.imaginary / size)


Rounded = tuple[Fraction, Fraction]
"""The real and the imaginary part, each a float64."""


def lru_factor(nu_log: Fraction, theta_log: Fraction) -> Rounded:
    """Return λ of an LRU layer's unit.

    >>> from math import log, pi
    >>> real, imaginary = lru_factor(Fraction(log(log(2))), Fraction(log(pi / 2)))  # half as long, and a quarter turn
    >>> abs(real) < 1e-15, round(float(imaginary), 15)
    (True, 0.5)
    """
    with localcontext(Context(prec=_DIGITS)):
        size = (-_exp(nu_log, "nu_log")).exp()
        return _rounded(Complex(size, Decimal(0)) * _turn(_exp(theta_log, "theta_log")))


def lru_scale(gamma_log: Fraction, weight: Fraction) -> Fraction:
    """Return γ times a weight."""
    with localcontext(Context(prec=_DIGITS)):
        return _nearest(_exp(gamma_log, "gamma_log") * _decimal(weight))


def s4d_factor(
    log_A_real: Fraction,
    A_imag: Fraction,
    log_dt: Fraction,
    B: tuple[Fraction, Fraction],
    discretisation: str,
) -> tuple[Rounded, Rounded]:
    """Return λ and B̄ of a unit of an S4D layer.

    >>> factor, weight = s4d_factor(Fraction(0), Fraction(0), Fraction(0), (Fraction(1), Fraction(0)), "bilinear")
    >>> [round(float(part), 6) for part in (*factor, *weight)]  # A = −1 and Δ = 1: λ = (1/2)/(3/2)
    [0.333333, 0.0, 0.666667, 0.0]
    """
    if abs(A_imag) > _LARGEST_RATE:
        raise BadInput(f"A_imag: {float(A_imag)} is greater than 2^50")
    one, zero = Decimal(1), Decimal(0)
    with localcontext(Context(prec=_DIGITS)):
        step = _exp(log_dt, "log_dt")
        rate = Complex(-_exp(log_A_real, "log_A_real"), _decimal(A_imag))
        change = rate * Complex(step, zero)
        weight = Complex(*map(_decimal, B))
        if discretisation == "bilinear":
            half = Complex(change.real / 2, change.imaginary / 2)
            below = Complex(one - half.real, -half.imaginary)
            factor = Complex(one + half.real, half.imaginary).over(below)
            return _rounded(factor), _rounded(Complex(step, zero).over(below) * weight)
        factor = Complex(change.real.exp(), zero) * _turn(change.imaginary)
        held = Complex(factor.real - one, factor.imaginary).over(rate) * weight
        return _rounded(factor), _rounded(held)


def _exp(value: Fraction, name: str) -> Decimal:
    if abs(value) > _LARGEST:
        raise BadInput(f"{name}: {float(value)} is a logarithm; those of −{_LARGEST} to {_LARGEST} are read")
    return _decimal(value).exp()


def _turn(angle: Decimal) -> Complex:
    """Return cos and sin of an angle: a series for a small part of it, whose powers double the angle."""
    small = angle / Decimal(2) ** _HALVINGS
    # Below 2^-10 the terms after these are less than 10^-100 of the sum.
    real, imaginary, term = Decimal(1), small, small
    for place in range(2, 40, 2):
        term = -term * small / place
        real += term
        term = term * small / (place + 1)
        imaginary += term
    found = Complex(real, imaginary)
    for _ in range(_HALVINGS):
        found = found * found
    return found


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _rounded(value: Complex) -> Rounded:
    return _nearest(value.real), _nearest(value.imaginary)


def _nearest(value: Decimal) -> Fraction:
    return Fraction(float(value))
