import random
from fractions import Fraction
from functools import partial
from itertools import product

import pytest
from published_cases import network_of

from tallystick.cells import LinearCell, MatrixLayer, ReluLayer, Stack
from tallystick.cells.graph import GraphCell, Unit
from tallystick.certificates.certificate import write_certificate
from tallystick.certificates.closed_forms.decider import closed_form_evidence, decide_by_closed_form
from tallystick.certificates.closed_forms.machine_runs import configuration_after
from tallystick.certificates.closed_forms.places import Grid, largest_step
from tallystick.certificates.closed_forms.polyhedra import Form, Polyhedron
from tallystick.certificates.languages.live_prefixes import decide_live_prefixes
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import Lengths, Outcome, runs_of
from tallystick.checker import answer_file
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.languages.tasks import ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import Steps


@pytest.fixture(autouse=True)
def _short_failures_count(monkeypatch):
    """Networks that fail early are left to other deciders; here they are decided too."""
    monkeypatch.setattr("tallystick.certificates.closed_forms.decider._fails_early", lambda *_: False)


def decide(network, arithmetic="real", lengths=Lengths.ALL, first=None):
    return decide_by_closed_form(
        network, Scope(lengths, network.first_length if first is None else first, arithmetic, None)
    )


def forms(*rows):
    return tuple(Form(tuple(map(Fraction, weights)), Fraction(constant)) for *weights, constant in rows)


# --- Networks made by hand ----------------------------------------------------------------------------------------------------


def dyck1_support(up=1, down=-1, close=0, end=Fraction(1, 2)):
    """H counts; `(` may always follow, `)` where h + close > 0, and the end where end − h > 0."""
    readout = Readout(((0,), (1,), (-1,)), (1, close, end), "support", Steps(("(", ")", "$"), "$"))
    return Network(LinearCell(up, down, 1), readout, ready_task("dyck1"))


def anbn_next(up=1, end=Fraction(1, 2)):
    """The greatest of a (0 after a b, else 10^6), b (the count) and the end (a constant)."""
    cell = MatrixLayer(((up, -1), (0, 1)), (((1, 0), (0, 0)), ((1, 0), (0, 0))), (0, 0))
    readout = Readout(((0, -(10**6)), (1, 0), (0, 0)), (10**6, 0, end), "next", Steps(("a", "b", "#"), "#"))
    return Network(cell, readout, ready_task("anbn").with_empty(False))


def anbn_accept(bias=Fraction(1, 2)):
    """A counter, and a flag that stays once an a comes after a b; accepts where both are below 1/2."""
    units = (
        Unit("step", 0, (0, 1), recurrent=((0, 1),)),  # a b was read
        Unit("identity", 0, (1, -1), recurrent=((1, 1),)),
        Unit("step", -1, (1, 0), recurrent=((0, 1), (2, 2))),
        Unit("relu", 0, (0, 0), forward=((1, 1),)),
        Unit("relu", 0, (0, 0), forward=((1, -1),)),
    )
    readout = Readout(((0, 0, -2, -1, -1),), (bias,), "sign")
    return Network(GraphCell(units), readout, ready_task("anbn").with_empty(True))


@pytest.mark.parametrize(
    "network", [dyck1_support(), anbn_next(), dyck1_support(Fraction(1, 3), Fraction(-1, 3), 0, 0.1)]
)
def test_a_right_counter_is_proved_at_every_length(network):
    verdict = decide(network)
    assert (verdict.outcome, verdict.horizon) == (Outcome.PROVED, None)


@pytest.mark.parametrize(
    ("network", "runs"),
    [
        (dyck1_support(end=Fraction(3, 2)), (("(", 1),)),
        (dyck1_support(up=1 + Fraction(1, 1000), close=Fraction(-1, 10)), (("(", 101), (")", 101))),
        (anbn_next(up=1 - Fraction(1, 10**9)), (("a", 500_000_001), ("b", 500_000_000))),
        (anbn_next(up=1 + Fraction(1, 10**9)), (("a", 500_000_000), ("b", 500_000_000))),
    ],
)
def test_a_near_counter_fails_at_the_exact_length(network, runs):
    verdict = decide(network)
    assert verdict.failure.runs == runs
    assert verdict.horizon == sum(size for _, size in runs) - 1


def test_a_graph_with_flags_is_proved_to_accept_a_language_and_refuted_with_a_larger_bias():
    assert decide(anbn_accept()).outcome is Outcome.PROVED
    wrong = anbn_accept(Fraction(3, 2))
    assert decide(wrong).horizon + 1 == len(brute_force(wrong, 3))


def test_only_even_lengths_may_count():
    network = anbn_next(up=1 - Fraction(1, 10))
    every, even = (decide(network, lengths=lengths) for lengths in Lengths)
    # After a^n b^m the count is n − m − n/10, and it must be at least 1/2 unless n = m.
    assert (every.failure.runs, every.horizon) == ((("a", 6), ("b", 5)), 10)
    assert (even.failure.runs, even.horizon) == ((("a", 16), ("b", 14)), 28)


