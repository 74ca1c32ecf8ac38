"""Programs in certificates: recorded as the step runs, checked as brute force says, and refused at once where malformed."""

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, product

import numpy as np
import pytest
from forged import issued, sealed

from tallystick.cells import GruCell, LinearCell, LstmCell, ReluCell, ScalarCell, SelectiveCell, Stack, TanhCell
from tallystick.certificates.programs import Rounding, program_of
from tallystick.checker import check
from tallystick.errors import BadInput
from tallystick.languages.brackets import BB
from tallystick.networks import Network, Readout
from tallystick.numbers import ARITHMETICS, Number, positive_part, weighted_mean
from tallystick.numbers.values import map_states, numbers_of

TASK = {"name": "binary", "machine": "bb", "classes": ["ZeroNeg", "Pos"], "right": ["ZeroNeg", "ZeroNeg", "Pos"]}
HALF = Fraction(1, 2)


def run(program, state, number=Fraction):
    """Run a program token by token as it is written, on numbers of any kind."""
    numbers = list(state)
    for name, *taken in program["operations"]:
        if name == "sum":
            terms, bias = taken
            products = [number(Fraction(weight)) * numbers[place] for weight, place in terms]
            numbers.append(
                sum(products[1:], start=products[0]) + number(Fraction(bias)) if terms else number(Fraction(bias))
            )
        elif name == "mean":
            s, x, y = (numbers[place] for place in taken)
            numbers.append((number(1) - s) * x + s * y)
        else:
            acts = {"product": lambda x, y: x * y, "positive_part": lambda x: max(x, number(0)), "tanh": math.tanh}
            acts["sigmoid"] = lambda x: 1 / (1 + math.exp(-x))
            numbers.append(acts[name](*(numbers[place] for place in taken)))
    return [numbers[place] for place in program["results"]]


def output(model, string, number=Fraction):
    """The single output after a string."""
    state = [number(Fraction(start)) for start in model["start"]]
    for token in string:
        state = run(model["step"][token], state, number)
    (weights,), (bias,) = model["readout"]["weight"], model["readout"]["bias"]
    products = [number(Fraction(w)) * h for w, h in zip(weights, run(model["hidden"], state, number), strict=True)]
    return sum(products[1:], start=products[0]) + number(Fraction(bias))


# --- What is recorded is what is run ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OwnCell(ScalarCell):
    """Sums and products of constants, of numbers and of both, on either side."""

    first: Number
    second: Number

    name = "own"

    def step(self, h, token):
        """Whatever a step may be made of."""
        c = token.choose(self.open_step, self.close_step)
        bent = 3 - positive_part(self.first * self.second - h) + (-h) * h * self.second
        return weighted_mean(self.first + self.second * 2, bent - c, c * h + 1 - self.first) - h + h


RATIONAL = [
    LinearCell(1, Fraction(-1, 3), Fraction(9, 10)),
    SelectiveCell(1, -1, Fraction(3, 4), Fraction(4, 3)),
    ReluCell(Fraction(2, 3), -1, 2),
    OwnCell(1, Fraction(-1, 3), Fraction(1, 5), Fraction(1, 7)),
    Stack((LinearCell(1, -1, HALF),), tokens=((2, HALF), (1, 3)), start=(Fraction(1, 3),)),
]


@pytest.mark.parametrize("cell", RATIONAL, ids=lambda cell: cell.name)
def test_a_program_goes_the_way_of_its_cell(cell):
    content = program_of(cell, Rounding.NONE)
    for string in map("".join, product("()", repeat=4)):
        state = list(map(Fraction, content["start"]))
        for token in string:
            state = run(content["step"][token], state)
        assert state == numbers_of(cell.final_state(string))
        assert run(content["hidden"], state) == list(cell.hidden(cell.final_state(string)))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("cell", RATIONAL[:4], ids=lambda cell: cell.name)
