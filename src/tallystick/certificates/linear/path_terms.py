"""What each token of a string adds to the outputs of a network whose two matrices commute.

Since A·B = B·A, the product of the matrices after a token depends only on how many `(` and `)` follow it, n and m: the token adds
w·A^n·B^m·(a or b). The terms with n + m = T are one **diagonal**; they come one after the other, T = 0, 1, 2, …, each known
in one of three arithmetics:

- doubles, as products of the rows w·A^n with the columns B^m·a and B^m·b. These are made by doubling in whole numbers of 2^−p
  with bounds on their errors (`responses`), and rounded once;
- whole numbers of 2^−p (`Precision.WIDE`), from the same rows and columns;
- exact numbers times D^T, from the rows w·A^n·B^m of the diagonal before.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.linear.affine import AffineNetwork
from tallystick.certificates.linear.responses import (
    PLACES,
    SPARE,
    SUBNORMAL,
    TINY,
    UNIT,
    Precision,
    Product,
    as_doubles,
    greatest_sum,
    size_of,
)
from tallystick.certificates.linear.whole_products import Whole, whole_product

_FIRST_STAGE, _NEXT_STAGE = 16, 8
"""Rows and columns are made for the first lengths, then for eight times as many: most networks fail early."""

_MOST_WIDE, _MOST_EXACT = 1 << 27, 1 << 33
"""The most products of whole numbers, and the most nanoseconds in which exact ones are made."""


class Diagonal(NamedTuple):
    """What the tokens add that have T others after them.

    Attributes:
        terms: for `(` and `)`, each output and n = 0 … T, what the token adds if n of those after it are `(`.
        errors: bounds on their errors.
        constants: C of each output, in the same units as sums of terms up to the next length.
        constant_error: a bound on their error.
        factor: what sums of terms before this diagonal are multiplied by, to be in the units of the next length.
    """

    terms: NDArray[Any]
    errors: NDArray[Any]
    constants: NDArray[Any]
    constant_error: Any
    factor: int


def diagonals(network: AffineNetwork, length: int, precision: Precision) -> Iterator[Diagonal]:
    """Go through the diagonals that strings up to a length need, as far as numbers do not become too large."""
    return _exact(network, length) if precision is Precision.EXACT else _rounded(network, length, precision)


def longest(network: AffineNetwork, length: int, precision: Precision) -> int:
    """Return the greatest length, at most a given one, that does not take too long."""
    if precision is Precision.DOUBLE:
        return length
    least, most = 0, length
    while least < most:
        middle = (least + most + 1) // 2
        if precision is Precision.WIDE:
            fits = middle**2 * network.size * len(network.outputs) <= _MOST_WIDE
        else:
            fits = exact_time(network, middle) <= _MOST_EXACT
        least, most = (middle, most) if fits else (least, middle - 1)
    return least


def exact_time(network: AffineNetwork, length: int) -> int:
    """Return about how many nanoseconds the exact diagonals up to a length take."""
    weight = max(int(abs(entry)).bit_length() for matrix in network.matrices for entry in matrix.flat)
    entries = max(int(np.count_nonzero(matrix)) for matrix in network.matrices) + 2 * network.size
    digits = length * (weight + network.size.bit_length())
    return length**2 // 2 * len(network.outputs) * entries * (100 + digits // 30)


def _exact(network: AffineNetwork, length: int) -> Iterator[Diagonal]:
    (A, B), outputs = network.matrices, len(network.outputs)
    rows, constants = network.outputs, np.array(network.constants, object)
    errors = np.zeros((2, outputs, 1), object)
    for _ in range(length):
        constants = constants * network.divisor
        terms = (rows @ network.steps).reshape(-1, outputs, 2) * network.divisor
        yield Diagonal(terms.transpose(2, 1, 0), errors, constants, 0, network.divisor)
        rows = np.concatenate([whole_product(rows, B), whole_product(rows[-outputs:], A)])


class _Powers:
    """Rows times the powers 0, 1, 2, … of a matrix, as far as they were asked for."""

    def __init__(self, rows: Whole, matrix: Whole, divisor: int, places: int) -> None:
        self.shift, self.places, self.height = size_of(rows), places, len(rows)
        self.rows = Product((rows << places) >> self.shift, 1)
        self.power = Product((matrix << places) // divisor, 1)

    def upto(self, length: int) -> Product | None:
        """Return the rows times at least so many powers; None where their numbers become too large."""
        while len(self.rows.entries) < length * self.height:
            if len(self.rows.entries) > self.height:
                self.power = self.power.times(self.power, self.places)
            if size_of(self.power.entries) > 3 * self.places:
                return None
            self.rows = self.rows.beside(self.rows.times(self.power, self.places), axis=0)
        return self.rows


class _Vectors(NamedTuple):
    """The rows w·A^n and the columns B^m·a and B^m·b, in units of 2^−places.

    Attributes:
        rows: for each output one row per n.
        columns: for `(` and `)` one row per m.
        error: a bound on the error of a product of both, in units of 2^(−2·places).
        places: the binary places of an entry.
        shift: by how many binary places the products are too small, since both were brought to the size of 1.
    """

    rows: Whole
    columns: Whole
    error: int
    places: int
    shift: int


def _stages(network: AffineNetwork, length: int) -> Iterator[tuple[int, _Vectors]]:
    """Go through lengths, and the vectors that strings up to each of them need; with more places where errors ask for it."""
    places = list(PLACES)
    stage, powers = _FIRST_STAGE, _both_powers(network, places.pop(0))
    while True:
        stage = min(stage, length)
        found = _vectors(*powers, stage)
        if found is not None and found.error >> 2 * found.places - SPARE == 0:
            yield stage, found
            if stage == length:
                return
            stage *= _NEXT_STAGE
        elif places:
            powers = _both_powers(network, places.pop(0))
        else:
            return


def _both_powers(network: AffineNetwork, places: int) -> tuple[_Powers, _Powers]:
    A, B = network.matrices
    return (
        _Powers(network.outputs, A, network.divisor, places),
        _Powers(network.steps.T, B.T, network.divisor, places),
    )


def _vectors(of_rows: _Powers, of_columns: _Powers, length: int) -> _Vectors | None:
    rows, columns = of_rows.upto(length), of_columns.upto(length)
    if rows is None or columns is None:
        return None
    sums = greatest_sum(rows.entries, 1), greatest_sum(columns.entries, 1)
    size = rows.entries.shape[1]
    error = rows.error * sums[1] + columns.error * sums[0] + size * rows.error * columns.error
    return _Vectors(
        rows.entries.reshape(-1, of_rows.height, size).swapaxes(0, 1),
        columns.entries.reshape(-1, of_columns.height, size).swapaxes(0, 1),
        error,
        of_rows.places,
        of_rows.shift + of_columns.shift,
    )


def _rounded(network: AffineNetwork, length: int, precision: Precision) -> Iterator[Diagonal]:
    done, places = 0, None
    for stage, vectors in _stages(network, length):
        if precision is Precision.DOUBLE:
            yield from _doubles(network, vectors, range(done, stage))
        else:
            yield from _wide(network, vectors, range(done, stage), more=vectors.places - (places or vectors.places))
        done, places = stage, vectors.places


def _doubles(network: AffineNetwork, vectors: _Vectors, totals: range) -> Iterator[Diagonal]:
    """Go through diagonals of doubles.

    Each entry is rounded once, by u = 2^−53 of it, and a product of vectors of size d is off by at most d·u/(1 − d·u) of the
    product of their sizes, whatever the order of its sums. So (d + 4)·u of that covers both, and 2·u more what rounds the bound.
    """
    rows, columns = (
        np.ascontiguousarray(as_doubles(entries, vectors.places)) for entries in (vectors.rows, vectors.columns)
    )
    constants = as_doubles(np.array(network.constants, object), vectors.shift)
    constant_error = 2 * UNIT * float(np.abs(constants).max()) + TINY
    with np.errstate(all="ignore"):  # what overflows is not decided
        lost = SUBNORMAL * network.size * float(np.abs(rows).max() + np.abs(columns).max())
    floor = 1.001 * (2 * (vectors.error + 1) / (1 << 2 * vectors.places)) + lost + TINY
    sizes = np.abs(rows), np.abs(columns)
    for total in totals:
        with np.errstate(all="ignore"):
            terms = _along(rows, columns, total)
            errors = (network.size + 6) * UNIT * _along(*sizes, total) + floor
        yield Diagonal(terms, errors, constants, constant_error, 1)


def _along(rows: NDArray[np.float64], columns: NDArray[np.float64], total: int) -> NDArray[np.float64]:
    """Return the products of the rows 0 … T with the columns T … 0."""
    found = np.empty((len(columns), len(rows), total + 1))
    for token, column in enumerate(columns):
        for output, row in enumerate(rows):
            np.einsum("ij,ij->i", row[: total + 1], column[total::-1], out=found[token, output])
    return found


def _wide(network: AffineNetwork, vectors: _Vectors, totals: range, *, more: int) -> Iterator[Diagonal]:
    """Go through diagonals of whole numbers of 2^−places, rounded down; before the first there were some places less."""
    places = vectors.places
    constants = np.array([(constant << places) >> vectors.shift for constant in network.constants], object)
    errors = np.full((2, len(constants), 1), (vectors.error >> places) + 2, object)
    for total in totals:
        rows, columns = vectors.rows[:, : total + 1], vectors.columns[:, total::-1]
        terms = (rows[None] * columns[:, None]).sum(axis=-1) >> places
        yield Diagonal(terms, errors, constants, 1, 1 << more if total == totals.start else 1)
