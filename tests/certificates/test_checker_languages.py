"""Certificates of networks that are asked about a language: true ones hold, and no altered one does."""

import random
from copy import deepcopy
from fractions import Fraction

import pytest
from asked_networks import AT_THE_END, STEPWISE, TASKS, answers, claim_of, some_network
from forged import sealed
from language_forger import ALTERATIONS, alterations
from written_claims import is_false

from tallystick.cells import LinearLayer, Stack
from tallystick.certificates.certificate import certificate
from tallystick.certificates.verdict import Lengths, Outcome, Verdict
from tallystick.checker import check
from tallystick.languages.counter_machine import Add, CounterMachine
from tallystick.languages.tasks import task_of_machine
from tallystick.networks import Network, Readout

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
            if not isinstance(true["model"]["task"]["machine"], str):  # which is known by name, and not written out
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


@pytest.mark.parametrize("part", range(0, 24, 6))
def test_no_false_claim_of_a_forger_passes(part):
    require_no_false_claim_passes(range(part, len(CASES), 24), random.Random(part), 1)


@pytest.mark.long
@pytest.mark.parametrize("part", range(12))
def test_no_false_claim_of_a_patient_forger_passes(part):
    require_no_false_claim_passes(range(part, len(CASES), 12), random.Random(100 + part), 3)


def flipping():
    """A true certificate whose machine changes its state with every token."""
    states = ("even", "odd")
    machine = CounterMachine.from_rules(
        alphabet=("a",),
        states=states,
        update=lambda _: (Add(0),),
        transition=lambda case: states[case.state == "even"],
        accepts=lambda state, _: state == "even",
    )
    cell = LinearLayer(((2,),), ((-1,),), (0,), (0,))  # 0, 2, 0, 2, …
    network = Network(Stack((cell,), ((1,),)), Readout(((-1,),), (1,), "sign"), task_of_machine(machine, "even"))
    return certificate(Verdict(network, Lengths.ALL, "real", Outcome.PROVED, None, None, "exact states", "", first=0))


def test_finitely_many_states_prove_every_length():
    true = flipping()
    assert check(sealed(true)).valid
    for alter in ("first", "start", "right"):
        forged = deepcopy(true)
        if alter == "first":
            forged["model"]["first"] = [forged["model"]["step"]["a"]]
        elif alter == "start":
            forged["model"]["start"] = [1]
        else:
            forged["model"]["task"]["machine"]["initial_state"] = "odd"
        assert check(sealed(forged)).valid is False, alter


@pytest.mark.parametrize("size", [10**6 + 1, 10**40 + 1])
def test_a_long_string_does_not_hold_the_check_up(size):
    example = {"runs": [["a", size]], "class": "accepted", "right_class": "rejected", "trace": None}
    forged = {**flipping(), "verdict": "REFUTED", "horizon": size - 1, "counterexample": example}
    assert check(sealed(forged), Fraction(1, 120)).valid is not True


def test_long_numbers_do_not_hold_the_check_up():
    forged = flipping()
    squares = [["square", place] for place in range(1, 4000)]
    forged["model"]["step"]["a"] = {"operations": [["sum", [[3, 0]], 3], *squares], "results": [3999]}
    for method in ("exact states", "closed form"):
        forged["evidence"] = {"method": method}
        if method == "closed form":
            family = {"state": "even", "counters": [0], "latest": [], "point": [0, 0, 0], "directions": []}
            places = [{**family, "least": [0, 0, 0], "most": [0, 0, 0]}]
            forged["evidence"] |= {"near": 1, "memory": 1, "kept": [0], "places": places}
        assert check(sealed(forged), Fraction(1, 60)).valid is not True
