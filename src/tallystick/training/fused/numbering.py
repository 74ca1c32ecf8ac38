"""A traced program number by number: every array becomes an array of places in a graph, one for each of its numbers in a network.

A program is traced with `SEEDS` networks, a number that no other axis has, so that the axis of networks can be told from others.
It is left out here, since all networks do the same; every other axis is unrolled. `Writer` then writes the graph.
"""

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np
from jax.extend import core

from tallystick.training.fused.graph import INPUT, NUMBER, Graph, Place, Vectors

SEEDS = 61
"""How many networks a program is traced with; they stand for any number of them."""

LEFT_AS_WRITTEN = "left_as_written"
"""The name of a part of a program whose products are rounded before they are added."""

Result = TypeVar("Result")


class Numbers(NamedTuple):
    """An array of a program.

    Attributes:
        values: what stands for each number: a place in a graph, or a value; the axis of networks is left out.
        shape: the shape it was traced with.
    """

    values: np.ndarray
    shape: tuple[int, ...]


def own_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape without the axis of networks."""
    return tuple(size for size in shape if size != SEEDS)


def numbers(values: Sequence[Any] | np.ndarray, shape: Sequence[int]) -> Numbers:
    """Return values, in the order of their places, as an array."""
    found = np.empty(len(values), object)
    for place, value in enumerate(values):  # one by one: NumPy would take an array of many networks apart
        found[place] = value
    return Numbers(found.reshape(own_shape(shape)), tuple(shape))


def as_written(work: Callable[..., Result]) -> Callable[..., Result]:
    """Return the function as one whose products are rounded before they are added, as it says."""

    def left_as_written(*arguments: Any) -> Result:  # noqa: ANN401
        return work(*arguments)

    return jax.jit(left_as_written)


class Walk:
    """Goes through programs, and notes in a graph what they do."""

    def __init__(self, graph: Graph) -> None:
        """Note in this graph."""
        self.graph = graph

    def through(
        self, closed: core.ClosedJaxpr, arguments: Sequence[Numbers], *, as_written: bool = False
    ) -> list[Numbers]:
        """Go through a program with some arguments, and return its results."""
        program = closed.jaxpr
        known = [self._constant(constant) for constant in closed.consts]
        values: dict[Any, Numbers] = dict(zip([*program.constvars, *program.invars], [*known, *arguments], strict=True))
        needed = _needed(program)

        def read(atom: Any) -> Numbers:  # noqa: ANN401 -- a variable or a literal
            if isinstance(atom, core.Literal):
                return self._constant(np.asarray(atom.val, atom.aval.dtype))  # pyright: ignore[reportAttributeAccessIssue]
            return values[atom]

        for equation in program.eqns:
            if any(result in needed for result in equation.outvars):
                results = self._apply(equation, [read(atom) for atom in equation.invars], as_written=as_written)
                values.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in program.outvars]

    def _apply(self, equation: core.JaxprEqn, operands: list[Numbers], *, as_written: bool) -> list[Numbers]:
        name, shape, parameters = equation.primitive.name, _shape(equation.outvars[0]), equation.params
        if name == "scan":
            return self._unroll(equation, operands, as_written=as_written)
        inner = parameters.get("jaxpr", parameters.get("call_jaxpr"))
        if isinstance(inner, core.ClosedJaxpr):
            return self.through(inner, operands, as_written=as_written or parameters.get("name") == LEFT_AS_WRITTEN)
        if name in _PARTS:
            parts = zip(_PARTS[name](operands[0], parameters), equation.outvars, strict=True)
            return [Numbers(part, _shape(result)) for part, result in parts]
        if name in _FORMS:
            return [Numbers(_FORMS[name](self, operands, shape, parameters), shape)]
        return [self.each(shape, lambda *parts: self.graph.apply(name, *parts, as_written=as_written), operands)]

    def each(self, shape: tuple[int, ...], work: Callable[..., Place], operands: list[Numbers]) -> Numbers:
        """Do the same with every number of arrays of one shape; a single number goes with all."""
        flat = np.broadcast_arrays(*(_beside(operand, shape) for operand in operands))
        return numbers([work(*parts) for parts in zip(*(part.ravel() for part in flat), strict=True)], shape)

    def _unroll(self, equation: core.JaxprEqn, operands: list[Numbers], *, as_written: bool) -> list[Numbers]:
        """Go through the steps of a scan one after the other; what it goes along has an axis more than a step sees of it."""
        parameters, inner = equation.params, equation.params["jaxpr"].jaxpr
        carried = sum(_shape(one) == _shape(each) for one, each in zip(equation.outvars, inner.outvars, strict=True))
        seen = sum(one.shape == _shape(each) for one, each in zip(operands, inner.invars, strict=True))
        fixed, carry, along = operands[: seen - carried], operands[seen - carried : seen], operands[seen:]
        places = range(parameters["length"])
        kept: list[list[Numbers]] = []
        for place in reversed(places) if parameters["reverse"] else places:
            read = [Numbers(part.values[place, ...], part.shape[1:]) for part in along]
            results = self.through(parameters["jaxpr"], [*fixed, *carry, *read], as_written=as_written)
            carry = results[: len(carry)]
            kept.append(results[len(carry) :])
        if parameters["reverse"]:
            kept.reverse()
        stacked = [
            Numbers(_stack([part.values for part in parts]), (len(parts), *parts[0].shape))
            for parts in zip(*kept, strict=True)
        ]
        return [*carry, *stacked]

    def _constant(self, value: Any) -> Numbers:  # noqa: ANN401 -- an array
        array = np.asarray(value)
        shape = array.shape
        if SEEDS in shape:
            axis = shape.index(SEEDS)
            assert (array == array.take([0], axis)).all(), "a constant that differs from network to network"
            array = array.take(0, axis)
        return numbers([self.graph.constant(one) for one in array.ravel()], shape)

    def sum(self, values: np.ndarray) -> Place:
        """Add numbers one by one."""
        found, *rest = values
        for value in rest:
            found = self.graph.apply("add", found, value)
        return found


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
        values = iter(graph.write(wanted, given, self.vectors, self._multiply_adds))
        return [numbers([next(values) for _ in range(part.values.size)], part.shape) for part in results]


def unwritable(known: Container[str], *programs: core.ClosedJaxpr) -> list[str]:
    """Return the names of the operations in programs that have no form here and are not known to whoever applies them."""
    found: list[str] = []
    for program in programs:
        needed = _needed(program.jaxpr)
        for equation in program.jaxpr.eqns:
            if not any(result in needed for result in equation.outvars):
                continue
            inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
            if isinstance(inner, core.ClosedJaxpr):
                found += unwritable(known, inner)
            elif equation.primitive.name not in (*_FORMS, *_PARTS) and equation.primitive.name not in known:
                found.append(equation.primitive.name)
    return found


def _needed(program: core.Jaxpr) -> set[Any]:
    """Return the variables that the results rest on."""
    needed = {atom for atom in program.outvars if isinstance(atom, core.Var)}
    for equation in reversed(program.eqns):
        if any(result in needed for result in equation.outvars):
            needed |= {atom for atom in equation.invars if isinstance(atom, core.Var)}
    return needed


def _shape(variable: Any) -> tuple[int, ...]:  # noqa: ANN401
    return tuple(variable.aval.shape)


def _beside(array: Numbers, shape: tuple[int, ...]) -> np.ndarray:
    """Return the values of an array beside those of a shape, where all networks may share what it holds."""
    if SEEDS in array.shape or SEEDS not in shape or not array.shape:
        return array.values
    return array.values.squeeze(shape.index(SEEDS))


def _own_axis(shape: tuple[int, ...], axis: int) -> int:
    """Return the place of an axis once that of the networks is left out."""
    assert shape[axis] != SEEDS, "an operation along the axis of networks"
    return axis - (SEEDS in shape[:axis])


def _stack(parts: Sequence[np.ndarray]) -> np.ndarray:
    found = np.empty((len(parts), *parts[0].shape), object)
    for place, part in enumerate(parts):
        found[place, ...] = part
    return found


# --- Operations with a form of their own ----------------------------------------------------------------------------------------

Form = Callable[[Walk, list[Numbers], tuple[int, ...], dict[str, Any]], np.ndarray]


def _broadcast(_: Walk, operands: list[Numbers], shape: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    (array,) = operands
    sizes = [1] * len(shape)
    for size, place in zip(array.shape, parameters["broadcast_dimensions"], strict=True):
        sizes[place] = 1 if size == SEEDS else size
    kept = [size for size, target in zip(sizes, shape, strict=True) if target != SEEDS]
    return np.broadcast_to(array.values.reshape(kept), own_shape(shape))


def _reshape(_: Walk, operands: list[Numbers], shape: tuple[int, ...], __: dict[str, Any]) -> np.ndarray:
    before, after = operands[0].shape, shape
    if SEEDS in before:
        ahead = [np.prod(part[: part.index(SEEDS)], dtype=int) for part in (before, after)]
        assert ahead[0] == ahead[1], "numbers of one network become those of another"
    return operands[0].values.reshape(own_shape(shape))


def _transpose(_: Walk, operands: list[Numbers], __: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    before = operands[0].shape
    return operands[0].values.transpose(
        [_own_axis(before, axis) for axis in parameters["permutation"] if before[axis] != SEEDS]
    )


def _slice(_: Walk, operands: list[Numbers], __: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    starts, ends = parameters["start_indices"], parameters["limit_indices"]
    strides = parameters["strides"] or (1,) * len(starts)
    cuts = zip(operands[0].shape, starts, ends, strides, strict=True)
    return operands[0].values[tuple(slice(start, end, by) for size, start, end, by in cuts if size != SEEDS)]


def _concatenate(_: Walk, operands: list[Numbers], shape: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    axis = _own_axis(shape, parameters["dimension"])
    return np.concatenate([operand.values for operand in operands], axis=axis)


def _stack_arrays(_: Walk, operands: list[Numbers], shape: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    axis = _own_axis(shape, parameters["axis"])
    return np.moveaxis(_stack([operand.values for operand in operands]), 0, axis)


def _pad(_: Walk, operands: list[Numbers], shape: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    array, filling = operands
    found = np.empty(own_shape(shape), object)
    found[...] = filling.values.item()
    cuts = []
    for size, (low, high, inner) in zip(array.shape, parameters["padding_config"], strict=True):
        assert low >= 0 <= high, "what is cut off by padding"
        if size != SEEDS:
            cuts.append(slice(low, low + (size - 1) * (inner + 1) + 1, inner + 1))
    found[tuple(cuts)] = array.values
    return found


def _reverse(_: Walk, operands: list[Numbers], __: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    axes = tuple(_own_axis(operands[0].shape, axis) for axis in parameters["dimensions"])
    return np.flip(operands[0].values, axes)


def _reduce_sum(walk: Walk, operands: list[Numbers], shape: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    axes = [_own_axis(operands[0].shape, axis) for axis in parameters["axes"]]
    values = np.moveaxis(operands[0].values, axes, range(len(axes)))
    columns = values.reshape(-1, int(np.prod(own_shape(shape), dtype=int)))
    return numbers([walk.sum(column) for column in columns.T], shape).values


def _power(walk: Walk, operands: list[Numbers], shape: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    graph, exponent = walk.graph, parameters["y"]

    def power(x: Place) -> Place:
        found = x
        for _ in range(abs(exponent) - 1):
            found = graph.apply("mul", found, x)
        return found if exponent > 0 else graph.apply("div", graph.note(NUMBER, x, detail=1), found)

    return walk.each(shape, power, operands).values


def _convert(walk: Walk, operands: list[Numbers], shape: tuple[int, ...], parameters: dict[str, Any]) -> np.ndarray:
    dtype = str(np.dtype(parameters["new_dtype"]))
    return walk.each(shape, lambda x: walk.graph.convert(x, dtype), operands).values


def _split(array: Numbers, parameters: dict[str, Any]) -> Sequence[np.ndarray]:
    ends = np.cumsum(parameters["sizes"])[:-1]
    return np.split(array.values, ends, axis=_own_axis(array.shape, parameters["axis"]))


def _unstack(array: Numbers, parameters: dict[str, Any]) -> Sequence[np.ndarray]:
    parts = np.moveaxis(array.values, _own_axis(array.shape, parameters["axis"]), 0)
    return [parts[place, ...] for place in range(len(parts))]


_PARTS = {"split": _split, "unstack": _unstack}
"""Operations with several results."""

_FORMS: dict[str, Form] = {
    "integer_pow": _power,
    "convert_element_type": _convert,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "concatenate": _concatenate,
    "stack": _stack_arrays,
    "pad": _pad,
    "rev": _reverse,
    "reduce_sum": _reduce_sum,
}
