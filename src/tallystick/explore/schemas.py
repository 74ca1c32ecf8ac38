"""What goes in and comes out of the API: the fields of every request and answer, for checking and for its description."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tallystick.certificates.verdict import REAL
from tallystick.errors import BadInput, check_tokens
from tallystick.explore.answers import LONGEST_STRING
from tallystick.explore.network_schema import Network
from tallystick.languages.brackets import ALPHABET

LONGEST_CURVE = 40
GREATEST_SEED = 2**53

Arithmetic = Literal[
    "real",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "float16-fused",
    "bfloat16-fused",
    "float32-fused",
    "float64-fused",
]
Lengths = Literal["all", "even"]
StringKind = Literal["uniform", "balanced", "dyck1", "nested", "zigzag"]
Column = Literal[
    "ab_ratio", "recurrent_weight", "accuracy_train", "accuracy_20", "accuracy_50", "horizon_all", "horizon_even"
]


def _of_brackets(string: str) -> str:
    try:
        check_tokens(string, ALPHABET)
    except BadInput as error:
        raise BadInput(f"string: {error}") from None
    return string


String = Annotated[
    str,
    Field(max_length=LONGEST_STRING, json_schema_extra={"pattern": r"^[()]*$"}),
    AfterValidator(_of_brackets),
]


class Question(BaseModel):
    """A request; a field that is not known is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NetworkQuestion(Question):
    """A network."""

    network: Network


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


class Error(BaseModel):
    """What was wrong, in one line."""

    error: str


class Preset(BaseModel):
    """A network to begin with, and a string to look at it on."""

    name: str
    title: str
    text: str
    network: dict[str, Any]
    arithmetic: Arithmetic
    string: String


class Band(BaseModel):
    """The h that get a class; null is no end."""

    model_config = ConfigDict(populate_by_name=True)
    name: str = Field(alias="class")
    low: float | None
    high: float | None


class Trace(BaseModel):
    """A string read token by token; every list begins before the first token."""

    string: str
    arithmetic: Arithmetic = Field(description="real, or what is shown in its place where states are not rational")
    states: list[float | None] = Field(description="h; null where it is no finite float")
    exact: list[str | None] | None = Field(description="h as p/q, where that is short")
    counts: list[int]
    classes: list[str]
    expected: list[str]
    right: list[bool]
    bands: list[Band]


class Indicator(BaseModel):
    """A condition of the cell's theorem."""

    formula: str
    value: float | None
    exact: str | None
    distance: float | None = Field(description="the left side less the right one, of an equation")
    holds: bool
    finding: str


class Judgement(BaseModel):
    """A verdict on all strings of the lengths that count."""

    outcome: Literal["PROVED", "REFUTED", "BOUNDED"]
    horizon: int | None = Field(description="null where it is unlimited, or beyond 2^53")
    horizon_text: str = Field(description="the same as text, always whole")
    reason: str
    method: str
    shortest: bool = Field(description="whether no shorter string fails than the one given")
    failing_string: str | None = Field(description=f"null where it has more than {LONGEST_STRING:,} tokens")
    failing_runs: list[tuple[str, str]] | None = Field(description="the same as runs of equal tokens")
    failing_length: int | None
    failing_class: str | None
    right_class: str | None


class Judgements(BaseModel):
    """The indicators of a cell, and the verdicts for all and for even lengths."""

    arithmetic: Arithmetic
    indicators: list[Indicator] = Field(description="empty where no theorem is known for the cell")
    all: Judgement
    even: Judgement


class Curve(BaseModel):
    """The exact share of right strings, length by length."""

    lengths: list[int]
    all: list[float] = Field(description="in percent, over all strings of the length")
    total: list[str] = Field(description="the same as right/all")
    note: str | None = Field(description="why the curve ends before the length asked for")


class Brackets(BaseModel):
    """A string of brackets."""

    string: String


class Region(BaseModel):
    """R_N: the binary networks without bias, as points (a/b, U), that are right on all strings up to a length."""

    length: int
    polygons: list[list[tuple[float, float]]]


