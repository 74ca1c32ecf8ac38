import random
from dataclasses import fields
from fractions import Fraction

import cvc5
import pytest
import z3
from strings import all_strings

from tallystick import BB, SEMI_DYCK1, LinearCell, ReluCell, SelectiveCell, conditions
from tallystick.cells import ONE_HOT
from tallystick.theorems import dyck1_state, linear, relu, selective
from tallystick.theorems.account import THEOREMS
from tallystick.theorems.proof import Argument, Status, Step, discharge, prove, query
from tallystick.theorems.symbolic import symbols

a, b, U, P, Q = z3.Reals("a b U P Q")

every_theorem = pytest.mark.parametrize("theorem", THEOREMS.values(), ids=THEOREMS)


@every_theorem
def test_every_step_is_proved(theorem):
    for _, outcomes in prove(theorem):
        for outcome in outcomes:
            expected = Status.ARGUED if isinstance(outcome.step, Argument) else Status.PROVED
            assert outcome.verdict is expected, (outcome.step.claim, outcome.finding)


@every_theorem
def test_a_second_solver_agrees(theorem):
    for step in theorem.solver_steps():
        assert _cvc5_answer(query(step)) == "unsat", step.claim


def _cvc5_answer(text: str) -> str:
    solver = cvc5.Solver()
    solver.setOption("tlimit", "60000")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "query")
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(command.invoke(solver, parser.getSymbolManager()))
    return "".join(answers).strip()


def right_on(cell, *strings):
    return tuple(cell.right_on(string) for string in strings)


FALSE_CLAIMS = {
    "drop U ≠ −1": (right_on(linear.CELL, "(", ")", "()", ")("), U == 1),
    "drop `)(`": (right_on(linear.CELL, "(", ")", "()", "((", "))"), U == 1),
    "swap a sign in case 3": (right_on(linear.CELL, "(", ")", "()"), b == U * a),
    "swap a sign in case 5": (right_on(linear.CELL, "(())"), b + U * b + U**2 * a - U**3 * a == 0),
    "exchange cases 5 and 6": (right_on(linear.CELL, "(())"), linear.REPEATED),
    "U = 1 alone is enough": ((U == 1, a != 0), b == -a),
    "P ≠ −1 is not needed": ((P * Q == 1, b == -Q * a, a != 0), z3.And(*right_on(selective.CELL, "(", "((", "()"))),
    "gates in (0, 1] never count": ((P > 0, P <= 1, Q > 0, Q <= 1), P * Q != 1),
    "a ReLU counter may have a < 0": ((a < 0, U == 1, b == -a), relu.CELL.right_on("(")),
    "ReLU: short strings give U = 1": (right_on(relu.CELL, *all_strings(3)), U == 1),
    "Dyck-1 needs a state whatever the steps": (dyck1_state.RIGHT_ON_SHORT, z3.BoolVal(False)),
}


@pytest.mark.parametrize(("assuming", "shows"), FALSE_CLAIMS.values(), ids=FALSE_CLAIMS)
def test_a_false_claim_is_refuted_by_a_counterexample_that_holds(assuming, shows):
    outcome = discharge(Step("false", assuming, shows))
    assert outcome.verdict is Status.REFUTED
    assert not outcome.holds
    solver = z3.Solver()
    solver.add(*assuming, z3.Not(shows), *values_of(outcome.finding))
    assert solver.check() == z3.sat
    assert " = " in outcome.finding


def values_of(finding: str):
    """The counterexample as printed, read back as equations between the letters and their values."""
    for equation in finding.split(", "):
        name, value = equation.split(" = ")
        if value in ("True", "False"):
            yield z3.Bool(name) == z3.BoolVal(value == "True")
        else:
            yield z3.Int(name) == z3.IntVal(value) if name.startswith("adds_") else z3.Real(name) == z3.RealVal(value)


def test_without_the_string_that_excludes_it_the_counterexample_is_the_sign_flip():
    outcome = discharge(Step("U = 1", right_on(linear.CELL, "(", ")", "()", ")("), U == 1))
    assert "U = -1" in outcome.finding


