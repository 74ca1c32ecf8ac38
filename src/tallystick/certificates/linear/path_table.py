"""The least sums along lattice paths, length by length (`lattice_paths`)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.linear.affine import AffineNetwork, Demand
from tallystick.certificates.linear.path_terms import Diagonal
from tallystick.certificates.linear.responses import UNIT
from tallystick.certificates.linear.sorting import openings_of
from tallystick.languages.brackets import CLOSE, OPEN


class Table:
    """The least sums of one length, for each output and direction that a demand asks for.

    Attributes:
        length: T.
        least: the least sums of direction·y, one row for each output and direction, one column for each n.
        errors: bounds on their errors.
        begins: where paths are kept, for every length and 0 < n < T whether the least one begins with `(`.
    """

    def __init__(self, network: AffineNetwork, *, keeps_paths: bool = False) -> None:
        self.demands = network.demands
        self.rows = list(dict.fromkeys((demand.output, demand.direction) for demand in self.demands))
        self.outputs, self.directions = ([row[part] for row in self.rows] for part in (0, 1))
        self.length = 0
        self.least: NDArray[Any] = np.zeros((len(self.rows), 1), object)
        self.errors: NDArray[Any] = np.zeros((len(self.rows), 1), object)
        self.begins: list[NDArray[np.bool_]] | None = [] if keeps_paths else None

    @np.errstate(all="ignore")  # what overflows is not decided
    def advance(self, diagonal: Diagonal) -> None:
        """Go on to the next length.

        A sum of doubles is off by at most u of its size, which is taken twice. The bounds themselves are rounded at each length
        by less than 4·u of them, which `outcome` makes up for.
        """
        directions = np.array(self.directions)[:, None]
        if not self.length:
            self.least, self.errors = (part.astype(diagonal.terms.dtype) for part in (self.least, self.errors))
        opening, closing = (self.least * diagonal.factor + directions * terms[self.outputs] for terms in diagonal.terms)
        errors = [self.errors * diagonal.factor + of_token[self.outputs] for of_token in diagonal.errors]
        if _is_rounded(diagonal):
            errors = [error + 2 * UNIT * np.abs(sums) for error, sums in zip(errors, (opening, closing), strict=True)]
        if self.begins is not None:
            self.begins.append((opening[:, :-1] <= closing[:, 1:]).astype(bool))
        self.least, self.errors = _joined(opening, closing, np.minimum), _joined(errors[0], errors[1], np.maximum)
        self.length += 1

    @np.errstate(all="ignore")
    def outcome(self, diagonal: Diagonal) -> tuple[bool, tuple[Demand, int] | None]:
        """Say whether this length is surely right; and a demand that surely fails, with an n for which it does."""
        is_right = True
        for demand in self.demands:
            if demand.side == 0 and self.length % 2:
                continue
            first, last = openings_of(demand.side, self.length)
            row = self.rows.index((demand.output, demand.direction))
            constant = demand.direction * diagonal.constants[demand.output]
            values = constant + self.least[row, first : last + 1]
            errors = self.errors[row, first : last + 1]
            if _is_rounded(diagonal):
                errors = 1.001 * errors + 4 * UNIT * (np.abs(values) + abs(constant))
            errors = errors + diagonal.constant_error
            fails = np.flatnonzero(values <= -errors if demand.strict else values < -errors)
            if len(fails):
                return False, (demand, first + int(fails[0]))
            is_right &= bool((values > errors if demand.strict else values >= errors).all())
        return is_right, None

    def path(self, demand: Demand, openings: int) -> str:
        """Return the string whose sum is the least of a demand's output in its direction, for a number of `(`."""
        assert self.begins is not None
        row, tokens = self.rows.index((demand.output, demand.direction)), list[str]()
        for length, begins in zip(range(self.length, 0, -1), reversed(self.begins), strict=True):
            is_open = openings == length or (openings > 0 and begins[row, openings - 1])
            tokens.append(OPEN if is_open else CLOSE)
            openings -= is_open
        return "".join(tokens)


def _is_rounded(diagonal: Diagonal) -> bool:
    return diagonal.terms.dtype == np.float64


def _joined(opening: NDArray[Any], closing: NDArray[Any], choose: Callable[..., NDArray[Any]]) -> NDArray[Any]:
    """Choose between what begins with `(`, which leads to one n more, and what begins with `)`; at the ends there is one."""
    return np.concatenate([closing[:, :1], choose(opening[:, :-1], closing[:, 1:]), opening[:, -1:]], axis=1)
