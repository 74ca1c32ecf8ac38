"""Which members of a language a network gets right, against every short string; and what published networks do."""

import json
import random
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from language_networks import RATIONAL, SQUASHED, language, plain, stepwise_network
from published_cases import case_of, network_of

import tallystick as ts
from tallystick.cells import LinearCell
from tallystick.certificates.languages import member_runs
from tallystick.certificates.languages.runners import Balled
from tallystick.certificates.verdict import runs_of
from tallystick.cli import main
from tallystick.errors import BadInput
from tallystick.languages.tasks import ready_task
from tallystick.networks import Network, Readout, write_network
from tallystick.networks.steps import NEXT, STEPWISE, SUPPORT, THRESHOLD, Steps

LARGEST = {"anbn": 4, "anbncn": 2, "anbmcnm": 3, "dyck1": 3, "shuffle2": 2}
"""The largest n of each language whose members are short enough to go through all strings of their length."""


@cache
def members_of(task, largest):
    """The members of each n, from n = 0 on if the empty string is one."""
    found, length = {}, 0
    while len(found) <= largest:
        strings = [s for s in product(task.alphabet, repeat=length) if task.machine.accepts(s)]
        if strings:
            found[len(found)] = strings
        length += 1
    return found


def first_wrong(network, member):
    """The first prefix of a member that is answered wrongly; with `threshold` the member itself where it is rejected."""
    if network.readout.decision == THRESHOLD:
        return None if network.class_of(member) == "accepted" else member
    prefixes = [member[:length] for length in range(len(member) + 1)]
    asked = [prefix for prefix in prefixes if network.right_class(prefix) is not None]
    return next((prefix for prefix in asked if network.class_of(prefix) != network.right_class(prefix)), None)


def compare(draws, kinds, number):
    wrong = 0
    for _ in range(number):
        task, decision = draws.choice(list(LARGEST)), draws.choice(STEPWISE)
        kind = draws.choice(kinds)
        network = stepwise_network(draws, kind, decision, task)
        arithmetic = draws.choice(["real", "float32", "float64"])
        exact = kind in RATIONAL and decision != THRESHOLD
        executed = network.in_arithmetic(arithmetic if arithmetic != "real" else "rational" if exact else "float64")
        found = ts.members(network, LARGEST[task], arithmetic)
        members = members_of(network.task, LARGEST[task])
        failing = {n: [first_wrong(executed, member) for member in some] for n, some in members.items()}
        failing = {n: [one for one in some if one is not None] for n, some in failing.items()}
        assert found.members == sum(map(len, members.values()))
        assert found.wrong == sum(map(len, failing.values()))
        least = min((n for n, some in failing.items() if some), default=None)
        assert found.first_wrong == least
        assert found.right_upto == (LARGEST[task] if least is None else least - 1)
        assert {n for first, last in found.ranges for n in range(first, last + 1)} == {
            n for n, some in failing.items() if some
        }
        if least is not None:
            assert found.failure.tokens in failing[least]
            assert (found.failure.found, found.failure.right) == (
                executed.class_of(found.failure.tokens),
                executed.right_class(found.failure.tokens),
            )
        wrong += least is not None
    assert 0 < wrong < number


@pytest.mark.parametrize("kinds", [RATIONAL, SQUASHED], ids=["rational", "squashed"])
def test_members_agree_with_every_string(kinds):
    with np.errstate(all="ignore"):
        compare(random.Random("members"), kinds, 25)


def test_a_tie_between_wrong_tokens_is_named():
    """After `bc` the outputs of a and b are both 0, of which a comes first; boxes leave that open."""
    cell = ts.LinearLayer(((-2, 1, -1),), ((-2,),), (-1,), (0,))
    steps = Steps(("a", "<EOS>", "c", "b"), "<EOS>")
    readout = Readout(((0,), (2,), (0,), (1,)), (0, -1, -2, 2), NEXT, steps)
    found = ts.members(Network(cell, readout, ready_task("anbmcnm")), 2)
    assert (found.failure.runs, found.failure.found) == ((("b", 1), ("c", 1)), "a")


@pytest.mark.long
@pytest.mark.parametrize("kinds", [RATIONAL, SQUASHED], ids=["rational", "squashed"])
def test_many_members_agree_with_every_string(kinds):
    with np.errstate(all="ignore"):
        compare(random.Random("many members"), kinds, 400)


