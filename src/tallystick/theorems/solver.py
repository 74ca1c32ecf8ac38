"""The one door to z3, which is an extra and has no types of its own."""

from importlib import import_module
from typing import Any, TypeAlias

from tallystick.errors import MissingExtra
from tallystick.numbers import positive_part

Formula: TypeAlias = Any
"""A solver's statement, true or false: z3's BoolRef."""

Term: TypeAlias = Any
"""A solver's number: z3's ArithRef."""

Solver: TypeAlias = Any
"""A z3 solver with its assertions."""

Network: TypeAlias = Any
"""Values for the letters that a solver found."""

try:
    z3: Any = import_module("z3")
except ModuleNotFoundError:
    raise MissingExtra("z3", "prove") from None


@positive_part.register(z3.ArithRef)
def _(x: Term) -> Term:
    return z3.If(x > 0, x, z3.RealVal(0))