def test_an_executed_program_rounds_as_its_cell_does(cell, name):
    content, number = program_of(cell, Rounding.EACH), ARITHMETICS[name]
    executed = cell.map_weights(number)
    with np.errstate(all="ignore"):
        for string in map("".join, product("()", repeat=5)):
            state = [number(0)]
            for token in string:
                state = run(content["step"][token], state, number)
            assert np.array_equal(state[0], executed.final_state(string), equal_nan=True)


def test_gates_are_recorded():
    rows = [[0.5, -0.25], [1.0, 0.125], [-0.75, 0.5]]
    for kind, size in ((GruCell, 6), (LstmCell, 8)):
        weights = [tuple(map(tuple, (rows * 3)[:size])), tuple(map(tuple, (rows[::-1] * 3)[:size]))]
        cell = kind(
            *weights, tuple(0.125 * place for place in range(size)), tuple(-0.25 * place for place in range(size))
        )
        content = program_of(cell, Rounding.NONE)
        assert (
            sum(name == "sum" for name, *_ in content["step"]["("]["operations"]) <= 2 * size
        )  # a layer is one sum a row
        state = [0.0] * len(content["start"])
        for token in "(()":
            state = run(content["step"][token], state, float)
        assert state == pytest.approx(numbers_of(map_states(float, cell.final_state("(()"))), rel=1e-12)


@pytest.mark.parametrize(
    ("literal", "rounding"),
    [(0.5, "none"), (np.float32(1), "none"), (True, "none"), (HALF, "each"), (HALF, "any order")],
)
def test_a_number_that_would_change_the_arithmetic_is_not_recorded(literal, rounding):
    """A float makes floats of rationals, and a rational makes doubles of floats: such a step does not run as it is certified."""

    class LiteralCell(OwnCell):
        def step(self, h, token):
            return h * literal

    with pytest.raises(BadInput, match="is not a whole number"):
        program_of(LiteralCell(1, -1, 1, 1), Rounding(rounding))


@pytest.mark.long
def test_what_the_checker_would_not_read_is_not_written():
    units = 64
    rows = ((Fraction(1, 3),) * units,) * (4 * units)
    lower = LstmCell(((1, -1),) * (4 * units), rows, (0,) * (4 * units), (0,) * (4 * units))
    upper = LstmCell(rows, rows, (0,) * (4 * units), (0,) * (4 * units))
    program_of(lower, Rounding.NONE)
    with pytest.raises(BadInput, match="the step has more than 32,768 terms in its sums"):
        program_of(Stack((lower, upper)), Rounding.NONE)
    with pytest.raises(BadInput, match="the step has more than 1,024 numbers in its state"):
        program_of(Stack((lower, *(upper,) * 8)), Rounding.NONE)


def test_tanh_is_recorded():
    content = program_of(TanhCell(HALF, -HALF, 2), Rounding.EACH)
    assert content["step"]["("]["operations"] == [["sum", [[2, 0]], 0], ["sum", [[1, 1]], "1/2"], ["tanh", 2]]


# --- The check against brute force --------------------------------------------------------------------------------------------


def some_program(generator, size, rational):
    """A random program that does not grow much."""
    numbers = [Fraction(n, d) for n in range(-4, 5) for d in (1, 2, 3, 4)]
    acts = ["positive_part", "product", "mean"] + ["tanh", "sigmoid"] * (not rational)
    operations = []
    for _ in range(generator.randint(1, 5)):
        places = [generator.randrange(size + len(operations)) for _ in range(3)]
        if generator.random() < 0.5:
            terms = [[written(generator.choice(numbers)), place] for place in places[: generator.randint(1, 2)]]
            operations.append(["sum", terms, written(generator.choice(numbers))])
        else:
            act = generator.choice(acts)
            operations.append([act, *places[: {"product": 2, "mean": 3}.get(act, 1)]])
    last = size + len(operations) - 1
    return {"operations": operations, "results": [max(0, last - place) for place in range(size)]}


def written(number):
    return number.numerator if number.denominator == 1 else str(number)


