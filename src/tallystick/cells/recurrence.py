"""A recurrence: a state and one step per token, which is all that a network needs to run, and a decider to decide.

The state is whatever the step carries from token to token; `hidden` is what the readout sees of it, a vector. Vectors and
matrices are tuples of numbers rather than arrays, so that a weight may be a rational, a float or a box, or itself an array
with one entry per network, and the one step runs on all of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from tallystick.cells.conditions import Condition
from tallystick.errors import BadInput, check_tokens
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN
from tallystick.languages.tasks import BB_MEMBERSHIP, Task
from tallystick.numbers import Number
from tallystick.numbers.values import Vector


class Input(Protocol):
    """What a step reads: the vector x, seen through its products with the rows of a weight matrix."""

    def choose(self, *weights: Number) -> Number:
        """Return the product of a row of weights with x."""
        ...


class Token(NamedTuple):
    """A one-hot token x, as the network reads it; the entries may be arrays, one token per string."""

    opening: Number
    closing: Number

    def choose(self, *weights: Number) -> Number:
        """Return the number that belongs to this token, exact in every arithmetic since one factor is 1 and the other 0."""
        if_open, if_close = weights
        return self.opening * if_open + self.closing * if_close


ONE_HOT = {OPEN: Token(1, 0), CLOSE: Token(0, 1)}


@dataclass(frozen=True)
class Recurrence(ABC):
    """A recurrence over bracket tokens: one cell, or a stack of them.

    Attributes:
        name: what it is called in files and messages.
        deciders: the names of the deciders that apply to it (`certificates.certify`), best first.
        is_rational: whether rational weights make rational states, as with everything but tanh and the sigmoid.
        membership: the task that its zero check answers.
    """

    name: ClassVar[str]
    deciders: ClassVar[tuple[str, ...]] = ()
    is_rational: ClassVar[bool] = True
    membership: ClassVar[Task] = BB_MEMBERSHIP

    @property
    @abstractmethod
    def units(self) -> int:
        """The length of the vector that the readout sees."""

    @property
    def inputs(self) -> int:
        """The length of the vector that a step reads; a one-hot token has one entry per bracket."""
        return len(ALPHABET)

    @property
    @abstractmethod
    def matrix_entries(self) -> int:
        """How many entries the weight matrices have, by which the cost of a step grows."""

    @property
    @abstractmethod
    def initial_state(self) -> Any:  # noqa: ANN401 -- each recurrence has its own kind of state
        """The state before the first token."""

    @abstractmethod
    def step(self, state: Any, token: Input) -> Any:  # noqa: ANN401
        """Return the next state."""

    @abstractmethod
    def hidden(self, state: Any) -> Vector:  # noqa: ANN401
        """Return what the readout sees of a state."""

    @abstractmethod
    def map_weights(self, number: Callable[..., Number]) -> Self:
        """Return this recurrence with number(weight, name) in the place of each weight, such as `ARITHMETICS["float32"]`."""

    def conditions(self) -> list[Condition]:
        """Return the conditions under which this kind of recurrence counts exactly, each decided in rationals."""
        raise BadInput(f"cell: no counting theorem is known for a {type(self).__name__}")

    def trace(self, string: str) -> list[Any]:
        """Return the state before the first token and after each one.

        >>> from tallystick import LinearCell
        >>> LinearCell(1, -1, 1).trace("(()")
        [0, 1, 2, 1]
        """
        check_tokens(string, ALPHABET)
        return list(accumulate((ONE_HOT[token] for token in string), self.step, initial=self.initial_state))

    def final_state(self, string: str) -> Any:  # noqa: ANN401
        """Return the state after the whole string."""
        return self.trace(string)[-1]
