"""What every cell has: an input step for each token, a state h that starts at 0, and traces of h along a string."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import NamedTuple, Self

from tallystick.arithmetic import Number, check_number
from tallystick.errors import check_tokens
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN


class Token(NamedTuple):
    """A one-hot token x, as the network reads it; the entries may be arrays, one token a string."""

    opening: Number
    closing: Number

    def choose(self, if_open: Number, if_close: Number) -> Number:
        """W·x: the number that belongs to this token, exact in every arithmetic since one factor is 1 and the other 0."""
        return self.opening * if_open + self.closing * if_close


ONE_HOT = {OPEN: Token(1, 0), CLOSE: Token(0, 1)}


@dataclass(frozen=True)
class Cell(ABC):
    """A recurrence over bracket tokens with the steps a = `open_step` and b = `close_step`.

    The fields are numbers of any kind, or arrays of one length: then the cell is an ensemble.
    """

    open_step: Number
    close_step: Number

    def __post_init__(self) -> None:
        """Refuse a weight that is no finite number, naming it."""
        for field in fields(self):
            check_number(getattr(self, field.name), field.name)

    @classmethod
    def recurrent_fields(cls) -> tuple[str, ...]:
        """The names of the weights that this kind of cell has beside its two steps.

        >>> from tallystick import SelectiveCell
        >>> SelectiveCell.recurrent_fields()
        ('open_recurrent_weight', 'close_recurrent_weight')
        """
        return tuple(field.name for field in fields(cls)[len(fields(Cell)) :])

    @abstractmethod
    def step(self, h: Number, token: Token) -> Number:
        """Return the next state."""

    def trace(self, string: str) -> list[Number]:
        """Return h before the first token and after each one.

        >>> from tallystick import LinearCell
        >>> LinearCell(1, -1, 1).trace("(()")
        [0, 1, 2, 1]
        """
        check_tokens(string, ALPHABET)
        return list(accumulate((ONE_HOT[token] for token in string), self.step, initial=0))

    def final_state(self, string: str) -> Number:
        """Return h after the whole string."""
        return self.trace(string)[-1]

    def converted(self, number: Callable[..., Number]) -> Self:
        """Return this cell with each weight brought into another arithmetic, such as `ARITHMETICS["float32"]`.

        >>> from tallystick import LinearCell
        >>> from tallystick.arithmetic import exact
        >>> LinearCell("1/3", "-1/3", 1) # doctest: +ELLIPSIS
        Traceback (most recent call last):
        tallystick.errors.BadInput: open_step: '1/3' is not a number
        >>> LinearCell(0.5, -0.5, 1).converted(exact).close_step
        Fraction(-1, 2)
        """
        return type(self)(**{field.name: number(getattr(self, field.name), field.name) for field in fields(self)})
