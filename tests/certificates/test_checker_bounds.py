"""The checker passes a bound if and only if every string up to it is right: against every string, run one by one."""

import random
from fractions import Fraction
from itertools import product

import pytest
from brute_force import READOUTS, SCALAR_CELLS, classes, some_model
from forged import checked_model, issued, sealed

from tallystick.cells import LinearCell, LstmCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates.verdict import ARITHMETIC_NAMES, Lengths, arithmetic_of
from tallystick.checker import check
from tallystick.checker.answers import Refused
from tallystick.checker.claims import Claim
from tallystick.checker.effort import Limit
from tallystick.checker.floating import FORMATS, Floating
from tallystick.checker.machines import Exact
from tallystick.checker.sorted_strings import Side, _holds_from_to, check_sorted
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout, network_to_json

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
        "model": network_to_json(model),
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
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("cell", SCALAR_CELLS.values(), ids=SCALAR_CELLS)
def test_a_bound_passes_iff_every_string_is_right(cell, readout, arithmetic):
    """What is only known between bounds, or overflows, may be refused as well."""
    generator = random.Random(f"{cell}{readout}{arithmetic}")
    for _ in range(2 if cell is TanhCell else 5):
        model = some_model(cell, readout, generator)
        methods = ["enclosures"] if cell is TanhCell else ["search"]
        if arithmetic == "real" and cell is LinearCell and readout != "zero" and model.cell.recurrent_weight > 0:
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
    (Network(SelectiveCell(1, 2, -HALF, -2), Readout.zero()), "real"),
    (Network(SelectiveCell(1, -2, HALF, 2), Readout.binary(1, Fraction(-1, 10))), "real"),
    (Network(ReluCell(2, -2, 1), Readout.zero()), "real"),
    (Network(ReluCell(HALF, -HALF, 1), Readout.zero()), "real"),
    (Network(LinearCell(-3, 3, 1), Readout.zero()), "real"),
    (Network(LinearCell(1, -1, 1), Readout.ternary((-1, 0, 1), (-HALF, 0, -HALF))), "float32"),
    (Network(LinearCell(-1, 1, 1), Readout.ternary((1, 0, -1), (-HALF, 0, -HALF))), "bfloat16-fused"),
    (Network(ReluCell(Fraction(1, 2**24), -Fraction(1, 2**24), 1), Readout.zero()), "float16"),
    (Network(ReluCell(3, -3, 1), Readout.zero()), "float16"),
    (Network(SelectiveCell(5, -5, 1, 1), Readout.binary(1, -2)), "float64"),
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


def test_an_lstm_that_never_moves_gives_the_lower_class():
    """At an output of 0 exactly a tie goes to the lower index, in boxes as well."""
    still = LstmCell(((0, 0),) * 4, ((0,),) * 4, (0,) * 4, (0,) * 4)
    for readout in (Readout(((1,),), (0,)), Readout(((1,), (0,), (-1,)), (0, 0, 0))):
        network = Network(still, readout)
        example = {"runs": [["(", 1]], "class": str(network.task.classes[0]), "right_class": "Pos", "trace": None}
        claim = bound(network, "real", "all", "gated boxes", 0)
        assert check(sealed({**claim, "verdict": "REFUTED", "counterexample": example})).valid


def some_machine(readout, lines, kind=Exact, *more):
    one = Fraction(1)
    return kind(checked_model((one, one), (one, -one), readout, lines), *more)


def test_which_class_lies_between_two_ends():
    zero = some_machine("zero", ((Fraction(1), Fraction(0)),))
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