def some_model(generator, size, rational):
    steps = {"(": some_program(generator, size, rational), ")": some_program(generator, size, rational)}
    if generator.random() < 0.7:  # near a counter, so that some claims reach further
        drift = Fraction(generator.randint(1, 4), 4)
        for step, token in ((drift, "("), (-drift, ")")):
            steps[token]["operations"].append(["sum", [[1, 0]], written(step)])
            steps[token]["results"][0] = size + len(steps[token]["operations"]) - 1
    weights = [written(Fraction(generator.randint(-3, 3), 2)) for _ in range(size)]
    return {
        "cell": "drawn",
        "start": [0] * size,
        "step": steps,
        "hidden": {"operations": [], "results": list(range(size))},
        "readout": {"kind": "binary", "weight": [weights], "bias": [written(Fraction(generator.randint(-4, 4), 8))]},
        "task": TASK,
    }


def claim(model, horizon, arithmetic="real", example=None):
    return {
        "format": "tallystick certificate 1",
        "model": model,
        "readout": "binary",
        "lengths": "all",
        "arithmetic": arithmetic,
        "verdict": "BOUNDED" if example is None else "REFUTED",
        "horizon": horizon,
        "counterexample": example,
        "evidence": {"method": "boxes"},
    }


LONGEST = 6


def brute_force(model, number=Fraction, margin=0):
    """The horizon up to `LONGEST` and a first failing string; None where an output is too near to 0 to tell."""
    for length in range(1, LONGEST + 1):
        for string in map("".join, product("()", repeat=length)):
            found = output(model, string, number)
            if not abs(found) < 1e30 or (margin and abs(found) < margin):
                return None
            if (found > 0) != (BB.count(string) > 0):
                return length - 1, string
    return LONGEST, None


def example_of(string):
    classes = ["ZeroNeg", "Pos"]
    right = BB.count(string) > 0
    runs = [[token, len(list(group))] for token, group in groupby(string)]
    return {"runs": runs, "class": classes[not right], "right_class": classes[right], "trace": None}


def compare(model, arithmetic, found, answers):
    """Claims of the true horizon hold or are left open; of more than that they never hold."""
    horizon, string = found
    answers.append(check(sealed(claim(model, horizon, arithmetic))).status)
    assert answers[-1] in (0, 3), model
    if string is not None:
        assert check(sealed(claim(model, horizon + 1, arithmetic))).status in (1, 3), model
        example = example_of(string)
        answers.append(check(sealed(claim(model, horizon, arithmetic, example))).status)
        assert answers[-1] in (0, 3), model
        lie = {**example, "class": example["right_class"], "right_class": example["class"]}
        assert check(sealed(claim(model, horizon, arithmetic, lie))).status in (1, 3), model


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1, 2])
def test_rational_programs_are_decided_as_brute_force_says(size, seed):
    """Up to this length every string has a box of its own in the end, so that nothing is left open."""
    generator, answers = random.Random(100 * size + seed), []
    for _ in range(25):
        model = some_model(generator, size, rational=True)
        found = brute_force(model)
        if found is not None:
            compare(model, "real", found, answers)
    assert answers.count(0) > 20
    assert answers.count(3) <= 1  # numbers that grow beyond all bounds


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1, 2])
def test_squashing_programs_are_decided_as_brute_force_says(size, seed):
    generator, answers = random.Random(1000 * size + seed), []
    for _ in range(20):
        model = some_model(generator, size, rational=False)
        try:
            found = brute_force(model, float, margin=1e-6)
        except OverflowError:
            continue
        if found is not None:
            compare(model, "real", found, answers)
    assert answers.count(0) > 5


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_executed_programs_are_decided_as_brute_force_says(name):
    generator, answers, number = random.Random(name), [], ARITHMETICS[name]
    with np.errstate(all="ignore"):
        for _ in range(25):
            model = some_model(generator, 1, rational=True)
            found = brute_force(model, number)
            if found is not None:
                compare(model, name, found, answers)
    assert answers.count(0) > 10


