"""The zero check of linear networks of several units: verdicts are what every string says, and certificates are checked."""

import json
import random
from fractions import Fraction

import pytest
from linear_networks import KINDS, seen_from_another_basis, some_network

import tallystick as ts
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.certify import certify
from tallystick.certificates.linear.odd_lengths import recurrence_of
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.checker import check
from tallystick.networks import Readout, read_network

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)


def first_wrong_length(network, longest, stride):
    """The first counted length at which some string is wrong: every string is run, in rationals."""
    exact = network.in_arithmetic("rational")
    strings = [(exact.cell.initial_state, 0)]
    for length in range(1, longest + 1):
        strings = [
            (exact.cell.step(state, ts.cells.ONE_HOT[token]), count + change)
            for state, count in strings
            for token, change in (("(", 1), (")", -1))
        ]
        outputs = [exact.readout.outputs(exact.cell.hidden(state))[0] for state, _ in strings]
        if length % stride == 0 and any(
            (y == 0) != (count == 0) for y, (_, count) in zip(outputs, strings, strict=True)
        ):
            return length
    return None


def wrong_verdict(network, lengths, longest):
    """What is wrong with the verdict up to a length, or None; the checker has to say the same."""
    verdict = certify(network, lengths, limit=longest)
    first = first_wrong_length(network, longest, Lengths(lengths).stride)
    if verdict.method != "zero check":
        return f"decided by {verdict.method}"
    fails = verdict.failure.length if verdict.failure else None
    if fails != first and not (first is None and (fails or longest + 1) > longest):
        return f"length {first} is the first to fail, and not {fails}"
    if verdict.failure:
        string, exact = verdict.failure.string, network.in_arithmetic("rational")
        if not exact.class_of(string) == verdict.failure.found != verdict.failure.right == exact.right_class(string):
            return "the string does not fail as it is said to"
    answer = check(json.dumps(certificate(verdict)))
    return None if answer.valid else str(answer)


def layer(U, a, b):
    return ts.LinearLayer(tuple(zip(a, b, strict=True)), tuple(map(tuple, U)), (ZERO,) * len(a), (ZERO,) * len(a))


def balanced(factor, size, turning=0, seed=None):
    """A network whose balanced strings end at 0, and no others of even length.

    Here δ is 2, and x_j is (turning − 1)/2 + size·factor^(2j+1). One unit counts, two with factors of opposite sign cancel at
    even lengths, and one changes its sign with every token.
    """
    factor, size, turning = map(Fraction, (factor, size, turning))
    U = [[ZERO] * 4 for _ in range(4)]
    for place, value in enumerate((ONE, factor, -factor, -ONE)):
        U[place][place] = value
    same = [(factor - 1) * size, (factor + 1) * size, turning]
    a, b, v = [ONE, *same], [-ONE, *same], [ONE] * 4
    if seed is not None:
        U, a, b, v = seen_from_another_basis(random.Random(seed), U, a, b, v)
    return ts.Network(layer(U, a, b), Readout((tuple(v),), (ZERO,), "zero"))


def wandering(generator):
    """A network for which (i) and (ii) of the theorem hold, and (iii) may or may not."""
    factor = Fraction(generator.choice([0, 1, 1, 2, 3, 4, 5, 6]), generator.choice([1, 2, 3]))
    size = Fraction(generator.randint(-6, 6), generator.choice([1, 2, 4]))
    turning = Fraction(generator.randint(-4, 4), generator.choice([1, 2, 3]))
    return balanced(factor, size, turning, generator.random())


def forgetting_its_start(generator):
    """A counter that starts elsewhere and has forgotten so after some tokens, or never."""
    d = generator.randint(2, 4)
    U = [[ONE if i == j == 0 or j == i + 1 > 1 else ZERO for j in range(d)] for i in range(d)]
    start = [ZERO, *(Fraction(generator.randint(-2, 2)) for _ in range(d - 1))]
    v = [ONE, *(Fraction(generator.randint(0, 2)) for _ in range(d - 1))]
    zeros = [ZERO] * (d - 1)
    cell = ts.Stack((layer(U, [ONE, *zeros], [-ONE, *zeros]),), start=(tuple(start),))
    return ts.Network(cell, Readout((tuple(v),), (ZERO,), "zero"))


def nearly(generator):
    """A counter with one entry changed, or with a bias."""
    d = generator.randint(1, 3)
    U, a, b, v = KINDS["unseen"](generator, d)
    place = generator.randrange(d)
    generator.choice([U[place], a, b, v])[place] += Fraction(generator.choice([-1, 0, 0, 1]), generator.choice([1, 8]))
    bias = Fraction(generator.choice([0, 0, 0, 1, -1]), generator.choice([1, 2]))
    return ts.Network(layer(U, a, b), Readout((tuple(v),), (bias,), "zero"))


