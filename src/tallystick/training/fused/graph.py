"""Numbers as what they are computed from: a program as a graph of operations, before anything is written.

Two numbers that are computed alike are one place in the graph. Adding 0, and multiplying by 0 or 1, needs no operation: the first
token of a string finds a state of zeros, and an array that is filled up with zeros is added to another one.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

Place = int
"""The place of a number among all that were noted."""

INPUT, CONSTANT, NUMBER, CONVERSION = "input", "constant", "number", "conversion"
"""What a place can be beside an operation of JAX's: given, known, known but for its type, or another place in another type."""

SUMS = ("add", "sub", "add_any")
PRODUCT = "mul"
AS_WRITTEN = "as written"
"""The detail of a sum or a product that stays one operation."""


class Operation(NamedTuple):
    """How a number is computed: by JAX's name for it, from which places; `detail` is a value, a type or a remark."""

    name: str
    operands: tuple[Place, ...] = ()
    detail: Any = None


class Graph:
    """Notes operations; what was noted before is not noted again."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.noted: list[Operation] = []
        self._places: dict[Operation, Place] = {}

    def note(self, name: str, *operands: Place, detail: Any = None) -> Place:  # noqa: ANN401
        """Return the place of an operation."""
        operation = Operation(name, operands, detail)
        if operation not in self._places:
            self._places[operation] = len(self.noted)
            self.noted.append(operation)
        return self._places[operation]

    def constant(self, value: Any) -> Place:  # noqa: ANN401 -- a number of NumPy's
        """Return the place of a number that is the same for all networks and steps."""
        array = np.asarray(value)
        return self.note(CONSTANT, detail=(array.item(), str(array.dtype)))

    def apply(self, name: str, *operands: Place, as_written: bool = False) -> Place:
        """Return the place of an operation's result, which may be one of the operands."""
        if name not in (PRODUCT, *SUMS):
            return self.note(name, *operands)
        (x, y), (left, right) = operands, map(self._known, operands)
        if (left == 0 or right == 1) if name == PRODUCT else right == 0:
            return x
        if (left == 1 or right == 0) if name == PRODUCT else left == 0 and name != "sub":
            return y
        return self.note(name, x, y, detail=AS_WRITTEN if as_written else None)

    def convert(self, place: Place, dtype: str) -> Place:
        """Return the place of a number in another type."""
        known = self._known(place)
        return self.note(CONVERSION, place, detail=dtype) if known is None else self.constant(np.asarray(known, dtype))

    def needed(self, results: Iterable[Place]) -> list[Place]:
        """Return the places that the results rest on, each after those that it rests on."""
        found, left = set(), list(results)
        while left:
            place = left.pop()
            if place not in found:
                found.add(place)
                left += self.noted[place].operands
        return sorted(found)

    def added_products(self, results: Sequence[Place]) -> set[Place]:
        """Return the products that only sums need: a multiply-add computes such a product and the sum at once."""
        places = self.needed(results)
        found = {place for place in places if self.noted[place].name == PRODUCT and not self.noted[place].detail}
        found -= set(results)
        for place in places:
            name, operands, detail = self.noted[place]
            if name not in SUMS or detail == AS_WRITTEN:
                found -= set(operands)
        return found

    def _known(self, place: Place) -> float | None:
        operation = self.noted[place]
        return operation.detail[0] if operation.name == CONSTANT else None
