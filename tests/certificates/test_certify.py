"""Verdicts against every string: random models of each kind, each readout, each arithmetic; `soak/verdicts.py` has a million."""

import random
from fractions import Fraction

import flint
import numpy as np
import pytest
from agreement import every_string, verdict_disagreement
from brute_force import READOUTS, SCALAR_CELLS, some_model

from tallystick.cells import LinearCell, ReluCell, ScalarCell, SelectiveCell, TanhCell
from tallystick.certificates.certify import certify
from tallystick.certificates.deciders import exact_depth
from tallystick.certificates.one_unit.executions import execution
from tallystick.certificates.one_unit.extremes import rows
from tallystick.certificates.one_unit.search import search
from tallystick.certificates.verdict import ARITHMETIC_NAMES, Failure, Lengths, Outcome
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout

LONGEST = 8
MODELS = 10


def check_against_brute_force(model, arithmetic, longest=LONGEST):
    """Hold the verdicts against every string; return the one for all lengths."""
    outcomes, strings = [], every_string(model, arithmetic, longest)
    for lengths in Lengths:
        disagreement, outcome = verdict_disagreement(model, lengths, arithmetic, strings)
        assert disagreement is None, (model, lengths, disagreement)
        outcomes.append(outcome)
    return outcomes[0]


@pytest.mark.parametrize("arithmetic", ARITHMETIC_NAMES)
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("cell", SCALAR_CELLS.values(), ids=SCALAR_CELLS)
def test_every_verdict_agrees_with_every_string(cell, readout, arithmetic):
    generator = random.Random(f"{cell}{readout}{arithmetic}")
    outcomes = {check_against_brute_force(some_model(cell, readout, generator), arithmetic) for _ in range(MODELS)}
    assert Outcome.REFUTED in outcomes


def near_counter(generator):
    """A linear cell near an exact counter, with thresholds near half a step or at zero."""
    a = Fraction(generator.choice([1, -1, generator.gauss(0, 1)]))
    spread = 10 ** generator.uniform(-4, -1)
    b, U = -a * Fraction(1 + generator.choice([0, spread, -spread])), Fraction(generator.gauss(1, spread))
    cell = LinearCell(a, b, generator.choice([U, U, Fraction(1)]))
    v = Fraction(1 if a > 0 else -1)
    place = generator.choice(
        [0, Fraction(1, 2), Fraction(generator.random()), Fraction(generator.uniform(0, 2))]
    ) * abs(a)
    if generator.random() < 0.5:
        return Network(cell, Readout.binary(v, -place))
    return Network(cell, Readout.ternary((-v, Fraction(0), v), (-place, Fraction(0), -place)))


@pytest.mark.long
def test_the_sorted_strings_decide_as_the_recursion_does():
    """Linear cells near an exact counter, whose horizons lie beyond what brute force can reach."""
    generator, horizons = random.Random(5), []
    for _ in range(150):
        model = near_counter(generator)
        for lengths in Lengths:
            verdict = certify(model, lengths)
            found = search(execution(model, "real"), lengths, limit=60)
            if isinstance(found, Failure):
                assert verdict.failure is not None
                assert verdict.failure.length == found.length
            else:
                assert verdict.horizon is None or verdict.horizon >= 60
            if verdict.failure and verdict.failure.length < 200:
                assert model.class_of(verdict.failure.string) == verdict.failure.found != verdict.failure.right
            horizons.append(verdict.horizon)
    assert len({horizon for horizon in horizons if horizon is not None and 10 < horizon < 60}) > 10


@pytest.mark.parametrize("exponent", [8, 12, 23, 52])
def test_near_an_exact_counter_the_horizon_is_about_two_over_the_root(exponent):
    """MATH section 3: |U − 1| = ε gives about 2/√ε, found without going through the lengths."""
    model = Network(LinearCell(1, -1, 1 + Fraction(1, 2**exponent)), Readout.binary(1, Fraction(-1, 2)))
    verdict = certify(model)
    assert 1 < verdict.horizon * 2 ** (-exponent / 2) < 3
    assert verdict.failure.length == verdict.horizon + 1
    drift = certify(Network(LinearCell(1, -1 - Fraction(1, 2**exponent), 1), Readout.binary(1, 0)), "even")
    assert drift.horizon == pytest.approx(4 * 2**exponent, rel=0.01)