UNSURE_LINES = [
    # Two of the three lines are the same; in float16 their order changes at a float between the ends, and changes back.
    (False, ("-114715/65536", "-431/32"), ("-447/256", "-431/32"), ("139/64", "1113/512", "279/128")),
    (True, ("-95/8192", "0"), ("-1555005/134217728", "0"), ("-785/1024", "-1569/2048", "-49/64")),
    (
        False,
        ("-9/128", "-343/32768"),
        ("-36825/524288", "-1405569/134217728"),
        ("915/32768", "1831/65536", "459/16384"),
    ),
    (False, ("1499/2097152", "-1689/65536"), ("373/524288", "-1689/65536"), ("219/64", "1753/512", "55/16")),
    (True, ("-176705/16777216", "0"), ("-687/65536", "0"), ("-1549/2097152", "-387/524288", "-769/1048576")),
    (True, ("349/1048576", "0"), ("45133/134217728", "0"), ("-263/16384", "-1051/65536", "-261/16384")),
    # The least slope there is, and biases one unit apart: whether rounding tells them apart hangs on a digit of h.
    (False, ("1/16777216", "1/16777216"), ("1/16777216", "0"), ("2050", "2052", "2054")),
    # An overflow of both at one end, and of the product of one between the ends.
    (False, ("3/2", "20000"), ("1", "-20000"), ("-46000", "-44000", "-40000")),
    (False, ("1", "20000"), ("3/2", "-20000"), ("40000", "44000", "46000")),
]


@pytest.mark.parametrize(("fused", "line", "other", "places"), UNSURE_LINES)
def test_lines_that_change_places_twice_are_not_sure(fused, line, other, places):
    """Whichever of the two has the lower index."""
    form, changed = FORMATS["float16"], 0
    for lines in ((line, other, other), (other, line, other)):
        exact = tuple((Fraction(v), Fraction(c)) for v, c in lines)
        machine = some_machine("ternary", exact, Floating, form, fused)
        low, between, high = (form.nearest(Fraction(place)) for place in places)
        at_low, at_between, at_high = (machine.class_between((h, h)) for h in (low, between, high))
        if at_low == at_high != at_between:
            changed += 1
            assert machine.class_between((low, high)) is None
    assert changed


def test_a_constant_output_and_a_slope_change_places_once():
    form = FORMATS["float16"]
    lines = ((Fraction(-1), -HALF), (Fraction(0), Fraction(0)), (Fraction(1), -HALF))
    machine = some_machine("ternary", lines, Floating, form, False)
    low, high = form.neighbour(form.nearest(HALF), 1), form.nearest(Fraction(1))
    assert machine.class_between((low, high)) == 2
    assert machine.class_between((-high, -low)) == 0


# In units of float16, whose products are rounded to whole ones: at length 3 the groups of one count hold two states each, and
# the outputs there are too close together for the ends to tell what lies between them.
UNIT = Fraction(1, 2**24)
LISTED = Network(LinearCell(4 * UNIT, -4 * UNIT, Fraction(7, 8)), Readout.ternary((1, 2, 3), (0, 3 * UNIT, UNIT)))


def test_states_are_listed_where_the_ends_do_not_tell(monkeypatch):
    right = right_to(LISTED, "float16", 1)
    assert right == 4
    found = [check(sealed(bound(LISTED, "float16", "all", "search", horizon))) for horizon in range(LONGEST)]
    assert [finding.valid for finding in found] == [horizon <= right for horizon in range(LONGEST)]
    claim = sealed(bound(LISTED, "float16", "all", "search", 3))
    for most, holds in ((11, True), (10, None)):  # two states of one token, three of two tokens, six of three
        monkeypatch.setattr("tallystick.checker.strings._MOST_STATES", most)
        finding = check(claim)
        assert finding.valid is holds
        assert holds or finding.reason == "too many states to list at length 3"


def test_strings_start_from_zero():
    """The tanh of 0 is 0 exactly: `)` leaves h where it was, at the threshold."""
    model = Network(TanhCell(1, 0, 1), Readout.binary(1, 0))
    for arithmetic in ("float16", "float32", "float64"):
        assert check(sealed(bound(model, arithmetic, "all", "enclosures", 1))).valid


def exact_states(U, steps, longest):
    """By their counts, h after every string."""
    return [
        (2 * tokens.count(0) - length, sum(steps[token] * U**i for i, token in enumerate(reversed(tokens))))
        for length in range(1, longest + 1)
        for tokens in product((0, 1), repeat=length)
    ]