# --- Against every string -----------------------------------------------------------------------------------------------------


def brute_force(network, longest, first=0):
    """Return a shortest failing string, None if every one up to a length is right; in rationals."""
    exact = network.in_arithmetic("rational")
    for length in range(first, longest + 1):
        for string in product(network.alphabet, repeat=length):
            right = exact.right_class(string)
            if right is not None and exact.class_of(string) != right:
                return string
    return None


def random_network(rng):
    name = rng.choice(["dyck1", "anbn", "anbncn", "bb"])
    task = (
        ready_task(name) if name == "dyck1" or rng.random() < 0.5 else ready_task(name).with_empty(rng.random() < 0.5)
    )
    tokens, units = len(task.alphabet), rng.randint(1, 3)
    small = [Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-1, 2), Fraction(2), Fraction(99, 100)]

    def draw(rows, columns):
        return tuple(tuple(rng.choice(small) for _ in range(columns)) for _ in range(rows))

    diagonal = tuple(tuple(Fraction(int(i == j)) * rng.choice([0, 1, 1]) for j in range(units)) for i in range(units))
    kind = rng.choice(["relu", "linear"])
    if kind == "relu":
        zeros = (Fraction(0),) * units
        cell = ReluLayer(draw(units, tokens), diagonal, zeros, zeros)
    else:
        cell = MatrixLayer(draw(units, tokens), (diagonal,) * tokens, (Fraction(0),) * units)
    stack = Stack((cell,), tuple(tuple(Fraction(int(i == j)) for j in range(tokens)) for i in range(tokens)))
    decision = rng.choice(["next", "support", "sign"])
    if decision == "sign":
        return Network(stack, Readout(draw(1, units), draw(1, 1)[0], "sign"), task)
    outputs = (*task.alphabet, "$")
    readout = Readout(draw(tokens + 1, units), draw(1, tokens + 1)[0], decision, Steps(outputs, "$"))
    return Network(stack, readout, task)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 6))])
def test_random_networks_agree_with_every_string(seed):
    rng = random.Random(seed)
    decided = 0
    for _ in range(12):
        network = random_network(rng)
        verdict = decide(network)
        longest = 4 if len(network.alphabet) == 3 else 6
        wrong = brute_force(network, longest, network.first_length)
        if verdict is None:
            continue
        decided += 1
        if wrong is not None or (verdict.failure is not None and verdict.failure.length <= longest):
            assert verdict.failure.length == len(wrong)
            string = verdict.failure.tokens
            exact = network.in_arithmetic("rational")
            assert (exact.class_of(string), exact.right_class(string)) == (verdict.failure.found, verdict.failure.right)
    assert decided > 3


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 8))])
def test_near_counters_fail_where_following_every_live_prefix_has_it(seed):
    rng = random.Random(seed)
    off = [Fraction(0), Fraction(1, 20), Fraction(-1, 15), Fraction(1, 40), Fraction(-1, 33)]
    for _ in range(8):
        if rng.random() < 0.5:
            up, down = 1 + rng.choice(off), -1 + rng.choice(off)
            network = dyck1_support(up, down, rng.choice(off), Fraction(1, 2) + rng.choice(off))
        else:
            network = anbn_next(1 + rng.choice(off), Fraction(1, 2) + rng.choice(off))
        closed = decide(network)
        followed = decide_live_prefixes(network, Scope(Lengths.ALL, 0, "real", 40))
        if followed.failure is None:
            assert closed.horizon is None or closed.horizon >= followed.horizon
        else:
            assert closed.failure.length == followed.failure.length


# --- Published ----------------------------------------------------------------------------------------------------------------


def test_the_published_anbn_network_is_right_for_ever_in_real_numbers():
    assert decide(network_of("mdlrnn_an_bn")).outcome is Outcome.PROVED


def test_the_published_anbn_network_is_right_to_two_to_the_24_in_float32():
    verdict = decide(network_of("mdlrnn_an_bn"), "float32")
    assert verdict.failure.runs == (("a", 2**24 + 1), ("b", 2**24))
    assert (verdict.failure.found, verdict.failure.right) == ("#", "b")


def test_the_published_anbncn_network_fails_after_millions_of_tokens():
    verdict = decide(network_of("mdlrnn_an_bn_cn"))
    n = 22_369_611
    assert verdict.failure.runs == (("a", n), ("b", n), ("c", n))
    assert (verdict.failure.found, verdict.failure.right, verdict.horizon) == ("c", "#", 3 * n - 1)
    assert decide(network_of("mdlrnn_an_bn_cn"), "float32") is None


