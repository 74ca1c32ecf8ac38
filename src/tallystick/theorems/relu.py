"""Theorem 3: a ReLU cell and semi-Dyck-1."""

from tallystick.cells import ReluCell
from tallystick.languages.brackets import SEMI_DYCK1
from tallystick.theorems.proof import Argument, Part, Step, Theorem, z3
from tallystick.theorems.symbolic import SymbolicCell

a, b, U = z3.Reals("a b U")
h, j, k, kappa, L, bound = z3.Reals("h j k kappa L bound")
CELL = SymbolicCell.of(ReluCell, "a b U", SEMI_DYCK1)
CONDITIONS = (a > 0, U == 1, b == -a)

_SHORT = (
    CELL.case("(", "a > 0", a > 0),
    CELL.case(")", "b ≤ 0", b <= 0),
    CELL.case("(()", "U > 0 (with a > 0, b ≤ 0)", U > 0, (a > 0, b <= 0)),
    CELL.case("()", "−b ≥ Ua, so b < 0 (with a > 0, U > 0)", z3.And(-b >= U * a, b < 0), (a > 0, U > 0)),
)
_FOUND = (a > 0, b < 0, U > 0, -b >= U * a)

_ARCHIMEDES = Step(
    "for any bound and any step s > 0 a whole number k has k·s > bound",
    (h > 0, j * h == bound, k == z3.ToReal(z3.ToInt(j)) + 1),
    k * h > bound,
)

_NOT_ABOVE_ONE = (
    Step("U > 1: each `(` raises h ≥ 0 by at least a", (*_FOUND, U > 1, h >= 0), CELL.after_open(h) >= h + a),
    _ARCHIMEDES,
    Step(
        "U > 1: once (U − 1)·h > −b, a `)` raises h, and it stays so",
        (*_FOUND, U > 1, h > 0, (U - 1) * h > -b),
        z3.And(CELL.after_close(h) > h, (U - 1) * CELL.after_close(h) > -b),
    ),
    Argument(
        "so some (ᵏ)ᵏ is rejected, and being right excludes U > 1",
        "after k opening brackets h ≥ k·a, which passes −b/(U − 1) for large k; from there no `)` lowers h, by induction",
    ),
)

_NOT_BELOW_ONE = (
    Step(
        "U < 1: opening brackets keep 0 ≤ h ≤ L with L = a/(1 − U)",
        (*_FOUND, U < 1, a == L * (1 - U), h >= 0, h <= L),
        z3.And(CELL.after_open(h) >= 0, CELL.after_open(h) <= L),
    ),
    Step(
        "U < 1: a `)` at h ≥ 0 leaves at most max(0, h − Ua)",
        (*_FOUND, U < 1, h >= 0),
        z3.And(CELL.after_close(h) >= 0, z3.Or(CELL.after_close(h) == 0, CELL.after_close(h) <= h - U * a)),
    ),
    Argument(
        "so some (ᵏ)ᵏ⁻¹ is accepted, and being right excludes U < 1",
        "h ≤ L after any k opening brackets, and each `)` takes at least Ua > 0 off it or leaves 0, where further ones keep it; "
        "with k − 1 > L/(Ua) the string ends at 0, though its count is 1",
    ),
)

_STEP_CANCELS = (
    Step(
        "U = 1: after k opening brackets h = ka (from h = ja to (j + 1)a)",
        (*_FOUND, U == 1, h == j * a, j >= 0),
        CELL.after_open(h) == (j + 1) * a,
    ),
    Step(
        "U = 1: a `)` at h ≥ 0 leaves max(0, h + b)",
        (*_FOUND, U == 1, h >= 0),
        CELL.after_close(h) == z3.If(h + b > 0, h + b, z3.RealVal(0)),
    ),
    Step(
        "U = 1 and b < −a: k·a + (k − 1)·b ≤ 0 once (k − 1)·(−a − b) ≥ a",
        (*_FOUND, U == 1, b < -a, (k - 1) * (-a - b) >= a),
        k * a + (k - 1) * b <= 0,
    ),
    Argument(
        "so with b < −a some (ᵏ)ᵏ⁻¹ is accepted, and being right excludes b < −a",
        "k as large as the step on whole numbers above gives it; h falls by −b with each `)` until it is cut off at 0 and stays",
    ),
    Step("with −b ≥ Ua that leaves b = −a", (*_FOUND, U == 1, z3.Not(b < -a)), b == -a),
)

_SUFFICIENT = (
    Step("base: the empty string has h = 0 = a·κ with κ = 0", (*CONDITIONS, kappa == 0, h == 0), h == a * kappa),
    Step(
        "step, `(`: h = a·κ becomes a·(κ + 1)",
        (*CONDITIONS, kappa >= 0, h == a * kappa),
        CELL.after_open(h) == a * (kappa + 1),
    ),
    Step(
        "step, `)` with κ ≥ 1: h = a·κ becomes a·(κ − 1)",
        (*CONDITIONS, kappa >= 1, h == a * kappa),
        CELL.after_close(h) == a * (kappa - 1),
    ),
    Step("step, `)` with κ = 0: h stays 0", (*CONDITIONS, kappa == 0, h == a * kappa), CELL.after_close(h) == 0),
    Argument(
        "so h = a·κ after every string",
        "induction over the string's length; κ is a whole number from 0 on, so κ = 0 and κ ≥ 1 are all cases of a `)`",
    ),
    Step(
        "and then h = 0 iff κ = 0: exactly semi-Dyck-1 is accepted",
        (*CONDITIONS, h == a * kappa),
        (h == 0) == (kappa == 0),
    ),
)

RELU = Theorem(
    name="relu",
    title="Theorem 3: ReLU cells",
    statement="h' = max(0, U·h + c(x)), accepting by h = 0, accepts exactly semi-Dyck-1 if and only if a > 0, U = 1 and b = −a.",
    parts=(
        Part("Necessary: short strings", _SHORT),
        Part("Necessary: (ᵏ)ᵏ accepted for all k gives U ≤ 1", _NOT_ABOVE_ONE),
        Part("Necessary: (ᵏ)ᵏ⁻¹ rejected for all k gives U ≥ 1", _NOT_BELOW_ONE),
        Part("Necessary: and b = −a", _STEP_CANCELS),
        Part("Sufficient: induction", _SUFFICIENT),
    ),
)
