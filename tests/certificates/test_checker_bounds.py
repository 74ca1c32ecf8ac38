"""The checker passes a bound if and only if every string up to it is right: against every string, run one by one."""

import random
from fractions import Fraction

import pytest
from brute_force import classes, some_model
from forged import issued, sealed

from tallystick.cells import CELLS, LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.cells.gated import LstmCell
from tallystick.certificates.checker import check
from tallystick.certificates.checker.claim import Model as CheckedModel
from tallystick.certificates.checker.floating import Floating
from tallystick.certificates.checker.formats import FORMATS
from tallystick.certificates.checker.real import Exact
from tallystick.certificates.verdict import ARITHMETIC_NAMES, Lengths, arithmetic_of
from tallystick.errors import BadInput
from tallystick.models import GatedModel, Model, model_to_json
from tallystick.readouts import READOUTS, BinaryReadout, LayerReadout, TernaryReadout, ZeroCheck

LONGEST = 6
HALF = Fraction(1, 2)


def bound(model, arithmetic, lengths, method, horizon):
    """A certificate that claims a horizon, whoever found it."""
    evidence = {"method": method}
    if method == "enclosures":
        form = arithmetic.removesuffix("-fused")
        evidence["tanh_neighbours"] = None if arithmetic == "real" else FORMATS[form].tanh_neighbours
    return {
        "format": "tallystick certificate 1",
        "model": model_to_json(model),
        "readout": model.readout.kind,
        "lengths": str(lengths),
        "arithmetic": arithmetic,
        "verdict": "BOUNDED",
        "horizon": horizon,
        "counterexample": None,
        "evidence": evidence,
    }


def right_to(model, arithmetic, stride):
    """The greatest counted length up to which no string fails."""
    strings = classes(model.in_arithmetic(arithmetic_of(arithmetic)), LONGEST)
    wrong = [length for length, (found, right) in strings.items() if length % stride == 0 and (found != right).any()]
    return min(wrong, default=LONGEST + stride) - stride


@pytest.mark.parametrize("arithmetic", ARITHMETIC_NAMES)
@pytest.mark.parametrize("readout", READOUTS.values(), ids=READOUTS)
@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_a_bound_passes_iff_every_string_is_right(cell, readout, arithmetic):
    """What is only known between bounds, or overflows, may be refused as well."""
    generator = random.Random(f"{cell}{readout}{arithmetic}")
    for _ in range(2 if cell is TanhCell else 5):
        model = some_model(cell, readout, generator)
        methods = ["enclosures"] if cell is TanhCell else ["search"]
        if arithmetic == "real" and cell is LinearCell and readout is not ZeroCheck and model.cell.recurrent_weight > 0:
            methods.append("sorted strings")
        for lengths in Lengths:
            try:
                right = right_to(model, arithmetic, lengths.stride)
            except BadInput:  # a weight too large for the format
                continue
            for method in methods:
                for horizon in range(0, LONGEST + 1, lengths.stride):
                    finding = check(sealed(bound(model, arithmetic, lengths, method, horizon)))
                    undecided = finding.reason in ("h overflows", "the bounds on tanh do not decide")
                    assert finding.valid == (horizon <= right) or (undecided and not finding.valid), finding


COUNTERS = [
    (Model(SelectiveCell(1, 2, -HALF, -2), ZeroCheck()), "real"),
    (Model(SelectiveCell(1, -2, HALF, 2), BinaryReadout(1, Fraction(-1, 10))), "real"),
    (Model(ReluCell(2, -2, 1), ZeroCheck()), "real"),
    (Model(ReluCell(HALF, -HALF, 1), ZeroCheck()), "real"),
    (Model(LinearCell(-3, 3, 1), ZeroCheck()), "real"),
    (Model(LinearCell(1, -1, 1), TernaryReadout((-1, 0, 1), (-HALF, 0, -HALF))), "float32"),
    (Model(LinearCell(-1, 1, 1), TernaryReadout((1, 0, -1), (-HALF, 0, -HALF))), "bfloat16-fused"),
    (Model(ReluCell(Fraction(1, 2**24), -Fraction(1, 2**24), 1), ZeroCheck()), "float16"),
    (Model(ReluCell(3, -3, 1), ZeroCheck()), "float16"),
    (Model(SelectiveCell(5, -5, 1, 1), BinaryReadout(1, -2)), "float64"),
]


