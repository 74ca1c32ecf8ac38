"""A small graph of units, each with an activation of its own, as in the networks that minimum description length finds.

    {"cell": "graph", "units": [
        {"activation": "relu", "bias": 0, "input": [0.5, -0.5], "recurrent": {"0": 1}},
        {"activation": "tanh", "input": [0, 1], "forward": {"0": 3}}]}

Unit i is act(b + input·x + forward + recurrent): `forward` weighs earlier units of the same step, and `recurrent` any units of
the step before. Absent parts are zero. In floating point the sum is taken in this order, each of the two parts for itself.

A unit is **kept** if a later step reads it, or reads another that is computed from it. The others are on top, as outputs are, and
nothing goes on from them. Of those the state holds the argument, without what other top units add to it, and `hidden` finishes
it. So a tanh or a sigmoid on top leaves the states rational.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn, Self, final

from tallystick.cells.cell import TOKENS, Cell, Input, Shape, Tensors
from tallystick.errors import BadInput
from tallystick.numbers import Number, check_number, hyperbolic_tangent, positive_part, sigmoid, square, unit_step
from tallystick.numbers.values import Vector, check_shape, dot, is_filled, map_nested


def _identity(x: Number) -> Number:
    return x


ACTIVATIONS: dict[str, Callable[[Number], Number]] = {
    "identity": _identity,
    "relu": positive_part,
    "sigmoid": sigmoid,
    "tanh": hyperbolic_tangent,
    "square": square,
    "step": unit_step,
}
"""Every activation by its name in files; `step` is 1 above 0 and else 0."""

RATIONAL = ("identity", "relu", "square", "step")
"""Those that make rationals of rationals."""

Weights = tuple[tuple[int, Number], ...]
"""The places of units, in order, each with what it is multiplied by."""


class Unit(NamedTuple):
    """One unit: its activation, and what it is applied to; an `input` of no weights reads nothing."""

    activation: str
    bias: Number
    input: Vector = ()
    forward: Weights = ()
    recurrent: Weights = ()


class Finish(NamedTuple):
    """How a unit comes of a state: its activations, applied to an argument in turn; without any it is the argument."""

    activations: tuple[str, ...]
    argument: Number

    @property
    def is_rational(self) -> bool:
        """Whether rational arguments make it rational."""
        return all(name in RATIONAL for name in self.activations)

    @property
    def value(self) -> Number:
        """The unit itself."""
        return reduce(lambda value, name: ACTIVATIONS[name](value), self.activations, self.argument)


@final
@dataclass(frozen=True)
class GraphCell(Cell):
    """A graph of units; the readout sees all of them.

    Before the first token the kept units are 0, and so are the arguments of the others.

    >>> counter = Unit("relu", 0, (1, -1), recurrent=((0, 1),))
    >>> cell = GraphCell((counter, Unit("step", 0, forward=((0, 1),))))
    >>> [cell.hidden(state) for state in cell.trace("())(")]
    [(0, 0), (1, 1), (0, 0), (0, 0), (1, 1)]
    """

    nodes: tuple[Unit, ...]

    name = "graph"
    deciders = ("exact states",)
    rests = False
    has_order = True

    def __post_init__(self) -> None:
        """Refuse units that do not fit together, naming the first that does not."""
        if not is_filled(self.nodes) or not all(isinstance(unit, Unit) for unit in self.nodes):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"units: {self.nodes!r} is not a tuple of units")
        if not any(unit.input for unit in self.nodes):
            raise BadInput("units: none of them reads anything; give at least one of them an input")
        for place, unit in enumerate(self.nodes):
            field = f"units[{place}]"
            if unit.activation not in ACTIVATIONS:
                raise BadInput(f"{field}.activation: {unit.activation!r} is not one of {', '.join(ACTIVATIONS)}")
            check_number(unit.bias, f"{field}.bias")
            if unit.input != ():
                check_shape(unit.input, f"{field}.input", self.inputs)
            _check_weights(unit.forward, f"{field}.forward", place, "earlier units")
            _check_weights(unit.recurrent, f"{field}.recurrent", len(self.nodes), "units")

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.nodes)

    @property
    def inputs(self) -> int:
        """The length of the vector that units read."""
        return next(len(unit.input) for unit in self.nodes if unit.input)

    @property
    def matrix_entries(self) -> int:
        """How many weights there are."""
        return sum(len(unit.input) + len(unit.forward) + len(unit.recurrent) for unit in self.nodes)

    @cached_property
    def kept(self) -> frozenset[int]:
        """The places of the units that a later step reads, and of those that they are computed from."""
        found = {source for unit in self.nodes for source, _ in unit.recurrent}
        for place in reversed(range(self.units)):
            if place in found:
                found.update(source for source, _ in self.nodes[place].forward)
        return frozenset(found)

    @property
    def is_rational(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride] -- it depends on the units
        """Whether rational weights make rational states; what the readout sees of them is another matter."""
        return all(self.nodes[place].activation in RATIONAL for place in self.kept)

    @property
    def shows_rationals(self) -> bool:
        """Whether all units are rational."""
        return all(unit.activation in RATIONAL for unit in self.nodes)

    @property
    def initial_state(self) -> Vector:
        """Zeros, of the kind that the weights are."""
        return (0 * self.nodes[0].bias,) * self.units

    @cached_property
    def _forward(self) -> list[tuple[Weights, Weights]]:
        """For each unit what it weighs of the same step: kept units, and top units."""
        kept = self.kept
        return [
            (
                tuple(one for one in unit.forward if one[0] in kept),
                tuple(one for one in unit.forward if one[0] not in kept),
            )
            for unit in self.nodes
        ]

    @cached_property
    def _stateless(self) -> frozenset[int]:
        """The places of the units that read nothing of a state; a step adds zeros to them, so that they fit arrays of states."""
        found: set[int] = set()
        for place, unit in enumerate(self.nodes):
            if not unit.recurrent and all(source in found for source, _ in unit.forward):
                found.add(place)
        return frozenset(found)

    def step(self, state: Vector, token: Input) -> Vector:
        """Return the kept units, and the arguments of the others as far as these make them."""
        found: list[Number] = []
        for place, (unit, (forward, _)) in enumerate(zip(self.nodes, self._forward, strict=True)):
            argument = token.choose(*unit.input) + unit.bias if unit.input else unit.bias
            argument = _add(argument, forward, found)
            argument = _add(argument, ((place, 0),) if place in self._stateless else unit.recurrent, state)
            found.append(ACTIVATIONS[unit.activation](argument) if place in self.kept else argument)
        return tuple(found)

    def hidden(self, state: Vector) -> Vector:
        """Return all units."""
        shown: list[Number] = []
        for place, (unit, (_, others)) in enumerate(zip(self.nodes, self._forward, strict=True)):
            part = state[place]
            shown.append(part if place in self.kept else ACTIVATIONS[unit.activation](_add(part, others, shown)))
        return tuple(shown)

    def last_arguments(self, state: Vector) -> list[Finish | None]:
        """Return how each unit comes of a state: by activations of one number of the state's own kind.

        None where it does not: where a unit adds something to another one that is not rational.

        >>> tanh = Unit("tanh", 0, (3, 0)), Unit("tanh", 0, forward=((0, 1),))
        >>> GraphCell((*tanh, Unit("relu", 1, forward=((0, 1),)))).last_arguments((3, 0, 1))
        [Finish(activations=('tanh',), argument=3), Finish(activations=('tanh', 'tanh'), argument=3), None]
        """
        found: list[Finish | None] = []
        for place, (unit, (_, others)) in enumerate(zip(self.nodes, self._forward, strict=True)):
            own = () if place in self.kept or unit.activation == "identity" else (unit.activation,)
            before = {source: found[source] for source, _ in others}
            if all(one is not None and one.is_rational for one in before.values()):
                values = {source: one.value for source, one in before.items() if one is not None}
                found.append(Finish(own, _add(state[place], others, values)))
            elif _is_relay(unit) and (one := before[others[0][0]]) is not None:
                found.append(Finish((*one.activations, *own), one.argument))
            else:
                found.append(None)
        return found

    def map_weights(self, number: Callable[..., Number]) -> Self:
        """Return this graph with number(weight, name) in the place of each weight."""

        def mapped(weights: Weights, name: str) -> Weights:
            return tuple((source, number(weight, name)) for source, weight in weights)

        return type(self)(
            tuple(
                Unit(
                    unit.activation,
                    number(unit.bias, "bias"),
                    map_nested(unit.input, number, "input"),
                    mapped(unit.forward, "forward"),
                    mapped(unit.recurrent, "recurrent"),
                )
                for unit in self.nodes
            )
        )

    @classmethod
    def shapes(cls, units: int, inputs: int = TOKENS) -> dict[str, Shape]:
        """Refuse: its weights have no common shape."""
        del units, inputs
        _refuse_tensors()

    def tensors(self) -> dict[str, Any]:
        """Refuse: its weights have no common shape."""
        _refuse_tensors()

    @classmethod
    def from_tensors(cls, tensors: Tensors) -> Self:
        """Refuse: its weights have no common shape."""
        del tensors
        _refuse_tensors()

    @classmethod
    def from_training(cls, inputs: Any, recurrent: Any, bias: tuple[Any, ...]) -> Self:  # noqa: ANN401 -- arrays
        """Refuse: nobody trains it here."""
        del inputs, recurrent, bias
        _refuse_tensors()


def _refuse_tensors() -> NoReturn:
    raise BadInput("cell: a graph of units has no tensors and is not trained here; it is read and written as JSON")


def _add(argument: Number, weights: Any, values: Any) -> Number:  # noqa: ANN401 -- pairs, and numbers by their places
    """Add weighed units to an argument."""
    if not weights:
        return argument
    return argument + dot(tuple(weight for _, weight in weights), tuple(values[source] for source, _ in weights))


def _is_relay(unit: Unit) -> bool:
    """Say whether a unit is an activation of one other unit alone."""
    parts = (unit.bias, *unit.input)
    return all(part == 0 for part in parts) and not unit.recurrent and [w for _, w in unit.forward] == [1]


def _check_weights(weights: Weights, field: str, most: int, what: str) -> None:
    places = [source for source, _ in weights]
    if any(before >= after for before, after in pairwise([-1, *places, most])):
        raise BadInput(f"{field}: {places} are not the places of {what}, each once and in order")
    for source, weight in weights:
        check_number(weight, f"{field}.{source}")
