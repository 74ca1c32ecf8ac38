"""Horizons of affine networks with two and three units against a solver: z3 knows a failing string exactly where a verdict does.

The solver is given the matrices and vectors of the network, token by token with a truth value for each, and asked for a failing
string of each length: there is none up to the horizon, and there is one at the next length that counts.
"""

from fractions import Fraction

import pytest
from affine_cases import KINDS, some_case
from every_string import place_of, rightness

from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Lengths, Outcome

z3 = pytest.importorskip("z3")

LONGEST = 6
QUICK, LONG = 3, 8


def real(value):
    return z3.RealVal(str(Fraction(value)))


def total(weights, terms, start):
    return z3.Sum([real(weight) * term for weight, term in zip(weights, terms, strict=True)] + [real(start)])


def failing_string(affine, length):
    """A failing string of a length as the solver finds it, or None."""
    solver = z3.Solver()
    tokens = [z3.Bool(f"t{i}") for i in range(length)]
    h = [real(x) for x in affine.start]
    for i, token in enumerate(tokens):
        opening, closing = (
            [total(row, h, added) for row, added in zip(A, s, strict=True)]
            for A, s in zip(affine.matrices, affine.added, strict=True)
        )
        h = [z3.Real(f"h{i}_{unit}") for unit in range(len(h))]
        solver.add(*(x == z3.If(token, a, b) for x, a, b in zip(h, opening, closing, strict=True)))
    count = z3.Sum([z3.If(token, 1, -1) for token in tokens])
    solver.add(z3.Not(right_answer(affine, h, count)))
    answer = solver.check()
    assert answer != z3.unknown
    if answer == z3.unsat:
        return None
    found = solver.model()
    return "".join("(" if z3.is_true(found.eval(token, model_completion=True)) else ")" for token in tokens)


def right_answer(affine, h, count):
    """The answer to a string with this last state and this count is the right one."""
    outputs = [total(row, h, bias) for row, bias in zip(affine.rows, affine.bias, strict=True)]
    y = outputs[0]
    if affine.decision == "count":
        return z3.And(2 * (y - z3.ToReal(count)) < 1, 2 * (z3.ToReal(count) - y) < 1)
    if affine.decision == "class":
        given = [
            z3.And(
                [y > other if place < index else y >= other for place, other in enumerate(outputs) if place != index]
            )
            for index, y in enumerate(outputs)
        ]
    else:
        second = y > 0 if affine.decision == "sign" else y == 0
        given = [z3.Not(second), second]
    below, at, above = (given[index] for index in affine.right)
    return z3.If(count < 0, below, z3.If(count == 0, at, above))


def solver_disagreement(case, lengths, longest=LONGEST):
    """What is wrong with a verdict, or None; a string that the solver finds must fail as all strings are run, too."""
    verdict = certify(case.network, lengths, limit=longest)
    first = verdict.failure.length if verdict.failure else None
    right = list(rightness(case.affine, longest))
    for length in lengths.upto(longest):
        found = failing_string(case.affine, length)
        if found is not None and right[length - 1][place_of(found)]:
            return f"{found} is right"
        if found is None and length == first:
            return f"the solver knows no failing string of length {length}"
        if found is not None and verdict.outcome is Outcome.BOUNDED and (verdict.horizon or 0) < length:
            return None  # left open before this length
        if found is not None and length != first:
            return f"the solver knows a failing string of length {length}, not the verdict"
        if found is not None:
            return None
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_the_solver_knows_a_failing_string_where_the_verdict_does(kind):
    for seed in range(QUICK):
        case = some_case(f"solver {seed}", kind, d=2 + seed % 2)
        assert solver_disagreement(case, list(Lengths)[seed // 2 % 2], LONGEST - seed % 2) is None, (kind, seed)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_the_solver_knows_many_failing_strings_where_verdicts_do(kind):
    for seed in range(LONG):
        case = some_case(f"solver {seed}", kind, d=2 + seed % 2)
        assert solver_disagreement(case, list(Lengths)[seed // 2 % 2], 9 - seed % 2) is None, (kind, seed)
