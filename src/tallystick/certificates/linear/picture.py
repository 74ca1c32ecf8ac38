"""What is drawn of a linear network: eigenvalues, what each bracket adds, its limit, and what is left of the margin.

With U = Σ λ_j·P_j, the terms of an output (`affine`) are δ_k = Σ c_j·λ_j^k with c_j = w·P_j·(a − b): the readout sees an
eigenvalue by its weight c_j, and one with c_j = 0 never matters. If 1 is the only eigenvalue seen that is not inside the unit
circle, δ_k tends to L, which is the weight of the eigenvalue 1. Of two long strings with the same count one may then have
nearly Σ|δ_k − L| more than the other. So a network whose output tells count 0 from count 1 at every length has

    Σ |δ_k − L|  ≤  L/2, or L where only even lengths count,

and twice as much where it tells count −1 from count 1.

The least output that has to be above 0 and the greatest one that must not be, over all strings of a length, show the same
length by length: a string fails where one of them is on the wrong side.

The limit L is exact. All else is in doubles, for drawing: verdicts and failing strings come from `certify`.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.linear.affine import AffineNetwork, Demand, affine_network
from tallystick.certificates.linear.limits import eigenprojection
from tallystick.certificates.linear.responses import Responses
from tallystick.certificates.linear.sorting import least_outputs
from tallystick.certificates.verdict import Lengths
from tallystick.errors import BadInput
from tallystick.networks import Network

LONGEST = 4096
"""How far terms are worked out."""

_SAME, _SEEN, _INDEPENDENT = 1e-7, 1e-9, 1e-8
"""Below these: the distance of equal eigenvalues, the share of a weight that is not seen, the size of dependent eigenvectors."""

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Mode:
    """An eigenvalue and its weight in an output; the weight is NaN where U has too few eigenvectors to tell."""

    value: complex
    weight: complex


@dataclass(frozen=True)
class OutputPicture:
    """One output y of a network, in the readout's own units, turned so that y should rise with the count.

    Attributes:
        name: the classes that it tells apart.
        modes: the eigenvalues of U, largest first, each with its weight.
        openings: δ_k, what a bracket adds to y if it opens instead of closing, with k tokens after it.
        drifts: γ_k, by which the output of `)))…` grows with its length.
        constant: the output before the first token.
        limit: L; None where δ_k has no limit.
        least: for each length from 1 on the least y among the strings that need y > 0; NaN where there are none.
        greatest: the greatest y among the strings that need y ≤ 0.
        gap: the sign of the least count that needs y > 0 less that of the greatest count that needs y ≤ 0: 1 or 2.
    """

    name: str
    modes: tuple[Mode, ...]
    openings: Doubles
    drifts: Doubles
    constant: float
    limit: Fraction | None
    least: Doubles
    greatest: Doubles
    gap: int

    @property
    def seen(self) -> list[Mode]:
        """The eigenvalues that the readout sees, by their weight; all of them where weights are not known."""
        largest = max((abs(mode.weight) for mode in self.modes), default=0.0)
        return [mode for mode in self.modes if not abs(mode.weight) <= _SEEN * largest]

    @property
    def has_weights(self) -> bool:
        """Whether the weights of the eigenvalues are known."""
        return not any(np.isnan(mode.weight) for mode in self.modes)

    @cached_property
    def deviation(self) -> float | None:
        """Σ|δ_k − L| over the terms that were worked out; None without a limit."""
        return None if self.limit is None else float(np.abs(self.openings - float(self.limit)).sum())

    def room(self, lengths: Lengths) -> float | None:
        """Return what Σ|δ_k − L| must not exceed, if the network is to be right at every length; None without a limit."""
        return None if self.limit is None else float(self.limit) * self.gap * lengths.stride / 2

    @property
    def is_nearly_settled(self) -> bool:
        """Whether δ_k would have a limit if the eigenvalues next to 1 were 1 itself, which they are not."""
        large = [mode for mode in self.seen if abs(mode.value) > 1 - _SAME]
        return self.limit is None and self.has_weights and all(abs(mode.value - 1) < _SAME for mode in large)

    @property
    def is_constant(self) -> bool:
        """Whether every bracket adds the same, however many tokens follow."""
        return bool(np.abs(self.openings - self.openings[0]).max() <= _SEEN * abs(self.openings[0]))


@dataclass(frozen=True)
class LinearPicture:
    """A linear network as it is drawn: U's eigenvalues, and its outputs."""

    network: Network
    outputs: tuple[OutputPicture, ...]


@np.errstate(all="ignore")  # what overflows is left out of the drawing
def picture_of(network: Network, length: int = 64) -> LinearPicture:
    """Return what is drawn of a linear network, its margins up to a length.

    >>> from tallystick.cells import LinearLayer
    >>> from tallystick.networks import Readout
    >>> cell = LinearLayer(((1, -1), (1, -1)), ((1, 0), (0, 0.5)), (0, 0), (0, 0))
    >>> (output,) = picture_of(Network(cell, Readout(((1, -0.2),), (-0.5,))), 4).outputs
    >>> output.name, [(mode.value.real, round(mode.weight.real, 3)) for mode in output.modes], output.limit
    ('Pos against ZeroNeg', [(1.0, 2.0), (0.5, -0.4)], Fraction(2, 1))
    >>> round(output.deviation, 3), output.openings[:3].round(3).tolist()
    (0.8, [1.6, 1.8, 1.9])
    """
    affine = affine_network(network)
    if affine is None or not affine.is_shared:
        raise BadInput(
            f"cell: a {network.cell.name} network with the task {network.task.name!r} has no such picture; it is of linear "
            "networks with one matrix for both tokens that tell the sign of the count"
        )
    drawn = _Drawn.of(affine)
    projection = eigenprojection(affine)
    length = min(length, LONGEST)
    return LinearPicture(
        network, tuple(drawn.output(network, projection, place, length) for place in range(len(drawn.rows)))
    )