def test_with_exact_thirds_it_is_right_for_ever():
    thirds = {Fraction(n, 3) for n in (1, -1, 7, -7)}

    def restored(weight, _):
        return next((third for third in thirds if 0 < abs(weight - third) < Fraction(1, 10**5)), Fraction(weight))

    assert decide(network_of("mdlrnn_an_bn_cn").map_weights(restored)).outcome is Outcome.PROVED


# --- As executed --------------------------------------------------------------------------------------------------------------


def test_as_executed_in_float16_the_first_failure_is_where_numpy_has_it():
    network = anbn_next(end=Fraction(1, 4))
    scaled = Network(
        network.cell,
        Readout(((0, -1), (1, 0), (0, 0)), (1, 0, Fraction(1, 4)), "next", network.readout.steps),
        network.task,
    )
    verdict = decide(scaled, "float16")
    executed = scaled.in_arithmetic("float16")
    assert verdict.failure.runs == (("a", 2049), ("b", 2048))
    assert executed.class_of(verdict.failure.tokens) == verdict.failure.found == "#"
    shorter = "a" * 2048 + "b" * 2048
    assert executed.class_of(shorter) == executed.right_class(shorter) == "#"


def test_where_counters_round_in_many_ways_the_verdict_reaches_as_far_as_nothing_rounds():
    verdict = decide(dyck1_support(), "float32")
    assert verdict.outcome is Outcome.BOUNDED
    assert 2**23 <= verdict.horizon <= 2**24


# --- The parts ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", READY_MACHINES)
def test_a_machine_over_runs_ends_where_it_does_token_by_token(name):
    machine, rng = READY_MACHINES[name], random.Random(name)
    for _ in range(50):
        string = "".join(rng.choice(machine.alphabet) * rng.randint(1, 6) for _ in range(rng.randint(1, 5)))
        after = machine.start
        for step in machine.run(string):
            after = step.after
        assert configuration_after(machine, runs_of(string)) == after


def fits(near, counter, value):
    return counter == value if isinstance(counter, int) else abs(value) >= near and (value > 0) == (counter == "+")


@pytest.mark.parametrize("name", ["dyck1", "anbn", "anbncn", "bb", "shuffle2"])
@pytest.mark.parametrize("further", [0, 2])
def test_every_configuration_of_a_place_is_live_or_none_is(name, further):
    task, rng = ready_task(name), random.Random(further)
    grid = Grid(task, largest_step(task.machine) + further)
    for _ in range(200):
        configuration, place = task.machine.start, grid.start
        for _ in range(rng.randint(0, 9)):
            token = rng.choice(task.alphabet)
            configuration = task.machine.step(configuration, token).after
            places = [move.after for move in grid.moves(place, token)]
            (place,) = [
                after for after in places if all(map(partial(fits, grid.near), after.counters, configuration.counters))
            ]
        assert grid.is_live(place) == task.futures.is_live(configuration)


def test_the_least_value_and_the_first_whole_point_of_a_polyhedron():
    triangle = Polyhedron(2, forms((2, 0, -1), (0, 2, -1), (-2, -2, 9)))  # x, y ≥ 1/2 and x + y ≤ 9/2
    total = forms((1, 1, 0))[0]
    assert (triangle.least(total), triangle.most(total)) == (1, Fraction(9, 2))
    assert triangle.whole_point(total, range(100)) == ((1, 1), 2)
    assert triangle.whole_point(total, range(1, 100, 2))[1] == 3
    assert triangle.cut(forms((3, 0, -4), (-3, 0, 5))).whole_point(total, range(100)) is None
    assert triangle.cut(forms((1, 1, -5))).is_empty


def test_the_evidence_holds_families_of_points_that_strings_lead_to():
    network = anbn_next()
    verdict = decide(network)
    evidence = closed_form_evidence(verdict)
    assert (evidence["method"], evidence["near"], evidence["memory"]) == ("closed form", 1, 1)
    assert evidence["kept"] == [0]
    (after_b,) = [p for p in evidence["places"] if p["latest"] == ["b"] and p["counters"] == ["+"]]
    # The coordinates are how often a and b were read, the counter, and h, which equals it.
    assert all(direction[2] == direction[3] for direction in after_b["directions"])


@pytest.mark.parametrize(
    "network",
    [dyck1_support(), anbn_next(), anbn_next(up=1 - Fraction(1, 10**9)), anbn_accept(), anbn_accept(Fraction(3, 2))],
)
def test_the_checker_proves_the_verdict_again(network, tmp_path):
    path = tmp_path / "certificate.json"
    write_certificate(decide(network), path)
    assert answer_file(path).word == "holds"


@pytest.mark.parametrize("name", ["mdlrnn_an_bn", "mdlrnn_an_bn_cn"])
def test_the_checker_proves_the_verdict_on_published_networks_again(name, tmp_path):
    path = tmp_path / "certificate.json"
    write_certificate(decide(network_of(name)), path)
    assert answer_file(path).word == "holds"
