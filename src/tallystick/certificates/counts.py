"""Networks that are asked for the count itself: right iff the output is less than 1/2 away from n − m.

Carry the count beside the state: then y − (n − m) is one more output, and the question is in which of three ranges it lies,

    less: y − (n − m) ≤ −1/2,     more: y − (n − m) ≥ 1/2,     right: what is between,

the greatest of −x − 1/2, x − 1/2 and 0 for x = y − (n − m), where of equal ones the first wins: a tie is wrong. So a network
asked for the count is a network asked for a class, which is the same for every string, and all deciders apply.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Self, final

from tallystick.cells import Input, Recurrence
from tallystick.certificates.linear.affine import affine_network
from tallystick.certificates.linear.limits import is_exact_counter
from tallystick.certificates.verdict import Failure, Outcome, Verdict
from tallystick.languages.counter_machine import Configuration, CounterMachine
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.languages.tasks import Task
from tallystick.networks import Network, Readout
from tallystick.networks.readout import COUNT, GREATEST
from tallystick.numbers import Number, exact
from tallystick.numbers.values import Vector

_HALF = Fraction(1, 2)


class _Off(StrEnum):
    """Where the output lies: below the count, above it, or less than 1/2 away."""

    LESS = "less"
    MORE = "more"
    RIGHT = "right"


def _always_right(_: CounterMachine, __: Configuration) -> int:
    return list(_Off).index(_Off.RIGHT)


_NEAR = Task("near the count", BB_COUNTER, tuple(_Off), _always_right)


@final
@dataclass(frozen=True)
class Counted(Recurrence):
    """A recurrence that carries the count n − m beside its state, as the last number that the readout sees."""

    cell: Recurrence

    name = "counted"
    deciders = ("sorting", "matrices", "lattice paths", "exact states", "gated boxes")

    @property
    def is_rational(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride] -- it depends on the cell
        """Whether the cell's states are."""
        return self.cell.is_rational

    @property
    def shows_rationals(self) -> bool:
        """Whether the cell does."""
        return self.cell.shows_rationals

    @property
    def is_affine(self) -> bool:
        """Whether the cell is."""
        return self.cell.is_affine

    @property
    def units(self) -> int:
        """One more."""
        return self.cell.units + 1

    @property
    def inputs(self) -> int:
        """Those of the cell."""
        return self.cell.inputs

    @property
    def matrix_entries(self) -> int:
        """One more."""
        return self.cell.matrix_entries + 1

    @property
    def initial_state(self) -> tuple[Any, Number]:
        """The cell's own, and 0."""
        return self.cell.initial_state, 0

    def step(self, state: tuple[Any, Number], token: Input) -> tuple[Any, Number]:
        """Return the cell's next state and the next count."""
        own, count = state
        return self.cell.step(own, token), count + token.choose(1, -1)

    def hidden(self, state: tuple[Any, Number]) -> Vector:
        """Return what the cell shows, and the count."""
        own, count = state
        return (*self.cell.hidden(own), count)

    def map_weights(self, number: Callable[..., Number]) -> Self:
        """Return the same of the cell with other weights."""
        return type(self)(self.cell.map_weights(number))


def asked_for_a_class(network: Network) -> Network:
    """Return a network that is asked for the count as one that is asked for a class; any other as it is.

    >>> from tallystick.cells import LinearCell
    >>> asked = asked_for_a_class(Network(LinearCell(Fraction(3, 4), -1, 1), Readout(((1,),), (0,), "count")))
    >>> [str(asked.class_of(string)) for string in ("(", "((", ")")]
    ['right', 'less', 'right']
    """
    if network.readout.decision != COUNT:
        return network
    exactly = network.readout.map_weights(exact)
    (row,), (bias,) = exactly.weight, exactly.bias
    less, more = (*(-weight for weight in row), 1), (*row, -1)
    readout = Readout((less, more, (0,) * len(more)), (-bias - _HALF, bias - _HALF, 0), GREATEST)
    return Network(Counted(network.cell), readout, _NEAR)


def verdict_on_count(verdict: Verdict, network: Network) -> Verdict:
    """Return the verdict on a network as that on the network which is asked for the count, in the words of numbers."""
    failure, known = (_in_numbers(found, network) for found in (verdict.failure, verdict.known_failure))
    reason = verdict.reason.removesuffix(", though the network does not compute the count")
    if failure is not None and verdict.failure is not None:
        said, meant = ((one.found, one.right) for one in (verdict.failure, failure))
        reason = reason.replace(f"gets {said[0]} instead of {said[1]}", f"gets {meant[0]} instead of {meant[1]}")
    affine = affine_network(verdict.network) if verdict.outcome is Outcome.PROVED else None
    if affine is not None and is_exact_counter(affine, verdict.lengths):
        reason = "the output is the count plus a constant of less than 1/2 in size"
    return replace(verdict, model=network, failure=failure, known_failure=known, reason=reason)


def _in_numbers(failure: Failure | None, network: Network) -> Failure | None:
    """Say which number is right, and on which side of it the output lies."""
    if failure is None:
        return None
    count = sum(size if token == network.task.alphabet[0] else -size for token, size in failure.runs)
    return replace(failure, found=f"{failure.found} than {count}", right=str(count))
