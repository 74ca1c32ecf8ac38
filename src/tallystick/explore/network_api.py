"""The API of one network: traces, verdicts, accuracies, certificates; and beside it the regions and the theorems."""

from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Query, Request
from typing_extensions import TypedDict

from tallystick.certificates.one_unit.regions import outline, reach
from tallystick.certificates.verdict import Lengths
from tallystick.errors import BadInput, check_whole
from tallystick.explore import answers, formulas, linear_answers, network_answers, questions, readings
from tallystick.explore.choices import NETWORK_PRESETS, PRESETS, NetworkPreset, Preset, string_of
from tallystick.explore.documents import about_network
from tallystick.explore.opening import OpenedFile, opened_file
from tallystick.explore.questions import Answer, Error, ExactRoute, answer_of
from tallystick.explore.workers import Workers
from tallystick.networks import network_to_json

MOST_REGIONS = 12
LONGEST_REGION = 128
"""Each is found once, in a quarter of a second at the most; longer ones would be too small to see."""

_HIGHEST = 4.0
"""The greatest U that is drawn; the region of length 2 has no end."""

_STEPS = 100
_INWARDS = 1 - 1e-9  # the tip itself is empty
_PROOF_SECONDS = 120.0
_CURVE_SHARE = 0.2
"""The part of the time limit that a curve may take; then it ends where it is."""

Polygon = list[tuple[float, float]]


class Brackets(TypedDict):
    """A string of brackets."""

    string: str


class Region(TypedDict):
    """R_N: the binary networks without bias, as points (a/b, U), that are right on all strings up to a length."""

    length: int
    polygons: list[Polygon]


class Regions(TypedDict):
    """Some of the regions, each inside the shorter ones."""

    regions: list[Region]


router = APIRouter(prefix="/api", route_class=ExactRoute, responses={"4XX": {"model": Error}, 503: {"model": Error}})


async def _workers(request: Request) -> Workers:
    return request.app.state.workers


Asked = Annotated[Workers, Depends(_workers)]
"""Those of whom whatever may take long is asked."""


@router.get("/choices", responses=answer_of(formulas.Choices))
async def choices() -> Answer:
    """What a network and a string are chosen from."""
    return Answer(formulas.choices())


@router.get("/presets", responses=answer_of(list[Preset]))
async def presets() -> Answer:
    """Networks to begin with."""
    return Answer(PRESETS)


@router.post("/trace", responses=answer_of(answers.Trace))
async def trace(question: questions.TraceQuestion, workers: Asked) -> Answer:
    """Read a string token by token."""
    return Answer(await workers.run(answers.trace, question.network, question.arithmetic, question.string))


@router.post("/verdict", responses=answer_of(answers.Judgements))
async def verdict(question: questions.ExecutedQuestion, workers: Asked) -> Answer:
    """Say up to which length a network is right on all strings."""
    return Answer(await workers.run(answers.verdict, question.network, question.arithmetic))


@router.get("/network-presets", responses=answer_of(list[NetworkPreset]))
async def network_presets(request: Request) -> Answer:
    """Networks with several units to begin with; the one that was opened comes first."""
    opened: NetworkPreset | None = request.app.state.network
    return Answer(NETWORK_PRESETS if opened is None else (opened, *NETWORK_PRESETS))


@router.post("/open", responses=answer_of(OpenedFile))
async def open_file(question: questions.FileQuestion, workers: Asked) -> Answer:
    """Read a network's file, JSON or safetensors, and write it as JSON; nothing is kept."""
    return Answer(await workers.run(opened_file, question.name, question.content))


@router.post("/network", responses=answer_of(network_answers.NetworkAnswer))
async def network(question: questions.AnyNetworkQuestion, workers: Asked) -> Answer:
    """Say what a network of any kind is."""
    return Answer(await workers.run(about_network, network_answers.describe, question.network))


@router.post("/judgement", responses=answer_of(answers.Judgement))
async def judgement(question: questions.JudgementQuestion, workers: Asked) -> Answer:
    """Say how far a network of any kind is right."""
    asked = question.network, question.lengths, question.upto
    return Answer(await workers.run(about_network, network_answers.judge, *asked))


