"""The numbers that a cell can run on.

A cell's step uses only +, ×, max(0, ·), tanh, the sigmoid, the square and the unit step, so it runs on whatever numbers it is
handed: rationals, Python floats, NumPy and JAX arrays, a solver's terms. This room reads numbers exactly, rounds them to a named
arithmetic once and correctly, gives what the kinds of number do not have in common, and makes sure that floats behave as they
should.
"""

from tallystick.numbers.arithmetics import ANY_ORDER, ARITHMETICS, FUSED, Fused, float_format
from tallystick.numbers.floats import FORMATS, MIXED_FORMATS, FloatFormat, format_of, nearest
from tallystick.numbers.operations import (
    hyperbolic_tangent,
    positive_part,
    sigmoid,
    square,
    unit_step,
    weighted_mean,
)
from tallystick.numbers.values import Number, check_mode, check_number, exact, standard_floats

__all__ = [
    "ANY_ORDER",
    "ARITHMETICS",
    "FORMATS",
    "FUSED",
    "MIXED_FORMATS",
    "FloatFormat",
    "Fused",
    "Number",
    "check_mode",
    "check_number",
    "exact",
    "float_format",
    "format_of",
    "hyperbolic_tangent",
    "nearest",
    "positive_part",
    "sigmoid",
    "square",
    "standard_floats",
    "unit_step",
    "weighted_mean",
]
