"""Saturation: where gates round to exactly 1, a network in floating point is a counter, and an invariant proves it.

An LSTM's forget gate is below 1 in real numbers, so that it always forgets. In float32 a sigmoid of 20 or more **is** 1, and
c' = 1·c ± 1 is exact to K = 2²⁴. Stepping there takes millions of steps; an invariant (`invariants`) takes a few dozen. It proves
every string right whose counts stay within ±K, which are all of K tokens or less.

Where the step is a power of two, more is known. The number after K steps and one more lies halfway between two numbers of the
format and rounds to the even one, so that it stays: the network is a counter that **stops** at ±K. A string that has made it stop
has read K + 1 tokens; of 2K, at most K − 1 are left, which do not bring it back to 0, and the true count is further out. So every
string of 2K tokens is right. `(` L − K times and then `)` K times, for any L above 2K, is not: the network is back at 0, and the
count is not.
"""

from dataclasses import replace
from fractions import Fraction

from tallystick.cells import Recurrence
from tallystick.cells.vector import State
from tallystick.certificates.any_order.executions import Executions
from tallystick.certificates.any_order.invariant_search import invariant_of
from tallystick.certificates.any_order.invariants import Invariant
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import Failure, Outcome, Verdict, refute
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.tasks import Task
from tallystick.networks import Network
from tallystick.numbers.any_order import SINGLE
from tallystick.numbers.values import exact_number, numbers_of, standard_floats

METHOD = "saturation"
"""The method's name in certificates."""


def decide_by_saturation(network: Network, executions: Executions, scope: Scope) -> Verdict | None:
    """Return the verdict on an exact counter, REFUTED just where it fails or BOUNDED by its depth; None for any other network."""
    if len(getattr(network.cell, "layers", ())) > 1 and executions.form.state.digits < SINGLE.digits:
        return None  # a layer may see what the one before it computes in float32, where a counter does not stop
    found = invariant_of(executions, network.task)
    if found is None:
        return None
    lengths, counter = scope.lengths, _words(network, found)
    failure = _failure(network.task, found, scope) if found.stops else None
    if failure is not None:
        refuted = refute(network, lengths, scope.arithmetic, failure, METHOD)
        return replace(refuted, reason=f"{refuted.reason}; {counter} and stops there")
    horizon = found.depth - found.depth % lengths.stride
    reason = f"{counter}, and every class is right"
    return Verdict(network, lengths, scope.arithmetic, Outcome.BOUNDED, horizon, None, METHOD, reason)


@standard_floats()
def evidence_of_saturation(network: Network, arithmetic: str) -> dict[str, object] | None:
    """Return the invariant as a certificate holds it, its numbers exact; None where there is none."""
    found = invariant_of(Executions.of(network, arithmetic), network.task)
    if found is None:
        return None
    columns = zip(found.low.T.tolist(), found.high.T.tolist(), strict=True)
    boxes = [[[_number(low), _number(high)] for low, high in zip(*ends, strict=True)] for ends in columns]
    above, below = (
        [None if slope is None else exact_number(slope) for slope in found.slopes(side)] for side in (1, -1)
    )
    return {"edge": found.edge, "depth": found.depth, "boxes": boxes, "above": above, "below": below}


def _number(value: float) -> object:
    return exact_number(Fraction(value))


def _failure(task: Task, found: Invariant, scope: Scope) -> Failure | None:
    """Return the shortest string that brings a counter that stops back to 0 while the count is another one."""
    zero = task.index_of_count(0)
    length = scope.lengths.upto(2 * found.depth + scope.lengths.stride)[-1]
    for sign, first, then in ((1, OPEN, CLOSE), (-1, CLOSE, OPEN)):
        right = task.index_of_count(sign)
        if right != zero:
            runs = ((first, length - found.depth), (then, found.depth))
            return Failure(runs, task.classes[zero], task.classes[right])
    return None


def _words(network: Network, found: Invariant) -> str:
    """Say what counts, and how far."""
    counting = [place for place, slope in enumerate(found.above) if slope is not None]
    names = _names(network.cell)
    sizes = sorted({abs(slope) for slope in found.above if slope is not None})
    return (
        f"{' and '.join(names[place] for place in counting)} {'counts' if len(counting) == 1 else 'count'} exactly in steps of "
        f"{' and '.join(f'{float(size):g}' for size in sizes)} to depth {found.depth:,}"
    )


def _names(cell: Recurrence) -> list[str]:
    """Name the numbers of a state."""
    state = cell.initial_state
    if not isinstance(state, State):
        return [f"number {place} of the state" for place, _ in enumerate(numbers_of(state), start=1)]
    hidden, memory = (
        [f"{name} {unit}" for unit in range(1, cell.units + 1)] for name in ("unit", "the memory of unit")
    )
    return [*hidden, *memory]
