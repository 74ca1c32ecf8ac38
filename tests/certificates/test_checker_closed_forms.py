"""Certificates of closed forms: counters that are right for ever or fail far away, and what a forger makes of them."""

import json
import random
import sys
from copy import deepcopy
from fractions import Fraction
from pathlib import Path

import pytest
from forged import sealed

from tallystick.cells import LinearLayer, Stack
from tallystick.cells.graph import GraphCell, Unit
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.checker import check
from tallystick.languages.tasks import ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import Steps

sys.path.insert(0, str(Path(__file__).parents[1]))
from published_cases import network_of

HALF = Fraction(1, 2)
LEAK = Fraction(1, 1000)


def ones(size):
    return tuple(tuple(Fraction(int(i == j)) for j in range(size)) for i in range(size))


def counter(step_back, decision="next", edge=HALF):
    """An aⁿbⁿ network whose one unit counts a up by 1 and b down by almost as much."""
    cell = LinearLayer(((1, -step_back),), ((1,),), (0,), (0,))
    rows = {"next": ((0,), (1,), (0,)), "support": ((0,), (1,), (-1,))}[decision]
    bias = {"next": (-1, 0, edge), "support": (1, -edge, edge)}[decision]
    return Network(cell, Readout(rows, bias, decision, Steps(("a", "b", "#"), "#")), ready_task("anbn"))


def three_counters(share):
    """An aⁿbⁿcⁿ network: a against b, b against c, of each of which a step is seen, the first with twice the weight."""
    units = (
        Unit("identity", 0, (1, -1, 0), recurrent=((0, 1),)),
        Unit("identity", 0, (0, 1, -share), recurrent=((1, 1),)),
        Unit("step", 0, (0, 0, 0), forward=((0, 1),)),
        Unit("step", -HALF, (0, 0, 0), forward=((1, 1),)),
    )
    rows, bias = ((0, 0, 0, 0), (0, 0, 2, 0), (0, 0, 0, 1), (0, 0, 0, 0)), (-1, 0, 0, HALF)
    readout = Readout(rows, bias, "next", Steps(("a", "b", "c", "#"), "#"))
    return Network(Stack((GraphCell(units),), ones(3)), readout, ready_task("anbncn"))


def relu_counter(edge):
    """A ReLU and a tanh on top of it, asked for what may follow in aⁿbⁿ wherever one token alone may."""
    units = (
        Unit("relu", 0, (1, -1), recurrent=((0, 1),)),
        Unit("tanh", 0, (0, 0), forward=((0, 1),)),
        Unit("sigmoid", edge, (0, 0)),
    )
    readout = Readout(((0, 0, 0), (0, 1, 0), (0, 0, 1)), (-2, 0, 0), "next", Steps(("a", "b", "#"), "#"))
    return Network(GraphCell(units), readout, ready_task("anbn"))


NETWORKS = {
    "exact": counter(1),
    "leaking": counter(1 - LEAK),
    "three": three_counters(1),
    "three leaking": three_counters(1 - LEAK),
    "tanh": relu_counter(-1),
}


def certificate_of(name):
    return certificate(certify(NETWORKS[name]))


@pytest.mark.parametrize("name", NETWORKS)
def test_what_a_closed_form_decides_is_proved_again(name):
    found = certificate_of(name)
    assert found["evidence"]["method"] == "closed form"
    assert check(json.dumps(found)).valid, check(json.dumps(found))


def test_a_counter_that_leaks_fails_where_it_is_said_to():
    found = certificate_of("leaking")
    # After a^n b^n the counter stands at n/1000, and of two equal outputs the first wins: b at n = 500.
    assert found["verdict"] == "REFUTED"
    assert found["horizon"] == 2 * 500 - 1
    assert found["counterexample"]["runs"] == [["a", 500], ["b", 500]]
    # The second counter stands at n/1000 too, and its step needs more than 1/2.
    assert certificate_of("three leaking")["horizon"] == 3 * 501 - 1


def later(content):
    """Claims that a refuted network is right further than it is."""
    example, horizon = content["counterexample"], content["horizon"]
    for further in (1, 2, 1000):
        yield {**content, "verdict": "BOUNDED", "counterexample": None, "horizon": horizon + further}
    yield {**content, "verdict": "PROVED", "counterexample": None, "horizon": "unlimited"}
    for change in (-1, 1, 5):
        runs = [[token, size + change] for token, size in example["runs"]]
        length = sum(size for _, size in runs)
        yield {**content, "counterexample": {**example, "runs": runs}, "horizon": length - 1}
        if change > 0:
            continue
        runs = [[example["runs"][0][0], example["runs"][0][1] + change], *example["runs"][1:]]
        yield {**content, "counterexample": {**example, "runs": runs}, "horizon": horizon + change}
    for field in ("class", "right_class"):
        for name in content["model"]["readout"]["outputs"]:
            if name != example[field]:
                yield {**content, "counterexample": {**example, field: name}}


@pytest.mark.parametrize("name", ["leaking", "three leaking"])
def test_no_other_horizon_or_string_holds(name):
    content = certificate_of(name)
    assert content["verdict"] == "REFUTED"
    for forged in later(content):
        assert check(sealed(forged)).valid is not True, forged["horizon"]


def numbers_in(places):
    """Where numbers of families stand: the list, and the place in it."""
    for place in places:
        for row in (place["point"], place["least"], place["most"], *place["directions"]):
            yield from ((row, at) for at, value in enumerate(row) if value is not None)


@pytest.mark.parametrize("name", NETWORKS)
def test_no_changed_family_proves_more(name):
    """Weights of a network that fails, with the families of one that is right, and families changed here and there."""
    generator, content = random.Random(name), certificate_of(name)
    wrong = certificate_of("leaking" if "three" not in name else "three leaking")
    proved = {"verdict": "PROVED", "counterexample": None, "horizon": "unlimited"}
    stolen = {**wrong, **proved, "evidence": deepcopy(content["evidence"])}
    assert check(sealed(stolen)).valid is not True
    spots = len(list(numbers_in(wrong["evidence"]["places"])))
    for _ in range(12):
        forged = deepcopy({**wrong, **proved})
        for _ in range(generator.randint(1, 3)):
            row, at = list(numbers_in(forged["evidence"]["places"]))[generator.randrange(spots)]
            row[at] = generator.choice((0, 1, -1, 2, "1/2")) if row[at] != 0 else generator.choice((1, -1))
        assert check(sealed(forged)).valid is not True
    for alter in (drop_a_place, drop_a_direction, widen_nothing, know_less):
        forged = deepcopy({**wrong, **proved})
        alter(forged["evidence"], generator)
        assert check(sealed(forged)).valid is not True


def drop_a_place(evidence, generator):
    evidence["places"].pop(generator.randrange(len(evidence["places"])))


def drop_a_direction(evidence, generator):
    place = generator.choice([place for place in evidence["places"] if place["directions"]])
    place["directions"].pop()


def widen_nothing(evidence, generator):
    place = generator.choice(evidence["places"])
    place["most"] = list(place["least"])


def know_less(evidence, _):
    evidence["kept"] = evidence["kept"][1:]


@pytest.mark.parametrize("name", ["mdlrnn_an_bn", "mdlrnn_an_bn_cn"])
def test_published_networks(name):
    found = certificate(certify(network_of(name)))
    assert check(json.dumps(found)).valid
    if found["verdict"] == "REFUTED":
        assert found["horizon"] == 3 * 22_369_611 - 1
        for forged in later(found):
            assert check(sealed(forged)).valid is not True
