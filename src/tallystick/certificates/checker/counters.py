"""Exact counters: right on every string to length 2, and so at every length, or to the depth to which floating point is exact."""

from itertools import combinations

from .claim import Claim
from .finding import require
from .formats import FORMATS, FUSED
from .strings import check_short


def check_theorem(claim: Claim) -> None:
    """In real numbers, a cell whose closing map inverts its opening map is right at every length if it is to length 2.

    P·Q = 1 and b = −Q·a make h a function of the count d alone, with h_(d+1) − h_d = a·P^d: for P > 0 it is monotone, for
    P < 0, P ≠ −1 it is on even d, and 0 for d = 0 alone. Every comparison of a readout is monotone in h, and lengths 1
    and 2 fix its signs at d = 0 and on both sides of it. A ReLU cell with U = 1 and b = −a < 0 has h = a·κ.
    """
    (P, Q), (a, b), readout = claim.model.weights, claim.model.steps, claim.model.readout
    require(claim.arithmetic == "real", "no theorem holds in floating point")
    require(P * Q == 1 and b == -Q * a and a != 0 and P != -1, "the closing map does not invert the opening map")
    require(P > 0 or readout == "zero" or claim.stride == 2, "h is not monotone in the count")  # noqa: PLR2004
    if claim.model.cell == "relu":
        require(readout == "zero" and a > 0 and P == 1, "the ReLU cell does not count")
    check_short(claim)


def check_depth(claim: Claim) -> None:
    """In floating point, a counter with U = 1 and b = −a is right as long as it is exact, if it is right to length 2.

    Every state is d·a, or κ·a for ReLU. With a = s·2^e and s odd it is a number of the format while |d|·s ≤ 2^digits and
    nothing overflows. Rounding keeps every output monotone in h, and two whose slopes are not of one sign change places once.
    """
    require(claim.arithmetic != "real", "exact depth bounds a counter in floating point")
    form, model = FORMATS[claim.arithmetic.removesuffix(FUSED)], claim.model
    P, Q, a, b = map(form.nearest, (*model.weights, *model.steps))
    require(P == Q == 1 << form.places and b == -a != 0, "no exact counter")
    require(model.cell != "relu" or (model.readout == "zero" and a > 0), "no exact counter")
    slopes = [form.nearest(v) for v, _ in model.lines]
    require(all(v * w <= 0 for v, w in combinations(slopes, 2)), "two outputs may change places more than once")
    odd = abs(a) // (a & -a)
    exact = claim.horizon * odd <= 1 << form.digits and claim.horizon * abs(a) <= form.greatest
    require(exact, "the counter is not exact to this depth")
    check_short(claim)
