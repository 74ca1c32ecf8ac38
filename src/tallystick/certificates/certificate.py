"""A verdict as a file: the model, the claim and the evidence, closed by a digest over all of it.

    {"format": "tallystick certificate 1",
     "model": {"cell": "linear", "open_step": 1, "close_step": -1, "recurrent_weight": "1/2", "readout": {"kind": "zero"}},
     "readout": "zero", "lengths": "all", "arithmetic": "real", "verdict": "REFUTED", "horizon": 1,
     "counterexample": {"runs": [["(", 1], [")", 1]], "class": "rejected", "right_class": "accepted", "trace": [0, 1, "-1/2"]},
     "evidence": {"method": "search"}, "digest": "…"}

`horizon` is a whole number or "unlimited". Every number is exact: whole, or "p/q". The checker (`checker/`) shares no
code with this module on purpose.
"""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

from tallystick.certificates.tanh_enclosures import TANH_NEIGHBOURS
from tallystick.certificates.verdict import ENCLOSURES, REAL, Failure, Verdict
from tallystick.errors import BadInput
from tallystick.files import write_document
from tallystick.networks import Network, network_to_json
from tallystick.numbers import exact, float_format

FORMAT = "tallystick certificate 1"
_CELLS = ("linear", "selective", "relu", "tanh", "gru", "lstm")
_READOUTS = ("zero", "binary", "ternary")
"""What a certificate of this format may speak of; the checker knows no other cells and readouts."""

UNLIMITED = "unlimited"
_EXACTLY_RUN = ("search", "sorted strings")
"""The methods of a failing string whose states are numbers, and not bounds."""

LONGEST_TRACE = 64
_MOST_BITS = 8192  # of a state: Python reads no whole number of more than 4300 digits from text


def certificate(verdict: Verdict) -> dict[str, object]:
    """Return a verdict as the object that its file holds.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.certificates.horizon import certify
    >>> from tallystick.networks import Network, Readout
    >>> certificate(certify(Network(LinearCell(1, -1, 1), Readout.zero())))["horizon"]
    'unlimited'
    """
    _refuse_unknown(verdict.model)
    content: dict[str, object] = {
        "format": FORMAT,
        "model": network_to_json(verdict.model),
        "readout": verdict.model.readout.kind,
        "lengths": verdict.lengths.value,
        "arithmetic": verdict.arithmetic,
        "verdict": verdict.outcome.value,
        "horizon": UNLIMITED if verdict.horizon is None else verdict.horizon,
        "counterexample": None if verdict.failure is None else _counterexample(verdict, verdict.failure),
        "evidence": _evidence(verdict),
    }
    return {**content, "digest": digest(content)}


def _refuse_unknown(network: Network) -> None:
    """Refuse what the checker could not verify: a cell, a readout or a question that the format does not have."""
    usual = Network(network.cell, network.readout).task
    found = (("cell", network.cell.name, _CELLS), ("readout", network.readout.kind, _READOUTS))
    for field, name, known in (*found, ("task", network.task.name, (usual.name,))):
        if name not in known:
            raise BadInput(f"{field}: a certificate speaks of {', '.join(known)} here, and not of {name!r}")


def write_certificate(verdict: Verdict, path: Path | str) -> None:
    """Write the certificate of a verdict, for `tallystick check`, whole or not at all."""
    write_document(certificate(verdict), Path(path))


def digest(content: dict[str, object]) -> str:
    """Return SHA-256 over the content in one fixed spelling."""
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


def _evidence(verdict: Verdict) -> dict[str, object]:
    """Name the method, and what is assumed of an executed tanh."""
    if verdict.method != ENCLOSURES:
        return {"method": verdict.method}
    allowed = None if verdict.arithmetic == REAL else TANH_NEIGHBOURS[float_format(verdict.arithmetic).name]
    return {"method": verdict.method, "tanh_neighbours": allowed}


def _counterexample(verdict: Verdict, failure: Failure) -> dict[str, object]:
    return {
        "runs": [list(run) for run in failure.runs],
        "class": failure.found.value,
        "right_class": failure.right.value,
        "trace": exact_trace(verdict),
    }


def exact_trace(verdict: Verdict) -> list[object] | None:
    """Return the states along the failing string, exactly; None where there are too many, or they are too long or not known."""
    if verdict.failure is None or verdict.failure.length > LONGEST_TRACE or verdict.method not in _EXACTLY_RUN:
        return None
    states = [exact(state) for state in verdict.trace()]
    if any(max(state.numerator.bit_length(), state.denominator.bit_length()) > _MOST_BITS for state in states):
        return None
    return [_shown(state) for state in states]


def _shown(value: Fraction) -> object:
    return value.numerator if value.denominator == 1 else str(value)
