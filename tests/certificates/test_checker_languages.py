"""Certificates of networks that are asked about a language: true ones hold, and no altered one does."""

import random
from fractions import Fraction

import pytest
from asked_networks import AT_THE_END, STEPWISE, TASKS, answers, claim_of, some_network
from forged import sealed
from language_forger import ALTERATIONS, alterations
from written_claims import is_false

from tallystick.certificates.verdict import Lengths
from tallystick.checker import check

UPTO = 4


def cases():
    """Networks of every layer, answer and task, with all their answers, and the methods that speak of them."""
    generator = random.Random(19)
    for task in TASKS:
        upto = UPTO - (len(task) > len("anbncn") and task == "shuffle2")
        for layer in ("linear", "relu", "tanh"):
            for decision in (*STEPWISE, *AT_THE_END):
                if decision == "zero" and layer == "tanh":
                    continue
                padded = decision in AT_THE_END and generator.random() < 0.5
                network = some_network(layer, decision, task, generator, padded=padded)
                methods = ["live prefixes"] if decision in STEPWISE else ["whole tree"]
                methods += ["exact states"] if layer != "tanh" else []
                yield network, upto, methods, generator.choice(tuple(Lengths)), generator.choice((0, 0, 1, 2))


CASES = list(cases())


@pytest.mark.parametrize("place", range(0, len(CASES), 9))
def test_the_true_horizon_holds_and_no_other(place):
    for network, upto, methods, lengths, first in CASES[place : place + 9]:
        found = answers(network, upto, first)
        for method in methods if found else ():
            true = claim_of(network, found, upto, method, lengths, first)
            assert check(sealed(true)).valid, (network, check(sealed(true)))
            if true["verdict"] == "REFUTED":
                further = true["horizon"] + lengths.stride
                further += further < first and lengths.stride * -(-(first - further) // lengths.stride)
                longer = {**true, "verdict": "BOUNDED", "counterexample": None, "horizon": further}
                assert check(sealed(longer)).valid is not True, (network, longer["horizon"])


def forgeries(places, generator, times):
    for network, upto, methods, lengths, first in (CASES[place] for place in places):
        found = answers(network, upto, first)
        for method in methods if found else ():
            true = claim_of(network, found, upto, method, lengths, first)
            assert is_false(true) is not True
            yield from alterations(true, generator, times)


def require_no_false_claim_passes(places, generator, times):
    """Whatever the check lets pass is true, or at least no string contradicts it."""
    refused, met = 0, set()
    for name, forged in forgeries(places, generator, times):
        answer = check(sealed(forged), Fraction(1, 120))
        if answer.valid:
            assert is_false(forged) is not True, (name, forged)
        else:
            refused += 1
            met.add(name)
    assert refused > 20 * times
    assert len(met) > len(ALTERATIONS) // 3


@pytest.mark.parametrize("part", range(8))
def test_no_false_claim_of_a_forger_passes(part):
    require_no_false_claim_passes(range(part, len(CASES), 24), random.Random(part), 1)


@pytest.mark.long
@pytest.mark.parametrize("part", range(12))
def test_no_false_claim_of_a_patient_forger_passes(part):
    require_no_false_claim_passes(range(part, len(CASES), 12), random.Random(100 + part), 8)
