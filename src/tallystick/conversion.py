"""Between networks and the counter machines they equal.

A cell that meets the conditions of its theorem accepts, by the zero check, what a counter machine accepts, and so does a linear
network of several units whose output computes the count; a one-counter stateless machine whose update sees the token alone is a
cell with integer weights. Of any other network a verdict says up to which length it answers as its task's machine (`extract`).
"""

from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from tallystick.cells import Cell, LinearCell, Recurrence, ReluCell, ScalarCell, SelectiveCell, inputs_of
from tallystick.certificates.certify import certify
from tallystick.certificates.closed_forms.affine import Affine
from tallystick.certificates.closed_forms.paths import Path
from tallystick.certificates.closed_forms.polyhedra import Form, Polyhedron, Undecided
from tallystick.certificates.verdict import REAL
from tallystick.counting_conditions import conditions
from tallystick.errors import BadInput
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN
from tallystick.languages.counter_machine import Add, Case, CounterMachine, TimesZero, Update, ZeroMask
from tallystick.languages.minimal_machines import minimal_machine
from tallystick.languages.ready_machines import BB_COUNTER, SEMI_DYCK1_COUNTER
from tallystick.networks import Network
from tallystick.networks.readout import ZERO
from tallystick.networks.steps import NEXT
from tallystick.numbers.values import map_states, numbers_of


class NotACounter(BadInput):
    """The cell or the network fails a condition of its theorem, so no counter machine of that language equals it."""


class NotACell(BadInput):
    """The counter machine does something that no single cell with a zero check does."""


_MACHINES: dict[type[Recurrence], CounterMachine] = {
    LinearCell: BB_COUNTER,
    SelectiveCell: BB_COUNTER,
    ReluCell: SEMI_DYCK1_COUNTER,
}


def to_machine(counts: Recurrence | Network) -> CounterMachine:
    """Return the counter machine that accepts what a cell accepts by the zero check, or that counts as a network does.

    Args:
        counts: a cell with one unit, or a network; a linear network of several units counts where its output computes the count
            and it answers by it.

    >>> to_machine(LinearCell(0.1, -0.1, 1)) == BB_COUNTER
    True
    >>> to_machine(LinearCell(1, -1, 1.5))
    Traceback (most recent call last):
    tallystick.conversion.NotACounter: LinearCell is no counter: U = 1 fails: U = 3/2 (1.5), off by 1/2 (0.5)
    """
    cell = counts.cell if isinstance(counts, Network) else counts
    failed = [f"{c.formula} fails: {c.finding}" for c in conditions(counts) if not c.holds]
    if failed:
        raise NotACounter(f"{type(cell).__name__} is no counter: {'; '.join(failed)}")
    return _MACHINES[type(cell)] if isinstance(cell, ScalarCell) else BB_COUNTER


class Extraction(NamedTuple):
    """A counter machine that a network equals.

    Attributes:
        machine: as few states as merging gives.
        horizon: the length up to which that is proved, on all strings; None is every length.
        reason: why, in a sentence.
        where: of what that is proved.
    """

    machine: CounterMachine
    horizon: int | None
    reason: str
    where: str = "on all strings"


def extract(network: Network, arithmetic: str = REAL, limit: int | None = None) -> Extraction:
    """Return the counter machine that a network equals, and the length up to which that is proved.

    A zero check whose output moves by a constant with each token is a machine of its own, whatever its task, at every length. Of
    any other network it is its task's machine: `certify` says that they are equal at every length, or up to a horizon. Then the
    network gives the class that follows from the machine, or names the tokens with which the machine may still accept.

    Args:
        network: any network.
        arithmetic: `real`, or floating point as executed.
        limit: how far to search where nothing else decides.

    >>> from tallystick.networks import Readout
    >>> found = extract(Network(LinearCell(2, -1, 1), Readout.zero()))
    >>> found.horizon, found.machine.accepts("())"), found.machine.accepts("()")
    (None, True, False)
    """
    own = _own_machine(network) if arithmetic == REAL else None
    if own is not None:
        return Extraction(own, None, "its output moves by a constant with each token, and it accepts where that is 0")
    verdict = certify(network, arithmetic=arithmetic, limit=limit)
    if verdict.horizon is not None and verdict.horizon < verdict.first:
        failing = "" if verdict.failure is None else f": {verdict.failure.found} instead of {verdict.failure.right}"
        raise NotACounter(
            f"network: it differs from the machine of its task {network.task.name!r} on strings of length {verdict.first} "
            f"already{failing}; name the task that it answers"
        )
    machine = minimal_machine(network.task.machine)
    if network.readout.decision == NEXT:
        return Extraction(
            machine, verdict.horizon, verdict.reason, "wherever the machine leaves one token to come next"
        )
    return Extraction(machine, verdict.horizon, verdict.reason)


