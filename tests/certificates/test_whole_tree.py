"""Networks that answer at the end of a string over any alphabet, against every string; and two that other people published."""

import random
from fractions import Fraction

import numpy as np
import pytest
from language_networks import LONGEST, RATIONAL, SQUASHED, TWICE, is_near_a_tie, random_network, strings_of, wrong_of
from published_cases import ELNAGGAR, case_of, network_of

import tallystick as ts
from tallystick.cells import GruCell, LinearLayer, ReluLayer, Stack
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.languages.whole_tree import METHOD, decide_by_tree, wrong_strings
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.errors import BadInput
from tallystick.languages.counter_machine import Add, CounterMachine
from tallystick.languages.tasks import MembershipClass, Task, ready_task
from tallystick.networks import Network, Readout
from tallystick.numbers import standard_floats


def decide(network, lengths="all", arithmetic="real", limit=None, first=0):
    with standard_floats():
        return decide_by_tree(network, Scope(Lengths(lengths), first, arithmetic, limit))


def check(verdict, executed, counted):
    """Compare a verdict with every string of the lengths that count; say whether some string fails."""
    wrong = next((found for length in counted if (found := wrong_of(executed, length))), None)
    if wrong is None:
        assert verdict.outcome is Outcome.PROVED or verdict.horizon >= counted[-1]
        return False
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.failure.tokens in wrong
    assert verdict.failure.found == executed.class_of(verdict.failure.tokens)
    assert verdict.failure.right == executed.right_class(verdict.failure.tokens)
    assert verdict.horizon == verdict.lengths.before(len(wrong[0]))
    return True


def compare(draws, kinds, number):
    failed = 0
    for _ in range(number):
        network, lengths, first = random_network(draws, kinds), draws.choice(list(Lengths)), draws.randint(0, 2)
        limit = LONGEST[len(network.alphabet)]
        counted = lengths.upto(limit, first)
        executed = network.in_arithmetic("rational" if kinds is RATIONAL else "float64")
        if kinds is RATIONAL or not is_near_a_tie(executed, limit):
            failed += check(decide(network, lengths, limit=limit, first=first), executed, counted)
            failed += check(ts.certify(network, lengths, limit=limit, first=first), executed, counted)
        name = draws.choice(["float16", "float32", "float64", "bfloat16"])
        with np.errstate(all="ignore"):
            check(decide(network, lengths, name, limit, first), network.in_arithmetic(name), counted)
    assert failed > number / 2


@pytest.mark.parametrize("kinds", [RATIONAL, SQUASHED], ids=["rational", "squashed"])
def test_verdicts_agree_with_every_string(kinds):
    compare(random.Random(3), kinds, 12)


@pytest.mark.long
@pytest.mark.parametrize("kinds", [RATIONAL, SQUASHED], ids=["rational", "squashed"])
def test_many_verdicts_agree_with_every_string(kinds):
    compare(random.Random(4), kinds, 100)


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
@pytest.mark.parametrize("name", ELNAGGAR)
def test_published_classifiers_are_wrong_on_as_many_strings_as_known(name, padded):
    network, truth = network_of(name, padded=padded), case_of(name)["truth"]
    known = truth["padded_to_10"]["wrong_strings_by_length"] if padded else truth["unpadded_wrong_by_length"]
    assert {length: wrong_strings(network, int(length)) for length in known} == known


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
@pytest.mark.parametrize(("name", "length"), [*zip(ELNAGGAR, (6, 14), strict=True)])
def test_published_classifiers_fail_first_at_the_known_even_length(name, length, padded):
    network = network_of(name, padded=padded)
    for arithmetic in ("real", "float32"):
        verdict = ts.certify(network, "even", arithmetic)
        assert (verdict.outcome, verdict.failure.length, verdict.method) == ("REFUTED", length, METHOD)
        assert network.in_arithmetic("float64").class_of(verdict.failure.tokens) == verdict.failure.found


def counter(task, step):
    """A layer whose one unit counts, +1 and −step, asked for zero."""
    return Network(LinearLayer(((1, -step),), ((1,),), (0,), (0,)), Readout(((1,),), (0,), "zero"), task)


def test_ties_that_boxes_leave_open_are_decided_exactly():
    verdict = decide(counter(TWICE, 1), limit=8, first=1)
    assert (verdict.outcome, verdict.failure.string) == ("REFUTED", "ab")
    layer = LinearLayer(((Fraction(2, 3), Fraction(-1, 3)),), ((1,),), (0,), (0,))
    third = Network(layer, Readout(((1,),), (0,), "zero"), TWICE)
    assert decide(third, limit=8, first=1).horizon == 8


def test_a_layer_that_accepts_semi_dyck_1_is_decided():
    layer = ReluLayer(((1, -1),), ((1,),), (0,), (0,))
    verdict = ts.certify(Network(layer, Readout(((1,),), (0,), "zero"), ready_task("semidyck1")), limit=30)
    assert (verdict.outcome, verdict.horizon) == ("BOUNDED", 30)
    gru = GruCell(((0, 0), (0, 0), (2, -2)), ((0,), (0,), (0,)), (0, -3, 0), (0, 0, 0))
    read = Network(gru, Readout(((-1,),), (0.75,), "sign"), ready_task("semidyck1"))
    verdict = ts.certify(read)
    doubles = read.in_arithmetic("float64")
    assert verdict.outcome is Outcome.REFUTED
    assert doubles.class_of(verdict.failure.string) != doubles.right_class(verdict.failure.string)


def test_groups_prove_lengths_whose_strings_are_too_many_to_list():
    # The state forgets all but the last few tokens, so that one box holds all strings with the same ones.
    machine = CounterMachine.from_rules(
        alphabet=("a", "b", "c"),
        states=("a", "b", "c"),
        update=lambda case: (Add(0),),
        transition=lambda case: case.token,
        accepts=lambda state, _: state == "c",
    )
    task = Task("ends in c", machine, tuple(MembershipClass), lambda one, at: int(one.accepts_configuration(at)))
    layer = ts.TanhLayer(((-1, -1, 1),), ((0.25,),), (0,), (0,))
    verdict = ts.certify(Network(layer, Readout(((1,),), (0,), "sign"), task), limit=40)
    assert (verdict.outcome, verdict.horizon, verdict.method) == ("BOUNDED", 40, METHOD)


def test_padding_gives_every_short_length_a_tree_of_its_own():
    # The padding adds 1 for each missing token, so that a string of length 3 alone starts at 0.
    layer = LinearLayer(((1, 0), (0, 1)), ((1, 0), (0, 1)), (0, 0), (0, 0))
    stack = Stack((layer,), ((1, 0), (-1, 0)), padding=(0, 1), padded_to=3)
    network = Network(stack, Readout(((1, 1),), (0,), "zero"), ready_task("bb"))
    assert [wrong_strings(network, length) for length in (1, 2, 3, 4)] == [0, 2, 0, 0]
    verdict = decide(network, first=1, limit=6)
    assert (verdict.failure.length, verdict.horizon) == (2, 1)
    assert decide(network, first=3, limit=6).horizon == 6


def test_wrong_strings_are_counted_or_refused():
    network = counter(TWICE, 1)
    exact = network.in_arithmetic("rational")
    for length in range(6):
        right = sum(exact.class_of(s) == exact.right_class(s) for s in strings_of(exact, length))
        assert wrong_strings(network, length) == 2**length - right
    with pytest.raises(BadInput, match="too many strings"):
        wrong_strings(network, 60)
