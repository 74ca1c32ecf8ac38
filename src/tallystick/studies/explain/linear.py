"""One linear network explained: what was decided of it, what is drawn of it, and both as plain values."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.certificates.certify import certify
from tallystick.certificates.linear.affine import affine_network
from tallystick.certificates.linear.path_picture import LONGEST as LONGEST_PATH
from tallystick.certificates.linear.path_picture import PathOutput, path_outputs
from tallystick.certificates.linear.picture import LONGEST, OutputPicture, picture_of
from tallystick.certificates.verdict import LONGEST_STRING, Failure, Lengths, Verdict, lengths_of
from tallystick.networks import Network

_SHORTEST, _USUAL = 12, 24
"""How far margins are drawn at least, and where nothing fails."""

_LONGEST_EXACT = 60

Outputs = tuple[OutputPicture, ...] | tuple[PathOutput, ...]
"""What is drawn: of a network with one matrix, or with one for each token."""


@dataclass(frozen=True)
class LinearExplanation:
    """A linear network, what was decided of it, and what is drawn of it."""

    verdict: Verdict
    outputs: Outputs

    @property
    def network(self) -> Network:
        """The network."""
        return self.verdict.network

    @property
    def length(self) -> int:
        """To which length margins are drawn."""
        return len(self.outputs[0].least)


def explain_linear(network: Network, lengths: str = Lengths.ALL, longest: int = LONGEST) -> LinearExplanation:
    """Certify a linear network in real numbers, and work out its picture beyond its first failure, at most to a length."""
    counted = lengths_of(lengths)
    network.require_usual()
    _outputs(network, 1)  # refuses before anything is decided
    verdict = certify(network, counted)
    failing = 0 if verdict.failure is None else verdict.failure.length
    length = max(_SHORTEST, failing + failing // 4 + 2) if failing else _USUAL
    length = min(length + length % counted.stride, longest)
    string = verdict.failure.string if verdict.failure is not None and failing <= min(length, LONGEST_PATH) else None
    return LinearExplanation(verdict, _outputs(network, length, string))


def _outputs(network: Network, length: int, string: str | None = None) -> Outputs:
    affine = affine_network(network)
    if affine is not None and affine.is_shared:
        return picture_of(network, length).outputs
    return path_outputs(network, length, string)


def as_record(one: LinearExplanation) -> dict[str, Any]:
    """Return the explanation as plain values."""
    verdict = one.verdict
    return {
        "cell": one.network.cell.name,
        "units": one.network.cell.units,
        "task": one.network.task.name,
        "lengths": str(verdict.lengths),
        "outcome": str(verdict.outcome),
        "horizon": verdict.horizon,
        "failing_string": _string(verdict.failure),
        "reason": verdict.reason,
        "outputs": [output_record(output, one) for output in one.outputs],
    }


def _string(failure: Failure | None) -> str | None:
    return None if failure is None or failure.length > LONGEST_STRING else failure.string


def output_record(output: OutputPicture | PathOutput, one: LinearExplanation) -> dict[str, Any]:
    """Return one output as plain values."""
    found = {
        "name": output.name,
        "least_above": [finite(value) for value in output.least],
        "greatest_below": [finite(value) for value in output.greatest],
    }
    return found | (_path_record(output) if isinstance(output, PathOutput) else _eigenvalue_record(output, one))


def _path_record(output: PathOutput) -> dict[str, Any]:
    return {
        "factors": [
            {
                "opening": {"real": one.opening.real, "imaginary": one.opening.imag},
                "closing": {"real": one.closing.real, "imaginary": one.closing.imag},
                "weight": one.weight,
            }
            for one in output.factors
        ],
        "string": output.string,
        "string_output": finite(output.end),
        "added": [finite(value) for value in output.added],
    }


def _eigenvalue_record(output: OutputPicture, one: LinearExplanation) -> dict[str, Any]:
    return {
        "eigenvalues": [
            {
                "real": mode.value.real,
                "imaginary": mode.value.imag,
                "weight": finite(abs(mode.weight)),
                "seen": mode in output.seen,
            }
            for mode in output.modes
        ],
        "added": [finite(value) for value in output.openings[: one.length]],
        "limit": None if output.limit is None else float(output.limit),
        "limit_text": None if output.limit is None or len(str(output.limit)) > _LONGEST_EXACT else str(output.limit),
        "deviation": output.deviation,
        "room": output.room(one.verdict.lengths),
    }


def finite(value: float) -> float | None:
    """Return a number, or None where it is not finite: JSON has no word for it."""
    return float(value) if np.isfinite(value) else None
