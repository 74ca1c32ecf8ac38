"""Max(0, ·), tanh, the sigmoid and the weighted mean for every kind of number a cell can run on."""

from fractions import Fraction
from functools import singledispatch
from numbers import Rational
from typing import Any, TypeAlias

import numpy as np

from tallystick.errors import BadInput

Number: TypeAlias = Any
"""An int, Fraction, float, NumPy or JAX array, or a solver's term: anything with + and ×."""


@singledispatch
def positive_part(x: Number) -> Number:
    """max(0, x), of the same kind as x.

    >>> from fractions import Fraction
    >>> positive_part(Fraction(-1, 2)), positive_part(1.5)
    (Fraction(0, 1), 1.5)
    """
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__().maximum(x, 0)
    return x if x > 0 else type(x)(0)


@singledispatch
def hyperbolic_tangent(x: Number) -> Number:
    """Tanh of x, of the same kind as x; a rational has none but tanh 0 = 0.

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
    """1/(1 + e^(−x)), of the same kind as x; a rational has none but 1/2 for 0.

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
def weighted_mean(share: Number, first: Number, second: Number) -> Number:
    """(1 − share)·first + share·second. Kinds of number that know only bounds have a closer way to it."""
    return (1 - share) * first + share * second
