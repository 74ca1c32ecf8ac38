"""A model taken apart into names and numbers, which is what a file holds, and put together again."""

from dataclasses import dataclass, fields
from fractions import Fraction

from tallystick.arithmetic import exact
from tallystick.cells import CELLS, Cell
from tallystick.models.model import Model
from tallystick.readouts import BinaryReadout, Readout, TernaryReadout, ZeroCheck

OUTPUTS = {"zero": 0, "binary": 1, "ternary": 3}
"""How many outputs, each a weight and a bias, a readout has."""


@dataclass(frozen=True)
class Parts:
    """The names and the numbers of a model.

    Attributes:
        cell: a name from `CELLS`.
        open_step: a.
        close_step: b.
        recurrent_weight: U, or P and Q of a selective cell.
        readout: a name from `READOUTS`.
        weight: v, one number an output.
        bias: c, one number an output.

    >>> Parts("linear", Fraction(1), Fraction(-1), (Fraction(1),)).model().class_of("()")
    <MembershipClass.ACCEPTED: 'accepted'>
    """

    cell: str
    open_step: Fraction
    close_step: Fraction
    recurrent_weight: tuple[Fraction, ...]
    readout: str = "zero"
    weight: tuple[Fraction, ...] = ()
    bias: tuple[Fraction, ...] = ()

    @classmethod
    def of(cls, model: Model) -> "Parts":
        """Take a model apart, its numbers as exact rationals."""
        name = next(name for name, kind in CELLS.items() if isinstance(model.cell, kind))
        cell = model.cell.converted(exact)
        open_step, close_step, *recurrent = (getattr(cell, field.name) for field in fields(cell))
        return cls(name, open_step, close_step, tuple(recurrent), *_readout_parts(model.readout.converted(exact)))

    def model(self) -> Model:
        """Put the model together."""
        cell: type[Cell] = CELLS[self.cell]
        return Model(cell(self.open_step, self.close_step, *self.recurrent_weight), self._readout())

    def _readout(self) -> Readout:
        if self.readout == "zero":
            return ZeroCheck()
        if self.readout == "binary":
            return BinaryReadout(self.weight[0], self.bias[0])
        negative, zero, positive = self.weight
        return TernaryReadout((negative, zero, positive), (self.bias[0], self.bias[1], self.bias[2]))


def recurrent_weights(cell: str) -> int:
    """How many recurrent weights the cell of this name has: two if it is selective, else one."""
    return len(CELLS[cell].recurrent_fields())


def _readout_parts(readout: Readout) -> tuple[str, tuple[Fraction, ...], tuple[Fraction, ...]]:
    if isinstance(readout, BinaryReadout):
        return "binary", (readout.weight,), (readout.bias,)
    if isinstance(readout, TernaryReadout):
        return "ternary", readout.weight, readout.bias
    return "zero", (), ()
