"""What is declared of a network is taken as it is said, and what is missing or contradicts itself is asked for in one line."""

from fractions import Fraction

import numpy as np
import pytest

from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY, ready_task
from tallystick.networks.declaration import Declaration, declare, one_hot


def test_tokens_are_indices_vectors_or_an_order():
    assert declare("binary", {")": 0, "(": 1}).tokens == {"(": 1, ")": 0}
    assert declare("binary", ")(").tokens == {"(": 1, ")": 0}
    vectors = declare(BINARY, {"(": [1, 0.5], ")": np.array([0.0, 1.0])})
    assert vectors.tokens == {"(": (1, 0.5), ")": (0.0, 1.0)}
    assert list(declare("anbncn", "cab").tokens) == ["a", "b", "c"]  # in the order of the alphabet
    assert [one_hot(index, 3) for index in (0, 2)] == [(1, 0, 0), (0, 0, 1)]
    assert one_hot((Fraction(1, 2), 0), 2) == (Fraction(1, 2), 0)


def test_what_is_read_before_and_after_a_string_stands_beside_its_tokens():
    tokens = {"<PAD>": 0, "<BOS>": 1, "<EOS>": 2, "a": 3, "b": 4}
    assert declare("anbn", tokens) == Declaration(ready_task("anbn"), {"a": 3, "b": 4}, (1,), (2,))


def test_the_classes_follow_the_outputs():
    declared = declare("bb", "()", ["accepted", "rejected"])
    assert [str(name) for name in declared.task.classes] == ["accepted", "rejected"]
    assert declared.task.right_class("()") == "accepted"
    assert declared.task.index_of_count(0) == 0
    declared.check_outputs(2)
    declare("bb", "()").check_outputs(1)


@pytest.mark.parametrize(
    ("task", "tokens", "classes", "message"),
    [
        (None, "()", None, "task: missing; say what is right: task= one of binary, ternary, bb, semidyck1, dyck1"),
        ("sorting", "()", None, "task: 'sorting' is not one of binary"),
        ("count", "()", None, "task: 'count' asks for a number and has no classes"),
        ("bb", None, None, "tokens: missing; .*tokens={'\\(': 0, '\\)': 1}"),
        ("anbn", "()", None, "tokens: '\\(\\)' are not a b, each once"),
        ("bb", 3, None, "tokens: 3 is not tokens="),
        ("bb", {"(": 0}, None, "tokens: '\\)' is missing"),
        (
            "bb",
            {"(": 0, ")": 1, "[": 2},
            None,
            "tokens: '\\[' is neither a token of 'bb', \\( \\), nor <BOS>, <EOS>, <PAD>",
        ),
        ("bb", {"(": 0, ")": 0}, None, "tokens: '\\(' and '\\)' are both 0"),
        ("bb", {"(": 0, ")": [1]}, None, "tokens: '\\)' is \\(1,\\) and '\\(' 0; all are indices, or all vectors"),
        ("bb", {"(": [1, 0], ")": [1]}, None, "tokens: .* vectors of one length"),
        ("bb", {"(": -1, ")": 0}, None, "tokens: '\\(' is -1, which is neither an index"),
        ("bb", {"(": True, ")": 0}, None, "tokens: '\\(' is True"),
        ("bb", {"(": [float("nan")], ")": [1]}, None, "tokens: '\\('\\[0\\]: nan is not a finite number"),
        (
            "bb",
            "()",
            ["accepted"],
            "classes: \\['accepted'\\] is not a list of the classes of the task 'bb', each once",
        ),
        ("bb", "()", "accepted", "classes: 'accepted' is not a list"),
    ],
)
def test_what_cannot_be_meant_is_asked_about(task, tokens, classes, message):
    with pytest.raises(BadInput, match=f"^{message}") as refusal:
        declare(task, tokens, classes)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("task", "outputs", "message"),
    [
        ("bb", 2, "classes: missing; say which output is which: classes=\\['rejected', 'accepted'\\]"),
        ("ternary", 1, "task: 'ternary' has 3 classes, Neg, Zero, Pos; one output tells two classes apart"),
        ("ternary", 2, "task: 'ternary' has 3 classes, .*; 2 outputs are 2 classes"),
    ],
)
def test_outputs_that_could_mean_anything_are_asked_about(task, outputs, message):
    with pytest.raises(BadInput, match=f"^{message}"):
        declare(task, "()").check_outputs(outputs)


def test_an_encoding_that_the_network_does_not_read_is_refused():
    with pytest.raises(BadInput, match="tokens: '\\(' has the index 2; the network reads indices from 0 to 1"):
        one_hot(2, 2, "(")
    with pytest.raises(BadInput, match="tokens: '\\(' has 3 numbers; the network reads vectors of 2"):
        one_hot((1, 0, 0), 2, "(")
