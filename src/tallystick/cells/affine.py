"""What layers share whose step is affine in the state: h' = A(x)·h + W·x + b, with a matrix A(x) for each token."""

from dataclasses import dataclass

from tallystick.cells.vector import VectorCell
from tallystick.errors import BadInput
from tallystick.numbers.values import Matrix, Vector, is_filled

AFFINE_DECIDERS = ("sorting", "zero check", "matrices", "lattice paths", "exact states", "gated boxes")
"""The deciders of an affine layer, best first: each returns None where its theorem does not apply."""


@dataclass(frozen=True)
class AffineLayer(VectorCell):
    """A layer without a squashing function; the state is h, which starts at 0, and the readout sees all of it.

    Attributes:
        input_weight: W, one row per unit, one column per entry of x.
        recurrent_weight: what makes A(x); each kind of layer has its own form.
        input_bias: b, one number per unit.
    """

    input_weight: Matrix
    recurrent_weight: Matrix
    input_bias: Vector

    deciders = AFFINE_DECIDERS
    most_units = 64

    @property
    def units(self) -> int:
        """How many units: the length of h."""
        if not is_filled(self.input_bias):
            raise BadInput(f"input_bias: {self.input_bias!r} is not a tuple of one number per unit")
        return len(self.input_bias)

    @property
    def is_affine(self) -> bool:
        """True."""
        return True

    @property
    def initial_state(self) -> Vector:
        """Zeros."""
        return (0,) * self.units

    def hidden(self, state: Vector) -> Vector:
        """Return h."""
        return state