@dataclass(frozen=True)
class _Drawn:
    """A network in doubles, its outputs in the readout's own units."""

    affine: AffineNetwork
    matrix: Doubles
    columns: Doubles
    rows: Doubles
    constants: Doubles

    @classmethod
    def of(cls, affine: AffineNetwork) -> "_Drawn":
        shift = max(int(abs(entry)).bit_length() for entry in affine.inputs.flat)
        return cls(
            affine,
            np.array([[ratio(entry, affine.divisor) for entry in row] for row in affine.matrix]),
            np.array([[ratio(entry, 1 << shift) for entry in row] for row in affine.inputs]),
            # Outputs and inputs were multiplied together by the scale of an output.
            np.array(
                [
                    [ratio(w << shift, scale) for w in row]
                    for row, scale in zip(affine.outputs, affine.scales, strict=True)
                ]
            ),
            np.array([ratio(c, scale) for c, scale in zip(affine.constants, affine.scales, strict=True)]),
        )

    @cached_property
    def terms(self) -> Responses:
        """The terms δ and γ of every output, token by token."""
        rows, found = self.rows, np.empty((LONGEST, len(self.rows), 2))
        for k in range(LONGEST):
            found[k] = rows @ self.columns
            rows = rows @ self.matrix
        errors = np.zeros((len(rows), LONGEST + 1))
        return Responses(found[:, :, 0].T, found[:, :, 1].T, self.constants, 0.0, errors, is_rounded=True)

    def output(
        self, network: Network, projection: list[list[Fraction]] | None, place: int, length: int
    ) -> OutputPicture:
        """Return one output; −y in its place where y should fall with the count."""
        demands = [demand for demand in self.affine.demands if demand.output == place]
        sign = orientation(self.affine, place)
        modes = tuple(Mode(mode.value, sign * mode.weight) for mode in self.modes(place))
        limit = self.limit(projection, place, modes)
        least, greatest = (
            np.array(
                [
                    self.extreme([one for one in demands if one.direction == sign * side], size)
                    for size in range(1, length + 1)
                ]
            )
            for side in (1, -1)
        )
        return OutputPicture(
            output_name(network, self.affine, place, sign),
            modes,
            sign * self.terms.openings[place],
            sign * self.terms.drifts[place],
            sign * float(self.constants[place]),
            None if limit is None else sign * limit,
            least,
            -greatest,
            min((one.side for one in demands if one.direction == sign), default=0)
            - max((one.side for one in demands if one.direction != sign), default=0),
        )

    def extreme(self, demands: list[Demand], length: int) -> float:
        """Return the least output in the demands' direction, over all strings of a length that they ask for."""
        asked = [demand for demand in demands if demand.side or length % 2 == 0]
        return min(
            (float(least_outputs(self.terms, demand, length - 1, length)[0][0]) / 2 for demand in asked), default=np.nan
        )

    def modes(self, place: int) -> list[Mode]:
        """Return the eigenvalues with their weights in an output, equal ones as one, the largest first."""
        values, vectors = np.linalg.eig(self.matrix)
        if np.linalg.cond(vectors) > 1 / _INDEPENDENT:
            weights = np.full(len(values), np.nan)
        else:
            weights = (self.rows[place] @ vectors) * np.linalg.solve(vectors, self.columns[:, 0])
        found: list[Mode] = []
        for value, weight in sorted(zip(values, weights, strict=True), key=lambda pair: (-abs(pair[0]), -pair[0].imag)):
            same = next((at for at, mode in enumerate(found) if abs(mode.value - value) < _SAME), None)
            if same is None:
                found.append(Mode(complex(value), complex(weight)))
            else:
                found[same] = Mode(found[same].value, found[same].weight + complex(weight))
        return found

    def limit(self, projection: list[list[Fraction]] | None, place: int, modes: tuple[Mode, ...]) -> Fraction | None:
        """Return w·E·(a − b), with E the projection onto the eigenvalue 1; None where another eigenvalue keeps δ moving."""
        others = modes if projection is None else [mode for mode in modes if abs(mode.value - 1) >= _SAME]
        largest = max(abs(mode.weight) for mode in modes)
        if any(abs(mode.value) > 1 - _SAME and not abs(mode.weight) <= _SEEN * largest for mode in others):
            return None
        if projection is None:
            return Fraction(0)
        column = [
            sum((E * int(x) for E, x in zip(row, self.affine.inputs[:, 0], strict=True)), Fraction(0))
            for row in projection
        ]
        total = sum((int(w) * x for w, x in zip(self.affine.outputs[place], column, strict=True)), Fraction(0))
        return total / self.affine.scales[place]


def orientation(affine: AffineNetwork, place: int) -> int:
    """Return 1 for an output that should rise with the count, and −1 for one that should fall."""
    rising = sum(demand.direction * demand.side for demand in affine.demands if demand.output == place)
    return 1 if rising >= 0 else -1


def output_name(network: Network, affine: AffineNetwork, place: int, sign: int) -> str:
    """Name the classes that need an output, times a sign, to be above 0, and those that need it not to be."""

    def names(direction: int) -> str:
        found = zip(network.task.classes, affine.forms, strict=True)
        return " or ".join(str(name) for name, forms in found if any(form[:2] == (place, direction) for form in forms))

    return f"{names(sign)} against {names(-sign)}"


def ratio(upper: int, lower: int) -> float:
    """Divide whole numbers; refuse what no double holds."""
    try:
        return upper / lower
    except OverflowError:
        raise BadInput("network: a number is too large to be drawn, since no double holds it") from None
