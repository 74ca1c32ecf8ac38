"""Theorem 1 of the paper along the paper's own route, and the shorter proof by six strings."""

from dataclasses import replace

from tallystick.cells import LinearCell
from tallystick.languages.brackets import BB, CLOSE, OPEN
from tallystick.theorems.proof import Argument, Part, Step, Theorem, z3
from tallystick.theorems.symbolic import SymbolicCell

a, b, U = z3.Reals("a b U")
h, n, m = z3.Reals("h n m")
CELL = SymbolicCell.of(LinearCell, "a b U", BB)

# The findings of the paper's Table 1, in its order.
A_NOT_ZERO = a != 0
B_NOT_ZERO = b != 0
CLOSE_UNDOES_OPEN = b == -U * a
U_NOT_ZERO = U != 0
U_NOT_MINUS_ONE = U != -1
NESTED = b + U * b + U**2 * a + U**3 * a == 0
REPEATED = b + U * a + U**2 * b + U**3 * a == 0

CONDITIONS = (b != 0, a / b == -1, U == 1)
"""a/b = −1 and U = 1; that the ratio exists is part of it."""

_TABLE_1 = (
    CELL.case("(", "a ≠ 0", A_NOT_ZERO),
    CELL.case(")", "b ≠ 0", B_NOT_ZERO),
    CELL.case(
        "()", "b = −Ua and U ≠ 0 (with cases 1, 2)", z3.And(CLOSE_UNDOES_OPEN, U_NOT_ZERO), (A_NOT_ZERO, B_NOT_ZERO)
    ),
    CELL.case("((", "U ≠ −1", U_NOT_MINUS_ONE),
    CELL.case("(())", "b + Ub + U²a + U³a = 0", NESTED),
    CELL.case("()()", "b + Ua + U²b + U³a = 0", REPEATED),
)

_COMBINATION = (
    Step(
        "cases 5 and 6 are equal; less b + U³a and divided by U: b + Ua = a + Ub",
        (NESTED, REPEATED, U_NOT_ZERO),
        b + U * a == a + U * b,
    ),
    Step("rearranged: b − a = U(b − a)", (b + U * a == a + U * b,), b - a == U * (b - a)),
    Step("so U = 1 or a = b", (b - a == U * (b - a),), z3.Or(U == 1, a == b)),
    Step("if U = 1, then a = −b by case 3", (U == 1, CLOSE_UNDOES_OPEN), a == -b),
    Step("if a = b, then U = −1 by cases 1 and 3", (a == b, A_NOT_ZERO, CLOSE_UNDOES_OPEN), U == -1),
    Step("which contradicts case 4", (a == b, A_NOT_ZERO, CLOSE_UNDOES_OPEN, U_NOT_MINUS_ONE), None),
    Step(
        "therefore: right on the six inputs implies a/b = −1 and U = 1",
        tuple(CELL.right_on(string) for string in ("(", ")", "()", "((", "(())", "()()")),
        z3.And(*CONDITIONS),
    ),
)

_INDUCTION = (
    Step("the conditions give a ≠ 0 and b = −a", CONDITIONS, z3.And(a != 0, b == -a)),
    Step("base, k = 1: `(` gives h = (1 − 0)·a", CONDITIONS, CELL.terms.final_state(OPEN) == (1 - 0) * a),
    Step("base, k = 1: `)` gives h = (0 − 1)·a", CONDITIONS, CELL.terms.final_state(CLOSE) == (0 - 1) * a),
    Step(
        "step: h = (n − m)·a, then `(`, gives ((n + 1) − m)·a",
        (*CONDITIONS, h == (n - m) * a),
        CELL.after_open(h) == ((n + 1) - m) * a,
    ),
    Step(
        "step: h = (n − m)·a, then `)`, gives (n − (m + 1))·a",
        (*CONDITIONS, h == (n - m) * a),
        CELL.after_close(h) == (n - (m + 1)) * a,
    ),
    Argument(
        "so h = (n − m)·a after every string of n opening and m closing brackets",
        "induction over the string's length from the base and the step above (the empty string gives h = 0 = (0 − 0)·a); "
        "the solver proves base and step for all reals, the principle of induction is not its own",
    ),
    Step("and then h = 0 iff n = m: exactly BB is accepted", (*CONDITIONS, h == (n - m) * a), (h == 0) == (n == m)),
)

THEOREM_1 = Theorem(
    name="theorem1",
    title="Theorem 1 (the paper): linear cells",
    statement="h' = U·h + c(x), accepting by h = 0, accepts exactly BB if and only if a/b = −1 and U = 1.",
    parts=(
        Part(
            "Part 1, necessary: Table 1, six inputs",
            tuple(replace(step, claim=f"case {number}: {step.claim}") for number, step in enumerate(_TABLE_1, start=1)),
        ),
        Part("Cases 5 and 6 combined", _COMBINATION),
        Part("Part 2, sufficient: induction", _INDUCTION),
    ),
)

_SHORT_STRINGS = ("(", ")", "()", ")(", "((", "))")
_RIGHT_ON_SHORT = tuple(CELL.right_on(string) for string in _SHORT_STRINGS)

SIX_STRINGS = Theorem(
    name="six-strings",
    title="Theorem 1, sharper: six strings decide",
    statement="A linear cell that is right on every string of length ≤ 2 is right on every string.",
    parts=(
        Part(
            "The strings of length 1 and 2",
            (
                CELL.case("(", "a ≠ 0", A_NOT_ZERO),
                CELL.case(")", "b ≠ 0", B_NOT_ZERO),
                CELL.case("()", "b = −Ua", CLOSE_UNDOES_OPEN),
                CELL.case(
                    ")(", "a = −Ub, and with b = −Ua and a ≠ 0: U² = 1", U**2 == 1, (A_NOT_ZERO, CLOSE_UNDOES_OPEN)
                ),
                CELL.case("((", "U ≠ −1, so U = 1", U == 1, (U**2 == 1,)),
                CELL.case("))", "U ≠ −1 once more: the sixth string adds nothing", U != -1, (B_NOT_ZERO,)),
            ),
        ),
        Part(
            "Together",
            (
                Step("right on the six strings implies a/b = −1 and U = 1", _RIGHT_ON_SHORT, z3.And(*CONDITIONS)),
                Step("a/b = −1 and U = 1 imply right on the six strings", CONDITIONS, z3.And(*_RIGHT_ON_SHORT)),
                Argument(
                    "so right up to length 2 implies right on every string",
                    "Part 2 of Theorem 1; the empty string is always right, since h starts at 0",
                ),
            ),
        ),
    ),
)