@router.post("/linear", responses=answer_of(linear_answers.LinearAnswer))
async def linear(question: questions.AnyNetworkQuestion, workers: Asked) -> Answer:
    """Draw a linear network: eigenvalues, what brackets add, margins."""
    return Answer(await workers.run(about_network, linear_answers.linear, question.network))


@router.post("/live", responses=answer_of(network_answers.Live))
async def live(question: questions.AnyNetworkQuestion, workers: Asked) -> Answer:
    """Count the prefixes of each length that a network which answers after every token still follows."""
    return Answer(await workers.run(about_network, network_answers.live, question.network))


@router.post("/reading", responses=answer_of(readings.Reading))
async def reading(question: questions.ReadingQuestion, workers: Asked) -> Answer:
    """Read a string token by token: a layer's units and gates, what the network says after each prefix, and what is right."""
    tokens = tuple(question.tokens)
    return Answer(await workers.run(about_network, readings.reading, question.network, tokens, question.layer))


@router.post("/accuracy", responses=answer_of(answers.Curve))
async def accuracy(question: questions.AccuracyQuestion, workers: Asked) -> Answer:
    """Count the right strings of every length, exactly."""
    asked = question.network, question.arithmetic, question.longest
    return Answer(await workers.run(answers.accuracy, *asked, _CURVE_SHARE * workers.seconds))


@router.post("/certificate", responses=answer_of(dict[str, Any]))
async def certificate(question: questions.CertificateQuestion, workers: Asked) -> Answer:
    """Write the certificate, for `tallystick check`."""
    return Answer(await workers.run(answers.certificate_of, question.network, question.arithmetic, question.lengths))


@router.post("/model", responses=answer_of(dict[str, Any]))
async def model(question: questions.NetworkQuestion) -> Answer:
    """Write the network as a model's file holds it, its numbers exact."""
    return Answer(network_to_json(question.network))


@router.post("/string", responses=answer_of(Brackets))
async def string(question: questions.StringQuestion) -> Answer:
    """Make a string."""
    return Answer(Brackets(string=string_of(question.kind, question.length, question.seed)))


@router.get("/regions", responses=answer_of(Regions))
def regions(
    longest: Annotated[str, Query(pattern=r"^\d{1,4}(,\d{1,4})*$")] = "2,4,8,16,32",
    lengths: questions.Lengths = "all",
) -> Answer:
    """Draw the regions R_N of the plane (a/b, U): binary networks without bias, right on all strings up to length N."""
    numbers = [_longest(text, lengths) for text in longest.split(",")]
    check_whole(len(numbers), "longest: the number of lengths", most=MOST_REGIONS)
    return Answer(Regions(regions=[{"length": one, "polygons": [region(one, lengths)]} for one in numbers]))


@router.get("/theorem", responses=answer_of(answers.Theorems))
async def theorem(request: Request, workers: Asked) -> Answer:
    """Go through the theorems step by step, each put to the solver once while the server runs."""
    kept = request.app.state
    if not hasattr(kept, "theorems"):
        kept.theorems = await workers.run(answers.theorems, seconds=_PROOF_SECONDS)
    return Answer(kept.theorems)


def _longest(text: str, lengths: str) -> int:
    number = int(text)
    check_whole(number, "longest", least=2, most=LONGEST_REGION)
    if lengths == Lengths.EVEN and number % 2:
        raise BadInput(f"longest: {number} is odd; only even lengths count")
    return number


@lru_cache(maxsize=256)
def region(longest: int, lengths: str) -> Polygon:
    """Return the outline of R_N: up its left side, which belongs to it, and down its right side, which does not.

    >>> min(region(8, "all"))
    (-1.0, 1.0)
    """
    tip = min(reach(longest, lengths), _HIGHEST)
    # Evenly in log U, so that U = 1 is in the middle: the left side has its corner there.
    heights = np.exp(np.linspace(-1, 1, 2 * _STEPS + 1) * np.log(tip) * _INWARDS)
    left, right = outline(heights, longest, lengths)
    inside = np.isfinite(left)
    up = [(float(x), float(y)) for x, y in zip(left[inside], heights[inside], strict=True)]
    down = [(float(x), float(y)) for x, y in zip(right[inside][::-1], heights[inside][::-1], strict=True)]
    return up + down
