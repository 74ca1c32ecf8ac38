"""Single strings: the counterexample, and every string to length 2."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from .claim import Claim, Counterexample
from .finding import Undecided, require
from .machine import Machine
from .machines import judge
from .sorted_strings import class_of_sorted, sortable

_LONGEST = 10_000


def check_counterexample(claim: Claim, example: Counterexample) -> None:
    """The counterexample follows the horizon, gets the class that is claimed, and should get another one."""
    length = sum(size for _, size in example.runs)
    require(length == claim.horizon + claim.stride, "the counterexample does not follow the horizon")
    require(example.given != example.right, "the counterexample does not fail")
    if sortable(claim) and len(example.runs) <= len("()") and example.trace is None:
        openings = sum(size for token, size in example.runs if token == 0)
        found, right = class_of_sorted(claim.model, example.runs), claim.model.right_class(openings, length)
        require((found, right) == (example.given, example.right), "the classes are not the string's")
        return
    require(length <= _LONGEST, "the counterexample is too long to run")
    tokens = [token for token, size in example.runs for _ in range(size)]
    require(_right(claim, tokens) == example.right, "the right class is not the string's")
    judge(claim.model, claim.arithmetic, lambda machine: _run(machine, tokens, example.given, example.trace))


def check_short(claim: Claim) -> None:
    """Every string of a counted length to 2 is right."""
    for length in range(claim.stride, 3, claim.stride):
        for tokens in product((0, 1), repeat=length):
            right = _right(claim, tokens)
            judge(claim.model, claim.arithmetic, lambda machine, t=tokens, r=right: _run(machine, t, r, None))


def _right(claim: Claim, tokens: Sequence[int]) -> int:
    group = 0
    for token in tokens:
        group = claim.model.group_after(group, token)
    return claim.model.right_class(group, len(tokens))


def _run(machine: Machine, tokens: Sequence[int], index: int, trace: list[Fraction] | None) -> None:
    """Refuse a string that does not surely get a class, or whose states are not a trace."""
    machine.require_quick(len(tokens), len(tokens))
    require(trace is None or (len(trace) == len(tokens) + 1 and trace[0] == 0), "the trace is not the string's")
    ends = (0, 0)
    for place, token in enumerate(tokens, start=1):
        machine.advance()
        ends = machine.image(ends, token)
        require(trace is None or trace[place] * machine.scale == ends[0], "the trace is not the string's")
    found = machine.class_between(ends)
    if found is None:
        raise Undecided
    require(found == index, f"a string of length {len(tokens)} gets another class")
