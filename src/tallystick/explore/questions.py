"""What the API is asked: requests read as strictly as files, every number as it is written, nothing repeated, no NaN.

FastAPI would read 0.1 as the float that is nearest to it; a network's weight of 0.1 is one tenth. A network is the document that
a model's file holds, read by the library's own reader.
"""

import json
from collections.abc import Callable, Collection, Coroutine, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, PlainValidator

from tallystick.cells import CELLS, ScalarCell
from tallystick.certificates.verdict import ARITHMETIC_NAMES, REAL
from tallystick.certificates.verdict import Lengths as CountedLengths
from tallystick.errors import BadInput, check_tokens
from tallystick.explore.answers import LONGEST_STRING
from tallystick.explore.choices import STRING_KINDS
from tallystick.explore.language_answers import LONGEST_READING
from tallystick.files import Document, parse_document
from tallystick.languages.brackets import ALPHABET
from tallystick.networks import Network as AnyNetwork
from tallystick.networks import network_from_json
from tallystick.networks.readout import DECISIONS, Decision
from tallystick.numbers import exact

LONGEST_CURVE = 40
GREATEST_SEED = 2**53
LARGEST = 1_000_000
MOST_DIGITS = 1200
"""Every double up to a million is let in, however it is written, and nothing that needs more binary digits than one."""

MOST_UNITS = 16
"""Of a linear network: enough to see what several eigenvalues do, and decided within the time that an answer may take."""

_BAD_INPUT = 422
_WHERE = "network"

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class Error(BaseModel):
    """What was wrong, in one line."""

    error: str


class Answer(Response):
    """An answer: plain data, written as JSON once."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Write the data; a NaN would be a mistake of ours, since JSON has none."""
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def answer_of(kind: object) -> dict[int | str, dict[str, Any]]:
    """Describe what an operation answers with, for the API's description alone."""
    return {200: {"model": kind}}


class ExactRequest(Request):
    """A request whose JSON is read with its numbers exact."""

    async def json(self) -> Any:  # noqa: ANN401 -- whatever was sent
        """Return the body's value."""
        if not hasattr(self, "_exact"):
            try:
                self._exact = parse_document((await self.body()).decode("utf-8"), "request").value
            except UnicodeDecodeError as error:
                raise HTTPException(_BAD_INPUT, f"request: not UTF-8 text (byte {error.start})") from None
            except BadInput as error:  # FastAPI takes anything else for a mistake of its own
                raise HTTPException(_BAD_INPUT, str(error)) from None
        return self._exact


class ExactRoute(APIRoute):
    """A route whose requests are read so."""

    def get_route_handler(self) -> Handler:
        """Return the handler."""
        handle = super().get_route_handler()

        async def handle_exactly(request: Request) -> Response:
            return await handle(ExactRequest(request.scope, request.receive))

        return handle_exactly


def scalar_cells() -> list[str]:
    """Return the names of the cells that the page shows: those with one unit."""
    return [name for name, kind in CELLS.items() if issubclass(kind, ScalarCell)]


def read_network(value: object) -> AnyNetwork:
    """Return the network that a request holds; a complaint begins with the field."""
    try:
        network = network_from_json(Document(value, _WHERE))
    except BadInput as error:
        raise BadInput(str(error).removeprefix(f"{_WHERE}: ")) from None
    if not isinstance(network.cell, ScalarCell):
        raise BadInput(f"cell: one with several units is not for this page; the cells are {', '.join(scalar_cells())}")
    if isinstance(value, dict) and "answer" in value:
        kinds = ", ".join(decision.kind for decision in DECISIONS.values())
        raise BadInput(f"answer: this page shows readouts by their kind, {kinds}; tallystick certify takes any")
    for field, number in _numbers(network):
        _require_bounded(number, field)
    return network


def read_linear_network(value: object) -> AnyNetwork:
    """Return the linear network, with any number of units, that a request holds; a complaint begins with the field."""
    try:
        network = network_from_json(Document(value, _WHERE))
    except BadInput as error:
        raise BadInput(str(error).removeprefix(f"{_WHERE}: ")) from None
    if not network.cell.is_affine:
        raise BadInput(f"cell: a {network.cell.name} network is not linear; tallystick certify takes any")
    if network.cell.units > MOST_UNITS:
        raise BadInput(f"cell: {network.cell.units} units; the most that are explored are {MOST_UNITS}")

    def bounded(number: Fraction, name: str) -> Fraction:
        _require_bounded(exact(number), name)
        return number

    return network.map_weights(bounded)


