"""Networks that answer after every token, against every string up to a length; and two that other people published."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from language_networks import RATIONAL, SQUASHED, STEPWISE_TASKS, language, plain, stepwise_network
from published_cases import case_of, network_of

import tallystick as ts
from tallystick.cells import TanhLayer, inputs_of
from tallystick.certificates.languages import live_prefixes, live_search
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.progress import listen
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.errors import BadInput
from tallystick.languages.tasks import ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import NEXT, STEPWISE, SUPPORT, THRESHOLD, Steps, right_places, said_places
from tallystick.numbers import standard_floats
from tallystick.numbers.balls import ball_of, digits

LONGEST = {2: 7, 3: 5, 4: 4}
"""To which length every string is run, by the size of the alphabet."""


def failing(network, longest):
    """All failing strings up to a length with what they get and should get, by the definition of the answers."""
    decision, steps, task, alphabet = network.readout.decision, network.readout.steps, network.task, network.alphabet
    tokens, end, found = inputs_of(alphabet), len(alphabet), []

    def walk(string, state, configuration, accepted):
        outputs = network.outputs_of_state(state)
        said = said_places(decision, steps, alphabet, outputs)
        if decision == THRESHOLD:
            got = "accepted" if accepted and end in said else "rejected"
            right = "accepted" if task.machine.accepts_configuration(configuration) else "rejected"
        else:
            places = right_places(decision, task, configuration)
            right = None if places is None else steps.names(places, alphabet)
            got = steps.names(said, alphabet)
        if right is not None and got != right:
            found.append((string, got, right))
        if len(string) < longest:
            for place, token in enumerate(alphabet):
                after = task.machine.step(configuration, token).after
                walk((*string, token), network.cell.step(state, tokens[token]), after, accepted and place in said)

    walk((), network.cell.initial_state, task.machine.start, accepted=True)
    return found


def is_near_a_tie(network, longest):
    """Whether a double cannot be trusted to tell what the network says after some string."""
    for length in range(longest + 1):
        for string in product(network.alphabet, repeat=length):
            outputs = np.array(network.outputs(string), float)
            if network.readout.decision == NEXT:
                gaps = np.diff(np.sort(outputs))
            elif network.readout.decision == SUPPORT:
                gaps = outputs
            else:
                shares = np.exp(outputs - outputs.max())
                gaps = shares / shares.sum() - float(network.readout.steps.threshold)
            if np.abs(gaps).min() < 1e-9:
                return True
    return False


def agrees(network, executed, arithmetic, lengths, first):
    """Compare a verdict with every string, and say whether some string fails."""
    longest = LONGEST[len(network.alphabet)]
    verdict = decide(network, lengths, arithmetic, longest, first)
    counted = lengths.upto(longest, first)
    wrong = [one for one in failing(executed, longest) if len(one[0]) in counted]
    assert verdict.method == "live prefixes"
    assert verdict.first == first
    if wrong:
        shortest = min(len(string) for string, _, _ in wrong)
        assert verdict.outcome is Outcome.REFUTED
        assert verdict.failure.length == shortest
        assert (verdict.failure.tokens, verdict.failure.found, verdict.failure.right) in wrong
    elif verdict.outcome is Outcome.BOUNDED:
        assert verdict.horizon == counted[-1]
        assert verdict.known_failure is None or verdict.known_failure.length > longest
    else:
        assert verdict.outcome is Outcome.PROVED or verdict.failure.length > longest
    return bool(wrong)


def decide(network, lengths="all", arithmetic="real", limit=None, first=0):
    with standard_floats():
        return live_prefixes.decide_live_prefixes(network, Scope(Lengths(lengths), first, arithmetic, limit))


def compare(draws, kinds, number):
    failed = 0
    for _ in range(number):
        kind, decision, task = draws.choice(kinds), draws.choice(STEPWISE), draws.choice(STEPWISE_TASKS)
        network = stepwise_network(draws, kind, decision, task)
        lengths, first = draws.choice(list(Lengths)), draws.randint(0, 3)
        longest = LONGEST[len(network.alphabet)]
        doubles = network.in_arithmetic("float64")
        if kind in RATIONAL and decision != THRESHOLD:
            failed += agrees(network, network.in_arithmetic("rational"), "real", lengths, first)
        elif not is_near_a_tie(doubles, longest):
            failed += agrees(network, doubles, "real", lengths, first)
        name = draws.choice(["float16", "float32", "float64", "bfloat16"])
        with np.errstate(all="ignore"):
            agrees(network, network.in_arithmetic(name), name, lengths, first)
    assert failed > number / 4


@pytest.mark.parametrize("kinds", [RATIONAL, SQUASHED], ids=["rational", "squashed"])
def test_verdicts_agree_with_every_string(kinds):
    compare(random.Random(1), kinds, 8)


@pytest.mark.long
@pytest.mark.parametrize("kinds", [RATIONAL, SQUASHED], ids=["rational", "squashed"])
@pytest.mark.parametrize("seed", range(5))
def test_many_verdicts_agree_with_every_string(kinds, seed):
    compare(random.Random(f"live {seed}"), kinds, 20)


@pytest.mark.parametrize("name", ["weiss_anbn_gru", "weiss_anbncn_lstm"])
@pytest.mark.parametrize("arithmetic", ["real", "float32"])
def test_published_networks_fail_at_the_strings_that_their_folder_names(name, arithmetic):
    network = network_of(name)
    truth = case_of(name)["truth"]["real" if arithmetic == "real" else "numpy_float32"]
    verdict = ts.certify(network, arithmetic=arithmetic)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.failure.runs == tuple(map(tuple, truth["shortest_failing"]))
    assert verdict.horizon == verdict.failure.length - 1
    assert (verdict.failure.found, verdict.failure.right) == ("accepted", "rejected")


def test_a_language_of_the_empty_string_alone_is_proved():
    verdict = decide(plain(language(lambda state: state == "start"), (-9, -9, 9), Fraction(1, 100)))
    assert verdict.outcome is Outcome.PROVED
    assert verdict.horizon is None


def test_a_tie_with_the_threshold_rejects():
    everything = language(lambda _: True)
    assert decide(plain(everything, (0, 0, 0), Fraction(1, 3))).failure.tokens == ()
    assert decide(plain(everything, (0, 0, 0), Fraction(33, 100)), limit=5).horizon == 5


def test_equal_outputs_name_the_first():
    anbn = ready_task("anbn")
    assert decide(plain(anbn, (0, 0, 0), decision=NEXT)).failure.found == "a"
    assert decide(plain(anbn, (0, 1, 1), decision=NEXT)).failure.found == "b"


def test_a_tie_that_no_digits_decide_is_named():
    cell = TanhLayer(((1, 1), (1, 1)), ((0, 1), (1, 0)), (0, 0), (0, 0))
    steps = Steps(("a", "b", "<EOS>"), "<EOS>")
    network = Network(cell, Readout(((0, 0), (1, 0), (0, 1)), (0, 0, 0), NEXT, steps), ready_task("anbn"))
    verdict = decide(network)  # after ab the end is right, and its output equals that of b
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 1)
    assert "4,096 binary digits do not tell what it says after a^1 b^1, which may be a tie" in verdict.reason


def test_what_is_too_much_is_left_open(monkeypatch):
    monkeypatch.setattr(live_search, "_MOST_WORK", 64 * 2**10)
    verdict = decide(plain(language(lambda _: True), (0, 0, 0), Fraction(1, 4)))
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 9)
    assert "1,024 prefixes of length 10 are too many to follow" in verdict.reason


def test_an_interrupted_search_says_what_it_knows():
    def interrupt(done, *_):
        if done == 4:
            raise KeyboardInterrupt

    with listen(interrupt):
        verdict = decide(plain(language(lambda _: True), (0, 0, 0), Fraction(1, 4)))
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 3)
    assert "interrupted" in verdict.reason


def test_a_rejected_prefix_fails_later_than_the_limit():
    network = plain(ready_task("anbn"), (-9, 0, 0), Fraction(1, 100))  # it rejects a, and accepts all b
    verdict = decide(network, limit=4, first=5)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 4)
    assert decide(network, limit=9, first=6).failure.tokens == ("a", "a", "a", "b", "b", "b")
    assert decide(network).failure.tokens == ("b",)
    assert decide(plain(ready_task("anbn"), (-9, 0, -9), Fraction(1, 100)), first=1).failure.tokens == ("a", "b")


def test_more_digits_decide_what_doubles_leave_open():
    """P of the end is above the threshold by 10⁻³⁰ or below it by as much."""
    with digits(400):
        share = 1 / (2 + ball_of(1).exp())  # of an output 0 beside another 0 and a 1
        middle = Fraction(str(share.mid().str(100, radius=False)))
    everything = language(lambda _: True)
    assert decide(plain(everything, (1, 0, 0), middle - Fraction(1, 10**30)), limit=4).horizon == 4
    assert decide(plain(everything, (1, 0, 0), middle + Fraction(1, 10**30))).failure.tokens == ()
    assert "balls of up to 106" in decide(plain(everything, (1, 0, 0), middle + Fraction(1, 10**30))).reason


def test_balls_alone_find_what_boxes_find(monkeypatch):
    monkeypatch.setattr(live_search, "runner_of", lambda *_: None)
    network = network_of("weiss_anbn_gru")
    verdict = decide(network)
    assert verdict.failure.string == "abb"
    assert "106 binary digits" in verdict.reason


def test_fused_arithmetic_is_refused():
    with pytest.raises(BadInput, match="float32-fused"):
        ts.certify(plain(ready_task("anbn"), (0, 0, 0), Fraction(1, 4)), arithmetic="float32-fused")
