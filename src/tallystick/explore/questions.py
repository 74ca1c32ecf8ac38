"""What the API is asked: requests read as strictly as files, every number as it is written, nothing repeated, no NaN.

FastAPI would read 0.1 as the float that is nearest to it; a network's weight of 0.1 is one tenth. A network is the document that
a model's file holds, read by the library's own reader.
"""

import json
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, PlainValidator

from tallystick.cells import CELLS
from tallystick.certificates.verdict import ARITHMETIC_NAMES, REAL
from tallystick.certificates.verdict import Lengths as CountedLengths
from tallystick.errors import BadInput, check_tokens
from tallystick.explore.answers import LONGEST_STRING
from tallystick.explore.choices import STRING_KINDS
from tallystick.explore.documents import LARGEST, read_network, scalar_cells
from tallystick.explore.network_answers import LONGEST_SEARCH
from tallystick.explore.readings import LONGEST_READING
from tallystick.files import parse_document
from tallystick.languages.brackets import ALPHABET
from tallystick.networks import Network as AnyNetwork
from tallystick.networks.readout import DECISIONS, Decision

LONGEST_CURVE = 40
GREATEST_SEED = 2**53
MOST_LAYERS = 64
LARGEST_FILE = 2**20
"""Characters of a file in base64, of a request that has at most a little more."""

_BAD_INPUT = 422

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


def _as_it_is(value: object) -> object:
    return value


class _DescribedAnyNetwork:
    """Describes the networks of any kind; what they hold depends on the cell."""

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> dict[str, object]:
        del schema, handler
        fields = {"readout": {"type": "object"}}
        text = "A network of any kind, as a model's JSON file holds it."
        return {"description": text, "type": "object", "properties": fields, "required": list(fields)}


EveryNetwork = Annotated[object, PlainValidator(_as_it_is), _DescribedAnyNetwork()]
"""A network of any kind, over any alphabet, as a document: it may be large, so it is read where it is worked on."""


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


class AnyNetworkQuestion(Question):
    """A network of any kind."""

    network: EveryNetwork


class JudgementQuestion(AnyNetworkQuestion):
    """A network of any kind, the lengths that count, and how far to search where nothing else decides."""

    lengths: Lengths = "all"
    upto: Annotated[int, Field(ge=1, le=LONGEST_SEARCH)] | None = None


class ReadingQuestion(AnyNetworkQuestion):
    """A network of any kind, a string that it reads, token by token, and the layer to show, the uppermost if none is named."""

    tokens: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=LONGEST_READING)]
    layer: Annotated[int, Field(ge=0, le=MOST_LAYERS)] | None = None


class FileQuestion(Question):
    """A network's file: its name, and its bytes in base64."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    content: Annotated[str, Field(max_length=LARGEST_FILE, json_schema_extra={"contentEncoding": "base64"})]


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