@pytest.mark.parametrize(("model", "arithmetic"), COUNTERS)
@pytest.mark.parametrize("lengths", Lengths)
def test_a_counters_certificate_holds_and_one_length_more_does_not(model, arithmetic, lengths):
    content = issued(model, arithmetic, lengths)
    assert content["evidence"]["method"] == ("theorem" if arithmetic == "real" else "exact depth")
    assert check(sealed(content)).valid
    if arithmetic != "real":
        further = {**content, "horizon": content["horizon"] + lengths.stride}
        assert check(sealed(further)).reason == "the counter is not exact to this depth"


def test_a_gated_cell_that_never_moves_gives_the_lower_class():
    """At an output of 0 exactly a tie goes to the lower index, in boxes as well."""
    still = LstmCell(((0, 0),) * 4, ((0,),) * 4, (0,) * 4, (0,) * 4)
    for readout in (LayerReadout(((1,),), (0,)), LayerReadout(((1,), (0,), (-1,)), (0, 0, 0))):
        lowest = str(next(iter(readout.classes)))
        example = {"runs": [["(", 1]], "class": lowest, "right_class": "Pos", "trace": None}
        claim = bound(GatedModel(still, readout), "real", "all", "gated boxes", 0)
        assert check(sealed({**claim, "verdict": "REFUTED", "counterexample": example})).valid


def some_machine(readout, lines, kind=Exact, *more):
    one = Fraction(1)
    return kind(CheckedModel("linear", (one, one), (one, -one), readout, lines), *more)


def test_which_class_lies_between_two_ends():
    zero = some_machine("zero", ())
    ends = {(0, 0): 1, (1, 2): 0, (-2, -1): 0, (0, 1): None, (-1, 0): None, (-1, 1): None}
    assert {pair: zero.class_between(pair) for pair in ends} == ends
    binary = some_machine("binary", ((Fraction(1), Fraction(-1)),))
    ends = {(1, 1): 0, (2, 2): 1, (0, 1): 0, (2, 9): 1, (1, 2): None}
    assert {pair: binary.class_between(pair) for pair in ends} == ends
    lines = ((Fraction(-1), Fraction(-1)), (Fraction(0), Fraction(0)), (Fraction(1), Fraction(-1)))
    ternary = some_machine("ternary", lines)
    ends = {(-9, -2): 0, (-1, -1): 0, (0, 1): 1, (2, 5): 2, (-1, 0): None, (1, 2): None}
    assert {pair: ternary.class_between(pair) for pair in ends} == ends


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("found", [0, 1, 2])
def test_what_is_above_at_both_ends_stays_above_only_where_that_is_sure(found, fused):
    """Lines of one sign in float16, close together: whatever is called sure is so at every float between the ends."""
    form, generator, sure = FORMATS["float16"], random.Random(found), 0
    for _ in range(60):
        slopes = [Fraction(generator.randrange(100, 120), 16) for _ in range(3)]
        biases = [Fraction(generator.randrange(-3, 4), 64) for _ in range(3)]
        biases[found] += Fraction(generator.randrange(6), 16)
        machine = some_machine("ternary", tuple(zip(slopes, biases, strict=True)), Floating, form, fused)
        low = form.nearest(Fraction(generator.randrange(-64, 64), 64))
        between = [low]
        for _ in range(30):
            between.append(form.neighbour(between[-1], 1))
        if machine.class_between((low, between[-1])) == found:
            sure += 1
            assert all(machine.class_between((h, h)) == found for h in between)
    assert sure > 3


def test_an_overflow_keeps_its_sign():
    for form in FORMATS.values():
        huge = Fraction(2) ** (form.limit + 1)
        assert (form.nearest(huge), form.nearest(-huge)) == (form.infinity, -form.infinity)
        assert form.nearest(Fraction(0)) == form.rounded(0, 3) == 0
        assert (form.neighbour(5, 0), form.neighbour(5, 1), form.neighbour(-5, 1)) == (5, 6, -4)
