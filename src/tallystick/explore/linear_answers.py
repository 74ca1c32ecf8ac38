"""What the explorer says of a linear network with any number of units: verdicts, words, and what is drawn."""

from typing import cast

from typing_extensions import TypedDict  # pydantic cannot read those of typing before Python 3.12

from tallystick.certificates.certify import certify
from tallystick.certificates.linear.path_picture import PathOutput
from tallystick.certificates.verdict import Lengths
from tallystick.errors import BadInput
from tallystick.explore.answers import Judgement, judgement
from tallystick.networks import Network
from tallystick.studies.explain.linear import explain_linear, output_record
from tallystick.studies.explain.linear_words import reasons

LONGEST = 200
"""To which length margins are drawn; later failures are told in words."""


class Eigenvalue(TypedDict):
    """An eigenvalue of U and the size of its weight in an output, null where U has too few eigenvectors to tell."""

    real: float
    imaginary: float
    weight: float | None
    seen: bool


class LinearOutput(TypedDict):
    """One output of a linear network, in doubles: for drawing.

    `added` is δ_k, what a bracket adds if it opens instead of closing, by the number k of tokens after it; it tends to `limit`,
    null where there is none, and exact in `limit_text` where that is short. `deviation` is Σ|δ_k − limit|, and more than `room`
    of it fails at some length. `least_above` has for each length from 1 on the least output that should be above 0, over all
    strings, and `greatest_below` the greatest that should not; null where no string of the length is asked for it.
    """

    name: str
    reasons: list[str]
    eigenvalues: list[Eigenvalue]
    added: list[float | None]
    limit: float | None
    limit_text: str | None
    deviation: float | None
    room: float | None
    least_above: list[float | None]
    greatest_below: list[float | None]


class LinearAnswer(TypedDict):
    """A linear network: its verdicts in real numbers, for all and for even lengths, and its outputs."""

    cell: str
    units: int
    task: str
    all: Judgement
    even: Judgement
    outputs: list[LinearOutput]


def linear(network: Network) -> LinearAnswer:
    """Return the verdicts on a linear network, and what is drawn of its outputs."""
    found = explain_linear(network, longest=LONGEST)
    if any(isinstance(output, PathOutput) for output in found.outputs):
        raise BadInput(
            "cell: a matrix for each token is not drawn on this page; tallystick explain FILE --out DIR draws it"
        )
    return {
        "cell": network.cell.name,
        "units": network.cell.units,
        "task": network.task.name,
        "all": judgement(found.verdict),
        "even": judgement(certify(network, Lengths.EVEN)),
        "outputs": [
            cast("LinearOutput", output_record(output, found) | {"reasons": list(reasons(output, found))})
            for output in found.outputs
        ],
    }
