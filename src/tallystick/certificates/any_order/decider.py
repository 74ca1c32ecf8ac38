"""The verdict on a network in floating point that no order of operations breaks.

From below, boxes around the states of groups of strings prove a length right, as in real arithmetic (`boxes.box_proof`), every
box holding what any library may compute (`numbers.any_order`). From above, a string fails if every execution of it fails. An
exact counter is decided at once (`saturation`).
"""

from dataclasses import replace

from tallystick.certificates.any_order.executions import Executions, said_of
from tallystick.certificates.any_order.saturation import decide_by_saturation
from tallystick.certificates.boxes.box_proof import (
    DEFAULT_LIMIT,
    INTERRUPTED,
    Bounded,
    Reached,
    known_failure,
    prove,
    verdict_between,
)
from tallystick.certificates.boxes.suspects import suspects
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import REAL, Outcome, Verdict
from tallystick.errors import BadInput
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks import Network
from tallystick.networks.readout import COUNT

METHOD = "any order"
"""The method's name in certificates."""


def decide_in_any_order(network: Network, scope: Scope) -> Verdict | None:
    """Return the verdict on a network over brackets: REFUTED with a shortest failing string, or BOUNDED; None for any other."""
    _, _, arithmetic, limit = scope
    if network.readout.decision == COUNT:
        raise BadInput(f"arithmetic: {arithmetic!r} is not for the task count, which is decided in {REAL} arithmetic")
    if network.task.machine is not BB_COUNTER:  # strings are grouped by the count n − m
        return None
    limit = DEFAULT_LIMIT if limit is None else limit
    executions = Executions.of(network, arithmetic)
    found = decide_by_saturation(network, executions, scope)
    if found is None or (found.outcome is Outcome.BOUNDED and (found.horizon or 0) < limit):
        found = _decide_by_groups(network, executions, scope, limit)
    return replace(found, reason=f"{found.reason}; in {said_of(arithmetic)}")


def _decide_by_groups(network: Network, executions: Executions, scope: Scope, limit: int) -> Verdict:
    """Go through groups of strings, length after length."""
    lengths = scope.lengths
    bounded = Bounded(executions, executions.classes, network.task)
    asked = Verdict(network, lengths, scope.arithmetic, Outcome.BOUNDED, 0, None, METHOD, "")
    try:
        known = known_failure(suspects(network, limit), lengths.upto(limit), bounded.failure)
    except KeyboardInterrupt:
        known, below = None, Reached(0, INTERRUPTED)
    else:
        below = prove(bounded, lengths, limit if known is None else known.length - 1)
    return verdict_between(asked, below, known, limit)