def test_long_counterexamples_are_runs():
    verdict = certify(Network(LinearCell(1, -1, 1 + Fraction(1, 2**52)), Readout.binary(1, Fraction(-1, 2))))
    assert len(verdict.failure.runs) == 2
    with pytest.raises(BadInput, match="tokens are too many to write out"):
        _ = verdict.failure.string


@pytest.mark.parametrize("place", [Fraction(n, 4) for n in range(-1, 10)])
def test_the_threshold_of_an_exact_counter(place):
    """MATH section 3: unlimited iff θ is in [0, a), or in [0, 2a) for even lengths."""
    model = Network(LinearCell(1, -1, 1), Readout.binary(3, -3 * place))
    assert (certify(model).outcome is Outcome.PROVED) == (0 <= place < 1)
    assert (certify(model, "even").outcome is Outcome.PROVED) == (0 <= place < 2)
    mirrored = Network(LinearCell(-1, 1, 1), Readout.binary(-3, -3 * place))
    assert [certify(mirrored, lengths).horizon for lengths in Lengths] == [
        certify(model, lengths).horizon for lengths in Lengths
    ]


def test_selective_counters():
    """Theorem 2's cells with a readout: h depends on the count alone."""
    binary = Readout.binary(1, Fraction(-1, 10))
    assert certify(Network(SelectiveCell(1, -2, Fraction(1, 2), 2), binary)).outcome is Outcome.PROVED
    falling = Network(SelectiveCell(1, 2, Fraction(-1, 2), -2), binary)
    assert certify(falling).horizon == 0
    assert certify(falling, "even").outcome is Outcome.PROVED
    drifting = Network(SelectiveCell(1, -2, Fraction(1, 2), 2 + Fraction(1, 50)), binary)
    assert certify(drifting, limit=60).outcome is Outcome.REFUTED


def test_a_relu_cell_answers_for_semi_dyck_1():
    assert certify(Network(ReluCell(2, -2, 1), Readout.zero())).outcome is Outcome.PROVED
    assert certify(Network(ReluCell(2, -2, 1), Readout.binary(1))).failure.string == ")("
    verdict = certify(Network(ReluCell(1, Fraction(-99, 100), 1), Readout.zero()))
    assert verdict.failure.string == "()"
    long = certify(Network(ReluCell(1, Fraction(-101, 100), 1), Readout.zero()), limit=210)
    assert long.outcome is Outcome.REFUTED
    assert long.horizon == 200


def test_float32_counting_by_a_tenth():
    """With a = 0.1 in float32 and the zero check: the conditions hold, and a short string fails."""
    verdict = certify(Network(LinearCell(Fraction(1, 10), Fraction(-1, 10), 1), Readout.zero()), arithmetic="float32")
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.failure.length == 6
    assert verdict.trace()[-1] != 0
    threshold = Network(verdict.model.cell, Readout.binary(1, Fraction(-1, 20)))
    assert certify(threshold, arithmetic="float32", limit=300).outcome is Outcome.BOUNDED


def test_an_exact_counter_is_bounded_by_its_depth():
    model = Network(LinearCell(1, -1, 1), Readout.zero())
    for arithmetic, depth in (("float16", 2**11), ("float32", 2**24), ("float64", 2**53)):
        verdict = certify(model, arithmetic=arithmetic)
        assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, depth)
        assert exact_depth(LinearCell(3, -3, 1), arithmetic) == depth // 3
        assert exact_depth(SelectiveCell(3, -3, 1, 1), arithmetic) == depth // 3
    assert exact_depth(LinearCell(2**15, -(2**15), 1), "float16") == 1  # 2^16 overflows
    assert exact_depth(ReluCell(-1, 1, 1), "float32") is None
    assert exact_depth(LinearCell(1, 1, 1), "float32") is None


def test_the_depth_is_sharp():
    """One step beyond it a multiple of the step is no longer a float16."""
    for step in (1, 3, 5, 7, 1025, Fraction(3, 8)):
        depth = exact_depth(LinearCell(step, -step, 1), "float16")
        h = np.float16(0)
        for k in range(1, depth + 1):
            h += np.float16(float(step))
            assert Fraction(float(h)) == k * step
        following = [k * step for k in range(depth + 1, depth + 3)]
        assert any(Fraction(float(np.float16(float(value)))) != value for value in following)


