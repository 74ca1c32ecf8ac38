"""What each token of a string adds to the outputs of a linear network: the sequences δ and γ of `affine`, to any length.

**Few products give many terms.** For k = m·j + i, δ_k = (w·U^(m·j))·(U^i·(a − b)): about 2·√N vectors give N terms. They are
made by doubling: the vectors of i < 2^(s+1) are those of i < 2^s, and these times U^(2^s). So no vector is further than log₂
N products from its start, and errors do not pile up from token to token.

**Three arithmetics.** Vectors are whole numbers of 2^−p, rounded down, with a bound on the error of each entry. From them
come doubles, whose products are off by what is said at `_doubles`; whole numbers again (`Precision.WIDE`), where doubles do
not decide; or exact numbers, over one common denominator, where only these can: at a tie.

For products of a matrix P with entries off by at most f (p-digit units; P̂ = P + F is the true one): the entries of P̂·P̂ −
P·P are at most f·(r + c) + d·f², where r and c are the greatest sums of sizes along a row and a column of P; rounding down
adds less than 1. The same holds for a product of two different matrices, each error with the sums of the other.
"""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.linear.affine import AffineNetwork
from tallystick.certificates.linear.whole_products import Whole, whole_product

UNIT = 2.0**-53
SUBNORMAL, TINY = 2.0**-1070, 2.0**-1000
"""Above what is lost where a double becomes subnormal; far above that, and far below all that counts."""

PLACES = (160, 320, 640, 1280)
SPARE = 70
"""Errors of whole numbers are to be below 2^−70, so that those of doubles are what counts."""

_MOST_DIGITS, _MOST_ENTRIES = 1 << 18, 1 << 25
"""The most binary digits of an exact number, and the most entries of rows that are multiplied for it."""


class Precision(Enum):
    """How terms are known."""

    DOUBLE = "double"
    WIDE = "wide"
    EXACT = "exact"


@dataclass(frozen=True)
class Responses:
    """The terms of every output up to some length, all times one positive number.

    Attributes:
        openings: δ, one row per output.
        drifts: γ, the same.
        constants: C of each output.
        constant_error: a bound on their error.
        errors: for each output and length T a bound on Σ_{k<T} of the errors of δ_k and of γ_k; the first T is 0.
        is_rounded: whether sums of these numbers are rounded, as with doubles.
    """

    openings: NDArray[Any]
    drifts: NDArray[Any]
    constants: NDArray[Any]
    constant_error: Any
    errors: NDArray[Any]
    is_rounded: bool

    @property
    def length(self) -> int:
        """To which length they go."""
        return self.openings.shape[1]

    @cached_property
    def sizes(self) -> NDArray[Any]:
        """Σ_{k<T} |δ_k| + |γ_k| for each output and each T from 0 on, by which the rounding of sums is bounded."""
        return _sums_before(np.abs(self.openings) + np.abs(self.drifts))


class Product(NamedTuple):
    """A matrix of whole numbers, and a bound on the error of its entries."""

    entries: Whole
    error: int

    def times(self, other: "Product", places: int) -> "Product":
        """Multiply, and round down."""
        along, across = greatest_sum(self.entries, 1), greatest_sum(other.entries, 0)
        error = self.error * across + other.error * along + len(other.entries) * self.error * other.error
        return Product(whole_product(self.entries, other.entries) >> places, (error >> places) + 2)

    def beside(self, other: "Product", axis: int) -> "Product":
        """Put another matrix below this one, or to the right of it."""
        return Product(np.concatenate([self.entries, other.entries], axis=axis), max(self.error, other.error))


def greatest_sum(entries: Whole, axis: int) -> int:
    """Return the greatest sum of sizes along an axis."""
    return int(np.abs(entries).sum(axis=axis).max())


def size_of(entries: Whole) -> int:
    """Return the binary digits of the largest entry."""
    return int(np.abs(entries).max()).bit_length()


class ResponseMaker:
    """Makes the terms of a network up to any length, and keeps what a longer length needs again."""

    def __init__(self, network: AffineNetwork) -> None:
        self.network = network
        self._places = list(PLACES)
        self._ladder = _Ladder(network, self._places.pop(0))

    def upto(self, length: int, precision: Precision) -> Responses | None:
        """Return the terms up to a length; None where that would take too long, or numbers that are too large."""
        if precision is Precision.EXACT:
            return _exact(self.network, length)
        if precision is Precision.WIDE and length * self.network.size > _MOST_ENTRIES:
            return None
        while True:
            vectors = self._ladder.vectors(length)
            if vectors is not None and vectors.error >> 2 * vectors.places - SPARE == 0:
                return (_doubles if precision is Precision.DOUBLE else _wide)(self.network, vectors, length)
            if not self._places:
                return None
            self._ladder = _Ladder(self.network, self._places.pop(0))


class _Vectors(NamedTuple):
    """The rows w·U^(m·j) and the columns U^i·(a − b) and U^i·b, in units of 2^−places.

    Attributes:
        rows: for each j one row per output.
        columns: for each i the two columns.
        error: a bound on the error of a product of a row and a column, in units of 2^(−2·places).
        places: the binary places of an entry.
        shift: by how many binary places the products are too small, since outputs and inputs were brought to the size of 1.
    """

    rows: Whole
    columns: Whole
    error: int
    places: int
    shift: int