def test_impossible_assumptions_prove_nothing():
    assert discharge(Step("anything", (a > 0, a < 0), U == 1)).verdict is Status.VACUOUS
    assert discharge(Step("a contradiction, claimed as one", (a > 0, a < 0), None)).verdict is Status.PROVED
    assert discharge(Step("no contradiction", (a > 0,), None)).verdict is Status.REFUTED


def test_what_the_solver_cannot_do_is_undecided(monkeypatch):
    monkeypatch.setattr("tallystick.theorems.proof.SOLVER_MILLISECONDS", 1)
    x, y, z = z3.Ints("x y z")
    outcome = discharge(Step("a sum of three cubes", (x**3 + y**3 + z**3 == 42,), None))
    assert outcome.verdict is Status.UNDECIDED
    assert not outcome.holds


@pytest.mark.parametrize(
    ("string", "state"), [("(", "a"), ("()", "b + Ua"), ("(())", "b + Ub + U²a + U³a"), ("()()", "b + Ua + U²b + U³a")]
)
def test_the_states_of_the_papers_table_are_computed(string, state):
    assert str(LinearCell(*symbols("a b U")).final_state(string)) == state


def test_polynomials_evaluate_to_what_the_cell_gives():
    generator = random.Random(7)
    letters = symbols("a b U")
    for string in all_strings(7):
        values = {name: Fraction(generator.randint(-9, 9), 4) for name in "abU"}
        polynomial = LinearCell(*letters).final_state(string)
        terms = getattr(polynomial, "terms", {})
        total = sum(count * _product(values[name] for name in monomial) for monomial, count in terms.items())
        assert total == LinearCell(*values.values()).final_state(string)
    assert str(ReluCell(*letters).final_state("()")) == "max(0, b + U·max(0, a))"
    assert str(letters[0] + letters[0] * -1) == "0"
    assert str(letters[2] * 2 + 3) == "3 + 2U"


def _product(factors):
    result = Fraction(1)
    for factor in factors:
        result *= factor
    return result


def near_counters(kind, generator):
    """Random cells, many of which meet some or all of the conditions."""
    a = Fraction(generator.randint(-3, 3), 2)
    weight = Fraction(generator.choice([-2, -1, 0, 1, 1, 1, 2, 3]), generator.choice([1, 1, 2]))
    other = generator.choice([weight, 1 / weight if weight else Fraction(0), Fraction(generator.randint(-2, 2))])
    if kind is SelectiveCell:
        return SelectiveCell(a, generator.choice([-other * a, Fraction(1)]), weight, other)
    return kind(a, generator.choice([-a, -weight * a, a, Fraction(generator.randint(-3, 3), 2)]), weight)


def every_state(cell, longest):
    """Go through every string to a length with its state, each one step from a shorter one."""
    states = {"": Fraction(0)}
    for _ in range(longest + 1):
        yield from states.items()
        states = {s + token: cell.step(h, ONE_HOT[token]) for s, h in states.items() for token in "()"}


@pytest.mark.long
@pytest.mark.parametrize(("kind", "language"), [(LinearCell, BB), (SelectiveCell, BB), (ReluCell, SEMI_DYCK1)])
def test_the_conditions_hold_iff_brute_force_finds_no_error(kind, language):
    """The theorem itself, on rational cells and every string up to length 9: a test beside the proof."""
    generator = random.Random(8)
    members = {string: language.contains(string) for string in all_strings(9)}
    verdicts = set()
    for _ in range(600):
        cell = near_counters(kind, generator)
        assert len(fields(cell)) >= 3
        meets = all(condition.holds for condition in conditions(cell))
        right = all((h == 0) == members[string] for string, h in every_state(cell, 9))
        assert right == meets, cell
        verdicts.add(meets)
    assert verdicts == {True, False}


@pytest.mark.parametrize("kind", [LinearCell, SelectiveCell])
def test_six_strings_decide(kind):
    generator = random.Random(9)
    six = ["(", ")", "()", ")(", "((", "))"]
    for _ in range(5_000):
        cell = near_counters(kind, generator)
        right = all((cell.final_state(string) == 0) == BB.contains(string) for string in six)
        assert right == all(condition.holds for condition in conditions(cell))
