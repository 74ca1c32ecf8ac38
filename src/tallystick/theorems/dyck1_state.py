"""Why a Dyck-1 counter needs a state, and the exact sense in which it does.

A General Counter Machine may look at the zero check, and its steps may be any whole numbers. With both, the counter's
parity can do the work of a state; with either taken away, it cannot.
"""

from dataclasses import dataclass
from itertools import product

from tallystick.languages.brackets import ALPHABET, CLOSE, DYCK1, OPEN
from tallystick.languages.counter_machine import Add, Case
from tallystick.languages.ready_machines import DYCK1_BY_PARITY
from tallystick.theorems.proof import Argument, Formula, Part, Step, Term, Theorem, z3

_LONGEST = 4
_CHECKS = (0, 1)
_SHORT_STRINGS = tuple("".join(tokens) for length in range(_LONGEST + 1) for tokens in product(ALPHABET, repeat=length))


@dataclass(frozen=True)
class _AnyMachine:
    """A stateless machine with one counter whose updates and acceptance mask are left open, for the solver to find."""

    resets: dict[tuple[str, int], Formula]
    amounts: dict[tuple[str, int], Term]
    accepting: dict[int, Formula]

    def right_on(self, string: str) -> Formula:
        """The machine accepts `string` iff it is in Dyck-1."""
        counter: Term = z3.IntVal(0)
        for token in string:
            after = [z3.If(self.resets[token, z], z3.IntVal(0), counter + self.amounts[token, z]) for z in _CHECKS]
            counter = z3.If(counter == 0, *after)
        accepted = z3.If(counter == 0, self.accepting[0], self.accepting[1])
        return accepted == z3.BoolVal(DYCK1.contains(string))


def _any_machine() -> _AnyMachine:
    cases = [(token, z) for token in ALPHABET for z in _CHECKS]
    names = {
        case: f"{'open' if case[0] == OPEN else 'close'}_{'elsewhere' if case[1] else 'at_zero'}" for case in cases
    }
    return _AnyMachine(
        resets={case: z3.Bool(f"resets_{name}") for case, name in names.items()},
        amounts={case: z3.Int(f"adds_{name}") for case, name in names.items()},
        accepting={z: z3.Bool(f"accepts_{'elsewhere' if z else 'at_zero'}") for z in _CHECKS},
    )


MACHINE = _any_machine()
RIGHT_ON_SHORT = tuple(MACHINE.right_on(string) for string in _SHORT_STRINGS)
BLIND = tuple(
    constraint
    for token in ALPHABET
    for constraint in (
        MACHINE.resets[token, 0] == MACHINE.resets[token, 1],
        MACHINE.amounts[token, 0] == MACHINE.amounts[token, 1],
    )
)
UNIT_STEPS = tuple(z3.And(amount >= -1, amount <= 1) for amount in MACHINE.amounts.values())

c, d = z3.Ints("c d")


def _by_parity(counter: Term, token: str) -> Term:
    """One step of the ready machine, its amounts read from its own table."""
    at_zero, elsewhere = (DYCK1_BY_PARITY.updates[Case(token, DYCK1_BY_PARITY.initial_state, (z,))][0] for z in _CHECKS)
    assert isinstance(at_zero, Add)
    assert isinstance(elsewhere, Add)
    return z3.If(counter == 0, counter + at_zero.amount, counter + elsewhere.amount)


_INTACT = (c == 2 * d, d >= 0)
_ODD = (c == 2 * d + 1,)

DYCK1_STATE = Theorem(
    name="dyck1-state",
    title="Dyck-1 and the state",
    statement=(
        "A stateless machine with one counter accepts Dyck-1 only if its update looks at the zero check and "
        "some step is larger than 1; with both, steps of 2 suffice."
    ),
    parts=(
        Part(
            f"Impossible: no such machine is right on all strings of length ≤ {_LONGEST}",
            (
                Step("an update that sees the token alone (any whole steps, or ×0)", (*BLIND, *RIGHT_ON_SHORT), None),
                Step("steps of −1, 0, 1 and ×0, even with the zero check", (*UNIT_STEPS, *RIGHT_ON_SHORT), None),
            ),
        ),
        Part(
            "Possible: steps of 2, and a `)` at zero adds 1",
            (
                Step("intact, `(`: the counter 2d becomes 2(d + 1)", _INTACT, _by_parity(c, OPEN) == 2 * (d + 1)),
                Step(
                    "intact, `)` with d ≥ 1: it becomes 2(d − 1)",
                    (*_INTACT, d >= 1),
                    _by_parity(c, CLOSE) == 2 * (d - 1),
                ),
                Step("intact, `)` with d = 0: it becomes odd", (*_INTACT, d == 0), _by_parity(c, CLOSE) % 2 == 1),
                Step("lost, `(`: it stays odd", _ODD, _by_parity(c, OPEN) % 2 == 1),
                Step("lost, `)`: it stays odd", _ODD, _by_parity(c, CLOSE) % 2 == 1),
                Argument(
                    "so the counter is 2d while no prefix has closed too much, and odd from then on",
                    "induction over the string's length; an odd counter is never 0, and 2d = 0 iff d = 0: exactly Dyck-1",
                ),
            ),
        ),
    ),
)
