"""A claim as data, and what is right: by definition, not by any network."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, repeat
from typing import NamedTuple

CLASSES = {"zero": ("rejected", "accepted"), "binary": ("ZeroNeg", "Pos"), "ternary": ("Neg", "Zero", "Pos")}


class Model(NamedTuple):
    """A network, its numbers exact. `(` is token 0 and leads from h to P·h + a, `)` is 1 and leads to Q·h + b.

    Attributes:
        cell: linear or selective; relu cuts off below zero, tanh squashes.
        weights: P and Q.
        steps: a and b.
        readout: zero, binary or ternary.
        lines: v and c of each output v·h + c.
    """

    cell: str
    weights: tuple[Fraction, Fraction]
    steps: tuple[Fraction, Fraction]
    readout: str
    lines: tuple[tuple[Fraction, Fraction], ...]

    @property
    def semi_dyck1(self) -> bool:
        """Whether the right answer is κ = 0 instead of the class of n − m: for the zero check of a ReLU cell."""
        return self.cell == "relu" and self.readout == "zero"

    def group_after(self, group: int, token: int, size: int = 1) -> int:
        """Return the group of a string with a run more: by its number of `(`, or by κ, which never falls below 0."""
        return max(0, group + (1 - 2 * token) * size) if self.semi_dyck1 else group + (1 - token) * size

    def right_class(self, group: int, length: int) -> int:
        """Return the index of the class that the strings of a group should get."""
        return class_of_count(self.readout, group if self.semi_dyck1 else 2 * group - length)


class GatedModel(NamedTuple):
    """A GRU or an LSTM, its numbers exact, in PyTorch's layout: a row a gate and unit, gate after gate.

    Attributes:
        cell: gru or lstm.
        input_weight: what `(` and what `)` add to each row.
        recurrent_weight: a row's weight of each unit.
        input_bias: a number a row.
        recurrent_bias: the same; a GRU multiplies that of its last gate by the first one.
        readout: binary or ternary.
        lines: v and c of each output v·h + c.
    """

    cell: str
    input_weight: tuple[tuple[Fraction, ...], ...]
    recurrent_weight: tuple[tuple[Fraction, ...], ...]
    input_bias: tuple[Fraction, ...]
    recurrent_bias: tuple[Fraction, ...]
    readout: str
    lines: tuple[tuple[tuple[Fraction, ...], Fraction], ...]


def class_of_count(readout: str, count: int) -> int:
    """Return the index of the class that strings with this count should get."""
    if readout == "zero":
        return int(count == 0)
    return int(count > 0) if readout == "binary" else (count > 0) - (count < 0) + 1


class Counterexample(NamedTuple):
    """A string as runs of (token, size), the class it gets, the class it should get, and h along it where that is written."""

    runs: list[tuple[int, int]]
    given: int
    right: int
    trace: list[Fraction] | None

    def tokens(self) -> Iterator[int]:
        """Go through the tokens of the string."""
        return chain.from_iterable(repeat(token, size) for token, size in self.runs)


class Claim(NamedTuple):
    """Every counted length (a multiple of the stride) up to the horizon is right; PROVED knows no horizon."""

    model: Model
    stride: int
    arithmetic: str
    verdict: str
    horizon: int
    counterexample: Counterexample | None
    method: str


class GatedClaim(NamedTuple):
    """The same of a GRU or an LSTM, in real arithmetic; nothing is ever proved for all lengths."""

    model: GatedModel
    stride: int
    verdict: str
    horizon: int
    counterexample: Counterexample | None
