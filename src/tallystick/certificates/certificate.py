"""A verdict as a file: the model, the claim and the evidence, closed by a digest over all of it.

    {"format": "tallystick certificate 1",
     "model": {"cell": "linear", "open_step": 1, "close_step": -1, "recurrent_weight": "1/2", "readout": {"kind": "zero"}},
     "readout": "zero", "lengths": "all", "arithmetic": "real", "verdict": "REFUTED", "horizon": 1,
     "counterexample": {"runs": [["(", 1], [")", 1]], "class": "rejected", "right_class": "accepted", "trace": [0, 1, "-1/2"]},
     "evidence": {"method": "search"}, "digest": "…"}

`horizon` is a whole number or "unlimited". Every number is exact: whole, or "p/q". A cell, a readout or a task that the format
does not know is written as data: a cell as its step in a program (`programs`), a readout with its comparisons
[greater, less, strict] between outputs (null is 0) for each class but the first, which gets the rest, and a task with its
machine, its classes and those that are right for counts below, at and above zero (`first`, a list of programs, is done before the
first token where there is anything to do):

    {"cell": "capped", "start": [0], "step": {"(": {"operations": […], "results": [4]}, ")": …}, "hidden": …,
     "readout": {"kind": "not-below", "weight": [[1]], "bias": [0], "comparisons": [[[0, null, false]]]},
     "task": {"name": "not-negative", "machine": "bb", "classes": ["below", "not below"],
              "right": ["below", "not below", "not below"]}}

The evidence that a linear network of several units is right at every length (`limits`) is the limit E of the powers of U on the
eigenvalue 1, a power m and a length K, `{"method": "sorting", "tail": {"limit": E, "power": m, "start": K}}`; of an exact counter
the tail is null. That of a zero check (`zero_check`) is how odd lengths come to rest,
`{"method": "zero check", "rest": {"period": p, "recurrence": c, "power": q, "start": K}}`, or null where only
even lengths count or each token has a matrix.
That of lattice paths (`path_limits`) is a length: with `{"method": "lattice paths", "start": K}` all but the last K tokens fade.

A verdict for any order of operations says what it assumes of a library: how many units in the last place its functions may be
off, and from where on they are 1, `{"method": "any order", "assumed": {"ulps": 8, "tanh_is_1_from": 12, "sigmoid_is_1_from":
20}}`.

That of an exact counter (`any_order.invariants`) is an invariant besides: a box per number for each count from −E to E, and by
how much each number moves with the count above E and below −E, up to the depth K, null where it stays in its box:
`{"method": "saturation", "assumed": …, "edge": E, "depth": K, "boxes": [[[low, high], …], …], "above": […], "below": […]}`.

A network that is asked about a language, from another `first` length on or with padding, is written as `languages.certificates`
says.

The checker (`checker/`) shares no code with this module on purpose.
"""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

from tallystick.cells import Recurrence, ScalarCell, TensorCell
from tallystick.certificates.any_order.executions import assumed_of
from tallystick.certificates.any_order.saturation import METHOD as SATURATION
from tallystick.certificates.any_order.saturation import evidence_of_saturation
from tallystick.certificates.counts import asked_for_a_class
from tallystick.certificates.languages.certificates import evidence_of_language, is_of_language, model_of_language
from tallystick.certificates.linear.affine import affine_network
from tallystick.certificates.linear.lattice_paths import METHOD as PATHS
from tallystick.certificates.linear.limits import proof_of
from tallystick.certificates.linear.matrices import METHOD as MATRICES
from tallystick.certificates.linear.path_limits import start_of_proof
from tallystick.certificates.linear.sorting import METHOD as SORTING
from tallystick.certificates.linear.zero_check import METHOD as ZERO_CHECK
from tallystick.certificates.linear.zero_check import rest_of, zero_checked
from tallystick.certificates.one_unit.executions import TANH_NEIGHBOURS
from tallystick.certificates.programs import Rounding, program_of
from tallystick.certificates.verdict import ANY_ORDERS, ENCLOSURES, REAL, Failure, Lengths, Outcome, Verdict
from tallystick.errors import BadInput
from tallystick.files import write_document
from tallystick.languages.ready_machines import SEMI_DYCK1_COUNTER
from tallystick.languages.tasks import Task
from tallystick.networks import Readout, network_to_json
from tallystick.networks.answers import readout_to_json
from tallystick.networks.readout import COUNT, GREATEST, NOTHING
from tallystick.numbers import FUSED, exact, float_format
from tallystick.numbers.values import exact_number

