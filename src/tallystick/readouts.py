"""From a final state h to a class: the zero check, the binary and the ternary readout; and a layer over several units.

Each readout works on single numbers and, through `class_index`, on whole arrays. A tie goes to the class with the lowest
index, which is what the largest of equal outputs means and what p > 1/2 means for the binary readout.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, cast, final

from tallystick.arithmetic import Number, check_number
from tallystick.cells.gated import Matrix, Vector, check_shape, layer
from tallystick.errors import BadInput
from tallystick.languages.brackets import BinaryClass, TernaryClass, binary_class, ternary_class


class MembershipClass(StrEnum):
    """The classes of the zero check, in the order of their index."""

    REJECTED = "rejected"
    ACCEPTED = "accepted"


class Readout(ABC):
    """What is done with h once the string is read."""

    kind: ClassVar[str]
    classes: ClassVar[type[StrEnum]]

    @abstractmethod
    def class_index(self, h: Number) -> Number:
        """Return the index of the class for h, or an array of them for an array of h."""

    @abstractmethod
    def right_class(self, count: int) -> StrEnum:
        """Return the class that a string with this count should get."""

    @abstractmethod
    def converted(self, number: Callable[..., Number]) -> "Readout":
        """Return this readout with each weight brought into another arithmetic."""

    def class_of(self, h: Number) -> StrEnum:
        """Return the class for a single h."""
        return list(self.classes)[int(self.class_index(h))]


@final
@dataclass(frozen=True)
class ZeroCheck(Readout):
    """Accept iff h = 0, as a counter machine does.

    >>> ZeroCheck().class_of(0), ZeroCheck().class_of(1e-8)
    (<MembershipClass.ACCEPTED: 'accepted'>, <MembershipClass.REJECTED: 'rejected'>)
    """

    kind = "zero"
    classes = MembershipClass

    def class_index(self, h: Number) -> Number:
        """Return 1 where h = 0."""
        return (h == 0) * 1

    def converted(self, number: Callable[..., Number]) -> "ZeroCheck":  # noqa: ARG002 -- there is no weight to convert
        """Return the zero check, which is the same in every arithmetic."""
        return self

    def right_class(self, count: int) -> MembershipClass:
        """Return accepted for a count of zero."""
        return MembershipClass.ACCEPTED if count == 0 else MembershipClass.REJECTED


@final
@dataclass(frozen=True)
class BinaryReadout(Readout):
    """Positive iff v·h + c > 0, which over the reals is sigmoid(v·h + c) > 1/2.

    In floating point the two can differ: for an output of 5e-8 a float32 sigmoid gives 1/2 itself. The sign is what decides here.

    Attributes:
        weight: v.
        bias: c, 0 for a network without bias.

    >>> BinaryReadout(weight=2).class_of(0.0)
    <BinaryClass.NOT_POSITIVE: 'ZeroNeg'>
    """

    weight: Number
    bias: Number = 0

    kind = "binary"
    classes = BinaryClass

    def __post_init__(self) -> None:
        """Refuse a weight that is no finite number."""
        check_number(self.weight, "weight")
        check_number(self.bias, "bias")

    def class_index(self, h: Number) -> Number:
        """Return 1 where v·h + c > 0."""
        return _positive_index(self.weight * h + self.bias)

    def converted(self, number: Callable[..., Number]) -> "BinaryReadout":
        """Return this readout in another arithmetic."""
        return BinaryReadout(number(self.weight, "weight"), number(self.bias, "bias"))

    def right_class(self, count: int) -> BinaryClass:
        """Return positive for a count above zero."""
        return binary_class(count)


@final
@dataclass(frozen=True)
class TernaryReadout(Readout):
    """The class of the largest of three outputs vᵢ·h + cᵢ: negative, zero, positive.

    Attributes:
        weight: v, one number a class.
        bias: c, one number a class.

    >>> TernaryReadout(weight=(-2, 0, 2), bias=(-1, 0, -1)).class_of(1)
    <TernaryClass.POSITIVE: 'Pos'>
    """

    weight: tuple[Number, Number, Number]
    bias: tuple[Number, Number, Number] = (0, 0, 0)

    kind = "ternary"
    classes = TernaryClass

    def __post_init__(self) -> None:
        """Refuse anything but three numbers each."""
        for field, values in (("weight", self.weight), ("bias", self.bias)):
            if not isinstance(values, tuple) or len(values) != len(TernaryClass):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise BadInput(f"{field}: {values!r} is not a tuple of three numbers, one a class")
            for position, value in enumerate(values):
                check_number(value, f"{field}[{position}]")

    def class_index(self, h: Number) -> Number:
        """Return the index of the largest output, the lowest such index on a tie."""
        return _largest_index(*(v * h + c for v, c in zip(self.weight, self.bias, strict=True)))

    def converted(self, number: Callable[..., Number]) -> "TernaryReadout":
        """Return this readout in another arithmetic."""
        v, c = ([number(value, field) for value in getattr(self, field)] for field in ("weight", "bias"))
        return TernaryReadout((v[0], v[1], v[2]), (c[0], c[1], c[2]))

    def right_class(self, count: int) -> TernaryClass:
        """Return the sign of the count."""
        return ternary_class(count)


@final
@dataclass(frozen=True)
class LayerReadout:
    """The class for a vector h: outputs V·h + c, of which one makes it binary and three make it ternary.

    Binary is positive iff the output is above 0; ternary is the largest of negative, zero and positive.

    Attributes:
        weight: V, a row an output and a column a unit.
        bias: c, a number an output.

    >>> LayerReadout(weight=((2, -1),), bias=(0,)).class_of((1, 1))
    <BinaryClass.POSITIVE: 'Pos'>
    """

    weight: Matrix
    bias: Vector

    def __post_init__(self) -> None:
        """Refuse what is no layer with one or three outputs, naming it."""
        for field in ("weight", "bias"):
            values = getattr(self, field)
            if not isinstance(values, tuple) or len(cast("Vector", values)) not in _LAYERS:
                raise BadInput(
                    f"{field}: {values!r} is not a tuple with one entry an output, of which there are 1 or 3"
                )
        if not isinstance(self.weight[0], tuple) or not self.weight[0]:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"weight[0]: {self.weight[0]!r} is not a tuple of numbers, one a unit")
        check_shape(self.weight, "weight", len(self.bias), self.units)
        check_shape(self.bias, "bias", len(self.weight), None)

    @property
    def units(self) -> int:
        """How many units it reads."""
        return len(self.weight[0])

    @property
    def kind(self) -> str:
        """The readout's name in files: `binary` or `ternary`."""
        return _LAYERS[len(self.bias)][0]

    @property
    def classes(self) -> type[StrEnum]:
        """The classes, in the order of their index."""
        return _LAYERS[len(self.bias)][1]

    def outputs(self, h: Vector) -> list[Number]:
        """V·h + c, output by output."""
        return layer(self.weight, self.bias, h)

    def class_index(self, h: Vector) -> Number:
        """Return the index of the class for h; its entries may be arrays."""
        outputs = self.outputs(h)
        return _positive_index(*outputs) if len(outputs) == 1 else _largest_index(*outputs)

    def class_of(self, h: Vector) -> StrEnum:
        """Return the class for a single h."""
        return list(self.classes)[int(self.class_index(h))]

    def right_class(self, count: int) -> StrEnum:
        """Return the class that a string with this count should get."""
        return binary_class(count) if self.classes is BinaryClass else ternary_class(count)

    def converted(self, number: Callable[..., Number]) -> "LayerReadout":
        """Return this readout in another arithmetic."""
        weight = tuple(tuple(number(value, "weight") for value in row) for row in self.weight)
        return LayerReadout(weight, tuple(number(value, "bias") for value in self.bias))


_LAYERS: dict[int, tuple[str, type[StrEnum]]] = {1: ("binary", BinaryClass), 3: ("ternary", TernaryClass)}


def _positive_index(output: Number) -> Number:
    """1 where the output is above zero."""
    return (output > 0) * 1


def _largest_index(negative: Number, zero: Number, positive: Number) -> Number:
    """The index of the largest output, the lowest such index on a tie.

    Comparisons joined with & rather than argmax, so that rationals, floats and arrays take the same path.
    """
    is_positive = (positive > negative) & (positive > zero)
    is_zero = (zero > negative) & (zero >= positive)
    return is_positive * 2 + is_zero * 1


READOUTS: dict[str, type[Readout]] = {kind.kind: kind for kind in (ZeroCheck, BinaryReadout, TernaryReadout)}
"""Every readout by the name it has in files."""
