"""Answers after every token: what they say, what is right, and what is refused."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tallystick.cells import LinearCell, LinearLayer, Stack
from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY, ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import NEXT, SUPPORT, THRESHOLD, Steps, said_places

ANBN = ready_task("anbn")
NAMES = ("a", "b", "<EOS>")


def counter(decision, weight, bias, threshold=None):
    """Return a network whose state is n − m and the number of b, after n times a and m times b."""
    layer = LinearLayer(((1, -1), (0, 1)), ((1, 0), (0, 1)), (0, 0), (0, 0))
    return Network(layer, Readout(weight, bias, decision, Steps(NAMES, "<EOS>", threshold)), ANBN)


SUPPORTING = counter(SUPPORT, ((0, -1), (1, 0), (-1, 0)), (1, 0, 1))
"""a is allowed before a b, b while more a than b were read, the end where as many were."""


def test_support_names_what_may_follow():
    assert [SUPPORTING.class_of(prefix) for prefix in ("", "aa", "aab", "ab")] == ["a <EOS>", "a b", "b", "<EOS>"]
    assert [SUPPORTING.right_class(prefix) for prefix in ("", "aa", "aab", "ab", "ba")] == [
        "a <EOS>",
        "a b",
        "b",
        "<EOS>",
        None,
    ]


def test_next_is_asked_where_one_token_may_follow():
    network = counter(NEXT, ((0, 0), (1, 0), (0, 0)), (0, 0, Fraction(1, 2)))
    prefixes = ("", "a", "aab", "aabb", "b")
    assert [network.right_class(prefix) for prefix in prefixes] == [None, None, "b", "<EOS>", None]
    assert [network.class_of(prefix) for prefix in prefixes] == ["<EOS>", "b", "b", "<EOS>", "<EOS>"]


def test_of_equal_outputs_the_first_is_the_greatest():
    assert said_places(NEXT, Steps(NAMES, "<EOS>"), ("a", "b"), (1, 2, 2)) == {1}


@pytest.mark.parametrize("length", range(6))
def test_a_threshold_rejects_for_good(length):
    network = counter(THRESHOLD, ((0.0, -30.0), (30.0, 0.0), (-30.0, 0.0)), (0.0, -15.0, 15.0), Fraction(1, 100))
    for tokens in product("ab", repeat=length):
        string = "".join(tokens)
        states = network.trace(string)
        accepted = True
        for name, state in zip((*string, "<EOS>"), states, strict=True):
            outputs = np.array(network.outputs_of_state(state))
            shares = np.exp(outputs - outputs.max()) / np.exp(outputs - outputs.max()).sum()
            accepted &= bool(shares[NAMES.index(name)] > 1 / 100)
        assert network.class_of(string) == ("accepted" if accepted else "rejected")
        assert network.right_class(string) == ANBN.right_class(string)


def test_short_strings_are_filled_up_on_the_left():
    stack = Stack((LinearCell(1, -1, Fraction(1, 2)),), padding=(2, 0), padded_to=3)
    assert stack.trace("(") == [(3,), (Fraction(5, 2),)]
    assert stack.trace("(((")[0] == stack.trace("((((")[0] == stack.initial_state == (0,)
    network = Network(stack, Readout.binary(1, -2), BINARY)
    assert not network.is_usual
    with pytest.raises(BadInput, match="network: its strings are padded"):
        network.require_usual()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Steps(("a", "a"), "a"), "outputs: 'a' is listed twice"),
        (lambda: Steps(("a", "b"), "#"), "end: '#' is not one of the outputs"),
        (lambda: Steps(("a", "#"), "#", Fraction(1)), "threshold: 1 is not between 0 and 1"),
        (lambda: Readout(((1,), (1,)), (0, 0), NEXT), "steps: the decisions threshold, next, support need them"),
        (lambda: Readout(((1,), (1,)), (0, 0), NEXT, Steps(NAMES, "<EOS>")), "outputs: 3 names for 2 outputs"),
        (lambda: counter(THRESHOLD, ((0, 0),) * 3, (0, 0, 0)), "threshold: the decision threshold needs one"),
        (lambda: Network(SUPPORTING.cell, SUPPORTING.readout), "task: missing"),
        (
            lambda: Network(SUPPORTING.cell, SUPPORTING.readout, BINARY),
            "outputs: .* are not the tokens of the task and the end",
        ),
        (
            lambda: Network(Stack((SUPPORTING.cell,), padding=(0, 0), padded_to=2), SUPPORTING.readout, ANBN),
            "padding: strings are filled up for an answer at their end",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(BadInput, match=message):
        make()
