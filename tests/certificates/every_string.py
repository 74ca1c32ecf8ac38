"""Every string of an affine network in whole numbers, from the definitions alone: which are right, length by length.

Nothing is shared with the package. A network is rational numbers: for each token a matrix and what it adds to the state, a state
to start from, rows that make outputs of the last state, and a decision that makes an answer of the outputs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]

MOST = 2**62
"""Below this every whole number has a place in an int64, and so has the sum of two."""


@dataclass(frozen=True)
class Affine:
    """h' = A·h + s with A and s of the token read, outputs V·h + c.

    Attributes:
        matrices: A of `(` and of `)`.
        added: s of `(` and of `)`.
        start: the state before the first token.
        rows: V.
        bias: c.
        decision: `sign`, `class`, `zero` or `count`.
        right: the index of the right class for a count below, at and above zero; nothing for `count`.
    """

    matrices: tuple[Matrix, Matrix]
    added: tuple[Vector, Vector]
    start: Vector
    rows: Matrix
    bias: Vector
    decision: str
    right: tuple[int, ...]


def rightness(network: Affine, longest: int) -> Iterator[np.ndarray]:
    """Go through the lengths from 1: whether each string is right, `(` before `)` and the first token first.

    The state after T tokens is kept as S·h, with S = E·D^T: D is a common denominator of the matrices and E one of the vectors.
    """
    D = _denominator(x for matrix in network.matrices for row in matrix for x in row)
    S = _denominator(x for vector in (*network.added, network.start) for x in vector)
    F = _denominator(x for row in (*network.rows, network.bias) for x in row)
    matrices = [_whole(matrix, D).T for matrix in network.matrices]
    V = _whole(network.rows, F).T
    growth, seen = max(_size(A) for A in matrices), _size(V)
    states, counts, reached = _whole([network.start], S), np.zeros(1, np.int64), S * _most([network.start])
    for length in range(1, longest + 1):
        S *= D
        added, bias = _whole(network.added, S), _whole([network.bias], S * F)
        reached = growth * reached + S * _most(network.added)
        most = 4 * (seen * reached + S * F * _most([network.bias]) + S * F * (length + 1))
        kind = np.int64 if most < MOST else object
        states = states.astype(kind)
        after = [states @ A.astype(kind) + s.astype(kind) for A, s in zip(matrices, added, strict=True)]
        states = np.stack(after, axis=1).reshape(2 * len(states), -1)
        counts = np.stack([counts + 1, counts - 1], axis=1).ravel()
        outputs = states @ V.astype(kind) + bias.astype(kind)
        yield _is_right(network, outputs, counts, S * F)


def _is_right(network: Affine, outputs: np.ndarray, counts: np.ndarray, unit: int) -> np.ndarray:
    """Compare what each string gets with what it should get; outputs are in multiples of 1/unit."""
    if network.decision == "count":
        return np.asarray(2 * abs(outputs[:, 0] - counts.astype(outputs.dtype) * unit) < unit, bool)
    if network.decision == "sign":
        found = np.asarray(outputs[:, 0] > 0, int)
    elif network.decision == "zero":
        found = np.asarray(outputs[:, 0] == 0, int)
    else:
        best, found = outputs[:, 0], np.zeros(len(outputs), int)
        for place in range(1, outputs.shape[1]):
            better = np.asarray(outputs[:, place] > best, bool)
            best, found = np.where(better, outputs[:, place], best), np.where(better, place, found)
    return found == np.array(network.right)[np.sign(counts) + 1]


def is_right(network: Affine, string: str) -> bool:
    """Say whether one string is right, in rationals."""
    count = np.array([string.count("(") - string.count(")")])
    return bool(_is_right(network, np.array([outputs_of(network, string)], object), count, 1)[0])


def string_at(place: int, length: int) -> str:
    """Write the string that has this place among all of its length."""
    return "".join(")" if place >> (length - 1 - i) & 1 else "(" for i in range(length))


def place_of(string: str) -> int:
    """Return the place of a string among all of its length."""
    return int("0" + string.replace("(", "0").replace(")", "1"), 2)


def outputs_of(network: Affine, string: str) -> list[Fraction]:
    """Return the outputs after one string, in rationals."""
    h = list(network.start)
    for token in string:
        A, s = network.matrices["()".index(token)], network.added["()".index(token)]
        h = [sum((x * y for x, y in zip(row, h, strict=True)), start) for row, start in zip(A, s, strict=True)]
    rows = zip(network.rows, network.bias, strict=True)
    return [sum((x * y for x, y in zip(row, h, strict=True)), start) for row, start in rows]


def _denominator(numbers) -> int:
    return lcm(1, *(x.denominator for x in numbers))


def _whole(rows, unit: int) -> np.ndarray:
    """Return rational rows times a common denominator, as Python's whole numbers."""
    found = np.array([[x * unit for x in row] for row in rows], object)
    assert all(x.denominator == 1 for x in found.flat)
    return np.array([[int(x) for x in row] for row in found], object).reshape(found.shape)


def _size(transposed: np.ndarray) -> int:
    """Return the most that a matrix multiplies the greatest entry of a vector with."""
    return max(int(total) for total in abs(transposed).sum(axis=0))


def _most(rows) -> int:
    return 1 + int(max((abs(x) for row in rows for x in row), default=0))