@pytest.mark.parametrize("steps", [(1, -1), (-1, 1)])
@pytest.mark.parametrize("U", [Fraction(9, 10), Fraction(1), Fraction(10, 9)])
def test_sorted_strings_decide_at_every_threshold_that_a_string_reaches(U, steps):
    """Binary and ternary thresholds at each state of a string: the check passes if and only if every string is right."""
    steps, told = tuple(map(Fraction, steps)), set()
    upwards = 1 if steps[0] > 0 else -1
    for stride, horizon in ((1, 3), (2, 4)):
        strings = [(n, upwards * h) for n, h in exact_states(U, steps, horizon) if n % stride == 0]
        below_zero, below_positive = (max(h for n, h in strings if n < least) for least in (0, 1))
        for threshold in {h for _, h in strings}:
            for readout, low, high in (
                ("binary", threshold, threshold),
                ("ternary", threshold, below_positive),
                ("ternary", below_zero, threshold),
            ):
                if low > high:
                    continue
                slope = Fraction(upwards)
                lines = ((-slope, low), (0 * slope, 0 * slope), (slope, -high))
                lines = lines[2:] if readout == "binary" else lines
                right = all(
                    (h > high) == (n > 0) and (readout == "binary" or (h <= low) == (n < 0)) for n, h in strings
                )
                model = checked_model((U, U), steps, readout, lines)
                told.add((readout, right))
                claim = Claim(model, stride, "real", "BOUNDED", horizon, None, "sorted strings")
                assert passes(check_sorted, claim) == right, (readout, low, high, horizon)
    assert len(told) == 4


def passes(judge, claim):
    try:
        judge(claim, Limit())
    except Refused:
        return False
    return True


@pytest.mark.parametrize("steps", [(1, -HALF), (Fraction(-1), Fraction(1, 3))])
@pytest.mark.parametrize("U", [Fraction(9, 10), Fraction(1), Fraction(12, 11)])
def test_a_comparison_holds_from_one_length_to_another_iff_it_does_at_each(U, steps):
    """Also where h rises and falls again along the lengths, so that only a few in the middle fail, or a single one."""
    model = checked_model((U, U), tuple(map(Fraction, steps)), "binary")
    single = 0
    for older, younger, r in product((0, 1), (None, 0, 1), (0, 1)):
        states = []
        for k in range(15):
            m = 0 if younger is None else k + younger
            o, y = model.steps[older], model.steps[1 - older]
            states.append(sum(y * U**i for i in range(m)) + sum(o * U**i for i in range(m, 2 * k + r)))
        for (first, last), weight, strict in product(((1, 14), (1, 9), (4, 7), (5, 5)), (1, -1), (True, False)):
            for threshold in states:
                side = Side(Fraction(weight), -weight * threshold, strict)
                over = [weight * (h - threshold) for h in states[first : last + 1]]
                wrong = [value < 0 or (strict and value == 0) for value in over]
                single += sum(wrong[1:-1]) == 1 and not (wrong[0] or wrong[-1])
                assert _holds_from_to(model, older, younger, r, side, first, last, Limit()) == (not any(wrong))
    assert single or U == 1


def test_sorted_strings_are_told_exactly():
    """A threshold a hair above a state, on it and below it: far closer than a double tells."""
    for hair, right in ((-1, True), (0, False), (1, False)):
        model = Network(LinearCell(1, -1, HALF), Readout.binary(1, -1 - Fraction(hair, 2**70)))
        assert check(sealed(bound(model, "real", "all", "sorted strings", 1))).valid is right


def test_an_overflow_keeps_its_sign():
    for form in FORMATS.values():
        huge = Fraction(2) ** (form.limit + 1)
        assert (form.nearest(huge), form.nearest(-huge)) == (form.infinity, -form.infinity)
        assert form.nearest(Fraction(0)) == form.round(0, 3) == 0
        assert (form.neighbour(5, 0), form.neighbour(5, 1), form.neighbour(-5, 1)) == (5, 6, -4)
