"""Numbers as what they are computed from: a program as a graph of operations, and how it is written.

Two numbers that are computed alike are one place in the graph. Adding 0, and multiplying by 0 or 1, needs no operation: the first
token of a string finds a state of zeros, and an array that is filled up with zeros is added to another one.

A graph is written with whatever computes numbers of many networks: LLVM's vectors for processors, Pallas for GPUs.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

Place = int
"""The place of a number among all that were noted."""

Value = Any
"""One number of many networks as whoever writes it has it, or a scalar that all networks share."""

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


class Vectors(Protocol):
    """What writes an operation on numbers of many networks."""

    @property
    def operations(self) -> Container[str]:
        """JAX's names of the operations that `apply` knows."""
        ...

    def constant(self, value: Any) -> Value:  # noqa: ANN401 -- a number of NumPy's
        """Return a number that all networks share."""

    def number(self, value: float, like: Value) -> Value:
        """Return a constant of the type of another value."""

    def precision(self, value: Value) -> str:
        """Return NumPy's name of the type of a value."""
        ...

    def apply(self, name: str, *operands: Value) -> Value:
        """Apply an operation by JAX's name for it."""

    def convert(self, value: Value, dtype: Any) -> Value:  # noqa: ANN401 -- whatever names a type for NumPy
        """Return a value in another type, rounded to it."""

    def multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        """Return x·y + z, rounded once."""


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

    def write(
        self, wanted: Sequence[Place], given: Sequence[Value], vectors: Vectors, multiply_adds: Container[str]
    ) -> list[Value]:
        """Write all that some places rest on, and return their values; `given` are the values of the inputs."""
        written = _Writing(self, self.added_products(wanted), vectors, multiply_adds, given)
        for place in self.needed(wanted):
            written.add(place)
        return [written.value(place) for place in wanted]

    def _known(self, place: Place) -> float | None:
        operation = self.noted[place]
        return operation.detail[0] if operation.name == CONSTANT else None


class _Writing:
    """What is written of one graph so far."""

    def __init__(
        self, graph: Graph, added: set[Place], vectors: Vectors, multiply_adds: Container[str], given: Sequence[Value]
    ) -> None:
        self._noted, self._added, self._given = graph.noted, added, given
        self._vectors, self._multiply_adds = vectors, multiply_adds
        self._values: dict[Place, Value] = {}

    def value(self, place: Place) -> Value:
        """Return the value of a place whose operands are written; a product that is added waits until it is asked for."""
        if place not in self._values:
            self._values[place] = self._compute(*self._noted[place])
        return self._values[place]

    def add(self, place: Place) -> None:
        """Write a place, unless a sum may take it in."""
        if place not in self._added:
            self.value(place)

    def _compute(self, name: str, operands: tuple[Place, ...], detail: Any) -> Value:  # noqa: ANN401
        if name == INPUT:
            return self._given[detail]
        if name == CONSTANT:
            number, dtype = detail
            return self._vectors.constant(np.asarray(number, dtype)[()])
        if name == NUMBER:
            return self._vectors.number(detail, self.value(operands[0]))
        if name == CONVERSION:
            return self._vectors.convert(self.value(operands[0]), detail)
        if name in SUMS and detail != AS_WRITTEN:
            for place, other in zip(operands, operands[::-1], strict=True):
                if place in self._added and self._is_fused(place):
                    return self._multiply_add(name, place, other, product_first=place == operands[0])
        return self._vectors.apply(name, *map(self.value, operands))

    def _is_fused(self, product: Place) -> bool:
        return self._vectors.precision(self.value(self._noted[product].operands[0])) in self._multiply_adds

    def _multiply_add(self, name: str, product: Place, other: Place, *, product_first: bool) -> Value:
        """Return x·y + z, x·y − z or z − x·y."""
        x, y = map(self.value, self._noted[product].operands)
        z, negative = self.value(other), name == "sub"
        x = self._vectors.apply("neg", x) if negative and not product_first else x
        return self._vectors.multiply_add(x, y, self._vectors.apply("neg", z) if negative and product_first else z)
