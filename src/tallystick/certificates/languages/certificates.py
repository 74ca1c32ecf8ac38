"""Certificates of networks that are asked about a language: the model with its alphabet, its answers and its task as data.

    {"cell": name, "alphabet": [token, …], "start": [number, …], "first": [program, …], "padding": {"program": …, "to": N},
     "step": {token: program, …}, "hidden": program,
     "readout": {"kind": …, "weight": [[…]], "bias": […], "outputs": [token, …], "end": name, "threshold": "p/q"},
     "task": {"name": …, "machine": {…}, "classes": […], "right": [[state, zero check, class], …], "empty": true}}

What there is nothing to say of is left out. A machine is written as in its file, with every case. The checker proves the verdict
again by the idea that its method names, so the evidence of most methods is the name alone.
"""

from collections.abc import Callable

from tallystick.certificates.any_order.executions import assumed_of
from tallystick.certificates.closed_forms.decider import METHOD as FORMS
from tallystick.certificates.closed_forms.decider import closed_form_evidence, keeps_all
from tallystick.certificates.programs import Rounding, program_of
from tallystick.certificates.verdict import ANY_ORDERS, REAL, Lengths, Outcome, Verdict
from tallystick.errors import BadInput
from tallystick.languages.counter_machine import show_zero_check
from tallystick.languages.machine_files import machine_to_json
from tallystick.languages.tasks import Task
from tallystick.networks import Readout
from tallystick.networks.readout import COUNT
from tallystick.networks.steps import THRESHOLD
from tallystick.numbers import FUSED, exact
from tallystick.numbers.values import exact_number

LIVE, GROUPS, TREE, STATES = "live prefixes", "grouped prefixes", "whole tree", "exact states"
METHODS = (LIVE, GROUPS, TREE, STATES, FORMS)
"""The methods that the checker knows."""

_SHORT, _FEW = 1000, 20_000
"""Tokens of a horizon in floats, and strings of one in reals, up to which the checker goes through all states."""

_EXECUTED = ("sum", "product", "positive_part", "mean", "square", "step")
"""The operations that rounding alone decides, whoever executes them."""


def is_of_language(verdict: Verdict) -> bool:
    """Say whether a verdict is outside of what the older form of a certificate holds."""
    proved = verdict.method == STATES and verdict.outcome is Outcome.PROVED
    return not verdict.network.is_usual or verdict.first != 1 or verdict.method in (LIVE, GROUPS, TREE) or proved


def model_of_language(
    verdict: Verdict, readout: Callable[[Readout], dict[str, object]], task: Callable[[Task], dict[str, object]]
) -> dict[str, object]:
    """Return the network of a verdict as data.

    Args:
        verdict: what is certified.
        readout: writes a readout that answers at the end.
        task: writes a task by the sign of a count of brackets.
    """
    network = verdict.network
    if network.readout.kind == COUNT:
        raise BadInput(
            "task: a certificate of the count holds strings of brackets from length 1 on, without padding; certify without --from"
        )
    any_order = verdict.arithmetic in ANY_ORDERS
    rounding = Rounding.NONE if verdict.arithmetic == REAL else Rounding.ANY_ORDER if any_order else Rounding.EACH
    if verdict.arithmetic.endswith(FUSED):
        raise BadInput(
            f"arithmetic: {verdict.arithmetic!r} is outside a certificate of this network; certify in "
            f"{verdict.arithmetic.removesuffix(FUSED)} or in {REAL} arithmetic"
        )
    programs = program_of(network.cell, rounding, network.alphabet)
    if rounding is Rounding.EACH:
        _require_rounding(programs, network.readout)
    by_sign = network.task.is_by_sign and network.readout.steps is None
    return {
        "cell": network.cell.name,
        "alphabet": list(network.alphabet),
        **programs,
        "readout": _stepwise(network.readout) if network.readout.steps else readout(network.readout),
        "task": task(network.task) if by_sign else _task(network.task),
    }