@pytest.mark.parametrize(("name", "upto"), [("weiss_anbn_gru", 120), ("weiss_anbncn_lstm", 70)])
@pytest.mark.parametrize("arithmetic", ["real", "float32"])
def test_published_networks_reject_the_members_that_their_folder_names(name, upto, arithmetic):
    network = network_of(name)
    found = ts.members(network, upto, arithmetic)
    first = case_of(name)["truth"]["real"]["first_rejected_member_n"]
    assert (found.right_upto, found.first_wrong, found.ranges) == (first - 1, first, ((first, upto),))
    assert found.failure.runs == tuple((token, first) for token in network.alphabet)


def test_a_published_network_is_wrong_in_float32_alone():
    network = network_of("mdlrnn_an_bn_cn")
    found = ts.members(network, 500, "float32")
    assert (found.right_upto, found.ranges) == (16, ((17, 28), (60, 113), (233, 460)))
    assert found.failure.runs == (("a", 17), ("b", 17), ("c", 16))
    assert (found.failure.found, found.failure.right) == ("#", "c")
    assert ts.members(network, 100, "float64").wrong == ts.members(network, 100).wrong == 0


@pytest.mark.long
def test_a_published_network_is_wrong_on_most_of_ten_thousand_members():
    truth = case_of("mdlrnn_an_bn_cn")["truth"]["float32"]
    found = ts.members(network_of("mdlrnn_an_bn_cn"), 10_000, "float32")
    assert found.wrong == truth["wrong_count_upto_10000"]
    assert [list(one) for one in found.ranges] == truth["wrong_n_ranges_upto_10000"]


def test_balls_find_what_boxes_find(monkeypatch):
    network = network_of("weiss_anbn_gru")
    boxes = ts.members(network, 9)
    monkeypatch.setattr(member_runs, "runner_of", lambda *_: Balled(network, 60))
    assert ts.members(network, 9) == boxes


def test_a_finite_language_has_no_more_members_than_it_has():
    found = ts.members(plain(language(lambda state: state == "start"), (1, 0, 0), decision=NEXT), 5)
    assert (found.members, found.upto, found.wrong, found.failure.tokens) == (1, 0, 1, ())
    with pytest.raises(BadInput, match="has no members"):
        ts.members(plain(language(lambda _: False), (1, 0, 0), decision=NEXT), 5)


def test_what_cannot_be_asked_is_refused(monkeypatch):
    dyck1 = plain(ready_task("dyck1"), (1, 1, 1), decision=SUPPORT)
    monkeypatch.setattr(member_runs, "MOST_PREFIXES", 500)
    for ask, message in (
        (lambda: ts.members(Network(LinearCell(1, -1, 1), Readout.zero()), 5), "answer after every token"),
        (lambda: ts.members(dyck1, 5, "float32-fused"), "arithmetic: 'float32-fused' is not one of"),
        (lambda: ts.members(dyck1, 0), "upto: 0 is not a whole number from 1 on"),
        (lambda: ts.members(dyck1, 8, "float32"), "upto: more than 500 prefixes to run"),
        (lambda: ts.members(dyck1, 100), "upto: 'dyck1' has too many members up to n = 100 to run each"),
    ):
        with pytest.raises(BadInput, match=message):
            ask()


def test_the_command_line_says_up_to_which_n_members_are_right(tmp_path, capsys):
    path = tmp_path / "network.json"
    network = plain(ready_task("anbn"), (9, 0, 9), Fraction(1, 100))  # it rejects whatever holds a b
    write_network(network, path)

    def ask(*options):
        with pytest.raises(SystemExit) as ended:
            main(["certify", str(path), "--members", "3", *options])
        return ended.value.code, capsys.readouterr().out

    status, shown = ask()
    assert status == 1
    assert shown.splitlines() == [
        "members to n = 0 are right, and one of n = 1 is wrong (real arithmetic)",
        "3 of 4 members to n = 3 are wrong: n = 1 to 3",
        "a^1 b^1 is rejected",
    ]
    found = json.loads(ask("--json", "--arithmetic", "float32")[1])
    assert (found["right_upto"], found["wrong"], found["wrong_ranges"]) == (0, 3, [[1, 3]])
    assert found["counterexample_runs"] == [["a", 1], ["b", 1]]
    assert ask("--limit", "5")[0] == 2


def test_runs_name_the_member_that_fails():
    network = plain(ready_task("anbn"), (0, 9, 9), decision=SUPPORT)
    assert ts.members(network, 3).failure.runs == runs_of("")
