"""What the explorer draws of a linear network: eigenvalues, what a bracket adds, and margins, with the reasons in words."""

from typing import cast

from typing_extensions import TypedDict  # pydantic cannot read those of typing before Python 3.12

from tallystick.certificates.linear.affine import affine_network
from tallystick.certificates.linear.path_picture import PathOutput
from tallystick.certificates.linear.picture import picture_of
from tallystick.errors import BadInput
from tallystick.networks import Network
from tallystick.studies.explain.linear import explain_linear, output_record
from tallystick.studies.explain.linear_words import reasons

MOST_UNITS = 16
"""Enough to see what several eigenvalues do, and worked out within the time that an answer may take."""

_AGAINST = " against "
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
    """What is drawn of a linear network, and the length at which it first fails in real numbers, if it does."""

    failing_length: int | None
    outputs: list[LinearOutput]


def has_picture(network: Network) -> bool:
    """Say whether there is something to draw of a network's eigenvalues: it is linear, small, and tells the sign of a count."""
    if not (network.cell.is_affine and network.is_usual and network.cell.units <= MOST_UNITS):
        return False
    affine = affine_network(network)
    if affine is None or not affine.is_shared:
        return False
    try:
        picture_of(network, 1)
    except BadInput:  # the zero check and the count have none
        return False
    return True


def linear(network: Network) -> LinearAnswer:
    """Return what is drawn of the outputs of a linear network; any other is refused."""
    if not network.cell.is_affine:
        raise BadInput(f"cell: a {network.cell.name} network is not linear; tallystick certify takes any")
    if network.cell.units > MOST_UNITS:
        raise BadInput(f"cell: {network.cell.units} units; the most that are drawn are {MOST_UNITS}")
    found = explain_linear(network, longest=LONGEST)
    if any(isinstance(output, PathOutput) for output in found.outputs):
        raise BadInput(
            "cell: a matrix for each token is not drawn on this page; tallystick explain FILE --out DIR draws it"
        )
    failure = found.verdict.failure
    return {
        "failing_length": failure.length if failure is not None and failure.length <= LONGEST else None,
        "outputs": [
            cast(
                "LinearOutput",
                output_record(output, found)
                | {"name": _in_words(output.name, network), "reasons": list(reasons(output, found))},
            )
            for output in found.outputs
        ],
    }


def _in_words(name: str, network: Network) -> str:
    """Return an output's name with its classes in words: positive against zero."""
    return _AGAINST.join(network.task.in_words(part) for part in name.split(_AGAINST))
