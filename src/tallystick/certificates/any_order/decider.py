"""The verdict on a network in floating point that no order of operations breaks.

From below, boxes around the states of groups of strings prove a length right, as in real arithmetic (`boxes.box_proof`), every
box holding what any library may compute (`numbers.any_order`). From above, a string fails if every execution of it fails.
"""

from dataclasses import replace

from tallystick.certificates.any_order.executions import Executions
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
from tallystick.numbers import ANY_ORDER
from tallystick.numbers.any_order import ULPS

METHOD = "any order"
"""The method's name in certificates."""


def decide_in_any_order(network: Network, scope: Scope) -> Verdict:
    """Return the verdict on a network over brackets: REFUTED with a shortest failing string, or BOUNDED."""
    lengths, first, arithmetic, limit = scope
    usual = network.is_usual and network.task.machine is BB_COUNTER and network.readout.decision != COUNT
    if not usual or first != 1:
        raise BadInput(
            f"arithmetic: {arithmetic!r} is for networks that tell the sign of n − m after one token or more; certify in {REAL} "
            f"arithmetic, or in {arithmetic.removesuffix(ANY_ORDER)}, as the network's own step executes it"
        )
    limit = DEFAULT_LIMIT if limit is None else limit
    executions = Executions.of(network, arithmetic)
    bounded = Bounded(executions, executions.classes, network.task)
    asked = Verdict(network, lengths, arithmetic, Outcome.BOUNDED, 0, None, METHOD, "")
    try:
        known = known_failure(suspects(network, limit), lengths.upto(limit), bounded.failure)
    except KeyboardInterrupt:
        known, below = None, Reached(0, INTERRUPTED)
    else:
        below = prove(bounded, lengths, limit if known is None else known.length - 1)
    found = verdict_between(asked, below, known, limit)
    return replace(found, reason=f"{found.reason}; {said_of(executions)}")


def said_of(executions: Executions) -> str:
    """Say what a verdict holds for."""
    return (
        f"in {executions.form.name}, in whatever order a library adds, with or without fused multiply-add, its tanh and sigmoid "
        f"within {ULPS} units in the last place"
    )
