"""Many linear networks as arrays whose last axis is the network, and their terms δ_k and γ_k in doubles with proved bounds.

The matrix and the vectors of a step are read by running it with all but one of its weights set to 0, on unit vectors: each
sum then has one term that is not 0, so that nothing is rounded.

**Errors.** Let u = 2^−53, d the size of a state, |r| the sum of the sizes of a row, and |x| the greatest size in a column. A row
r_k = w·U^k is worked out from the row before it, which loses at most d·u·Σ_i |r_k,i|·s_i, where s_i is the sum of the sizes in
the row i of U. What is lost at step j has been multiplied by U^(k−j−1) at step k. Let W be the size of the readout's weights.
The rows are multiplied with two columns x, each rounded at most three times. Let c be at least |U^m·x| for both of them and
all m up to the length in question, and at least the size of all that x is a sum of. Then the errors of δ_k and γ_k are each
at most

    (d + 5)·u·c·(W + Σ_{j≤k} Σ_i |r_j,i|·(1 + s_i))

where 5 for 4 covers what the bound itself rounds.

**Columns and powers.** With m² at least the length, all columns come from the first m by products with A = U^m. The computed
powers of a matrix are R_0 = I, R_(i+1) = R_i·U + E with |E| ≤ f·|R_i|, where |·| is the greatest sum of sizes along a row, and
f = d·u·|U|. So U^i = R_i − Σ E·U^(i−j−1), and if q is the greatest of all |R_i| and n·f·q ≤ 1/1000, no |U^i| with i ≤ n
is above q·1.002, by induction, and no power is off by more than 1.002·n·f·q². The same holds for the powers of A with f = (the
error of A) + d·u·|A|. The product of both greatest norms is at least |U^i| for all i < m², and as above a column is off by no
more than this times (n·(the f of U) + n·(the f of A))·(the greatest column) + 4·u·X, where X is the size of all that a column is
a sum of. Where 1/1000 is not reached the bound is infinite, and nothing is decided.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import isqrt
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT, Recurrence
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks import Network
from tallystick.networks.readout import GREATEST, NOTHING, SIGN
from tallystick.numbers.values import numbers_of

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

UNIT = 2.0**-53
_SMALLEST, _GREATEST = 1e-50, 1e50
LOST = 1e-250
"""Added to the size of each row: far above what is lost where a product becomes subnormal, and far below all that counts."""
_SURE = 1e-3


class Range(NamedTuple):
    """An output that must be above 0 in a direction, or at least 0, for all counts from one sign to another."""

    output: int
    direction: int
    lowest: int
    highest: int

    def openings(self, length: int) -> tuple[int, int]:
        """Return the least and the greatest number of opening brackets of such strings, the least above the other if none are."""
        above = (length + 1) // 2
        least = {-1: 0, 0: above, 1: length // 2 + 1}[self.lowest]
        greatest = {-1: above - 1, 0: length // 2, 1: length}[self.highest]
        return least, greatest


@dataclass(frozen=True)
class LinearNetworks:
    """Linear networks, each entry an array whose last axis is the network.

    Attributes:
        opening: the matrix that multiplies the state at `(`, with the axes row, column and network.
        closing: the same for `)`.
        steps: what `(` adds to the state less what `)` adds, one row per number of the state.
        drifts: what `)` adds.
        step_sizes: at least the size of both, and of what they are sums of.
        outputs: w of each output, with the axes output, number of the state and network.
        output_sizes: W.
        constants: c of each output.
        constant_sizes: at least their sizes, and those of what they are differences of.
        ranges: what the task asks of the outputs.
    """

    opening: Floats
    closing: Floats
    steps: Floats
    drifts: Floats
    step_sizes: Floats
    outputs: Floats
    output_sizes: Floats
    constants: Floats
    constant_sizes: Floats
    ranges: tuple[Range, ...]

    def some(self, chosen: NDArray[np.int64]) -> "LinearNetworks":
        """Return some of the networks."""
        arrays = {
            field.name: getattr(self, field.name)[..., chosen] for field in fields(self) if field.name != "ranges"
        }
        return replace(self, **arrays)

    @property
    def is_shared(self) -> Mask:
        """Which of them have one matrix for both tokens."""
        return (self.opening == self.closing).all(axis=(0, 1))

    @property
    def in_range(self) -> Mask:
        """Which have no weights that come near overflow, or lose digits to underflow."""
        parts = (self.opening, self.closing, self.steps, self.drifts, self.outputs, self.constants)
        sizes = np.abs(np.concatenate([part.reshape(-1, part.shape[-1]) for part in parts]))
        return ((sizes == 0) | ((sizes > _SMALLEST) & (sizes < _GREATEST))).all(axis=0)

    @cached_property
    def row_sums(self) -> Floats:
        """s_i of the matrix of `(`, one row per number of the state."""
        return np.abs(self.opening).sum(axis=1)

    def next_rows(self, rows: Floats) -> Floats:
        """Return the rows of all outputs times the matrix of `(`."""
        found = rows[:, 0, None] * self.opening[0]
        for place in range(1, len(self.opening)):
            found += rows[:, place, None] * self.opening[place]
        return found

    def column_sizes(self, length: int) -> Floats:
        """Return c for all lengths up to this one."""
        root, lost = isqrt(length - 1) + 1, len(self.opening) * UNIT
        U = np.ascontiguousarray(np.moveaxis(self.opening, -1, 0))
        columns = np.ascontiguousarray(np.moveaxis(np.stack([self.steps, self.drifts], axis=1), -1, 0))
        error = lost * _norms(U)
        A, young, off = _power(U, error, root)
        _, old, _ = _power(A, off + lost * _norms(A), root)
        first = [columns]
        for _ in range(root - 1):
            first.append(U @ first[-1])
        columns = np.concatenate(first, axis=2)
        greatest = np.abs(columns).max(axis=(1, 2))
        for _ in range(root - 1):
            columns = A @ columns
            greatest = np.maximum(greatest, np.abs(columns).max(axis=(1, 2)))
        off = young * old * 1.01 * (root * (error + off + lost * _norms(A)) * greatest + 4 * UNIT * self.step_sizes)
        return 1.01 * np.maximum(greatest + off, self.step_sizes)


def _power(matrices: Floats, error: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Return the power of that number, at least the greatest norm of all powers up to it, and a bound on the error of the last.

    The axes are network, row and column; the error is f.
    """
    power, greatest = matrices, np.maximum(1.0, _norms(matrices))
    for _ in range(count - 1):
        power = power @ matrices
        greatest = np.maximum(greatest, _norms(power))
    sure = 1.01 * count * error * greatest <= _SURE
    return power, np.where(sure, 1.01 * greatest, np.inf), 1.01 * count * error * greatest**2