FORMAT = "tallystick certificate 1"
_CELLS = ("linear", "selective", "relu", "tanh", "gru", "lstm")
_READOUTS = ("zero", "binary", "ternary", GREATEST, COUNT)
"""The cells and readouts that the checker knows by name; of outputs of which the greatest wins, how many there are."""

UNLIMITED = "unlimited"
_EXACTLY_RUN = ("search", "sorted strings")
"""The methods of a failing string whose states are numbers, and not bounds."""

LONGEST_TRACE = 64
_MOST_BITS = 8192  # of a state: Python reads no whole number of more than 4300 digits from text


def certificate(verdict: Verdict) -> dict[str, object]:
    """Return a verdict as the object that its file holds.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.certificates.certify import certify
    >>> from tallystick.networks import Network, Readout
    >>> certificate(certify(Network(LinearCell(1, -1, 1), Readout.zero())))["horizon"]
    'unlimited'
    """
    asked = is_of_language(verdict)
    content: dict[str, object] = {
        "format": FORMAT,
        "model": model_of_language(verdict, _readout, _task) if asked else _model(verdict),
        "readout": verdict.network.readout.kind,
        "lengths": verdict.lengths.value,
        **({} if verdict.first == 1 else {"first": verdict.first}),
        "arithmetic": verdict.arithmetic,
        "verdict": verdict.outcome.value,
        "horizon": UNLIMITED if verdict.horizon is None else verdict.horizon,
        "counterexample": None if verdict.failure is None else _counterexample(verdict, verdict.failure),
        "evidence": evidence_of_language(verdict)
        if asked
        else _evidence_in_any_order(verdict)
        if verdict.arithmetic in ANY_ORDERS
        else _evidence(verdict),
    }
    return {**content, "digest": digest(content)}


def _model(verdict: Verdict) -> dict[str, object]:
    """Return the network as its file, where the checker knows all of it, else with what it does not know as data."""
    network = verdict.network
    cell, readout = network.cell, network.readout
    known, decided = _is_known(cell), readout.kind in _READOUTS
    if known and decided and network.task == network.usual_task:
        return network_to_json(network)
    content = network_to_json(network) if known else {"cell": cell.name, **_program(verdict)}
    for said in ("answer", "empty"):  # the readout's kind and the task say it
        content.pop(said, None)
    written = readout_to_json(readout.map_weights(exact), cell) if known and decided else _readout(readout)
    return {**content, "readout": written, "task": _task(network.task)}


def _program(verdict: Verdict) -> dict[str, object]:
    if verdict.arithmetic.endswith(FUSED):
        raise BadInput(
            f"arithmetic: {verdict.arithmetic!r} is outside a certificate of a {verdict.network.cell.name} cell; certify in "
            f"{verdict.arithmetic.removesuffix(FUSED)} or in {REAL} arithmetic"
        )
    if verdict.arithmetic in ANY_ORDERS:
        return program_of(verdict.network.cell, Rounding.ANY_ORDER)
    return program_of(verdict.network.cell, Rounding.NONE if verdict.arithmetic == REAL else Rounding.EACH)


def _readout(readout: Readout) -> dict[str, object]:
    """Return a readout with the comparisons that make its classes."""
    decision, exactly = readout.rule, readout.map_weights(exact)
    if not readout.has_weights:
        return {"kind": readout.kind}
    content: dict[str, object] = {
        "kind": readout.kind,
        "weight": [[exact_number(weight, "readout.weight") for weight in row] for row in exactly.weight],
        "bias": [exact_number(bias, "readout.bias") for bias in exactly.bias],
    }
    if readout.kind in _READOUTS:
        return content
    comparisons = [
        [[*(None if place == NOTHING else place for place in one[:2]), one.strict] for one in needed]
        for needed in decision.comparisons[1:]
    ]
    return {**content, "comparisons": comparisons}


def _task(task: Task) -> dict[str, object]:
    """Return a task with the classes that are right for counts below, at and above zero."""
    return {
        "name": task.name,
        "machine": "semidyck1" if task.machine == SEMI_DYCK1_COUNTER else "bb",
        "classes": [str(name) for name in task.classes],
        "right": [str(task.classes[task.index_of_count(sign)]) for sign in (-1, 0, 1)] if task.classes else [],
    }


def write_certificate(verdict: Verdict, path: Path | str) -> None:
    """Write the certificate of a verdict, for `tallystick check`, whole or not at all."""
    write_document(certificate(verdict), Path(path))


def digest(content: dict[str, object]) -> str:
    """Return SHA-256 over the content in one fixed spelling."""
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


