"""What is said of a network: the outcome, the horizon and a shortest failing string, as data; and the horizons of many."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ScalarCell
from tallystick.display import Shown, View
from tallystick.errors import BadInput, printable
from tallystick.languages.counter_machine import String
from tallystick.networks import Network
from tallystick.numbers import ANY_ORDER, ARITHMETICS, FORMATS, MIXED_FORMATS, Number, float_format, standard_floats

if TYPE_CHECKING:
    from tallystick.certificates.running.executable import Executable

LONGEST_STRING = 10**6

SUSPECT = 2
"""A network that fails after this horizon at the latest may have been declared wrongly (`hints`)."""

REAL = "real"
FLOATS = tuple(name for name in ARITHMETICS if name != "rational")
ARITHMETIC_NAMES = (REAL, *FLOATS)
"""The arithmetics in which a network is run: the real numbers, or floating point as executed.

`float32` multiplies, rounds, adds and rounds again; `float32-fused` rounds once, after the addition.
"""

ANY_ORDERS = tuple(name + ANY_ORDER for name in (*FORMATS, *MIXED_FORMATS))
"""The arithmetics of verdicts that hold for every order of operations, fused or not."""

AS_EXECUTED = "as executed"
"""In the place of an arithmetic: whatever a program does on the machine that runs it."""

ENCLOSURES = "enclosures"
"""The method's name where states are known between bounds only."""


class Outcome(StrEnum):
    """PROVED: right at every length. REFUTED: a string fails. BOUNDED: right up to the horizon, open beyond it."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    BOUNDED = "BOUNDED"


class Lengths(StrEnum):
    """Which lengths count. The empty string never does: no network reads it, and h₀ = 0 is nobody's weight.

    >>> list(Lengths.EVEN.upto(7))
    [2, 4, 6]
    """

    ALL = "all"
    EVEN = "even"

    @property
    def stride(self) -> int:
        """The first length that counts, and the distance from each to the next."""
        return 1 if self is Lengths.ALL else 2

    def upto(self, limit: int, first: int = 1) -> range:
        """Go through the lengths that count, up to a limit, from `first` on.

        >>> list(Lengths.EVEN.upto(7, 0)), list(Lengths.EVEN.upto(7, 3))
        ([0, 2, 4, 6], [4, 6])
        """
        return range(-(-first // self.stride) * self.stride, limit + 1, self.stride)

    def before(self, length: int) -> int:
        """Return the horizon of a network that fails at a length, and at no shorter one that counts; -1 if that is 0."""
        return max(-1, length - self.stride)


Runs = tuple[tuple[str, int], ...]
"""A string as runs of equal tokens: (("(", 3), (")", 2)) is `((())`."""


def runs_of(string: String) -> Runs:
    """Write a string as runs.

    >>> runs_of("((())")
    (('(', 3), (')', 2))
    """
    return tuple((token, len(list(group))) for token, group in groupby(string))


@dataclass(frozen=True)
class Failure:
    """A string that gets the wrong class, kept as runs because it may be millions of tokens long.

    Attributes:
        runs: the string.
        found: the class that the model gives it; of a number on which side of the right one it lies.
        right: the class that it should get, or the number.
    """

    runs: Runs
    found: str
    right: str

    @property
    def length(self) -> int:
        """The number of tokens."""
        return sum(size for _, size in self.runs)

    @property
    def string(self) -> str:
        """The string written out, where every token is one character."""
        return "".join(self.tokens)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the string, one by one."""
        if self.length > LONGEST_STRING:
            raise BadInput(f"counterexample: {self.length} tokens are too many to write out; read its runs")
        return tuple(token for token, size in self.runs for _ in range(size))

    def reason(self, gets: str = "gets", shorter: str = "counted one") -> str:
        """Return why a model is refuted by it, as a shortest failing string."""
        return (
            f"a string of length {self.length} {gets} {self.found} instead of {self.right}; no shorter {shorter} fails"
        )


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """How long a model can be trusted, in which arithmetic and why.

    Attributes:
        model: the network as it was handed in; for a program that was run, an `Executable`: its name, how it was called, in
            batches of which size, by which libraries.
        lengths: which lengths count.
        arithmetic: `real`, or the floating point it is executed in, with its order of operations; `as executed` for a program.
        outcome: PROVED, REFUTED or BOUNDED.
        horizon: the largest N such that every counted length up to N is right on **all** strings; None is unlimited. 0
            says that the first counted length already fails. BOUNDED promises no more than this N; a REFUTED model
            fails at the next counted length.
        failure: a shortest failing string, where the outcome is REFUTED.
        method: how it was decided; a name that the checker knows.
        reason: the same in a sentence.
        known_failure: where the outcome is BOUNDED, a failing string beyond the horizon, if one is known: the lengths
            between the two are open.
        first: the least length that counts.
    """

    model: "Network | Executable"
    lengths: Lengths
    arithmetic: str
    outcome: Outcome
    horizon: int | None
    failure: Failure | None
    method: str
    reason: str
    known_failure: Failure | None = None
    first: int = 1

    def __post_init__(self) -> None:
        """Refuse parts that contradict each other."""
        if (self.outcome is Outcome.PROVED) != (self.horizon is None):
            raise BadInput(f"horizon: {self.horizon!r} does not go with {self.outcome}")
        if (self.outcome is Outcome.REFUTED) != (self.failure is not None):
            raise BadInput(f"failure: {self.failure!r} does not go with {self.outcome}")
        if self.failure and self.horizon != self.lengths.before(self.failure.length):
            raise BadInput(f"failure: length {self.failure.length} does not follow horizon {self.horizon}")
        if self.known_failure and (
            self.outcome is not Outcome.BOUNDED or self.known_failure.length <= (self.horizon or 0)
        ):
            raise BadInput(f"known_failure: {self.known_failure!r} does not go with {self.outcome} to {self.horizon}")

    @property
    def network(self) -> Network:
        """The model, where it is a network; of a program that was run there is nothing that others could check."""
        if not isinstance(self.model, Network):
            raise BadInput(
                f"model: {self.model.name} was run, and a run of a program is not something others can check without it; "
                "a network that ts.from_torch or ts.read_network reads can be certified"
            )
        return self.model

    def __repr__(self) -> str:
        from tallystick.certificates.words import formal_part  # noqa: PLC0415 -- which imports this

        return f"Verdict({formal_part(self)}: {self.answer})"

    def __str__(self) -> str:
        from tallystick.certificates.words import describe  # noqa: PLC0415 -- which imports this

        return "\n".join(map(printable, describe(self)))

    def view(self) -> View:
        """Return what a notebook shows: the answer, and the failing string with where the network is right and wrong."""
        from tallystick.certificates.views import view_of_verdict  # noqa: PLC0415 -- which imports this

        return view_of_verdict(self)

    @property
    def answer(self) -> str:
        """The answer in words: up to which length every string is right, and how one fails."""
        from tallystick.certificates.words import answer  # noqa: PLC0415 -- which imports this

        return printable(" ".join(answer(self)))

    @cached_property
    def hint(self) -> str | None:
        """How the network would be right further, where it fails so early that it may have been declared wrongly; else None."""
        if not isinstance(self.model, Network) or self.horizon is None or self.horizon > SUSPECT or not self.failure:
            return None
        from tallystick.certificates.hints import hint_of  # noqa: PLC0415 -- which imports this

        return hint_of(self, self.model)

    @property
    def executed(self) -> Network:
        """The model with its weights in the verdict's arithmetic."""
        return self.network.in_arithmetic(self.number)

    @property
    def number(self) -> str:
        """The kind of number in which states are shown."""
        return float_format(self.arithmetic).name if self.arithmetic in ANY_ORDERS else arithmetic_of(self.arithmetic)

    @property
    def is_mixed(self) -> bool:
        """Whether weights or states are kept in less than is computed in, which no step of a cell does by itself."""
        return self.arithmetic.removesuffix(ANY_ORDER) in MIXED_FORMATS

    def trace(self) -> list[Number]:
        """Return h along the failing string, before the first token and after each; empty where none fails.

        It is empty as well where weights or states are kept in less than is computed in.

        Where a cell has no rational states, as with tanh, they are shown in real numbers as the doubles that they are near
        to. h is a number for a cell with one unit, else a tuple with one number per unit. Of a program that was run, which may
        have no state, the outputs after each token are returned, each prefix run alone.
        """
        if not self.failure or self.is_mixed:
            return []
        if isinstance(self.model, Network):
            return self._states(self.model, self.failure.tokens)
        return self.model.outputs_along(self.failure.tokens)

    @standard_floats()
    def _states(self, network: Network, string: tuple[str, ...]) -> list[Number]:
        cell = network.cell
        shown = "float64" if self.arithmetic == REAL and not cell.shows_rationals else self.number
        try:
            cell = cell.map_weights(ARITHMETICS[shown])
        except BadInput:  # weights that no double holds
            return []
        hidden = [cell.hidden(state) for state in cell.trace(string, network.alphabet)]
        return [h[0] for h in hidden] if isinstance(cell, ScalarCell) else hidden


