"""A network in a request: the document that a model's file holds, read by the library's own reader, every number exact."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from tallystick.cells import CELLS
from tallystick.documents import Document
from tallystick.errors import BadInput
from tallystick.models import GatedModel, Model, model_from_json, model_to_json
from tallystick.models.parts import OUTPUTS, Parts, recurrent_weights

LARGEST = 1_000_000
MOST_DIGITS = 1200
"""Every double up to a million is let in, however it is written, and nothing that needs more binary digits than one."""

_WHERE = "network"


def read_network(value: object) -> Model:
    """Return the model that a request holds; a complaint begins with the field."""
    try:
        model = model_from_json(Document(value, _WHERE))
    except BadInput as error:
        raise BadInput(str(error).removeprefix(f"{_WHERE}: ")) from None
    if isinstance(model, GatedModel):
        raise BadInput(f"cell: one with gates is not for this page; the cells are {', '.join(CELLS)}")
    for field, number in _numbers(Parts.of(model)):
        _require_bounded(number, field)
    return model


def _numbers(parts: Parts) -> Iterator[tuple[str, Fraction]]:
    """Go through a model's numbers by the names that they have in the document."""
    yield "open_step", parts.open_step
    yield "close_step", parts.close_step
    single = len(parts.recurrent_weight) == 1
    for place, number in enumerate(parts.recurrent_weight):
        yield "recurrent_weight" if single else f"recurrent_weight[{place}]", number
    for name in ("weight", "bias"):
        yield from ((f"readout: {name}[{place}]", number) for place, number in enumerate(getattr(parts, name)))


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


def _readout_schema(kind: str, outputs: int) -> dict[str, object]:
    name = {"const": kind}
    return (
        _object({"kind": name, "weight": _list_of(outputs)}, bias=_list_of(outputs))
        if outputs
        else _object({"kind": name})
    )


def _network_schema(cell: str) -> dict[str, object]:
    size = recurrent_weights(cell)
    return _object(
        {
            "cell": {"const": cell},
            "open_step": _NUMBER,
            "close_step": _NUMBER,
            "recurrent_weight": _NUMBER if size == 1 else _list_of(size),
            "readout": {"oneOf": [_readout_schema(kind, outputs) for kind, outputs in OUTPUTS.items()]},
        }
    )


Network = Annotated[
    Model,
    PlainValidator(read_network),
    PlainSerializer(model_to_json),
    WithJsonSchema(
        {
            "description": "A cell and a readout, as a model's JSON file holds them.",
            "oneOf": [_network_schema(cell) for cell in CELLS],
        }
    ),
]
"""A field that holds a network's document in JSON and is a model in Python."""
