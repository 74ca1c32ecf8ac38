"""A graph of units in a JSON file (`cells.graph` says what it computes).

    {"cell": "graph", "units": [
        {"activation": "relu", "input": [0.5, -0.5], "recurrent": {"0": 1}},
        {"activation": "tanh", "bias": "1/3", "input": [0, 1], "forward": {"0": 3}}]}

`input` has one weight per entry of what the cell reads. `forward` and `recurrent` name units by their places from 0 on; what is
not said is zero. An `initial_state` has in its `h` one number per unit: where a unit that a later step reads starts from, and of
each other one what its argument is before the first token.
"""

from fractions import Fraction

from tallystick.cells.graph import ACTIVATIONS, GraphCell, Unit, Weights
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.networks.network import MOST_UNITS
from tallystick.numbers.values import read_numbers, write_numbers

_ZERO = Fraction(0)
_PARTS = ("bias", "input", "forward", "recurrent")


def read_graph(
    document: Document, required: tuple[str, ...], optional: tuple[str, ...], inputs: int
) -> tuple[GraphCell, dict[str, Document]]:
    """Read a graph whose units read vectors of so many numbers; return it and all fields of its object."""
    fields = document.fields(required=("cell", "units", *required), optional=optional)
    units = list(fields["units"].items())
    if not 0 < len(units) <= MOST_UNITS:
        fields["units"].refuse(f"a list of 1 to {MOST_UNITS} units")
    return GraphCell(tuple(_read_unit(unit, place, len(units), inputs) for place, unit in enumerate(units))), fields


def _read_unit(document: Document, place: int, units: int, inputs: int) -> Unit:
    fields = document.fields(required=("activation",), optional=_PARTS)
    activation = fields["activation"].text()
    if activation not in ACTIVATIONS:
        fields["activation"].refuse(f"one of {', '.join(ACTIVATIONS)}")
    return Unit(
        activation,
        read_numbers(fields["bias"]) if "bias" in fields else _ZERO,
        read_numbers(fields["input"], inputs) if "input" in fields else (),
        _read_weights(fields["forward"], place) if "forward" in fields else (),
        _read_weights(fields["recurrent"], units) if "recurrent" in fields else (),
    )


def _read_weights(document: Document, most: int) -> Weights:
    """Read weights by the places of their units, which are below a number."""
    fields = document.fields(required=(), optional=tuple(document.content))
    for name in fields:
        if name not in map(str, range(most)):
            places = f"0 to {most - 1}" if most else "none before the first"
            raise BadInput(f"{document.where}: {name!r} is not the place of a unit that may be read here: {places}")
    found = {int(name): read_numbers(weight) for name, weight in fields.items()}
    return tuple((source, weight) for source, weight in sorted(found.items()) if weight)


def graph_to_json(graph: GraphCell) -> dict[str, object]:
    """Return the units of a graph as its file holds them."""
    return {"units": [_unit_to_json(unit, f"units[{place}]") for place, unit in enumerate(graph.nodes)]}


def _unit_to_json(unit: Unit, field: str) -> dict[str, object]:
    weights = {
        name: {str(source): write_numbers(weight, f"{field}.{name}.{source}") for source, weight in getattr(unit, name)}
        for name in ("forward", "recurrent")
    }
    return {
        "activation": unit.activation,
        "bias": write_numbers(unit.bias, f"{field}.bias"),
        **({"input": write_numbers(unit.input, f"{field}.input")} if unit.input else {}),
        **{name: found for name, found in weights.items() if found},
    }