def anything(generator):
    network = some_network(
        generator, generator.choice(list(KINDS)), generator.randint(2, 4), start=generator.random() < HALF
    )
    row = max(network.readout.weight, key=lambda row: sum(map(abs, row)))
    return ts.Network(network.cell, Readout((row,), (Fraction(generator.randint(-1, 1)),), "zero"))


MADE = {made.__name__: made for made in (wandering, forgetting_its_start, nearly, anything)}


@pytest.mark.parametrize("made", MADE)
def test_a_verdict_is_what_every_string_says(made):
    outcomes = set()
    for seed in range(24):
        network = MADE[made](random.Random(f"zero {made} {seed}"))
        assert wrong_verdict(network, "even" if seed % 4 == 1 else "all", 7) is None, (seed, network)
        outcomes.add(certify(network, limit=8).outcome)
    assert Outcome.REFUTED in outcomes
    assert (Outcome.PROVED in outcomes) == (made != "anything")


@pytest.mark.long
@pytest.mark.parametrize("made", MADE)
def test_many_verdicts_are_what_every_string_says(made):
    for seed in range(50):
        network = MADE[made](random.Random(f"zero {made} {seed} long"))
        longest = 12 if seed % 50 == 0 else 8
        assert wrong_verdict(network, "even" if seed % 4 == 1 else "all", longest) is None, (seed, network)


def test_one_unit_gets_the_verdict_of_the_scalar_cell():
    generator = random.Random(7)
    some = [[Fraction(generator.randint(-4, 4), 2) for _ in range(3)] for _ in range(60)]
    for a, b, U in [*some, (ONE, -ONE, ONE), (Fraction(1, 3), Fraction(-1, 3), ONE)]:
        for lengths in Lengths:
            scalar = certify(ts.Network(ts.LinearCell(a, b, U), Readout.zero()), lengths)
            vector = certify(ts.Network(layer([[U]], [a], [b]), Readout.zero()), lengths)
            assert (vector.outcome, vector.horizon) == (scalar.outcome, scalar.horizon)
            assert (vector.failure is None) == (scalar.failure is None)


# --- Odd lengths ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [HALF, Fraction(3, 2), Fraction(2, 3)])
@pytest.mark.parametrize("j", [1, 2, 7, 30])
def test_an_odd_length_may_be_the_first_to_fail(factor, j):
    """x_j is 0 at this j, and no whole number that counts before it."""
    verdict = certify(balanced(factor, HALF / factor ** (2 * j + 1), seed=j))
    assert (verdict.outcome, verdict.horizon) == (Outcome.REFUTED, 2 * j)
    assert (
        verdict.network.in_arithmetic("rational").class_of(verdict.failure.string)
        == "accepted"
        != verdict.failure.right
    )
    assert check(json.dumps(certificate(verdict))).valid
    assert certify(verdict.network, "even").outcome is Outcome.PROVED


@pytest.mark.parametrize(
    ("factor", "size", "turning", "outcome"),
    [
        (HALF, 3, 0, "PROVED"),  # x_j goes to −1/2
        (Fraction(2, 3), Fraction(5, 7), 0, "PROVED"),
        (HALF, 3, Fraction(1, 3), "PROVED"),
        (1, Fraction(1, 3), 0, "PROVED"),  # x_j is −1/6
        (0, 3, 0, "PROVED"),
        (HALF, 3, 1, "BOUNDED"),  # x_j goes to 0 and never gets there
        (2, Fraction(1, 3), 0, "BOUNDED"),  # x_j grows
    ],
)
def test_what_comes_to_rest_away_from_whole_numbers_is_proved(factor, size, turning, outcome):
    for seed in (None, 3):
        verdict = certify(balanced(factor, size, turning, seed), limit=60)
        assert verdict.outcome == outcome
        assert check(json.dumps(certificate(verdict))).valid
        assert verdict.horizon in (None, 60)


def test_a_turning_network_is_proved_by_its_period():
    """Two units turn by a third of a circle; only every third x_j is the same."""
    U = [[ONE, ZERO, ZERO], [ZERO, ZERO, -ONE], [ZERO, ONE, -ONE]]
    third = Fraction(1, 3)
    for v in ((ONE, third, ZERO), (ONE, ZERO, third), (ONE, third, third)):
        network = ts.Network(layer(U, [ONE, third, third], [-ONE, third, third]), Readout((v,), (ZERO,), "zero"))
        assert wrong_verdict(network, "all", 8) is None


def test_a_recurrence_is_the_shortest():
    generator = random.Random(2)
    for order in range(6):
        c = [Fraction(generator.randint(-3, 3), 2) for _ in range(order)]
        values = [Fraction(generator.randint(-3, 3)) for _ in range(order)]
        while len(values) < 3 * order + 2:
            values.append(sum((x * y for x, y in zip(c, values[len(values) - order :], strict=True)), start=ZERO))
        found = recurrence_of(values)
        assert len(found) <= order
        for place in range(len(found), len(values)):
            before = values[place - len(found) : place]
            assert values[place] == sum((x * y for x, y in zip(found, before, strict=True)), start=ZERO)