class _Ladder:
    """The powers U^(2^s), and the columns that the first of them make, as far as they were asked for."""

    def __init__(self, network: AffineNetwork, places: int) -> None:
        self.network, self.places = network, places
        self.shifts = size_of(network.outputs), size_of(network.inputs)
        self.powers = [Product((network.matrix << places) // network.divisor, 1)]
        self.columns = [Product((network.inputs << places) >> self.shifts[1], 1)]

    def vectors(self, length: int) -> _Vectors | None:
        """Return the vectors for all terms up to a length; None where their numbers become too large."""
        places, doublings = self.places, max(length - 1, 1).bit_length()
        small = doublings // 2
        while len(self.powers) < doublings:
            self.powers.append(self.powers[-1].times(self.powers[-1], places))
            if size_of(self.powers[-1].entries) > 3 * places:
                self.powers.pop()
                return None
        while len(self.columns) <= small:
            more = self.powers[len(self.columns) - 1].times(self.columns[-1], places)
            self.columns.append(self.columns[-1].beside(more, axis=1))
        rows, columns = Product((self.network.outputs << places) >> self.shifts[0], 1), self.columns[small]
        for power in self.powers[small:doublings]:
            rows = rows.beside(rows.times(power, places), axis=0)
        sums = greatest_sum(rows.entries, 1), greatest_sum(columns.entries, 0)
        error = rows.error * sums[1] + columns.error * sums[0] + self.network.size * rows.error * columns.error
        return _Vectors(rows.entries, columns.entries, error, places, sum(self.shifts))


def _products(
    rows: NDArray[Any], columns: NDArray[Any], outputs: int, length: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return δ and γ, one row per output."""
    found = [
        np.stack([(rows[output::outputs] @ columns[:, which::2]).ravel()[:length] for output in range(outputs)])
        for which in (0, 1)
    ]
    return found[0], found[1]


@np.errstate(all="ignore")
def _doubles(network: AffineNetwork, vectors: _Vectors, length: int) -> Responses:
    """Return the terms as doubles.

    Each entry is rounded once, by u = 2^−53 of it, and a product of vectors of size d is off by at most d·u/(1 − d·u) of the
    product of their sizes, whatever the order of its sums. So (d + 4)·u of that covers both, and 2·u more what rounds the bound.
    """
    outputs = len(network.constants)
    rows, columns = (as_doubles(entries, vectors.places) for entries in (vectors.rows, vectors.columns))
    openings, drifts = _products(rows, columns, outputs, length)
    sizes = np.add(*_products(np.abs(rows), np.abs(columns), outputs, length))
    whole = 2 * (vectors.error + 1) / (1 << 2 * vectors.places)
    lost = SUBNORMAL * network.size * float(np.abs(rows).max() + np.abs(columns).max())
    errors = (network.size + 6) * UNIT * sizes + (1.001 * whole + lost + TINY)
    constants = as_doubles(np.array(network.constants, object), vectors.shift)
    constant_error = 2 * UNIT * float(np.abs(constants).max()) + TINY
    return Responses(openings, drifts, constants, constant_error, 1.001 * _sums_before(errors), is_rounded=True)


def as_doubles(entries: Whole, places: int) -> NDArray[np.float64]:
    """Divide by 2^places, rounded once; what is too large becomes infinite, so that nothing is decided by it."""
    unit = 1 << places

    def quotient(entry: int) -> float:
        try:
            return entry / unit
        except OverflowError:
            return np.inf

    found = np.array([quotient(entry) for entry in entries.flat], np.float64)
    return found.reshape(entries.shape)


def _wide(network: AffineNetwork, vectors: _Vectors, length: int) -> Responses:
    """Return the terms as whole numbers of 2^−places, rounded down."""
    places = vectors.places
    found = _products(vectors.rows, vectors.columns, len(network.constants), length)
    openings, drifts = (terms >> places for terms in found)
    constants = np.array([(constant << places) >> vectors.shift for constant in network.constants], object)
    error = 2 * ((vectors.error >> places) + 2)
    errors = np.array([[error * length for length in range(length + 1)]] * len(constants), object)
    return Responses(openings, drifts, constants, 1, errors, is_rounded=False)


def _exact(network: AffineNetwork, length: int) -> Responses | None:
    """Return the terms times D^(length − 1)."""
    if length * network.digits > _MOST_DIGITS or length * network.matrix.size > _MOST_ENTRIES:
        return None
    rows, terms = network.outputs, list[Whole]()
    for _ in range(length):
        terms.append(rows @ network.inputs)
        rows = rows @ network.matrix
    scale, scaled = 1, list[Whole]()
    for term in reversed(terms):
        scaled.append(term * scale)
        scale *= network.divisor
    found = np.stack(scaled[::-1], axis=1)
    constants = np.array([constant * (scale // network.divisor) for constant in network.constants], object)
    errors = np.zeros((len(constants), length + 1), object)
    return Responses(found[:, :, 0], found[:, :, 1], constants, 0, errors, is_rounded=False)


def _sums_before(values: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of the first T values along each row, from T = 0 on."""
    return np.concatenate([np.zeros((len(values), 1), values.dtype), np.cumsum(values, axis=1)], axis=1)