def refute(network: Network, lengths: Lengths, arithmetic: str, failure: Failure, method: str) -> Verdict:
    """Return the verdict on a network that fails at a string, and at none that is shorter and counts."""
    horizon = lengths.before(failure.length)
    return Verdict(network, lengths, arithmetic, Outcome.REFUTED, horizon, failure, method, failure.reason())


UNLIMITED = int(np.iinfo(np.int64).max)
"""Stands for an unlimited horizon: larger than every other, so that medians and maxima come out right."""


class Horizons(NamedTuple):
    """The horizon of each model when all lengths count, and when only even ones do; each is exact, or a lower bound."""

    all: NDArray[np.int64]
    even: NDArray[np.int64]
    all_exact: NDArray[np.bool_]
    even_exact: NDArray[np.bool_]


def arithmetic_of(name: str) -> str:
    """Return the name of the number type in which an arithmetic is decided: rationals for real numbers."""
    if name not in ARITHMETIC_NAMES:
        only = "; it is for certify alone" if name in ANY_ORDERS else ""
        raise BadInput(f"arithmetic: {name!r} is not one of {', '.join(ARITHMETIC_NAMES)}{only}")
    return "rational" if name == REAL else name


def lengths_of(name: str) -> Lengths:
    """Return the lengths that count, by name."""
    if name not in list(Lengths):
        raise BadInput(f"lengths: {name!r} is not one of {', '.join(Lengths)}")
    return Lengths(name)