class Regions(BaseModel):
    """Some of the regions, each inside the shorter ones."""

    regions: list[Region]


class Coq(BaseModel):
    """Where a theorem stands in Coq."""

    file: str
    line: int
    theorem: str


class ProofStep(BaseModel):
    """A step of a proof: the solver's, with the string that gives it, or an argument in words."""

    claim: str
    verdict: str
    proved_by: Literal["solver", "argument"]
    string: str | None = None
    state: str | None = None
    seconds: float | None = None
    finding: str | None = None
    reason: str | None = None


class ProofPart(BaseModel):
    """A heading and the steps under it."""

    title: str
    steps: list[ProofStep]


class Theorem(BaseModel):
    """A theorem that the solver goes through."""

    name: str
    title: str
    statement: str
    proved: bool
    parts: list[ProofPart]
    coq: list[Coq]


class CoqOnly(BaseModel):
    """A theorem that is proved in Coq alone."""

    name: str
    title: str
    statement: str
    coq: list[Coq]


class Theorems(BaseModel):
    """All theorems."""

    theorems: list[Theorem]
    coq_only: list[CoqOnly]


class Window(BaseModel):
    """A part of the plane (a/b, U)."""

    x0: float
    x1: float
    y0: float
    y1: float


class RunSetting(BaseModel):
    """Networks of a run that were trained alike."""

    id: str
    title: str
    edition: str
    cell: str
    task: str
    bias: bool
    train_length: int
    method: str
    precision: str
    models: int
    in_plane: bool = Field(description="whether the regions speak of these networks: linear, binary, no bias")


class RunSummary(BaseModel):
    """A run: its name and its settings, and what else there is of it."""

    name: str
    models: int
    settings: list[RunSetting]
    window: Window = Field(description="where most networks lie")
    has_paths: bool
    has_table: bool


class Bins(BaseModel):
    """How many networks lie in each cell of a grid, ny rows of nx, the lowest first."""

    counts: list[list[int]]
    total: int
    inside: int


class Point(BaseModel):
    """One trained network."""

    setting: str
    seed: int
    ratio: float
    recurrent_weight: float
    horizon_all: int | None = Field(description="null where it is unlimited or not known")
    horizon_even: int | None
    unlimited: bool
    accuracy_50: float | None


class Points(BaseModel):
    """Networks in a window; a sample of them where there are more than asked for, the same for the same window."""

    points: list[Point]
    inside: int


class Series(BaseModel):
    """The histogram of one setting."""

    setting: str
    counts: list[int]
    below: int
    above: int = Field(description="unlimited horizons are counted here")
    missing: int
    median: float | None
    total: int


class Histogram(BaseModel):
    """How a column is distributed, setting by setting, over common bins."""

    column: Column
    condition: float | None = Field(description="the value that the theorem asks for")
    edges: list[float]
    series: list[Series]


class Path(BaseModel):
    """a/b and U after each epoch, the start included; null where there is no number."""

    setting: str
    seed: int
    ratio: list[float | None]
    recurrent_weight: list[float | None]


class Paths(BaseModel):
    """Training paths."""

    paths: list[Path]


class RunModel(BaseModel):
    """A trained network, exactly, and the arithmetic that it was trained in."""

    network: dict[str, Any]
    arithmetic: Arithmetic


class Printed(BaseModel):
    """The paper's numbers, as printed."""

    avg: str
    min: str
    max: str


class Entry(BaseModel):
    """One entry of Table 2, in percent."""

    avg: float
    min: float
    max: float
    mean: float | None
    band: tuple[float, float] | None
    inside: bool | None
    paper: Printed
    note: str


class TableRow(BaseModel):
    """One row of Table 2."""

    setting: str
    group: str
    train_length: int
    entries: dict[str, Entry]


class Edition(BaseModel):
    """Table 2 in one edition."""

    id: str
    title: str
    legend: list[str]
    rows: list[TableRow]


class Table(BaseModel):
    """Table 2, edition by edition."""

    editions: list[Edition]
