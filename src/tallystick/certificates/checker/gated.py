"""All strings to the horizon of a GRU or an LSTM, in boxes around the states of groups of strings.

A group holds the strings of one length with the same number of `)` and the same last tokens. One box a number holds the states
of them all: the boxes of a longer group are the least around what leads into it. A length is right if the boxes of every group
lie in the right class. The more last tokens are told apart, the closer the boxes and the longer the work.
"""

from .claim import Counterexample, GatedClaim, class_of_count
from .finding import Refused, Undecided, require
from .gated_cell import GatedCell, State, joined

_SUFFIXES = (1, 4, 8, 11, 14, 16)
_LONGEST = 10_000
_MOST_NANOSECONDS = 2 * 10**11

Groups = dict[tuple[int, int], State]
"""By the number of `)`, and the last tokens as a binary number."""


def check_gated(claim: GatedClaim) -> None:
    """The counterexample follows the horizon and fails, and every counted length to the horizon is right."""
    require(claim.horizon < _LONGEST, f"length {claim.horizon} would take too long to check"[:80])
    cell = GatedCell(claim.model)
    if claim.counterexample is not None:
        _check_counterexample(claim, cell, claim.counterexample)
    for suffix in _SUFFIXES:
        try:
            return _check_lengths(claim, cell, suffix)
        except Undecided:
            continue
    raise Refused("the boxes around the states do not decide")


def _check_counterexample(claim: GatedClaim, cell: GatedCell, example: Counterexample) -> None:
    length = sum(size for _, size in example.runs)
    count = sum((1 - 2 * token) * size for token, size in example.runs)
    require(length == claim.horizon + claim.stride, "the counterexample does not follow the horizon")
    require(class_of_count(claim.model.readout, count) == example.right, "the right class is not the string's")
    _require_quick(cell, length, length)
    state = cell.start
    for token, size in example.runs:
        for _ in range(size):
            state = cell.step(state, token)
    require(cell.class_of(state) == example.given != example.right, "the counterexample does not surely fail")


def _check_lengths(claim: GatedClaim, cell: GatedCell, suffix: int) -> None:
    _require_quick(cell, sum(_groups(length, suffix) for length in range(claim.horizon)) * 2, claim.horizon)
    groups: Groups = {(0, 0): cell.start}
    for length in range(1, claim.horizon + 1):
        groups = _longer(groups, cell, (1 << suffix) - 1)
        for (closing, _), state in groups.items() if length % claim.stride == 0 else ():
            found, right = cell.class_of(state), class_of_count(claim.model.readout, length - 2 * closing)
            require(found in (right, None), f"a string of length {length} fails")
            if found is None:
                raise Undecided


def _longer(groups: Groups, cell: GatedCell, kept: int) -> Groups:
    longer: Groups = {}
    for (closing, last), state in groups.items():
        for token in (0, 1):
            target, image = (closing + token, (last << 1 | token) & kept), cell.step(state, token)
            longer[target] = joined(longer[target], image) if target in longer else image
    return longer


def _groups(length: int, suffix: int) -> int:
    """How many groups a length has."""
    return 1 << length if length <= suffix else (length - suffix + 1) << suffix


def _require_quick(cell: GatedCell, steps: int, length: int) -> None:
    """Refuse what would take minutes."""
    require(steps * cell.nanoseconds() <= _MOST_NANOSECONDS, f"length {length} would take too long to check")
