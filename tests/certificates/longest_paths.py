"""The extremes of the outputs of affine networks whose matrices commute, in whole numbers, for strings that are too many to run.

What a token adds to an output depends only on how many brackets of each kind follow it. A string is thus a path through the pairs
of such numbers, and the least and the greatest output over all strings with n and m brackets are those of the best paths.
"""

from fractions import Fraction
from math import lcm

import numpy as np
from every_string import Affine


def commutes(affine: Affine) -> bool:
    """Whether the order of tokens does not matter to the product of their matrices."""
    A, B = (np.array(matrix, object) for matrix in affine.matrices)
    return bool((A @ B == B @ A).all())


def first_wrong_length(affine: Affine, longest: int, stride: int) -> int | None:
    """Return the first counted length at which some string is wrong."""
    found = [_ends(affine, row, bias, longest) for row, bias in _forms(affine)]
    for length in range(stride, longest + 1, stride):
        for n in range(length + 1):
            ends = [form[n, length - n] for form in found]
            if not _is_right(affine, ends, 2 * n - length):
                return length
    return None


def _forms(affine: Affine):
    """The outputs; where the greatest wins, the differences of every two."""
    outputs = list(zip(affine.rows, affine.bias, strict=True))
    if affine.decision != "class":
        return outputs
    return [
        (tuple(x - y for x, y in zip(one, other, strict=True)), c - e) for one, c in outputs for other, e in outputs
    ]


def _is_right(affine: Affine, ends, count: int) -> bool:
    """Whether all strings with these ends of the forms and this count are right."""
    low, high = ends[0]
    if affine.decision == "count":
        return low - count > Fraction(-1, 2) and high - count < Fraction(1, 2)
    right = affine.right[(count > 0) - (count < 0) + 1]
    if affine.decision == "sign":
        return low > 0 if right else high <= 0
    assert affine.decision == "class", "whether an output is zero is not told by its extremes"
    size = len(affine.rows)
    differences = ends[size * right : size * (right + 1)]
    return all(low > 0 if other < right else low >= 0 for other, (low, _) in enumerate(differences))


def _ends(affine: Affine, row, bias, longest: int) -> dict[tuple[int, int], tuple[Fraction, Fraction]]:
    """The least and the greatest value of row·h + bias over the strings with n and m brackets, for n + m up to a length.

    The row times n matrices of `(` and m of `)` is kept times F·D^(n + m), and sums are kept times E·F·D^longest.
    """
    D = lcm(*(x.denominator for matrix in affine.matrices for line in matrix for x in line))
    E = lcm(*(x.denominator for vector in (*affine.added, affine.start) for x in vector))
    F = lcm(bias.denominator, *(x.denominator for x in row))
    matrices = [np.array([[int(x * D) for x in line] for line in matrix], object) for matrix in affine.matrices]
    added = [np.array([int(x * E) for x in vector], object) for vector in (*affine.added, affine.start)]
    rows = {(0, 0): np.array([int(x * F) for x in row], object)}
    low, high, found = {(0, 0): 0}, {(0, 0): 0}, {}
    for length in range(longest + 1):
        scale = D ** (longest - length)
        for n in range(length + 1):
            at = n, length - n
            if length:
                opening, closing = (n - 1, length - n), (n, length - n - 1)
                steps = [(before, s) for before, s in ((opening, 0), (closing, 1)) if min(before) >= 0]
                before, token = steps[0]
                rows[at] = rows[before] @ matrices[token]
                gains = [(before, D * scale * int(rows[before] @ added[token])) for before, token in steps]
                low[at] = min(low[before] + gain for before, gain in gains)
                high[at] = max(high[before] + gain for before, gain in gains)
            from_start = scale * int(rows[at] @ added[2])
            unit = E * F * D**longest
            found[at] = tuple(Fraction(total + from_start, unit) + bias for total in (low[at], high[at]))
    return found
