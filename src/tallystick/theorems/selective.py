"""Theorem 2: cells whose recurrent weight depends on the token."""

from tallystick.cells import LinearCell, SelectiveCell
from tallystick.languages.brackets import BB
from tallystick.theorems.linear import CONDITIONS as LINEAR_CONDITIONS
from tallystick.theorems.proof import Argument, Part, Step, Theorem, z3
from tallystick.theorems.symbolic import SymbolicCell

a, b, P, Q = z3.Reals("a b P Q")
h, S = z3.Reals("h S")
CELL = SymbolicCell.of(SelectiveCell, "a b P Q", BB)
CONDITIONS = (P * Q == 1, b == -Q * a, a != 0, P != -1)

_RIGHT_ON_SHORT = tuple(CELL.right_on(string) for string in ("(", ")", "()", ")(", "((", "))"))

_NECESSARY = (
    CELL.case("(", "a ≠ 0", a != 0),
    CELL.case("()", "b = −Qa", b == -Q * a),
    CELL.case(")(", "a = −Pb, and with b = −Qa and a ≠ 0: PQ = 1", P * Q == 1, (a != 0, b == -Q * a)),
    CELL.case("((", "P ≠ −1", P != -1),
    Step(
        "therefore: right on the strings of length ≤ 2 implies all four conditions",
        _RIGHT_ON_SHORT,
        z3.And(*CONDITIONS),
    ),
)

_INVERSE = (
    Step("closing undoes opening: f_close(f_open(h)) = h", CONDITIONS, CELL.after_close(CELL.after_open(h)) == h),
    Step("opening undoes closing: f_open(f_close(h)) = h", CONDITIONS, CELL.after_open(CELL.after_close(h)) == h),
    Argument(
        "so h depends on the count d = n − m alone: h = f_open^d(0), with f_close^|d| for negative d",
        "induction over the string's length: one more `(` makes d into d + 1, one more `)` undoes one, by the two identities",
    ),
)

# f_open^d(0) = a·S_d with S_1 = 1 and S_{d+1} = P·S_d + 1; a set that holds S_1, is kept by the step and misses 0.
_NEVER_ZERO = (
    Step(
        "f_open^d(0) = a·S_d: from a·S the opening map leads to a·(PS + 1)",
        CONDITIONS,
        CELL.after_open(a * S) == a * (P * S + 1),
    ),
    Step("the conditions leave P > 0, −1 < P < 0 or P < −1", CONDITIONS, z3.Or(P > 0, z3.And(P > -1, P < 0), P < -1)),
    Step("P > 0: S ≥ 1 is kept (and S₁ = 1)", (P > 0, S >= 1), P * S + 1 >= 1),
    Step("−1 < P < 0: 0 < S ≤ 1 is kept", (P > -1, P < 0, S > 0, S <= 1), z3.And(P * S + 1 > 0, P * S + 1 <= 1)),
    Step("P < −1: from S ≥ 1 to S ≤ 1 + P < 0", (P < -1, S >= 1), z3.And(P * S + 1 <= 1 + P, 1 + P < 0)),
    Step("P < −1: from S ≤ 1 + P back to S ≥ 1", (P < -1, S <= 1 + P), P * S + 1 >= 1),
    Argument(
        "so S_d ≠ 0 for every d ≥ 1, and h ≠ 0 for every count d ≥ 1",
        "induction over d: in each of the three cases S₁ = 1 lies in a set that the step keeps and that misses 0; a ≠ 0",
    ),
    Argument(
        "and h ≠ 0 for every count d ≤ −1: exactly BB is accepted",
        "were f_close^|d|(0) = 0, then applying f_open |d| times would give f_open^|d|(0) = 0, which was excluded",
    ),
)

_LINEAR = LinearCell(a, b, z3.Real("U"))
_COROLLARIES = (
    Step(
        "P = Q = U: the conditions become those of Theorem 1",
        (_LINEAR.recurrent_weight == P, _LINEAR.recurrent_weight == Q),
        z3.And(*CONDITIONS) == z3.And(*LINEAR_CONDITIONS),
    ),
    Step("gates confined to (0, 1) never count exactly: P·Q < 1", (P > 0, P < 1, Q > 0, Q < 1), P * Q != 1),
    Step("the conditions imply right on the strings of length ≤ 2", CONDITIONS, z3.And(*_RIGHT_ON_SHORT)),
)

SELECTIVE = Theorem(
    name="selective",
    title="Theorem 2: selective cells",
    statement=(
        "h' = P·h + a on `(` and Q·h + b on `)`, accepting by h = 0, accepts exactly BB "
        "if and only if P·Q = 1, b = −Q·a, a ≠ 0 and P ≠ −1."
    ),
    parts=(
        Part("Necessary: strings of length ≤ 2", _NECESSARY),
        Part("Sufficient: the two maps are inverse to each other", _INVERSE),
        Part("Sufficient: 0 never returns under the opening map", _NEVER_ZERO),
        Part("Corollaries", _COROLLARIES),
    ),
)
