"""The API of one network: traces, verdicts, accuracies, certificates."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from tallystick.certificates.verdict import Lengths as CountedLengths
from tallystick.errors import BadInput, check_whole
from tallystick.explore import answers, schemas
from tallystick.explore.exact_json import ExactRoute
from tallystick.explore.plane import LONGEST_REGION, MOST_REGIONS, region
from tallystick.explore.presets import PRESETS
from tallystick.explore.proofs import theorems
from tallystick.explore.strings import string_of
from tallystick.explore.workers import Workers
from tallystick.networks import network_to_json

_PROOF_SECONDS = 120.0
_CURVE_SHARE = 0.2
"""Of the time that an answer may take: after it, what there is of a curve is given."""


router = APIRouter(
    prefix="/api", route_class=ExactRoute, responses={"4XX": {"model": schemas.Error}, 503: {"model": schemas.Error}}
)


async def _workers(request: Request) -> Workers:
    return request.app.state.workers


Asked = Annotated[Workers, Depends(_workers)]
"""Those of whom whatever may take long is asked."""


@router.get("/presets")
async def presets() -> list[schemas.Preset]:
    """Networks to begin with."""
    return [schemas.Preset.model_validate(preset._asdict()) for preset in PRESETS]


@router.post("/trace", response_model=schemas.Trace)
async def trace(question: schemas.TraceQuestion, workers: Asked) -> Any:  # noqa: ANN401 -- checked against the answer's schema
    """Read a string token by token."""
    return await workers.run(answers.trace, question.network, question.arithmetic, question.string)


@router.post("/verdict", response_model=schemas.Judgements)
async def verdict(question: schemas.ExecutedQuestion, workers: Asked) -> Any:  # noqa: ANN401
    """Say up to which length a network is right on all strings."""
    return await workers.run(answers.verdict, question.network, question.arithmetic)


@router.post("/accuracy", response_model=schemas.Curve)
async def accuracy(question: schemas.AccuracyQuestion, workers: Asked) -> Any:  # noqa: ANN401
    """Count the right strings of every length, exactly."""
    seconds = _CURVE_SHARE * workers.seconds
    return await workers.run(answers.accuracy, question.network, question.arithmetic, question.longest, seconds)


@router.post("/certificate", response_model=dict[str, Any])
async def certificate(question: schemas.CertificateQuestion, workers: Asked) -> Any:  # noqa: ANN401
    """Write the certificate, for `tallystick check`."""
    return await workers.run(answers.certificate_of, question.network, question.arithmetic, question.lengths)


@router.post("/model")
async def model(question: schemas.NetworkQuestion) -> dict[str, Any]:
    """Write the network as a model's file holds it, its numbers exact."""
    return network_to_json(question.network)


@router.post("/string")
async def string(question: schemas.StringQuestion) -> schemas.Brackets:
    """Make a string."""
    return schemas.Brackets(string=string_of(question.kind, question.length, question.seed))


@router.get("/regions")
def regions(
    longest: Annotated[str, Query(pattern=r"^\d{1,4}(,\d{1,4})*$")] = "2,4,8,16,32",
    lengths: schemas.Lengths = "all",
) -> schemas.Regions:
    """Draw the regions R_N of the plane (a/b, U): binary networks without bias, right on all strings up to length N."""
    chosen = [_longest(text, lengths) for text in longest.split(",")]
    check_whole(len(chosen), "longest: the number of lengths", most=MOST_REGIONS)
    return schemas.Regions(
        regions=[schemas.Region(length=number, polygons=[region(number, lengths)]) for number in chosen]
    )


@router.get("/theorem", response_model=schemas.Theorems)
async def theorem(request: Request, workers: Asked) -> Any:  # noqa: ANN401
    """Go through the theorems step by step, each put to the solver once while the server runs."""
    kept = request.app.state
    if not hasattr(kept, "theorems"):
        kept.theorems = await workers.run(theorems, seconds=_PROOF_SECONDS)
    return kept.theorems


def _longest(text: str, lengths: str) -> int:
    number = int(text)
    check_whole(number, "longest", least=2, most=LONGEST_REGION)
    if lengths == CountedLengths.EVEN and number % 2:
        raise BadInput(f"longest: {number} is odd; only even lengths count")
    return number
