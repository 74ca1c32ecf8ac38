"""Programs written with whatever computes numbers of many networks: LLVM's vectors for processors, Pallas for GPUs."""

from collections.abc import Container, Sequence
from typing import Any, Protocol

import numpy as np
from jax.extend import core

from tallystick.training.fused.graph import AS_WRITTEN, CONSTANT, CONVERSION, INPUT, NUMBER, SUMS, Graph, Place
from tallystick.training.fused.numbering import Numbers, Walk, numbers

Value = Any
"""One number of many networks as whoever writes it has it, or a scalar that all networks share."""


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


class Writer:
    """Writes programs.

    Args:
        vectors: what writes an operation.
        multiply_adds: the types in which a product that only one sum needs becomes part of it.
    """

    def __init__(self, vectors: Vectors, *, multiply_adds: Container[str]) -> None:
        """Write with these vectors."""
        self.vectors, self._multiply_adds = vectors, multiply_adds

    def write(self, program: core.ClosedJaxpr, arguments: Sequence[Numbers]) -> list[Numbers]:
        """Write a program for some arguments, and return its results; what no result needs is not written."""
        graph, given = Graph(), [value for part in arguments for value in part.values.ravel()]
        places = iter([graph.note(INPUT, detail=place) for place in range(len(given))])
        inputs = [numbers([next(places) for _ in range(part.values.size)], part.shape) for part in arguments]
        results = Walk(graph).through(program, inputs)
        wanted = [place for part in results for place in part.values.ravel()]
        written = _Writing(graph, graph.added_products(wanted), self.vectors, self._multiply_adds, given)
        for place in graph.needed(wanted):
            written.add(place)
        return [numbers([written.value(place) for place in part.values.ravel()], part.shape) for part in results]


class _Writing:
    """What is written of one graph so far."""

    def __init__(
        self, graph: Graph, added: set[Place], vectors: Vectors, multiply_adds: Container[str], given: list[Value]
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