def _require_rounding(programs: dict[str, object], readout: Readout) -> None:
    """Refuse what no standard says how to execute."""
    if readout.decision == THRESHOLD or not _operations(programs) <= set(_EXECUTED):
        raise BadInput(
            "arithmetic: no standard says how tanh, the sigmoid and exp are rounded, so that others could not check an executed "
            f"network that uses them; certify in {REAL} arithmetic"
        )


def _operations(value: object) -> set[str]:
    """Return the names of the operations in nested programs."""
    if isinstance(value, dict):
        own = {str(entry[0]) for entry in value.get("operations", ())}  # pyright: ignore
        return own.union(*(_operations(part) for name, part in value.items() if name != "operations"))  # pyright: ignore
    return set().union(*map(_operations, value)) if isinstance(value, list) else set()  # pyright: ignore


def _stepwise(readout: Readout) -> dict[str, object]:
    exactly, steps = readout.map_weights(exact), readout.steps
    assert steps is not None
    limit = {} if steps.threshold is None else {"threshold": exact_number(steps.threshold, "threshold")}
    return {
        "kind": readout.kind,
        "weight": [[exact_number(weight, "readout.weight") for weight in row] for row in exactly.weight],
        "bias": [exact_number(bias, "readout.bias") for bias in exactly.bias],
        "outputs": list(steps.outputs),
        "end": steps.end,
        **limit,
    }


def _task(task: Task) -> dict[str, object]:
    empty = {} if task.empty is None else {"empty": task.empty}
    return {
        "name": task.name,
        "machine": machine_to_json(task.machine),
        "classes": [str(name) for name in task.classes],
        "right": [[state, show_zero_check(check), str(name)] for (state, check), name in task.table().items()],
        **empty,
    }


def evidence_of_language(verdict: Verdict) -> dict[str, object]:
    """Return what the checker needs to prove a verdict again."""
    if verdict.method not in METHODS:
        raise BadInput(f"method: the checker does not know {verdict.method!r}, so no certificate is written")
    if verdict.method in (LIVE, GROUPS) and verdict.outcome is Outcome.PROVED:
        return _all_prefixes(verdict)
    if verdict.method != FORMS:
        assumed = {"assumed": assumed_of(verdict.arithmetic)} if verdict.arithmetic in ANY_ORDERS else {}
        return {"method": verdict.method, **assumed}
    if _is_even_and_short(verdict):
        return {"method": LIVE if verdict.network.readout.steps is not None else STATES}
    return {"method": STATES} if _is_short(verdict) else closed_form_evidence(verdict)


def _all_prefixes(verdict: Verdict) -> dict[str, object]:
    """Return the evidence that no prefix is left to follow, which the checker sees by states that are exact numbers."""
    if verdict.arithmetic in ANY_ORDERS or (verdict.arithmetic == REAL and not verdict.network.cell.is_rational):
        raise BadInput(
            "method: the checker proves that no prefix is left to follow only where states are exact numbers, and these are not, "
            "so no certificate is written; ask for the verdict alone"
        )
    return {"method": STATES}


def _is_even_and_short(verdict: Verdict) -> bool:
    """Say whether only even lengths count, up to a horizon that can be gone through: the checker's families have odd ones too."""
    return verdict.lengths is Lengths.EVEN and verdict.horizon is not None and verdict.horizon <= _SHORT


def _is_short(verdict: Verdict) -> bool:
    """Say whether the checker had better go through all states: it knows no closed form in floats, and not every one in reals.

    States that are closed forms are no more than there are numbers of each token read; of others there may be one per string.
    """
    horizon, tokens = verdict.horizon, len(verdict.network.alphabet)
    if horizon is None or horizon > _SHORT:
        return False
    return verdict.arithmetic != REAL or tokens**horizon <= _FEW or (horizon**tokens <= _FEW and keeps_all(verdict))
