"""A network in a request: the document that a model's file holds, read by the library's own reader, every number exact."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from tallystick.cells import CELLS, ScalarCell
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.networks import Network as AnyNetwork
from tallystick.networks import network_from_json, network_to_json
from tallystick.networks.readout import DECISIONS, Decision

LARGEST = 1_000_000
MOST_DIGITS = 1200
"""Every double up to a million is let in, however it is written, and nothing that needs more binary digits than one."""

_WHERE = "network"
_SHOWN = [name for name, kind in CELLS.items() if issubclass(kind, ScalarCell)]


def read_network(value: object) -> AnyNetwork:
    """Return the network that a request holds; a complaint begins with the field."""
    try:
        network = network_from_json(Document(value, _WHERE))
    except BadInput as error:
        raise BadInput(str(error).removeprefix(f"{_WHERE}: ")) from None
    if not isinstance(network.cell, ScalarCell):
        raise BadInput(f"cell: one with gates is not for this page; the cells are {', '.join(_SHOWN)}")
    for field, number in _numbers(network):
        _require_bounded(number, field)
    return network


def _numbers(network: AnyNetwork) -> Iterator[tuple[str, Fraction]]:
    """Go through a network's numbers by the names that they have in the document."""
    for name, value in network.scalar_cell.tensors().items():
        single = not isinstance(value, tuple)
        yield from (
            (name if single else f"{name}[{place}]", one) for place, one in enumerate((value,) if single else value)
        )
    if DECISIONS[network.readout.decision].has_weights:
        parts = {"weight": [row[0] for row in network.readout.weight], "bias": network.readout.bias}
        for name, values in parts.items():
            yield from ((f"readout: {name}[{place}]", number) for place, number in enumerate(values))


def _require_bounded(number: Fraction, field: str) -> None:
    """Refuse a number with which exact arithmetic would be a matter of hours."""
    if abs(number) > LARGEST:
        raise BadInput(f"{field}: larger in size than {LARGEST:,}, the most that is explored")
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_DIGITS:
        raise BadInput(f"{field}: needs more than {MOST_DIGITS:,} binary digits, the most that is explored")


_NUMBER: dict[str, object] = {
    "description": 'A number, exact: 0.25, "1/4", "0.25", "2.5e-1" or "0x1p-2".',
    "anyOf": [
        {"type": "number", "minimum": -LARGEST, "maximum": LARGEST},
        {
            "type": "string",
            "maxLength": 4200,
            "pattern": (
                r"^[+-]?([0-9]{1,6}/0*[1-9][0-9]*|([0-9]{1,6}(\.[0-9]*)?|\.[0-9]+)([eE]-[0-9]{1,2})?"
                r"|0[xX][0-9a-fA-F]{1,4}(\.[0-9a-fA-F]*)?([pP](\+?[0-3]|-[0-9]{1,2}))?)$"
            ),
        },
    ],
}
"""What is described is let in; so are some others, such as a longer numerator over a longer denominator."""


def _list_of(size: int) -> dict[str, object]:
    return {"type": "array", "items": _NUMBER, "minItems": size, "maxItems": size}


def _object(required: dict[str, object], **optional: object) -> dict[str, object]:
    fields = {"properties": {**required, **optional}, "required": list(required), "additionalProperties": False}
    return {"type": "object", **fields}


def _readout_schema(decision: Decision) -> dict[str, object]:
    numbers = _list_of(decision.outputs)
    name = {"const": decision.kind}
    return _object({"kind": name, "weight": numbers}, bias=numbers) if decision.has_weights else _object({"kind": name})


def _network_schema(cell: str) -> dict[str, object]:
    weights: dict[str, object] = {
        name: _list_of(*shape) if shape else _NUMBER for name, shape in CELLS[cell].shapes(1).items()
    }
    readouts = [_readout_schema(decision) for decision in DECISIONS.values()]
    return _object({"cell": {"const": cell}, **weights, "readout": {"oneOf": readouts}})


Network = Annotated[
    AnyNetwork,
    PlainValidator(read_network),
    PlainSerializer(network_to_json),
    WithJsonSchema(
        {
            "description": "A cell and a readout, as a model's JSON file holds them.",
            "oneOf": [_network_schema(cell) for cell in _SHOWN],
        }
    ),
]
"""A field that holds a network's document in JSON and is a model in Python."""