def test_a_ternary_readout_in_floats_need_not_have_intervals():
    """Two rounded outputs of one slope's sign change places more than once, and no verdict rests on the ends alone."""
    generator = random.Random(9)
    for _ in range(200):
        v, c = ([Fraction(generator.uniform(0.5, 1)) for _ in range(3)] for _ in range(2))
        cell = LinearCell(Fraction(1, 64), Fraction(generator.choice([-1, 1, -2]), 64), 1)
        at = Fraction(generator.randrange(-3, 4), 64)
        c = [-weight * at for weight in v]
        check_against_brute_force(Network(cell, Readout.ternary(tuple(v), tuple(c))), "float16", longest=7)


def test_right_ends_do_not_make_a_float_interval_right():
    """A float16 network whose least and greatest h at length 4, count 0, are right while a state between them is not."""
    cell = LinearCell(1.439453125, -1.3974609375, 0.9912109375)
    readout = Readout.ternary((63.9375, 64.0, 64.0625), (-0.047576904296875, 0.0, -0.005016326904296875))
    model = Network(cell, readout)
    executed = model.in_arithmetic("float16")
    *_, last = rows(executed.cell, 4)
    assert executed.class_of_state(last.least[2]) == executed.class_of_state(last.greatest[2]) == "Zero"
    verdict = certify(model, "even", "float16")
    assert verdict.failure.length == 4
    assert verdict.failure.string.count("(") == 2
    assert executed.class_of(verdict.failure.string) == "Pos"
    check_against_brute_force(model, "float16")


@pytest.mark.parametrize(("most", "length"), [(3, 2), (4, 4), (15, 4), (16, None)])
def test_states_are_listed_while_they_are_few(most, length, monkeypatch):
    """Of the network above, with 4 states of length 2 and 16 of length 4."""
    monkeypatch.setattr("tallystick.certificates.one_unit.search.MOST_STATES", most)
    cell = LinearCell(1.439453125, -1.3974609375, 0.9912109375)
    readout = Readout.ternary((63.9375, 64.0, 64.0625), (-0.047576904296875, 0.0, -0.005016326904296875))
    verdict = certify(Network(cell, readout), "even", "float16")
    if length is None:
        assert (verdict.outcome, verdict.horizon) == (Outcome.REFUTED, 2)
    else:
        assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, length - 2)
        assert verdict.reason == f"too many states to list at length {length}"


def test_a_weight_so_near_one_that_short_enclosures_cannot_tell():
    verdict = certify(Network(LinearCell(1, -1, 1 + Fraction(1, 2**450)), Readout.binary(1, Fraction(-1, 2))))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.horizon == pytest.approx(2 * 2**225, rel=0.5)


def test_a_tanh_beside_zero_may_have_either_sign():
    """A bound at 0 of an interval that goes on is widened; without that length 2 would be called right."""
    least = Fraction(1, 2**149)
    cell = TanhCell(-Fraction(1, 2**140), Fraction(2, 2**140) + 10 * least, 2)
    verdict = certify(Network(cell, Readout.binary(-1, 0)), arithmetic="float32")
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 1)
    stuck = certify(Network(TanhCell(0, -1, 1), Readout.zero()), arithmetic="float32")
    assert stuck.failure.string == "("


@pytest.mark.parametrize("lengths", Lengths)
def test_a_tanh_beside_a_threshold_is_decided_with_more_digits(lengths):
    """The bounds are drawn closer where they do not decide, up to a thousand digits."""
    before, flint.ctx.prec = flint.ctx.prec, 5000
    state = flint.arb(flint.fmpq(1, 2)).tanh()
    if lengths is Lengths.EVEN:  # that of `((`
        state = (state + flint.arb(flint.fmpq(1, 2))).tanh()
    digits, power = state.mid().man_exp()
    flint.ctx.prec = before
    place = Fraction(int(digits)) * Fraction(2) ** int(power)
    cell = TanhCell(Fraction(1, 2), -1, 1)
    for near in (60, 100, 200, 400, 900):
        below, above = (
            certify(
                Network(cell, Readout.binary(1, -place + sign * Fraction(1, 2**near))),
                lengths,
                limit=lengths.stride + 1,
            )
            for sign in (1, -1)
        )
        assert (below.outcome, below.method) == (Outcome.BOUNDED, "enclosures")
        assert below.horizon == (2 if lengths is Lengths.EVEN else below.horizon) >= lengths.stride
        assert (above.outcome, above.horizon, above.method) == (Outcome.REFUTED, 0, "enclosures")
        assert above.failure.string == "(" * lengths.stride
    open_still = certify(Network(cell, Readout.binary(1, -place + Fraction(1, 2**1100))), lengths, limit=4)
    assert (open_still.outcome, open_still.horizon) == (Outcome.BOUNDED, 0)
    assert open_still.reason == f"the bounds on tanh do not decide length {lengths.stride}"


