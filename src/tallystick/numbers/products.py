"""Bounds of W·x + b for many vectors x at once, by two products of matrices of doubles.

Each entry of x lies within r of a double m, and W·x within |W|·r of W·m. Both products are left to the library that multiplies
matrices, which adds in whatever order it likes, with fused multiply-adds or without.

**The bound.** Let n be the number of columns and e = 2⁻⁵², which no single operation exceeds in relative error, however a thread
rounds. A term wⱼ·mⱼ goes through n roundings at most, whatever the order: one of its product, one of each sum that it is part of,
fewer where they are fused. So what is computed for W·m is off by at most γₙ·|W|·|m|, where γₖ = k·e / (1 − k·e) (Higham, Accuracy
and Stability of Numerical Algorithms, lemma 8.4), and what is computed for |W|·q, whose terms are not negative, is at least
1 − γₙ times it. With g = γₙ₊₈ and q = r + g·|m|, the reach R = (1 + 2g)·(|W|·q) therefore covers |W|·r, the error of W·m (γₙ
of g), the last rounding of W·m ± R (e·|W·m| and e·R, of the other 8e in g), and the roundings in q and R themselves (10e of
the 2g that γₙ leaves). A weight that is not a double is known to a share s of its size, which for the two doubles beside it is
at most 2⁻⁵²: W is then its lower bound, |W| the greater of its two sizes, s is added to the g beside |m|, and r is taken 1 + s
times.

**Underflow.** A number below 2⁻¹⁰²² may be lost, also where a thread of the library flushes such numbers to zero. Weights are at
most 2⁵⁰⁰ and at least 2⁻⁴⁰⁰, or 0; so each of the few things that may be lost in one term is less than 2⁻⁵²⁰, and R is made
larger by (n + 8)·2⁻⁵¹⁵. What overflows becomes infinite or not a number, and no comparison with that is ever sure.

**Many matrices.** Where each vector has a matrix of its own, NumPy's einsum forms the same sums of products, to which the same
bound applies.

That the library forms each product of two entries and adds these up, as OpenBLAS, BLIS, MKL and Accelerate do for doubles, is
assumed; a method that saves products, as Strassen's, would need another bound.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

_LAST_PLACE = 2.0**-52
_LARGEST, _LEAST = 2.0**500, 2.0**-400
_WIDEST = 2.0**-40
"""Weights that are known to a lesser share of their size are none of these."""

_LOST = 2.0**-515

FEWEST = 4
"""With fewer inputs a matrix is gone through weight by weight, which is as quick, and closer where a weight is 0 or 1."""

_SMALL = 1 << 18
"""Multiplications in one product of matrices. Libraries hand larger ones to several threads, which wait for each other."""


@final
@dataclass(frozen=True, eq=False)
class Weights:
    """A matrix made ready for products, its last column the biases; or one for each vector, along a third axis.

    Attributes:
        middle: W, a double of each weight.
        size: |W|, or more.
        share: s, how far a weight is from its double, as a share of its size.
    """

    middle: Doubles
    size: Doubles
    share: float

    @classmethod
    def between(cls, low: Doubles, high: Doubles) -> "Weights | None":
        """Return the matrix whose entries lie between two; None where they are too far apart, too large or too small."""
        size = np.abs(low) if high is low else np.maximum(np.abs(low), np.abs(high))
        filled = size > 0
        if not np.all(size <= _LARGEST) or np.any(filled & (size < _LEAST)):
            return None
        if high is low:
            return cls(low, size, 0.0)
        share = float(np.max((high - low)[filled] / size[filled], initial=0.0)) * (1 + 2**-50)
        return cls(low, size, share) if share <= _WIDEST else None

    def bounds(self, low: Doubles, high: Doubles) -> tuple[Doubles, Doubles]:
        """Return bounds of W·x + b, where the entries of x lie between two; one column per x."""
        columns = len(low) + 1
        middle, reach = np.ones((2, columns, low.shape[1]))
        np.add(low, high, out=middle[:-1])
        middle[:-1] *= 0.5
        np.maximum(high - middle[:-1], middle[:-1] - low, out=reach[:-1])
        reach[-1] = 0
        share = (columns + 8) * _LAST_PLACE / (1 - (columns + 8) * _LAST_PLACE)
        if self.share:
            reach *= 1 + self.share
        reach += (share + self.share) * np.abs(middle)
        found, reach = multiply(self.middle, middle), multiply(self.size, reach)
        reach *= 1 + 2 * share
        reach += (columns + 8) * _LOST
        low = found - reach
        found += reach
        return low, found


def multiply(weights: Doubles, vectors: Doubles) -> Doubles:
    """Multiply matrices, some columns at a time; or each column by a matrix of its own."""
    if weights.ndim > vectors.ndim:
        return np.einsum("rcv,cv->rv", weights, vectors)
    found = np.empty((len(weights), vectors.shape[1]))
    width = max(1, _SMALL // weights.size)
    for start in range(0, vectors.shape[1], width):
        np.matmul(weights, vectors[:, start : start + width], out=found[:, start : start + width])
    return found