def test_a_stack_of_cells_is_certified_and_checked():
    """Two layers over token vectors, from a state of their own: right to a horizon, and the next length fails."""
    lower = LinearCell(1, -1, Fraction(15, 16))
    upper = GruCell(((0,), (0,), (1,)), ((0,), (0,), (0,)), (0, -8, 0), (0, 0, 0))
    stack = Stack((lower, upper), tokens=((2, 0), (0, 2)), start=(Fraction(1, 64), upper.initial_state))
    network = Network(stack, Readout(((1,),), (-HALF,)))
    content = issued(network, limit=12)
    assert (content["verdict"], content["model"]["start"], content["horizon"] > 2) == ("REFUTED", ["1/64", 0], True)
    assert check(sealed(content)).valid
    further = {**content, "horizon": content["horizon"] + 1}
    assert check(sealed(further)).status == 1
    assert check(sealed({**further, "verdict": "BOUNDED", "counterexample": None})).status == 1
    other = {**content["model"], "start": [-9, 0]}
    assert check(sealed({**content, "model": other})).valid is not True


# --- What is malformed --------------------------------------------------------------------------------------------------------

COUNTING = {
    "cell": "own",
    "start": [0],
    "step": {
        "(": {"operations": [["sum", [[1, 0]], 1]], "results": [1]},
        ")": {"operations": [["sum", [[1, 0]], -1]], "results": [1]},
    },
    "hidden": {"operations": [], "results": [0]},
    "readout": {"kind": "own", "weight": [[1]], "bias": ["-1/2"], "comparisons": [[[0, None, True]]]},
    "task": TASK,
}


def with_operations(*operations, results=(1,)):
    program = {"operations": list(operations), "results": list(results)}
    return {**COUNTING, "step": {**COUNTING["step"], "(": program}}


def with_readout(**fields):
    return {**COUNTING, "readout": {**COUNTING["readout"], **fields}}


def with_task(**fields):
    return {**COUNTING, "task": {**TASK, **fields}}


BEFORE = "an operation takes a number that is not before it"
MALFORMED = [
    (BEFORE, with_operations(["tanh", 1])),
    (BEFORE, with_operations(["tanh", -1])),
    (BEFORE, with_operations(["sum", [[1, 5]], 0])),
    (BEFORE, with_operations(["positive_part", True])),
    (BEFORE, with_operations(["positive_part", "0"])),
    (BEFORE, with_operations(["positive_part", 0], results=(2,))),
    ("a list has not 1 entries", with_operations(["positive_part", 0], results=(0, 1))),
    ("a list has not 1 entries", with_operations(["tanh", 0, 0])),
    ("a list has not 2 entries", with_operations(["sum", []])),
    ("a list has not 2 entries", with_operations(["sum", [[1]], 0])),
    ("a list is missing", with_operations("tanh")),
    ("an operation without a name", with_operations([])),
    ("not one of sum, product, positive_part, tanh, sigmoid, square, step, mean", with_operations(["exp", 0])),
    ("a number is neither whole nor p/q", with_operations(["sum", [["0.5", 0]], 0])),
    ("a list has more than 4096 entries", with_operations(*[["positive_part", 0]] * 4097)),
    ("a program has more than 32768 terms", with_operations(*[["sum", [[1, 0]] * 200, 0]] * 200)),
    ("a list has more than 1024 entries", {**COUNTING, "start": [0] * 1025}),
    ("a program without results", {**COUNTING, "hidden": {"operations": [], "results": []}}),
    ("the fields are not ( )", {**COUNTING, "step": {"(": COUNTING["step"]["("]}}),
    ("the fields are not operations results", {**COUNTING, "hidden": {"results": [0]}}),
    ("a readout without a kind", with_readout(kind=3)),
    ("a readout without outputs", with_readout(weight=[], bias=[])),
    ("a list has not 1 entries", with_readout(weight=[[1, 1]])),
    ("a class without comparisons", with_readout(comparisons=[])),
    ("a class without comparisons", with_readout(comparisons=[[]])),
    ("a comparison of what is no output", with_readout(comparisons=[[[1, None, True]]])),
    ("a comparison of what is no output", with_readout(comparisons=[[[-1, 0, True]]])),
    ("a comparison of nothing", with_readout(comparisons=[[[None, None, True]]])),
    ("a comparison of nothing", with_readout(comparisons=[[[0, None, 1]]])),
    ("more than 64 comparisons", with_readout(comparisons=[[[0, None, True]] * 65])),
    ("a list has not 2 entries", with_task(classes=["a"])),
    ("classes of one name, or of none", with_task(classes=["a", "a"])),
    ("classes of one name, or of none", with_task(classes=["a", 1])),
    ("a right class that is none", with_task(right=["ZeroNeg", "Pos", "x"])),
    ("not one of bb, semidyck1", with_task(machine="dyck1")),
    ("the fields are not cell start step hidden readout task", {n: v for n, v in COUNTING.items() if n != "task"}),
]