def read_any_network(value: object) -> AnyNetwork:
    """Return the network of any kind that a request holds; a complaint begins with the field."""
    try:
        network = network_from_json(Document(value, _WHERE))
    except BadInput as error:
        raise BadInput(str(error).removeprefix(f"{_WHERE}: ")) from None
    if network.cell.is_affine and network.is_usual:
        return read_linear_network(value)

    def bounded(number: Fraction, name: str) -> Fraction:
        _require_bounded(exact(number), name)
        return number

    return network.map_weights(bounded)


def _numbers(network: AnyNetwork) -> Iterator[tuple[str, Fraction]]:
    """Go through a network's numbers by the names that they have in the document."""
    for name, value in network.scalar_cell.tensors().items():
        single = not isinstance(value, tuple)
        yield from (
            (name if single else f"{name}[{place}]", one) for place, one in enumerate((value,) if single else value)
        )
    if network.readout.rule.has_weights:
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


class _DescribedNetwork:
    """Describes the networks that may be asked about, by the cells and readouts that stand in their tables by then."""

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> dict[str, object]:
        del schema, handler
        networks = [_network_schema(cell) for cell in scalar_cells()]
        return {"description": "A cell and a readout, as a model's JSON file holds them.", "oneOf": networks}


Network = Annotated[AnyNetwork, PlainValidator(read_network), _DescribedNetwork()]
"""A field that holds a network's document in JSON and is a network in Python."""


class _DescribedLinearNetwork:
    """Describes the linear networks that may be asked about; how their matrices are written depends on the cell."""

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> dict[str, object]:
        del schema, handler
        fields = {"cell": {"type": "string"}, "readout": {"type": "object"}}
        text = f"A linear network of up to {MOST_UNITS} units, as a model's JSON file holds it."
        return {"description": text, "type": "object", "properties": fields, "required": list(fields)}


LinearNetwork = Annotated[AnyNetwork, PlainValidator(read_linear_network), _DescribedLinearNetwork()]
"""The same for a linear network with any number of units."""


class _DescribedAnyNetwork:
    """Describes the networks of any kind; what they hold depends on the cell."""

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> dict[str, object]:
        del schema, handler
        fields = {"readout": {"type": "object"}}
        text = "A network of any kind, as a model's JSON file holds it."
        return {"description": text, "type": "object", "properties": fields, "required": list(fields)}


EveryNetwork = Annotated[AnyNetwork, PlainValidator(read_any_network), _DescribedAnyNetwork()]
"""The same for a network of any kind, over any alphabet."""


@dataclass(frozen=True)
class OneOf:
    """Marks a field whose text must be one of some names, as a `Literal` does; a table's names need not be repeated here."""

    names: Callable[[], Collection[str]]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> Any:  # noqa: ANN401 -- pydantic's own
        """Return the names that stand in the table when an application is made."""
        del source
        return handler.generate_schema(Literal[tuple(self.names())])


Arithmetic = Annotated[str, OneOf(lambda: ARITHMETIC_NAMES)]
Lengths = Annotated[str, OneOf(lambda: [str(lengths) for lengths in CountedLengths])]
StringKind = Annotated[str, OneOf(lambda: STRING_KINDS)]


def _check_brackets(string: str) -> str:
    try:
        check_tokens(string, ALPHABET)
    except BadInput as error:
        raise BadInput(f"string: {error}") from None
    return string


String = Annotated[
    str,
    Field(max_length=LONGEST_STRING, json_schema_extra={"pattern": r"^[()]*$"}),
    AfterValidator(_check_brackets),
]


class Question(BaseModel):
    """A request; a field that is not known is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NetworkQuestion(Question):
    """A network."""

    network: Network


class LinearQuestion(Question):
    """A linear network."""

    network: LinearNetwork


class AnyNetworkQuestion(Question):
    """A network of any kind."""

    network: EveryNetwork


class ReadingQuestion(AnyNetworkQuestion):
    """A network of any kind and a string that it reads: its tokens, one by one."""

    tokens: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=LONGEST_READING)]


class ExecutedQuestion(NetworkQuestion):
    """A network and the arithmetic that it runs in."""

    arithmetic: Arithmetic = REAL


class TraceQuestion(ExecutedQuestion):
    """A network and a string that it reads."""

    string: String


class AccuracyQuestion(ExecutedQuestion):
    """A network and the longest length of the curve."""

    longest: Annotated[int, Field(ge=1, le=LONGEST_CURVE)] = 20


class CertificateQuestion(ExecutedQuestion):
    """A network and the lengths that count."""

    lengths: Lengths = "all"


class StringQuestion(Question):
    """A kind of string, a length and a seed."""

    kind: StringKind
    length: Annotated[int, Field(ge=0, le=LONGEST_STRING)]
    seed: Annotated[int, Field(ge=0, le=GREATEST_SEED)] = 0
