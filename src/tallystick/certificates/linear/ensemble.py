"""The horizons of many linear networks at once, in real arithmetic, as `certify` finds them one by one.

Length by length, all networks go through what `sorting` says of one. With t_k = 2·γ_k + M − 2·max(0, M − δ_k), every string of
length T with n opening brackets has

    2·y ≥ 2·C + (2·n − T)·M + Σ_{k<T} t_k     for every number M,

so a running sum shows that a length is right as long as M is not too far from where it should be. Only the networks for which
it does not look for the M that makes this an equality, which decides the length and serves for the next ones.

Doubles with proved bounds on their errors decide nearly all (`arrays`). Whatever they leave open goes to `certify`: a tie, or
a network that seems to count exactly. So does a network that lasts to the limit and may be right at every length, which needs
the eigenvalue 1 (`limits`).

Networks with a matrix for each token are certified one by one.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Cell
from tallystick.certificates.certify import certify
from tallystick.certificates.linear.arrays import LOST, UNIT, Floats, LinearNetworks, Mask, Range, linear_networks
from tallystick.certificates.linear.sorting import DEFAULT_LIMIT, METHOD
from tallystick.certificates.verdict import UNLIMITED, Horizons, Lengths, Outcome
from tallystick.errors import BadInput, check_whole
from tallystick.networks import Network
from tallystick.numbers import standard_floats

_FIRST_STAGE, _NEXT_STAGE = 4, 8
"""The first lengths are looked at alone, then up to eight times as many: most networks fail early."""

_MOST_AT_ONCE, _MOST_TERMS, _MOST_ENTRIES = 1 << 14, 1 << 23, 1 << 20
"""Networks that go through the lengths side by side, their terms, and the entries of their matrices."""

_FEW = 4
"""So few networks are quicker to decide one by one than by going on through the lengths."""

_KEPT = 0.75
"""Where fewer than this share of the networks are still searched, the others are dropped."""

_NEARLY_SINGULAR = 1e-9


def has_linear_horizons(kind: type[Cell]) -> bool:
    """Say whether many networks of this kind can be certified as linear ones."""
    return METHOD in kind.deciders


@standard_floats()
def layer_horizons(networks: Network, limit: int = DEFAULT_LIMIT) -> Horizons:
    """Return the horizons of networks whose weights are arrays, one entry per network, decided up to a limit.

    >>> from tallystick.cells import LinearLayer
    >>> from tallystick.networks import Readout
    >>> one, zero = np.ones(2), np.zeros(2)
    >>> layers = LinearLayer(((one, -one), (zero, one)), ((one, zero), (zero, np.array([0.5, 1.0]))), (zero,) * 2, (zero,) * 2)
    >>> found = layer_horizons(Network(layers, Readout(((one, one / 8),), (-one / 2,))))
    >>> (found.all == UNLIMITED).tolist(), found.all.tolist()[1:], found.all_exact.tolist()
    ([True, False], [9], [True, True])
    """
    check_whole(limit, "limit", least=2)
    doubles = networks.map_weights(_array)
    size = len(doubles.readout.bias[0])
    found = Horizons(np.full(size, -1), np.full(size, -1), np.ones(size, bool), np.ones(size, bool))
    arrays = linear_networks(doubles)
    if arrays is not None:
        _run(arrays, limit, found)
    for place in np.flatnonzero((found.all < 0) | (found.even < 0)).tolist():
        _certify(doubles.place(place), place, limit, found)
    return found


def _array(value: object, _: str) -> Floats:
    array = np.asarray(value)
    if array.dtype.kind != "f" or array.itemsize > np.dtype(np.float64).itemsize or array.ndim != 1:
        raise BadInput("networks: an ensemble's weights are arrays of one dimension, of float64 or less")
    if not np.isfinite(array).all():
        raise BadInput("networks: a weight is not a finite number")
    return array.astype(np.float64)


def _certify(network: Network, place: int, limit: int, found: Horizons) -> None:
    for lengths, answers, exact in zip(
        Lengths, (found.all, found.even), (found.all_exact, found.even_exact), strict=True
    ):
        if answers[place] < 0:
            verdict = certify(network, lengths, limit=limit)
            answers[place] = UNLIMITED if verdict.horizon is None else verdict.horizon
            exact[place] = verdict.outcome is not Outcome.BOUNDED


def _run(arrays: LinearNetworks, limit: int, found: Horizons) -> None:
    """Note the horizons of the networks that doubles decide.

    Those that last to the end of a stage begin again in the next, side by side with fewer others.
    """
    left, stage = np.flatnonzero(arrays.is_shared & arrays.in_range), 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while stage < limit and len(left):
            stage = min(limit, max(_FIRST_STAGE, _NEXT_STAGE * stage))
            width = min(_MOST_AT_ONCE, _MOST_TERMS // stage, _MOST_ENTRIES // len(arrays.opening) ** 2) + 1
            blocks = [left[start : start + width] for start in range(0, len(left), width)]
            searches = [_Search(arrays.some(places), places, found) for places in blocks]
            left = np.concatenate(list(pool.map(_Search.run, searches, [stage] * len(blocks))))
    _note_lasting(arrays, left, limit, found)


def _note_lasting(arrays: LinearNetworks, places: NDArray[np.int64], limit: int, found: Horizons) -> None:
    """Note the networks that last to the limit, but for those that may be right at every length."""
    matrices = np.moveaxis(arrays.opening[..., places], -1, 0)
    values = np.linalg.svd(matrices - np.eye(matrices.shape[1]), compute_uv=False)
    places = places[values[:, -1] > _NEARLY_SINGULAR * (1 + values[:, 0])]
    for answers, exact, last in (
        (found.all, found.all_exact, limit),
        (found.even, found.even_exact, limit - limit % 2),
    ):
        lasting = places[answers[places] < 0]
        answers[lasting], exact[lasting] = last, False


class _Search:
    """Goes through the lengths with the networks that have not failed yet, and notes the horizons of those that do.

    Attributes:
        networks: the networks.
        places: their places among all.
        active: which of them are still searched; the others are dropped once they are many.
        length: T, up to which all is known.
        rows: w·U^T, one per output.
        row_sizes: W and the sizes of all rows so far, as in the bound on errors (`arrays`).
        errors: the sum of `row_sizes` over all terms so far.
        terms: δ, with the axes k, output and network; as long as there is room for.
        drifts: Σ γ_k.
        sizes: Σ |δ_k| + |γ_k|.
        pivots: M, one row per range.
        sums: Σ t_k, the same.
        scale: what multiplies `errors` in that bound.
        may_count: whether δ_k and γ_k are so far those of an exact counter, up to their errors.
    """

    def __init__(self, networks: LinearNetworks, places: NDArray[np.int64], found: Horizons) -> None:
        self.networks, self.places, self.found = networks, places, found
        self.active = np.ones(len(places), bool)
        self.length = 0
        self.rows = networks.outputs
        self.row_sizes = networks.output_sizes + np.zeros_like(networks.constants)
        self.errors, self.drifts, self.sizes = (np.zeros_like(networks.constants) for _ in range(3))
        self.terms = np.zeros((0, *networks.constants.shape))
        self.pivots, self.sums = (np.zeros((len(networks.ranges), len(places))) for _ in range(2))
        self.scale = np.full(len(places), np.inf)
        self.may_count = np.ones(len(places), bool)

    @standard_floats()  # a thread begins with the usual warnings
    def run(self, limit: int) -> NDArray[np.int64]:
        """Note the horizons up to a limit; return the places of those that last to it."""
        self.scale = (len(self.networks.opening) + 5) * UNIT * self.networks.column_sizes(limit)
        while self.length < limit:
            left = np.count_nonzero(self.active)
            if left <= _FEW:
                return self.places[:0]
            if left < _KEPT * len(self.active):
                self._drop_others()
            self._add_token()
            self._note(*self._decide())
            if self.length == len(self.networks.opening) + 1:
                self.active &= ~self.may_count
        return self.places[self.active]

    def _drop_others(self) -> None:
        kept = np.flatnonzero(self.active)
        self.networks, self.terms = self.networks.some(kept), self.terms[: self.length]
        for name, part in vars(self).items():
            if isinstance(part, np.ndarray):
                setattr(self, name, part[..., kept])

    def _add_token(self) -> None:
        """Work out the next terms, and what they add to all sums."""
        networks, k = self.networks, self.length
        self.row_sizes += (np.abs(self.rows) * (1 + networks.row_sums)).sum(axis=1) + LOST
        self.errors += self.row_sizes
        opening, drift = ((self.rows * part).sum(axis=1) for part in (networks.steps, networks.drifts))
        if k == len(self.terms):
            room = np.zeros((max(_FIRST_STAGE, k), *opening.shape))
            self.terms = np.concatenate([self.terms, room])
        self.terms[k] = opening
        self.drifts += drift
        self.sizes += np.abs(opening) + np.abs(drift)
        size = len(networks.opening)
        if k <= size:
            error = 4 * self.scale * self.row_sizes
            same = np.abs(opening - self.terms[0]) <= error
            if k < size:
                same &= np.abs(2 * drift + opening) <= error
            self.may_count &= same.all(axis=0)
        for place, one in enumerate(networks.ranges):
            pivot, added = self.pivots[place], one.direction * opening[one.output]
            self.sums[place] += 2 * one.direction * drift[one.output] + pivot - 2 * np.maximum(pivot - added, 0)
        self.rows, self.length = networks.next_rows(self.rows), k + 1

    def _decide(self) -> tuple[Mask, Mask]:
        """Say which networks surely pass the length, and which surely fail it."""
        passes, fails = np.ones(len(self.places), bool), np.zeros(len(self.places), bool)
        asked = self.active if self.length % 2 == 0 else self.active & (self.found.all[self.places] < 0)
        for place, one in enumerate(self.networks.ranges):
            least, greatest = one.openings(self.length)
            if least > greatest:
                continue
            values, errors = self._least_outputs(one, self.pivots[place], self.sums[place], slice(None))
            stale = np.flatnonzero(asked & ~(values > errors))
            if len(stale):
                pivots, sums = self._pivots(one, stale)
                self.pivots[place, stale], self.sums[place, stale] = pivots, sums
                values, errors = self._least_outputs(one, pivots, sums, stale)
                passes[stale] &= values > errors
                fails[stale] |= values < -errors
        return passes & ~fails, fails

    def _pivots(self, one: Range, places: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the M that decides, and its Σ t_k: M lies between the n-th least term and the next, as in `sorting`."""
        least, greatest = one.openings(self.length)
        opening = one.direction * self.terms[: self.length, one.output, places].T
        ordered = np.sort(opening, axis=1)
        negative = np.count_nonzero(opening < 0, axis=1)
        pivots = np.where(negative < least, ordered[:, max(least - 1, 0)], 0.0)
        pivots = np.where(negative > greatest, ordered[:, min(greatest, self.length - 1)], pivots)
        below = np.maximum(pivots[:, None] - opening, 0).sum(axis=1)
        drift = one.direction * self.drifts[one.output, places]
        return pivots, 2 * drift + self.length * pivots - 2 * below

    def _least_outputs(
        self, one: Range, pivots: Floats, sums: Floats, places: slice | NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Return a lower bound of twice the least output, and how far it may be off.

        An entry of Σ t_k is rounded by at most 6·u·(|γ| + |δ| + |M|), a running sum of T entries by 3·T·u times the sum of all
        these, and the rest adds a few of it; all is taken twice, which covers the rounding of the bound itself.
        """
        length, networks = self.length, self.networks
        least, greatest = one.openings(length)
        edges = np.where(pivots > 0, 2 * least - length, 2 * greatest - length)
        constants = one.direction * networks.constants[one.output, places]
        values = 2 * constants + edges * pivots + sums
        sizes = self.sizes[one.output, places] + length * np.abs(pivots)
        rounding = UNIT * ((8 * length + 32) * sizes + 16 * networks.constant_sizes[places])
        return values, 4 * self.scale[places] * self.errors[one.output, places] + rounding

    def _note(self, passes: Mask, fails: Mask) -> None:
        """Note who fails at this length. Those that fail at an odd one go on, since even ones are counted alone, too."""
        found, is_even = self.found, self.length % 2 == 0
        waiting = found.all[self.places] < 0
        found.all[self.places[self.active & fails & waiting]] = self.length - 1
        if is_even:
            found.even[self.places[self.active & fails]] = self.length - 2
        self.active &= passes if is_even else passes | fails | ~waiting
