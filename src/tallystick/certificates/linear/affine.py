"""Linear networks of any dimension: a matrix and a step per token, and what the readout asks, all in whole numbers.

The step of such a network is h' = A·h + a for `(` and h' = B·h + b for `)`. With h₀ the state to start from, g = h − h₀ starts
from 0 and steps the same way, with a + (A − I)·h₀ and b + (B − I)·h₀ in the place of a and b; below these are a and b. An output
is then C + w·g with C = c + w·h₀, and a token adds w·(the product of the matrices after it)·(a or b) to it.

**One matrix for both tokens**: A = B = U. With T the length of a string, and k the number of tokens after a bracket,

    y = C + Σ_{k<T} γ_k + Σ_{k: opening} δ_k,     δ_k = w·U^k·(a − b),   γ_k = w·U^k·b

So δ_k is what a bracket adds if it opens instead of closing, and C and γ alone give the output of `)))…`.

The matrices are not read from the weights but from the step: it is run once on sums of unknowns (`programs`), so a stack, its
tokens' vectors and its start are read like any layer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from tallystick.cells import ONE_HOT, Recurrence
from tallystick.certificates.linear.whole_products import Whole, whole_product
from tallystick.certificates.programs import Recorded, Recording, Rounding, recorded_numbers
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
        matrices: D·A and D·B, one row per number of the state.
        divisor: D.
        steps: the columns a and b, seen from the start, times one positive number.
        outputs: w of each output, times a positive number, one row each.
        constants: C of each output, times both.
        demands: what the task asks of the outputs.
        forms: for each class the outputs and directions that make it, and whether they must be above 0.
        scales: the positive number that each output was multiplied by, what tokens add to it and its C alike.
    """

    matrices: tuple[Whole, Whole]
    divisor: int
    steps: Whole
    outputs: Whole
    constants: tuple[int, ...]
    demands: tuple[Demand, ...]
    forms: tuple[tuple[tuple[int, int, bool], ...], ...]
    scales: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers a state has."""
        return len(self.steps)

    @property
    def digits(self) -> int:
        """How many binary digits a step adds to exact numbers."""
        entries = (entry for matrix in self.matrices for entry in matrix.flat)
        return self.divisor.bit_length() + max(int(abs(entry)).bit_length() for entry in entries)

    @cached_property
    def is_shared(self) -> bool:
        """Whether both tokens have one matrix."""
        return bool((self.matrices[0] == self.matrices[1]).all())

    @cached_property
    def commutes(self) -> bool:
        """Whether A·B = B·A."""
        A, B = self.matrices
        return self.is_shared or bool((whole_product(A, B) == whole_product(B, A)).all())

    @property
    def matrix(self) -> Whole:
        """D·U, where both tokens have one matrix."""
        return self.matrices[0]

    @cached_property
    def inputs(self) -> Whole:
        """The columns a − b and b, of which a network with one matrix makes δ and γ."""
        return np.stack([self.steps[:, 0] - self.steps[:, 1], self.steps[:, 1]], axis=1)


def affine_network(network: Network) -> AffineNetwork | None:
    """Return a network as an affine one; None where it is none, or is asked for something else than the sign of n − m.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.networks import Readout
    >>> found = affine_network(Network(LinearCell(1, -1, 0.5), Readout.binary(3, -1)))
    >>> found.matrix.tolist(), found.divisor, found.inputs.tolist(), found.outputs.tolist(), found.constants, found.scales
    ([[1]], 2, [[2, -1]], [[-3]], (1,), (1,))
    """
    if not network.cell.is_affine or network.task.machine is not BB_COUNTER or not network.is_usual:
        return None
    exact = network.in_arithmetic("rational")
    needed = [exact.readout.forms(index) for index in range(len(network.task.classes))]
    if not needed or not all(needed):
        return None  # a number, or a class that gets the rest is no intersection of half-spaces
    maps = _maps(exact.cell)
    if maps is None:
        return None
    *tokens, shown = maps
    start: Vector = tuple(Fraction(number) for number in numbers_of(exact.cell.initial_state))
    outputs, forms = _outputs(needed, shown)
    columns = [
        [dot(row, start) - before + step for row, before, step in zip(matrix, start, added, strict=True)]
        for matrix, added in tokens
    ]
    divisor, scale = _denominator(*(row for matrix, _ in tokens for row in matrix)), _denominator(*columns, start)
    rows, constants, scales = list[list[int]](), list[int](), list[int]()
    for weight, bias in outputs:
        common = _denominator((*weight, bias))
        rows.append([int(w * common) for w in weight])
        scales.append(common * scale)
        constants.append(int((bias + dot(weight, start)) * scales[-1]))
    demands = [Demand(*form, side=sign) for sign in (-1, 0, 1) for form in forms[network.task.index_of_count(sign)]]
    opening, closing = (_whole([[int(entry * divisor) for entry in row] for row in matrix]) for matrix, _ in tokens)
    return AffineNetwork(
        (opening, closing),
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


def _maps(cell: Recurrence) -> tuple[_Affine, _Affine, _Affine] | None:
    """Return the steps of both tokens, and what the readout sees, as affine maps of the state."""
    opening = _affine_map(cell, lambda cell, state: cell.step(state, ONE_HOT[OPEN]))
    closing = _affine_map(cell, lambda cell, state: cell.step(state, ONE_HOT[CLOSE]))
    shown = _affine_map(cell, lambda cell, state: cell.hidden(state))
    return None if opening is None or closing is None or shown is None else (opening, closing, shown)


def _affine_map(cell: Recurrence, act: Callable[[Recurrence, Any], Any]) -> _Affine | None:
    program = Recording(len(numbers_of(cell.initial_state)), Rounding.NONE)
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
