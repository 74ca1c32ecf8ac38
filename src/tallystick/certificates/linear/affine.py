"""Linear networks of any dimension: U, what each token adds, and what the readout asks, all in whole numbers.

The step of a linear layer, or of a stack of them, is h' = U·h + s(x) with s = a for `(` and b for `)`. With T the length of a
string, and k the number of tokens after a bracket, an output w·h + c is

    y = C + Σ_{k<T} γ_k + Σ_{k: opening} δ_k,     δ_k = w·U^k·(a − b),   γ_k = w·U^k·(b + (U − I)·h₀),   C = c + w·h₀

since w·U^T·h₀ is w·h₀ and all that the steps from U^k·h₀ to U^(k+1)·h₀ add. So δ_k is what a bracket adds if it opens instead
of closing, and C and γ alone give the output of `)))…`.

U is not read from the weights but from the step: it is run once on sums of unknowns (`programs`), so a stack, its tokens'
vectors and its start are read like any layer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from tallystick.cells import ONE_HOT, Recurrence
from tallystick.certificates.linear.whole_products import Whole
from tallystick.certificates.programs import Recorded, Recording, recorded_numbers
from tallystick.errors import BadInput
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks import Network
from tallystick.networks.readout import Form
from tallystick.numbers.values import Vector, dot, numbers_of


class Demand(NamedTuple):
    """What a readout asks of the strings whose count has one sign, so that they get their right class.

    Attributes:
        output: the place of an output y.
        direction: 1 or −1: direction·y must be above 0, or at least 0 where the demand is not strict.
        strict: whether it must be above 0.
        side: the sign of the count of the strings.
    """

    output: int
    direction: int
    strict: bool
    side: int


@dataclass(frozen=True)
class AffineNetwork:
    """A linear network; each output may be multiplied by a positive number, which leaves its sign as it is.

    Attributes:
        matrix: D·U, one row per number of the state.
        divisor: D.
        inputs: the columns a − b and b + (U − I)·h₀, times one positive number.
        outputs: w of each output, times a positive number, one row each.
        constants: C of each output, times both.
        demands: what the task asks of the outputs.
        forms: for each class the outputs and directions that make it, and whether they must be above 0.
        scales: the positive number that each output was multiplied by, its terms δ and γ and its C alike.
    """

    matrix: Whole
    divisor: int
    inputs: Whole
    outputs: Whole
    constants: tuple[int, ...]
    demands: tuple[Demand, ...]
    forms: tuple[tuple[tuple[int, int, bool], ...], ...]
    scales: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers a state has."""
        return len(self.matrix)

    @property
    def digits(self) -> int:
        """How many binary digits a step adds to exact numbers."""
        return self.divisor.bit_length() + max(int(abs(entry)).bit_length() for entry in self.matrix.flat)


def affine_network(network: Network) -> AffineNetwork | None:
    """Return a network as an affine one; None where it is none, or is asked for something else than the sign of n − m.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.networks import Readout
    >>> found = affine_network(Network(LinearCell(1, -1, 0.5), Readout.binary(3, -1)))
    >>> found.matrix.tolist(), found.divisor, found.inputs.tolist(), found.outputs.tolist(), found.constants, found.scales
    ([[1]], 2, [[2, -1]], [[-3]], (1,), (1,))
    """
    if not network.cell.is_affine or network.task.machine is not BB_COUNTER or not network.task.is_by_sign:
        return None
    exact = network.in_arithmetic("rational")
    needed = [exact.readout.forms(index) for index in range(len(network.task.classes))]
    if not all(needed):
        return None  # a class that gets the rest is no intersection of half-spaces
    found = _step(exact.cell)
    if found is None:
        return None
    U, opening, closing, shown = found
    start: Vector = tuple(Fraction(number) for number in numbers_of(exact.cell.initial_state))
    outputs, forms = _outputs(needed, shown)
    z = [dot(row, start) - before + b for row, before, b in zip(U, start, closing, strict=True)]
    columns = [a - b for a, b in zip(opening, closing, strict=True)], z
    divisor, scale = _denominator(*U), _denominator(*columns, start)
    rows, constants, scales = list[list[int]](), list[int](), list[int]()
    for weight, bias in outputs:
        common = _denominator((*weight, bias))
        rows.append([int(w * common) for w in weight])
        scales.append(common * scale)
        constants.append(int((bias + dot(weight, start)) * scales[-1]))
    demands = [Demand(*form, side=sign) for sign in (-1, 0, 1) for form in forms[network.task.index_of_count(sign)]]
    return AffineNetwork(
        _whole([[int(entry * divisor) for entry in row] for row in U]),
        divisor,
        _whole([[int(entry * scale) for entry in row] for row in zip(*columns, strict=True)]),
        _whole(rows),
        tuple(constants),
        tuple(demands),
        tuple(forms),
        tuple(scales),
    )


_Affine = tuple[list[Vector], Vector]
"""A matrix and what is added."""


def _step(cell: Recurrence) -> tuple[list[Vector], Vector, Vector, _Affine] | None:
    """Return U, a, b, and what the readout sees, as an affine map of the state."""
    maps = [
        _affine_map(cell, lambda cell, state: cell.step(state, ONE_HOT[OPEN])),
        _affine_map(cell, lambda cell, state: cell.step(state, ONE_HOT[CLOSE])),
        _affine_map(cell, lambda cell, state: cell.hidden(state)),
    ]
    if None in maps:
        return None
    (U, a), (same, b), shown = (found for found in maps if found is not None)
    return (U, a, b, shown) if same == U else None


def _affine_map(cell: Recurrence, act: Callable[[Recurrence, Any], Any]) -> _Affine | None:
    program = Recording(len(numbers_of(cell.initial_state)), executed=False)
    try:
        numbers = recorded_numbers(cell, program, act)
    except (TypeError, ValueError, BadInput):
        return None
    if program.operations:  # something else than sums of multiples
        return None
    return [_row(number, program.size) for number in numbers], tuple(number.constant for number in numbers)


def _row(number: Recorded, size: int) -> Vector:
    return tuple(number.terms.get(place, Fraction(0)) for place in range(size))


def _outputs(
    needed: list[list[Form]], shown: _Affine
) -> tuple[list[tuple[Vector, Fraction]], list[tuple[tuple[int, int, bool], ...]]]:
    """Return every comparison as an output of the state that is compared with 0; y and −y are one output."""
    matrix, offset = shown
    outputs: dict[tuple[Vector, Fraction], int] = {}
    forms: list[tuple[tuple[int, int, bool], ...]] = []
    for of_class in needed:
        found: list[tuple[int, int, bool]] = []
        for form in of_class:
            weight = tuple(dot(form.weight, column) for column in zip(*matrix, strict=True))
            bias = dot(form.weight, offset) + form.bias
            opposite = tuple(-w for w in weight), -bias
            if opposite in outputs:
                found.append((outputs[opposite], -1, form.strict))
            else:
                found.append((outputs.setdefault((weight, bias), len(outputs)), 1, form.strict))
        forms.append(tuple(found))
    return list(outputs), forms


def _denominator(*vectors: Sequence[Fraction]) -> int:
    return lcm(1, *(entry.denominator for vector in vectors for entry in vector))


def _whole(rows: list[list[int]]) -> Whole:
    found = np.empty((len(rows), len(rows[0])), object)
    found[:] = rows
    return found