@pytest.mark.parametrize("lengths", Lengths)
def test_an_exact_depth_stands_only_where_it_goes_further_and_decides(lengths):
    """A search goes as far as it is asked to; a depth counts from there on, and only for a steady readout."""
    counter = LinearCell(1025, -1025, 1)  # in float16 exact to depth 1
    assert certify(Network(counter, Readout.zero()), lengths, "float16", limit=6).method == "search"
    for cell, depth in ((LinearCell(512, -512, 1), 127), (LinearCell(683, -683, 1), 2)):
        at = certify(Network(cell, Readout.zero()), lengths, "float16", limit=depth)
        beyond = certify(Network(cell, Readout.zero()), lengths, "float16", limit=depth + 1)
        assert (at.method, at.horizon) == ("exact depth", depth - depth % lengths.stride)
        assert beyond.method == "search"
    slanted = Readout.ternary((1, 2, 3), (1, 0, -1))
    assert certify(Network(LinearCell(2, -2, 1), slanted), lengths, "float16", limit=6).method == "search"
    positive = certify(Network(ReluCell(1, -1, 1), Readout.binary(1, -0.5)), lengths, "float16", limit=6)
    assert (positive.method, positive.outcome) == ("search", Outcome.REFUTED)


@pytest.mark.parametrize(
    ("cell", "outcome"),
    [
        (ReluCell(Fraction(1, 3), -Fraction(1, 3), 1), Outcome.PROVED),
        (ReluCell(1, -1, 2), Outcome.REFUTED),
        (ReluCell(1, -1, Fraction(1, 2)), Outcome.BOUNDED),
        (ReluCell(1, -3, 2), Outcome.BOUNDED),
        (SelectiveCell(1, 1, -1, -1), Outcome.REFUTED),
        (SelectiveCell(1, -2, Fraction(1, 2), 2), Outcome.PROVED),
    ],
)
def test_which_zero_checks_a_theorem_decides(cell, outcome):
    verdict = certify(Network(cell, Readout.zero()), limit=2)
    assert verdict.outcome is outcome
    assert (verdict.method == "theorem") == (outcome is Outcome.PROVED)


def test_bad_arguments_are_named():
    model = Network(LinearCell(1, -1, 1), Readout.zero())
    with pytest.raises(BadInput, match="lengths: 'odd' is not one of all, even"):
        certify(model, "odd")
    with pytest.raises(BadInput, match="arithmetic: 'float8' is not one of real, float16"):
        certify(model, arithmetic="float8")
    with pytest.raises(BadInput, match="limit: 1"):
        certify(model, limit=1)

    class Strange(ScalarCell):
        def step(self, h, token):
            return h

    with pytest.raises(BadInput, match="Strange is outside what can be decided"):
        certify(Network(Strange(1, 1), Readout.zero()))


def test_the_states_of_a_tanh_cell_are_shown_whatever_its_readout():
    """They are shown as doubles, which hold the cell's weights, if not the readout's."""
    cell = TanhCell(Fraction(1, 2), Fraction(-1, 2), Fraction(1, 10))
    verdict = certify(Network(cell, Readout.binary(Fraction(2) ** 1030, 0)))
    assert len(verdict.trace()) == verdict.failure.length + 1
    assert certify(Network(TanhCell(Fraction(2) ** 1030, -1, 1), Readout.zero())).trace() == []


def test_an_exact_counter_whose_outputs_are_rounded_together_is_searched():
    """At 9 opening brackets 9·1023 and 9·1023.5 − 0.2 are one float16, and zero wins; at 1 and 2 the greater one does."""
    model = Network(LinearCell(1, -1, 1), Readout.ternary((1022.5, 1023, 1023.5), (-0.2, 0, -0.2)))
    executed = model.in_arithmetic("float16")
    assert executed.class_of("(" * 9) != model.right_class("(" * 9)
    assert exact_depth(model.cell, "float16") > 9
    verdict = certify(model, arithmetic="float16", limit=12)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.horizon < 9


def test_a_counter_that_turns_round_is_proved_over_even_lengths():
    """P = −2 and Q = −1/2: h is 0 at 0, below it for even counts above, and above it for those below."""
    model = Network(SelectiveCell(1, Fraction(1, 2), -2, Fraction(-1, 2)), Readout.binary(-1, Fraction(-1, 2)))
    assert certify(model, "even").outcome is Outcome.PROVED
    assert certify(model).outcome is Outcome.REFUTED
