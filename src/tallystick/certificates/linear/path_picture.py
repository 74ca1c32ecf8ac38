"""What is drawn of a linear network with a matrix per token, where the two commute: factors, a path, and the margins.

A and B have the same eigenvectors, so each direction of the state has a factor P for `(` and Q for `)`. A token with n opening
and m closing brackets after it adds φ(n, m) = w·A^n·B^m·(a or b), a sum of c_j·P_j^n·Q_j^m. The extremes over all strings of a
length are those over lattice paths (`lattice_paths` decides by them, exactly); here they are in doubles, for drawing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.linear.affine import AffineNetwork, Demand, affine_network
from tallystick.certificates.linear.picture import orientation, output_name, ratio
from tallystick.certificates.linear.sorting import openings_of
from tallystick.errors import BadInput
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.networks import Network

Doubles = NDArray[np.float64]

LONGEST = 256
"""How far paths are drawn; the effort grows with the square."""

_SAME, _SEEN, _INDEPENDENT = 1e-7, 1e-9, 1e-8
_BLEND = 0.6180339887498949
"""A + this·B has the eigenvectors that both share, unless two directions happen to get the same eigenvalue."""


@dataclass(frozen=True)
class Factors:
    """The factors of one direction of the state, and the size of its weight in what tokens add to an output."""

    opening: complex
    closing: complex
    weight: float


@dataclass(frozen=True)
class PathOutput:
    """One output y of a network with a matrix per token, turned so that y should rise with the count.

    Attributes:
        name: the classes that it tells apart.
        factors: P and Q of every direction that the readout sees, the weightiest first; none where eigenvectors are too few.
        string: the string that is shown; unless another is asked for, the one of the last length that comes nearest to the
            wrong side of 0, or is the furthest on it.
        added: what each token of that string adds to y.
        end: y after that string.
        least: for each length from 1 on the least y among the strings that need y > 0; NaN where there are none.
        greatest: the greatest y among the strings that need y ≤ 0.
    """

    name: str
    factors: tuple[Factors, ...]
    string: str
    added: Doubles
    end: float
    least: Doubles
    greatest: Doubles


@np.errstate(all="ignore")  # what overflows is left out of the drawing
def path_outputs(network: Network, length: int, string: str | None = None) -> tuple[PathOutput, ...]:
    """Return what is drawn of a network whose two matrices commute: its margins up to a length, and a string at most that long.

    >>> from tallystick.cells import SelectiveCell
    >>> from tallystick.networks import Readout
    >>> (output,) = path_outputs(Network(SelectiveCell(1, -0.5, 2, 0.5), Readout.binary(1)), 4)
    >>> [(one.opening, one.closing) for one in output.factors], output.string, output.added.tolist()
    ([((2+0j), (0.5+0j))], '(())', [0.5, 0.25, -0.25, -0.5])
    """
    affine = affine_network(network)
    if affine is None or not affine.commutes:
        raise BadInput(
            f"cell: a {network.cell.name} network with the task {network.task.name!r} has no such picture; it is of linear "
            "networks that tell the sign of the count, with matrices that commute where each token has its own"
        )
    drawn = _Drawn(affine, min(length, LONGEST))
    return tuple(drawn.output(network, place, string) for place in range(len(affine.scales)))


class _Drawn:
    """A network in doubles, its outputs in the readout's own units, up to a length."""

    def __init__(self, affine: AffineNetwork, length: int) -> None:
        self.affine, self.length = affine, length
        shift = max(int(abs(entry)).bit_length() for entry in affine.steps.flat)
        self.matrices = [
            np.array([[ratio(entry, affine.divisor) for entry in row] for row in matrix]) for matrix in affine.matrices
        ]
        self.steps = np.array([[ratio(entry, 1 << shift) for entry in row] for row in affine.steps])
        scaled = zip(affine.outputs, affine.scales, strict=True)
        self.rows = np.array([[ratio(w << shift, scale) for w in row] for row, scale in scaled])

    def output(self, network: Network, place: int, string: str | None) -> PathOutput:
        """Return one output; −y in its place where y should fall with the count."""
        sign = orientation(self.affine, place)
        constant = sign * ratio(self.affine.constants[place], self.affine.scales[place])
        demands = [demand for demand in self.affine.demands if demand.output == place]
        above, below = ([one for one in demands if one.direction == sign * side] for side in (1, -1))
        terms = sign * self.terms(place)
        tables = _Sums(terms), _Sums(-terms)
        found = [
            [table.least(one_side, size) for size in range(1, self.length + 1)]
            for table, one_side in zip(tables, (above, below), strict=True)
        ]
        least = np.array([constant + value for value, _ in found[0]])
        greatest = np.array([constant - value for value, _ in found[1]])
        if string is None:
            # Where no string of the last length needs y ≤ 0, its greatest y is NaN.
            worse = int(np.isfinite(greatest[-1]) and not least[-1] <= -greatest[-1])
            opening = found[worse][-1][1]
            string = tables[worse].string(opening, self.length - opening)
        added = _added(terms, string)
        name = output_name(network, self.affine, place, sign)
        return PathOutput(name, self.factors(place), string, added, constant + float(added.sum()), least, greatest)

    def terms(self, place: int) -> Doubles:
        """Return φ of both tokens for all n and m up to the length."""
        A, B = self.matrices
        rows, columns = [self.rows[place]], [self.steps]
        for _ in range(self.length):
            rows.append(rows[-1] @ A)
            columns.append(B @ columns[-1])
        return np.einsum("nd,mdx->xnm", np.array(rows), np.array(columns))

    @cached_property
    def directions(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]] | None:
        """The eigenvectors that both matrices share, as columns, and their inverse; None where they are too few."""
        A, B = self.matrices
        _, vectors = np.linalg.eig(A + _BLEND * B)
        if np.linalg.cond(vectors) > 1 / _INDEPENDENT:
            return None
        return vectors.astype(np.complex128), np.linalg.inv(vectors).astype(np.complex128)

    def factors(self, place: int) -> tuple[Factors, ...]:
        """Return the factors that an output sees, equal ones as one."""
        if self.directions is None:
            return ()
        vectors, inverse = self.directions
        weights = np.abs((self.rows[place] @ vectors)[:, None] * (inverse @ self.steps)).max(axis=1)
        P, Q = (np.diag(inverse @ matrix @ vectors) for matrix in self.matrices)
        found: list[Factors] = []
        for at in np.argsort(-weights, kind="stable"):
            if weights[at] > _SEEN * weights.max() and not any(
                abs(one.opening - P[at]) + abs(one.closing - Q[at]) < _SAME for one in found
            ):
                found.append(Factors(complex(P[at]), complex(Q[at]), float(weights[at])))
        return tuple(found)


