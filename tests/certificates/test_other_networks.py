"""Networks that read other tokens than brackets, pad, or answer after every token are answered rightly, or refused."""

import random

import pytest
from language_networks import RATIONAL, TWICE, random_network, strings_of

import tallystick as ts
from tallystick.cells import GruCell, LinearLayer, Stack
from tallystick.certificates.one_unit.exact_accuracy import accuracies
from tallystick.cli.accuracy import score
from tallystick.counting_conditions import facts
from tallystick.errors import BadInput
from tallystick.languages.tasks import Task, ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import Steps
from tallystick.studies.explain.linear import explain_linear

COUNTER = LinearLayer(((1, -1),), ((1,),), (0,), (0,))
ZERO = Readout(((1,),), (0,), "zero")
NEXT = Readout(((1,), (2,), (-1,)), (0, 0, 1), "next", Steps(("a", "b", "#"), "#"))
OTHERS = {
    "one unit, asked for Dyck-1": Network(ts.LinearCell(1, -1, 1), Readout.zero(), ready_task("dyck1")),
    "a layer, asked for Dyck-1": Network(COUNTER, ZERO, ready_task("dyck1")),
    "padded": Network(Stack((COUNTER,), ((1, 0), (0, 1)), padding=(1, 0), padded_to=3), ZERO, ready_task("bb")),
    "other tokens": Network(COUNTER, ZERO, ready_task("anbn")),
    "three classes": Network(
        GruCell(((0, 0), (0, 0), (2, -2)), ((0,),) * 3, (0, 0, 0), (0, 0, 0)),
        Readout(((0,), (1,), (-1,)), (0.5, 0, 0), "class"),
        ready_task("dyck1-prefix"),
    ),
    "an answer after every token": Network(COUNTER, NEXT, ready_task("anbn")),
}
FOR_COUNTS = {
    "conditions": ts.conditions,
    "to_machine": ts.to_machine,
    "extreme_failures": lambda network: ts.extreme_failures(network, 4),
    "random_failures": lambda network: ts.random_failures(network, 4, 1),
    "horizons": ts.horizons,
    "explain": explain_linear,
}


@pytest.mark.parametrize("function", FOR_COUNTS.values(), ids=FOR_COUNTS)
@pytest.mark.parametrize("network", OTHERS.values(), ids=OTHERS)
def test_what_is_about_counts_of_brackets_refuses_other_networks(network, function):
    with pytest.raises(BadInput):
        function(network)
    assert facts(network) == []


def test_all_strings_of_any_alphabet_are_counted():
    draws = random.Random(5)
    drawn = [random_network(draws, RATIONAL) for _ in range(15)]
    for network in (network for network in drawn if not network.is_usual):
        exact = network.in_arithmetic("rational")
        strings = list(strings_of(network, 3))
        right = sum(exact.class_of(string) == exact.right_class(string) for string in strings)
        found = ts.exact_accuracy(network, 3)
        assert (found.total, found.total_correct) == (len(strings), right)
        assert [one.length for one in accuracies(network, 3)] == [1, 2, 3]
    with pytest.raises(BadInput, match="after every token"):
        ts.exact_accuracy(OTHERS["an answer after every token"], 3)
    with pytest.raises(BadInput, match="real arithmetic"):
        ts.exact_accuracy(OTHERS["other tokens"], 3, "float32")
    with pytest.raises(BadInput, match="too many strings"):
        ts.exact_accuracy(OTHERS["other tokens"], 40)


def test_a_file_of_strings_over_another_alphabet_is_scored(tmp_path):
    path = tmp_path / "strings.txt"
    path.write_text("ab,accepted\nba,rejected\nabb,rejected\naabb\n")
    network = OTHERS["other tokens"].in_arithmetic("rational")
    assert score(network, path) == {"strings": 4, "right": 3, "accuracy": 75.0}
    path.write_text("ab,rejected\n")
    with pytest.raises(
        BadInput, match=r"line 1: label 'rejected' is wrong for ab; it should be 'accepted' \(anbn task\)"
    ):
        score(network, path)
    path.write_text("a(\n")
    with pytest.raises(BadInput, match="line 1"):
        score(network, path)


def test_prefixes_after_which_nothing_is_asked_do_not_count(tmp_path):
    # After `a` an a or a b may follow; after `ab` nothing may, and the third output is the greatest there.
    path = tmp_path / "strings.txt"
    path.write_text("a\nab\naab\n")
    network = OTHERS["an answer after every token"].in_arithmetic("rational")
    assert [network.right_class(string) for string in ("a", "ab", "aab")] == [None, "#", "b"]
    assert score(network, path) == {"strings": 3, "asked": 2, "right": 2, "accuracy": 100.0}
    path.write_text("a\n")
    with pytest.raises(BadInput, match="after none of its strings does the task 'anbn' say what must follow"):
        score(network, path)


def test_tokens_and_classes_in_another_order_are_hinted_at_over_any_alphabet():
    swapped = LinearLayer(((-1, 2),), ((1,),), (0,), (0,))
    verdict = ts.certify(Network(swapped, ZERO, TWICE))
    assert (verdict.horizon, verdict.failure.length) == (2, 3)
    assert verdict.hint == "with the two tokens swapped the horizon would be unlimited"
    more = Task(
        "more a",
        TWICE.machine,
        ("less", "equal", "more"),
        lambda _, at: 1 + (at.counters > (0,)) - (at.counters < (0,)),
    )
    layer = LinearLayer(((2, -1),), ((1,),), (0,), (0,))
    readout = Readout(((2,), (0,), (-2,)), (-0.5, 0, -0.5), "class")
    verdict = ts.certify(Network(layer, readout, more))
    assert verdict.horizon == 0
    assert "classes=['more', 'equal', 'less'] the horizon would be unlimited" in verdict.hint
    rest = LinearLayer(((0, 1, 1),), ((0,),), (0,), (0,))
    assert ts.certify(Network(rest, ZERO, ready_task("anbncn")), limit=5).hint is None
