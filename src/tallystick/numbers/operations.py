"""What a step is made of, for any kind of number: max(0, ·), tanh, the sigmoid, the square, the unit step, the weighted mean."""

from fractions import Fraction
from functools import singledispatch
from numbers import Rational

import numpy as np

from tallystick.errors import BadInput
from tallystick.numbers.values import Number


@singledispatch
def positive_part(x: Number) -> Number:
    """Return max(0, x), of the same kind as x.

    >>> from fractions import Fraction
    >>> positive_part(Fraction(-1, 2)), positive_part(1.5)
    (Fraction(0, 1), 1.5)
    """
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__().maximum(x, 0)
    return x if x > 0 else type(x)(0)


@singledispatch
def hyperbolic_tangent(x: Number) -> Number:
    """Return tanh x, of the same kind as x; of the rationals only 0 has one, which is 0.

    >>> from fractions import Fraction
    >>> round(hyperbolic_tangent(0.5), 9), hyperbolic_tangent(Fraction(0))
    (0.462117157, Fraction(0, 1))
    """
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__().tanh(x)
    if isinstance(x, Rational):
        if x == 0:
            return x
        raise BadInput(f"tanh {x}: no rational number; bring the cell into floating point first, as with float32")
    return x.tanh() if hasattr(x, "tanh") else type(x)(np.tanh(x))


@singledispatch
def sigmoid(x: Number) -> Number:
    """Return 1/(1 + e^(−x)), of the same kind as x; of the rationals only 0 has one, which is 1/2.

    Written as p/(p + q) with p = e^min(x, 0) and q = e^min(−x, 0), which neither overflows nor loses digits on either side,
    and which automatic differentiation gets right everywhere.

    >>> round(sigmoid(2.0), 9), sigmoid(Fraction(0)), float(sigmoid(np.float32(-100)))
    (0.880797078, Fraction(1, 2), 3.783505853677006e-44)
    """
    if hasattr(x, "__array_namespace__"):
        names = x.__array_namespace__()
        p, q = names.exp(names.minimum(x, 0)), names.exp(names.minimum(-x, 0))
        return p / (p + q)
    if isinstance(x, Rational):
        if x == 0:
            return Fraction(1, 2)
        raise BadInput(f"sigmoid {x}: no rational number; bring the cell into floating point first, as with float32")
    p, q = np.exp(min(x, type(x)(0))), np.exp(min(-x, type(x)(0)))
    return type(x)(p / (p + q))


@singledispatch
def exponential(x: Number) -> Number:
    """Return e^x, of the same kind as x; of the rationals only 0 has one, which is 1.

    >>> round(exponential(0.5), 9), exponential(Fraction(0))
    (1.648721271, Fraction(1, 1))
    """
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__().exp(x)
    if isinstance(x, Rational):
        if x == 0:
            return Fraction(1)
        raise BadInput(f"exp {x}: no rational number; bring the cell into floating point first, as with float32")
    return type(x)(np.exp(x))


@singledispatch
def square(x: Number) -> Number:
    """Return x²; boxes have closer bounds for it than a product gives."""
    return x * x


@singledispatch
def unit_step(x: Number) -> Number:
    """Return 1 for x > 0 and else 0, of the same kind as x.

    >>> unit_step(Fraction(1, 2)), unit_step(0.0), unit_step(np.array([-1.0, 3.0])).tolist()
    (Fraction(1, 1), 0.0, [0.0, 1.0])
    """
    if hasattr(x, "__array_namespace__"):
        return (x > 0) * x.__array_namespace__().ones_like(x)
    return type(x)(1 if x > 0 else 0)


@singledispatch
def weighted_mean(share: Number, first: Number, second: Number) -> Number:
    """Return (1 − share)·first + share·second; boxes have closer bounds for it than this formula gives."""
    return (1 - share) * first + share * second