class _Sums:
    """The least sums of terms over all strings with n opening and m closing brackets."""

    def __init__(self, terms: Doubles) -> None:
        self.opening, self.closing = terms
        size = len(self.opening)
        self.sums = np.full((size, size), np.inf)
        self.sums[0, 0] = 0
        for length in range(1, size):
            n = np.arange(length + 1)
            m = length - n
            begins = np.full(length + 1, np.inf), np.full(length + 1, np.inf)
            begins[0][1:] = self.sums[n[1:] - 1, m[1:]] + self.opening[n[1:] - 1, m[1:]]
            begins[1][:-1] = self.sums[n[:-1], m[:-1] - 1] + self.closing[n[:-1], m[:-1] - 1]
            self.sums[n, m] = np.minimum(*begins)

    def least(self, demands: list[Demand], length: int) -> tuple[float, int]:
        """Return the least sum over the strings of a length that demands ask for, and its number of opening brackets."""
        ranges = [openings_of(demand.side, length) for demand in demands if demand.side or length % 2 == 0]
        places = [n for first, last in ranges for n in range(first, last + 1)]
        if not places:
            return np.nan, 0
        best = min(places, key=lambda n: self.sums[n, length - n])
        return float(self.sums[best, length - best]), best

    def string(self, opening: int, closing: int) -> str:
        """Return a string with so many brackets that attains the least sum."""
        tokens: list[str] = []
        while opening or closing:
            begins = opening and (
                not closing
                or self.sums[opening - 1, closing] + self.opening[opening - 1, closing]
                <= self.sums[opening, closing - 1] + self.closing[opening, closing - 1]
            )
            tokens.append(OPEN if begins else CLOSE)
            opening, closing = (opening - 1, closing) if begins else (opening, closing - 1)
        return "".join(tokens)


def _added(terms: Doubles, string: str) -> Doubles:
    """Return what each token of a string adds."""
    left = {OPEN: string.count(OPEN), CLOSE: string.count(CLOSE)}
    added: list[float] = []
    for token in string:
        left[token] -= 1
        added.append(float(terms[(OPEN, CLOSE).index(token), left[OPEN], left[CLOSE]]))
    return np.array(added)