def _evidence(verdict: Verdict) -> dict[str, object]:
    """Name the method by which the checker proves the verdict again, and what is assumed of an executed tanh."""
    if verdict.method == SORTING:
        return {"method": SORTING, "tail": _tail(verdict)} if verdict.outcome is Outcome.PROVED else {"method": SORTING}
    if verdict.method == ZERO_CHECK:
        return {"method": ZERO_CHECK, **({"rest": _rest(verdict)} if verdict.outcome is Outcome.PROVED else {})}
    if verdict.method == PATHS and verdict.outcome is Outcome.PROVED:
        affine = affine_network(asked_for_a_class(verdict.network))
        return {"method": PATHS, "start": affine and start_of_proof(affine, verdict.lengths)}
    if verdict.method in (PATHS, MATRICES):
        return {"method": verdict.method}
    cell = verdict.network.cell.name
    methods = ("boxes",) if verdict.network.readout.kind == COUNT else _methods(verdict.network.cell)
    method = verdict.method if verdict.method in methods else methods[0]
    if verdict.outcome is Outcome.PROVED and method != "theorem":
        raise BadInput(
            f"method: the checker knows no theorem {verdict.method!r} of a {cell} cell, so no certificate is written"
        )
    if method != ENCLOSURES:
        return {"method": method}
    allowed = None if verdict.arithmetic == REAL else TANH_NEIGHBOURS[float_format(verdict.arithmetic).name]
    return {"method": method, "tanh_neighbours": allowed}


def _evidence_in_any_order(verdict: Verdict) -> dict[str, object]:
    invariant = evidence_of_saturation(verdict.network, verdict.arithmetic) if verdict.method == SATURATION else None
    return {
        "method": verdict.method,
        "assumed": assumed_of(verdict.arithmetic),
        **(invariant or {}),
    }


def _tail(verdict: Verdict) -> dict[str, object] | None:
    """Return what proves that a linear network is right at every length; None for an exact counter, which needs nothing."""
    affine = affine_network(asked_for_a_class(verdict.network))
    proof = None if affine is None else proof_of(affine, verdict.lengths)
    if proof is None:
        raise BadInput(
            "method: nothing proves that this network is right at every length, so no certificate is written"
        )
    if proof.limit is None:
        return None
    limit = [[exact_number(entry, "limit") for entry in row] for row in proof.limit]
    return {"limit": limit, "power": proof.power, "start": proof.start}


def _is_known(cell: Recurrence) -> bool:
    """Say whether the checker knows a cell by its name; layers of other forms are programs."""
    return cell.name in _CELLS and isinstance(cell, ScalarCell | TensorCell)


def _rest(verdict: Verdict) -> dict[str, object] | None:
    """Return what proves that no string of odd length passes a zero check; None where nothing is needed."""
    affine = zero_checked(verdict.network) if verdict.lengths is Lengths.ALL else None
    found = None if affine is None or not affine.is_shared else rest_of(affine)
    if found is None:
        return None
    recurrence = [exact_number(c, "recurrence") for c in found.recurrence]
    return {"period": found.period, "recurrence": recurrence, "power": found.power, "start": found.start}


def _methods(cell: Recurrence) -> tuple[str, ...]:
    """Return how the checker goes about a cell; what was decided in another way it goes about in the first of these."""
    if not _is_known(cell):
        return ("boxes",)
    if isinstance(cell, TensorCell):
        return ("gated boxes",)
    return (ENCLOSURES,) if cell.name == "tanh" else ("search", "sorted strings", "exact depth", "theorem")


def _counterexample(verdict: Verdict, failure: Failure) -> dict[str, object]:
    return {
        "runs": [list(run) for run in failure.runs],
        "class": str(failure.found),
        "right_class": str(failure.right),
        "trace": exact_trace(verdict) if _is_known(verdict.network.cell) and not is_of_language(verdict) else None,
    }


def exact_trace(verdict: Verdict) -> list[object] | None:
    """Return the states along the failing string, exactly; None where there are too many, or they are too long or not known."""
    if verdict.failure is None or verdict.failure.length > LONGEST_TRACE or verdict.method not in _EXACTLY_RUN:
        return None
    states = [exact(state) for state in verdict.trace()]
    if any(max(state.numerator.bit_length(), state.denominator.bit_length()) > _MOST_BITS for state in states):
        return None
    return [_json_number(state) for state in states]


def _json_number(value: Fraction) -> object:
    return value.numerator if value.denominator == 1 else str(value)