# --- Files and forgeries ------------------------------------------------------------------------------------------------------


def test_a_file_says_which_output_is_checked_for_zero(tmp_path):
    network = balanced(HALF, 3, Fraction(1, 2), seed=4)
    for path in (tmp_path / "network.json", tmp_path / "network.safetensors"):
        ts.write_network(network, path)
        assert read_network(path) == network
    document = json.loads((tmp_path / "network.json").read_text())
    assert document["readout"]["kind"] == "zero"
    assert len(document["readout"]["weight"][0]) == 4


def forged(content, **changes):
    content = {**content, **changes}
    content.pop("digest")
    return check(json.dumps({**content, "digest": digest(content)}))


def test_forged_claims_are_refused():
    for j in (1, 4):
        content = certificate(certify(balanced(HALF, HALF * 2 ** (2 * j + 1), seed=j)))
        example, horizon = content["counterexample"], content["horizon"]
        assert forged(content).valid
        rest = {"period": 1, "recurrence": [], "power": 1, "start": 1}
        proved = {"verdict": "PROVED", "counterexample": None, "horizon": "unlimited"}
        for changes in (
            {"horizon": horizon + 1},
            {"horizon": horizon - 1},
            {"verdict": "BOUNDED", "counterexample": None, "horizon": horizon + 1},
            {**proved, "evidence": {"method": "zero check", "rest": rest}},
            {**proved, "evidence": {"method": "zero check", "rest": {**rest, "recurrence": ["1/4"], "power": 4}}},
            {**proved, "evidence": {"method": "zero check", "rest": {**rest, "recurrence": ["1/4"], "start": j + 1}}},
            {**proved, "evidence": {"method": "zero check", "rest": None}},
            {**proved, "evidence": {"method": "sorting", "tail": None}},
            {"evidence": {"method": "sorting"}},
            {"counterexample": {**example, "class": "rejected"}},
            {"counterexample": {**example, "class": example["right_class"], "right_class": example["class"]}},
            {"counterexample": {**example, "runs": [["(", horizon + 1]]}},
            {"lengths": "even"},
            {"arithmetic": "float32"},
        ):
            assert forged(content, **changes).valid is False, changes


def test_a_forged_rest_is_refused():
    content = certificate(certify(balanced(HALF, 3, Fraction(1, 3), seed=5)))
    rest = content["evidence"]["rest"]
    assert forged(content).valid
    generator, refused = random.Random(1), 0
    for _ in range(100):
        name = generator.choice(["recurrence", "start", "power", "period"])
        value = {
            "recurrence": [
                f"{generator.randint(-9, 9)}/{generator.randint(2, 9)}" for _ in range(generator.randint(0, 5))
            ],
            "start": generator.randint(-1, rest["start"] - 1),
            "power": generator.choice([0, -1, "1", True, 1 << 20]),
            "period": generator.choice([0, -1, "1", 1.5, None]),
        }[name]
        if value != rest[name]:
            refused += 1
            answer = forged(content, evidence={"method": "zero check", "rest": {**rest, name: value}})
            assert answer.valid is False or (name == "start" and answer.valid is None), (name, value)
    assert refused > 80
    other = certificate(certify(balanced(HALF, HALF * 2**15, seed=5), limit=10))["model"]
    assert forged(content, model=other).valid is False


# --- A matrix for each token ----------------------------------------------------------------------------------------------------


def with_matrices(v, *, commuting, bias=ZERO):
    """A network with a matrix for each token; its first unit counts, and the output may see the other."""
    inputs, gates = ((ONE, -ONE), (Fraction(1, 8), ZERO)), ((ONE, ONE), (HALF, Fraction(1, 3)))
    matrices = tuple(((ONE, ZERO), (gates[1][token], gates[1][1 - token])) for token in (0, 1))
    cell = (
        ts.SelectiveLayer(inputs, gates, (ZERO, ZERO)) if commuting else ts.MatrixLayer(inputs, matrices, (ZERO, ZERO))
    )
    return ts.Network(cell, Readout((v,), (bias,), "zero"))


@pytest.mark.parametrize("commuting", [True, False])
def test_a_multiple_of_the_count_is_proved_with_any_matrices(commuting):
    for lengths in Lengths:
        verdict = certify(with_matrices((HALF, ZERO), commuting=commuting), lengths)
        assert (verdict.outcome, verdict.method) == (Outcome.PROVED, "zero check")
        content = certificate(verdict)
        assert forged(content).valid
        for other in (
            with_matrices((HALF, ONE), commuting=commuting),
            with_matrices((HALF, ZERO), commuting=commuting, bias=ONE),
            with_matrices((ZERO, ZERO), commuting=commuting),
        ):
            failing = certify(other, lengths)
            assert failing.outcome is Outcome.REFUTED
            assert failing.failure.length == first_wrong_length(other, 4, Lengths(lengths).stride)
            model = certificate(failing)["model"]
            assert forged(content, model=model).valid is False
