"""Between cells and the counter machines they equal.

A cell that meets the conditions of its theorem accepts, by the zero check, what a counter machine accepts, and so does a linear
network of several units whose output computes the count; a one-counter stateless machine whose update sees the token alone is a
cell with integer weights.
"""

from tallystick.cells import Cell, LinearCell, Recurrence, ReluCell, ScalarCell, SelectiveCell
from tallystick.errors import BadInput
from tallystick.indicators import conditions
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN
from tallystick.languages.counter_machine import Add, Case, CounterMachine, TimesZero, Update, ZeroMask
from tallystick.languages.ready_machines import BB_COUNTER, SEMI_DYCK1_COUNTER
from tallystick.networks import Network


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
