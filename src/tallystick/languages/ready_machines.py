"""Counter machines ready to use, by name.

Dyck-1 and its state. Without a state, a one-counter machine cannot accept Dyck-1 if its update sees the token alone, nor
with steps of −1, 0 and 1 even if it looks at the zero check: after a `)` at zero it stands where some continuation leads
back to zero. Hence the state `lost` of `DYCK1_COUNTER`. Larger steps lift the need: `DYCK1_BY_PARITY` has no state, moves
by ±2, and a `)` at zero adds 1, after which the counter is odd for good; its parity has become the state.
`tallystick prove dyck1-state` goes through all of this.
"""

from tallystick.languages.brackets import ALPHABET as BRACKETS
from tallystick.languages.brackets import CLOSE, DIFFERENCE, OPEN
from tallystick.languages.counter_machine import Add, Case, CounterMachine, ZeroMask

LOST = "lost"


def _all_zero(state: str, check: ZeroMask) -> bool:
    return state != LOST and not any(check)


def _bracket_step(case: Case) -> Add:
    return Add(DIFFERENCE[case.token])


BB_COUNTER = CounterMachine.from_rules(alphabet=BRACKETS, update=lambda case: (_bracket_step(case),), accepts=_all_zero)
"""The Balanced Bracket Counter (Definition 2): stateless, `(` adds 1 and `)` subtracts 1."""

DYCK1_COUNTER = CounterMachine.from_rules(
    alphabet=BRACKETS,
    states=("counting", LOST),
    update=lambda case: (Add(0) if case.state == LOST else _bracket_step(case),),
    transition=lambda case: LOST if case.token == CLOSE and case.zero_check == (0,) else case.state,
    accepts=_all_zero,
)
"""Dyck-1: a `)` at zero loses the string for good."""

DYCK1_BY_PARITY = CounterMachine.from_rules(
    alphabet=BRACKETS,
    update=lambda case: (Add(1 if case.token == CLOSE and case.zero_check == (0,) else 2 * DIFFERENCE[case.token]),),
    accepts=_all_zero,
)
"""Dyck-1 without a state: the counter is twice the count, and odd once the string is lost."""

SEMI_DYCK1_COUNTER = CounterMachine.from_rules(
    alphabet=BRACKETS,
    update=lambda case: (Add(0) if case.token == CLOSE and case.zero_check == (0,) else _bracket_step(case),),
    accepts=_all_zero,
)
"""Semi-Dyck-1: the update looks at the zero check, so that a `)` at zero changes nothing."""


def _in_order(case: Case) -> str:
    """Stay with the letters in alphabetical order; the state is the latest letter read."""
    return LOST if case.state == LOST or case.token < case.state else case.token


AN_BN = CounterMachine.from_rules(
    alphabet=("a", "b"),
    states=("a", "b", LOST),
    update=lambda case: (Add({"a": 1, "b": -1}[case.token]),),
    transition=_in_order,
    accepts=_all_zero,
)
"""aⁿbⁿ, n ≥ 0: as many b as a, and no a after a b."""

AN_BN_CN = CounterMachine.from_rules(
    alphabet=("a", "b", "c"),
    states=("a", "b", "c", LOST),
    counters=2,
    update=lambda case: {"a": (Add(1), Add(0)), "b": (Add(-1), Add(1)), "c": (Add(0), Add(-1))}[case.token],
    transition=_in_order,
    accepts=_all_zero,
)
"""aⁿbⁿcⁿ, n ≥ 0: one counter for a against b, one for b against c."""

AN_BM_CNM = CounterMachine.from_rules(
    alphabet=("a", "b", "c"),
    states=("a", "b", "c", LOST),
    update=lambda case: (Add(-1 if case.token == "c" else 1),),
    transition=_in_order,
    accepts=_all_zero,
)
"""aⁿbᵐcⁿ⁺ᵐ, n, m ≥ 0: as many c as a and b together, the letters in order."""


def _closes_at_zero(case: Case) -> bool:
    return (case.token == ")" and case.zero_check[0] == 0) or (case.token == "]" and case.zero_check[1] == 0)


SHUFFLE_2 = CounterMachine.from_rules(
    alphabet=(OPEN, CLOSE, "[", "]"),
    states=("counting", LOST),
    counters=2,
    update=lambda case: {
        "(": (Add(1), Add(0)),
        ")": (Add(-1), Add(0)),
        "[": (Add(0), Add(1)),
        "]": (Add(0), Add(-1)),
    }[case.token],
    transition=lambda case: LOST if _closes_at_zero(case) else case.state,
    accepts=_all_zero,
)
"""Shuffle of two bracket kinds: each kind for itself is Dyck-1, and they may cross, as in `([)]`."""

READY_MACHINES: dict[str, CounterMachine] = {
    "bb": BB_COUNTER,
    "dyck1": DYCK1_COUNTER,
    "dyck1-by-parity": DYCK1_BY_PARITY,
    "semidyck1": SEMI_DYCK1_COUNTER,
    "anbn": AN_BN,
    "anbncn": AN_BN_CN,
    "anbmcnm": AN_BM_CNM,
    "shuffle2": SHUFFLE_2,
}