def _norms(matrices: Floats) -> Floats:
    return np.abs(matrices).sum(axis=2).max(axis=1)


def linear_networks(networks: Network) -> LinearNetworks | None:
    """Read networks whose weights are arrays; None where they are not linear, or not asked for the sign of n − m."""
    cell, readout, task = networks.cell, networks.readout, networks.task
    if not cell.is_affine or readout.decision not in (SIGN, GREATEST):
        return None
    if task.machine is not BB_COUNTER or not task.is_by_sign:
        return None
    start = numbers_of(cell.initial_state)
    if any(np.any(number) for number in start) or tuple(cell.hidden(start)) != tuple(start):
        return None
    size = len(np.asarray(readout.bias[0]))
    only = {name: _only(cell, name) for name in ("recurrent_weight", "input_weight", "bias")}
    nothing, units = (0,) * len(start), [tuple(int(i == j) for j in range(len(start))) for i in range(len(start))]

    def step(part: str, token: str, state: tuple[int, ...] = nothing) -> Floats:
        found = only[part].step(state, ONE_HOT[token])
        return np.stack([np.broadcast_to(np.asarray(number, np.float64), size) for number in found])

    opening, closing = (
        np.stack([step("recurrent_weight", token, unit) for unit in units], axis=1) for token in (OPEN, CLOSE)
    )
    first, second = step("input_weight", OPEN), step("input_weight", CLOSE)
    bias, sizes = step("bias", CLOSE), _sizes_of_biases(only["bias"], nothing, size)
    outputs, constants, ranges = _outputs(networks)
    return LinearNetworks(
        opening,
        closing,
        first - second,
        second + bias,
        (np.abs(first) + np.abs(second) + sizes).max(axis=0),
        outputs,
        np.abs(np.array(readout.weight, np.float64)).sum(axis=(0, 1)),
        constants,
        np.abs(np.array(readout.bias, np.float64)).sum(axis=0),
        ranges,
    )


def _only(cell: Recurrence, name: str) -> Recurrence:
    """Return a cell with all weights but those of one name set to 0."""

    def number(weight: Any, called: str) -> Any:  # noqa: ANN401 -- an array
        return np.asarray(weight, np.float64) * (called == name)

    return cell.map_weights(number)


def _sizes_of_biases(cell: Recurrence, nothing: tuple[int, ...], size: int) -> Floats:
    """Return the sum of the sizes of all biases of each unit."""

    def number(weight: Any, _: str) -> Any:  # noqa: ANN401 -- an array
        return np.abs(weight)

    found = cell.map_weights(number).step(nothing, ONE_HOT[CLOSE])
    return np.stack([np.broadcast_to(np.asarray(number, np.float64), size) for number in found])


def _outputs(networks: Network) -> tuple[Floats, Floats, tuple[Range, ...]]:
    """Return each comparison of a readout as an output that is compared with 0, and which counts need it; y and −y are one."""
    readout, task = networks.readout, networks.task
    pairs: dict[tuple[int, int], int] = {}
    signs: dict[tuple[int, int], list[int]] = {}
    for sign in (-1, 0, 1):
        for greater, less, _ in readout.comparisons[task.index_of_count(sign)]:
            turned = (less, greater) in pairs
            output = pairs[less, greater] if turned else pairs.setdefault((greater, less), len(pairs))
            signs.setdefault((output, -1 if turned else 1), []).append(sign)
    ranges: list[Range] = []
    for (output, direction), found in signs.items():
        joint = len(found) > found[-1] - found[0]
        ends = [(found[0], found[-1])] if joint else [(sign, sign) for sign in found]
        ranges += [Range(output, direction, *end) for end in ends]
    weight, bias = (np.array(part, np.float64) for part in (readout.weight, readout.bias))
    weight, bias = (np.concatenate([part, 0 * part[:1]]) for part in (weight, bias))
    assert NOTHING == -1, "the row of nothing is the last"
    differences = [tuple(part[greater] - part[less] for part in (weight, bias)) for greater, less in pairs]
    rows, constants = zip(*differences, strict=True)
    return np.stack(cast("list[Floats]", rows)), np.stack(cast("list[Floats]", constants)), tuple(ranges)