@pytest.mark.parametrize(("reason", "model"), MALFORMED, ids=[reason[:40] for reason, _ in MALFORMED])
def test_what_is_malformed_is_refused_with_its_reason(reason, model):
    assert check(sealed({**claim(COUNTING, 3), "readout": "own"})).valid
    assert check(sealed({**claim(model, 3), "readout": "own"})) == (False, reason)


def test_a_claim_that_no_program_has_is_refused():
    sigmoid = {**with_operations(["sigmoid", 0]), "readout": {"kind": "binary", "weight": [[1]], "bias": [0]}}
    proved = {"verdict": "PROVED", "horizon": "unlimited"}
    for content, reason in (
        ({**claim(COUNTING, 3), "readout": "own", **proved}, "no theorem speaks of a program"),
        ({**claim(COUNTING, 3, "float32-fused"), "readout": "own"}, "a program is not executed fused"),
        (claim(sigmoid, 0, "float32"), "nothing says how exact an executed sigmoid is"),
        ({**claim(COUNTING, 3), "readout": "own", "evidence": {"method": "search"}}, "not one of boxes, lattice paths"),
    ):
        assert check(sealed(content)) == (False, reason)


def test_a_class_that_two_make_is_none():
    """Both classes beside the first hold above 0: no string there has a class, so that none is right."""
    above = [[0, None, True]]
    task = {"name": "own", "machine": "bb", "classes": ["a", "b", "c"], "right": ["a", "a", "b"]}
    model = {**with_readout(comparisons=[above, above]), "task": task}
    assert check(sealed({**claim(model, 3), "readout": "own"})).valid is None


HUGE = [
    with_operations(*[["product", place, place] for place in range(60)], results=(60,)),
    with_operations(
        ["sum", [["9" * 4000 + "/7", 0]], "1/3"], *[["product", p, p] for p in range(1, 30)], results=(30,)
    ),
    with_operations(
        ["sum", [[f"1/{'9' * 4000}", 0]], "1/3"], *[["product", p, p] for p in range(1, 30)], results=(30,)
    ),
    with_operations(*[["sum", [["9" * 4300, place]], 1] for place in range(4096)], results=(4096,)),
    with_operations(["sum", [[f"1/{10**200 + odd}", 0] for odd in range(1, 30_000, 2)], 1]),
    with_operations(*[["mean", place, place, place] for place in range(4096)], results=(4096,)),
]


@pytest.mark.parametrize("model", HUGE, ids=range(len(HUGE)))
@pytest.mark.parametrize(
    ("horizon", "arithmetic"), [(10, "real"), (10**9, "real"), (10**9, "float16"), (10, "float64")]
)
def test_programs_that_grow_beyond_all_bounds_are_answered(model, horizon, arithmetic):
    """A hang or a full memory would be seen."""
    answer = check(sealed({**claim(model, horizon, arithmetic), "readout": "own"}), Fraction(1, 600))
    assert answer.valid is not True or horizon == 10
    assert len(answer.reason) < 200
