"""IEEE floats: the formats, and the one correct rounding of a rational to each."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ldexp
from typing import Any

import ml_dtypes
import numpy as np

from tallystick.errors import BadInput
from tallystick.numbers.values import check_mode


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format.

    Attributes:
        name: as in verdicts and files.
        kind: the NumPy type that holds its numbers.
        digits: binary digits of a number, p in the texts.
        least_exponent: 2 to this power is the least positive number.
        greatest: the greatest finite number.
    """

    name: str
    kind: type[np.generic]
    digits: int
    least_exponent: int
    greatest: Fraction

    @property
    def state(self) -> "FloatFormat":
        """The format in which a state keeps its numbers from one token to the next."""
        return self

    @property
    def weights(self) -> "FloatFormat | None":
        """The format that weights are rounded to; None where they are whole numbers times a scale, and are not rounded."""
        return self

    @property
    def said(self) -> str:
        """The format in words."""
        return self.name

    @property
    def unit(self) -> Fraction:
        """Half the distance from 1 to the next number: the most that one rounding is off, relatively."""
        return Fraction(1, 2**self.digits)

    @property
    def least(self) -> Fraction:
        """The least positive number."""
        return Fraction(2) ** self.least_exponent

    def last_place(self, value: Fraction) -> Fraction:
        """Return the distance between neighbouring numbers around a value.

        >>> FORMATS["float32"].last_place(Fraction(1)) == Fraction(1, 2**23)
        True
        """
        return Fraction(2) ** self.last_exponent(value)

    def last_exponent(self, value: Fraction) -> int:
        """Return the exponent of that distance, which is a power of two."""
        return max(exponent(value) - self.digits + 1, self.least_exponent)

    def exact_steps(self, step: Fraction, start: Fraction = Fraction(0)) -> int:
        """Return how many times a step can be added to a start before a sum may round: all are multiples of a power of two q.

        A multiple of q up to 2ᵖ·q has at most p binary digits.

        >>> FORMATS["float32"].exact_steps(Fraction(1)) == 2**24, FORMATS["bfloat16"].exact_steps(Fraction(3), Fraction(6))
        (True, 83)
        """
        most = min(2**self.digits * power_in(step, start), self.greatest)
        return max(int((most - abs(start)) / abs(step)), 0)


def power_in(*values: Fraction) -> Fraction:
    """Return the greatest power of two that divides every value, each of which has finitely many binary digits; 1 for zeros.

    >>> power_in(Fraction(12), Fraction(3, 2)), power_in(Fraction(0))
    (Fraction(1, 2), Fraction(1, 1))
    """
    powers = (Fraction(value.numerator & -value.numerator, value.denominator) for value in values if value)
    return min(powers, default=Fraction(1))


def _format(name: str, kind: type[np.generic]) -> FloatFormat:
    limits: Any = ml_dtypes.finfo(kind)  # which knows NumPy's own types too
    digits = int(limits.nmant) + 1
    return FloatFormat(name, kind, digits, int(limits.minexp) - digits + 1, Fraction(float(limits.max)))


FORMATS: dict[str, FloatFormat] = {
    name: _format(name, kind)
    for name, kind in {
        "float16": np.float16,
        "bfloat16": ml_dtypes.bfloat16,
        "float32": np.float32,
        "float64": np.float64,
    }.items()
}
"""Every format by name."""


@dataclass(frozen=True)
class MixedFormat(FloatFormat):
    """A format to compute in, while the numbers of a state, the weights or both are kept in less.

    Attributes:
        state_name: the format of a state's numbers between two tokens.
        weights_name: that of the weights, or `INT8`.
    """

    state_name: str
    weights_name: str

    @property
    def state(self) -> FloatFormat:
        """The format in which a state keeps its numbers."""
        return FORMATS[self.state_name]

    @property
    def weights(self) -> FloatFormat | None:
        """The format that weights are rounded to; None for whole numbers times a scale."""
        return FORMATS.get(self.weights_name)

    @property
    def said(self) -> str:
        """The format in words, and what is kept in another one."""
        scaled = " times a scale" if self.weights is None else ""
        weights = f", weights of {self.weights_name}{scaled}" if self.weights_name != self.name else ""
        state = f", states rounded to {self.state_name} after every token" if self.state_name != self.name else ""
        return self.name + weights + state


INT8 = "int8"
"""Weights that are whole numbers from −128 to 127, times one scale for each row of a matrix."""


def _mixed_formats() -> Iterator[tuple[str, MixedFormat]]:
    base, narrow = FORMATS["float32"], ("float16", "bfloat16")
    for weights, state in product((base.name, *narrow, INT8), (base.name, *narrow)):
        parts = [*([f"{weights}-weights"] if weights != base.name else ())]
        parts += [f"{state}-state"] if state != base.name else ()
        if parts:
            known = (base.name, base.kind, base.digits, base.least_exponent, base.greatest)
            yield "-".join([*parts, base.name]), MixedFormat(*known, state, weights)


MIXED_FORMATS = dict(_mixed_formats())
"""What computes in float32 and keeps weights or states in less, by name, as in `bfloat16-weights-bfloat16-state-float32`."""


def format_of(value: np.generic) -> FloatFormat:
    """Return the format that a number has."""
    return next(form for form in FORMATS.values() if isinstance(value, form.kind))


def nearest(value: Fraction, form: FloatFormat, field: str = "number") -> np.generic:
    """Round a rational to the nearest number of a format, ties to even, in one rounding.

    Going through a double would round twice: 1 + 2⁻²⁴ + 2⁻⁶⁰ lies above the middle of two neighbouring float32, but the
    double nearest to it is that middle, and the middle goes to the even neighbour.

    >>> float(nearest(1 + Fraction(1, 2**24) + Fraction(1, 2**60), FORMATS["float32"])) > 1
    True
    """
    numerator, denominator = value.numerator, value.denominator
    place = form.last_exponent(value)
    whole = _nearest_whole(numerator << max(-place, 0), denominator << max(place, 0))
    if place > 0 and abs(whole) << place > form.greatest:
        raise BadInput(f"{field}: about 2^{exponent(value)} is too large for {form.name}")
    found = form.kind(ldexp(whole, place))  # exact: every format's numbers are doubles
    if whole and not found:
        check_mode()  # only where subnormal numbers are flushed to zero
    return found


def _nearest_whole(numerator: int, denominator: int) -> int:
    """Round a ratio to the nearest whole number, a tie to the even one."""
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))


def exponent(value: Fraction) -> int:
    """Return ⌊log₂|value|⌋, and 0 for zero."""
    numerator, denominator = abs(value.numerator), value.denominator
    if numerator == 0:
        return 0
    guess = numerator.bit_length() - denominator.bit_length()
    return guess if numerator << max(-guess, 0) >= denominator << max(guess, 0) else guess - 1