def _own_machine(network: Network) -> CounterMachine | None:
    """Return the machine that a zero check is, where its output moves by a constant with each token; else None."""
    if network.readout.decision != ZERO or not network.cell.is_rational or network.cell.is_padded:
        return None
    exactly = network.in_arithmetic("rational")
    numbers = numbers_of(exactly.cell.start_of(0))
    path = Path(Polyhedron(len(numbers), ()), turns=False)
    places = iter(range(len(numbers)))

    def variable(_: object) -> Affine:
        place = next(places)
        return Affine(path, Form(tuple(Fraction(int(i == place)) for i in range(len(numbers))), Fraction(0)))

    anywhere = map_states(variable, exactly.cell.start_of(0))
    before = exactly.outputs_of_state(anywhere)[0]
    steps: list[Fraction] = []
    try:
        for token in inputs_of(network.alphabet).values():
            change = exactly.outputs_of_state(exactly.cell.step(anywhere, token))[0] - before
            if not isinstance(change, Affine) or not change.form.is_constant:
                return None
            steps.append(change.form.constant)
    except Undecided:
        return None
    start = Fraction(exactly.outputs_of_state(exactly.cell.start_of(0))[0])
    return _adding_machine(network.alphabet, start, steps)


def _adding_machine(alphabet: tuple[str, ...], start: Fraction, steps: list[Fraction]) -> CounterMachine:
    """Return a machine that accepts where a number is 0 that begins at `start` and to which each token adds a step."""
    scale = lcm(start.denominator, *(step.denominator for step in steps))
    whole = [int(scale * number) for number in (start, *steps)]
    common = gcd(*whole) or 1
    first, *amounts = (number // common for number in whole)

    def update(case: Case) -> tuple[Update, ...]:
        amount = amounts[alphabet.index(case.token)]
        return (Add(amount + first if case.state == "start" else amount),)

    # A machine's counter begins at 0, so the first token adds what the number begins with.
    return CounterMachine.from_rules(
        alphabet=alphabet,
        states=("start", "q") if first else ("q",),
        update=update,
        transition=lambda _: "q",
        accepts=lambda state, check: state == "q" and check == (0,),
    )


def to_cell(machine: CounterMachine) -> Cell:
    """Return the cell whose zero check accepts what `machine` accepts, h being the counter.

    A machine that stops at zero where it would go below, as the semi-Dyck-1 counter does, becomes a ReLU cell; a ×0
    becomes a recurrent weight of zero, so that the cell is selective; anything else is linear with U = 1.

    >>> to_cell(BB_COUNTER)
    LinearCell(open_step=1, close_step=-1, recurrent_weight=1)
    """
    _require_bracket_counter(machine)
    at_zero, elsewhere = _updates(machine, 0), _updates(machine, 1)
    # At zero, ×0 and +0 are the same.
    at_zero = tuple(Add(0) if isinstance(update, TimesZero) else update for update in at_zero)
    if at_zero == tuple(Add(0) if isinstance(update, TimesZero) else update for update in elsewhere):
        return _blind_cell(*elsewhere)
    steps = _relu_steps(at_zero, elsewhere)
    if steps is None:
        raise NotACell(
            "updates: they look at the zero check in a way that no linear, selective or ReLU cell is known to follow"
        )
    return ReluCell(*steps, 1)


def _relu_steps(at_zero: tuple[Update, ...], elsewhere: tuple[Update, ...]) -> tuple[int, int] | None:
    """Return a and b if one token adds m > 0 and the other takes j off, but nothing at zero, where j divides m.

    The counter is then always a multiple of j, so that taking j off never passes below zero: max(0, ·) does the same.
    """
    if not all(isinstance(update, Add) for update in elsewhere):
        return None
    a, b = (update.amount for update in elsewhere if isinstance(update, Add))
    rising, falling = (0, 1) if a > 0 else (1, 0)
    m, j = (a, -b) if a > 0 else (b, -a)
    fits = m > 0 and j > 0 and m % j == 0 and at_zero[rising] == Add(m) and at_zero[falling] == Add(0)
    return (a, b) if fits else None


def _require_bracket_counter(machine: CounterMachine) -> None:
    """Refuse machines with another alphabet, several states or counters, or another acceptance than "the counter is zero"."""
    if set(machine.alphabet) != set(ALPHABET):
        raise NotACell(f"alphabet: {' '.join(machine.alphabet)}; a cell reads {' '.join(ALPHABET)}")
    if len(machine.states) > 1:
        raise NotACell(f"states: {len(machine.states)} of them; a cell keeps nothing but h")
    if machine.counters > 1:
        raise NotACell(f"counters: {machine.counters}; a cell has one, h")
    if machine.accepting != frozenset[tuple[str, ZeroMask]]({(machine.initial_state, (0,))}):
        raise NotACell("accepting: not exactly the counter at zero, which is what a zero check accepts")


def _updates(machine: CounterMachine, check: int) -> tuple[Update, Update]:
    opening, closing = (machine.updates[Case(token, machine.initial_state, (check,))][0] for token in (OPEN, CLOSE))
    return opening, closing


def _blind_cell(opening: Update, closing: Update) -> Cell:
    """A machine that does not look at the zero check: c' = 1·c + m for an addition, c' = 0·c + 0 for ×0."""
    if isinstance(opening, Add) and isinstance(closing, Add):
        return LinearCell(opening.amount, closing.amount, 1)
    (a, P), (b, Q) = ((u.amount, 1) if isinstance(u, Add) else (0, 0) for u in (opening, closing))
    return SelectiveCell(a, b, P, Q)
