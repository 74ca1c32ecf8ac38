"""JSON files of networks over any alphabet, with any way of answering: they read back equal, and what is wrong is named."""

import json
import random
import re
from fractions import Fraction
from itertools import product

import pytest

from tallystick import (
    LinearCell,
    LinearLayer,
    LstmCell,
    MatrixLayer,
    Network,
    Readout,
    ReluLayer,
    SelectiveLayer,
    Stack,
    certify,
    read_network,
    write_network,
)
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.languages.counter_machine import Add, CounterMachine
from tallystick.languages.machine_files import machine_to_json
from tallystick.languages.tasks import READY_TASKS, ready_task, task_of_machine
from tallystick.networks import network_from_json, network_to_json
from tallystick.networks.steps import Steps

WORDS = CounterMachine.from_rules(
    alphabet=("push", "pop", "rest"),
    update=lambda case: (Add({"push": 1, "pop": -1, "rest": 0}[case.token]),),
    accepts=lambda state, check: check == (0,),
)
SIDES = {"level": [("q", (0,))], "off": [("q", (1,))]}

TASKS = [
    *(task for task in READY_TASKS.values() if task.classes),
    task_of_machine(WORDS, "words"),
    task_of_machine(WORDS, "sides", SIDES),
    ready_task("anbn").with_empty(False),
    ready_task("bb").with_empty(True),
    task_of_machine(WORDS, "words").with_empty(False),
]


def number(draw):
    return Fraction(draw.randint(-9, 9), draw.randint(1, 9))


def matrix(draw, rows, columns):
    return tuple(tuple(number(draw) for _ in range(columns)) for _ in range(rows))


def vector(draw, size):
    return matrix(draw, 1, size)[0]


def random_layer(draw, inputs):
    """One layer of any kind that reads vectors of a length."""
    units = draw.randint(1, 3)
    kind = draw.choice([LinearLayer, ReluLayer, LstmCell, SelectiveLayer, MatrixLayer])
    if kind is SelectiveLayer:
        return kind(matrix(draw, units, inputs), matrix(draw, units, inputs), vector(draw, units))
    if kind is MatrixLayer:
        return kind(
            matrix(draw, units, inputs), tuple(matrix(draw, units, units) for _ in range(inputs)), vector(draw, units)
        )
    shapes = kind.shapes(units, inputs)
    made = {name: matrix(draw, *shape) if len(shape) > 1 else vector(draw, *shape) for name, shape in shapes.items()}
    return kind.from_tensors(made)


def random_stack(draw, alphabet, *, padded):
    size = draw.randint(1, 3)
    layers = [random_layer(draw, size)]
    if draw.random() < 0.5:
        layers.append(random_layer(draw, layers[0].units))
    first, last = (matrix(draw, draw.randint(1, 2), size) if draw.random() < 0.4 else () for _ in range(2))
    padding = (vector(draw, size), draw.randint(1, 12)) if padded and draw.random() < 0.5 else ((), 0)
    return Stack(tuple(layers), matrix(draw, len(alphabet), size), (), first, last, *padding)


def random_network(draw):
    """A network of any kind: one cell or a stack, over any alphabet, for any task, with an answer of any kind."""
    task = draw.choice(TASKS)
    task = task.in_order(draw.sample(task.classes, len(task.classes)))
    kinds = ["class"]
    if len(task.classes) == 2:
        kinds += ["sign", "zero"]
    if task.is_membership:
        kinds += [
            "threshold",
            *(["next"] if "a" in task.alphabet else []),
            "support",
        ]  # brackets determine no next token
        task = task if task.classes[0] == "rejected" else task.in_order(task.classes[::-1])
    kind = draw.choice(kinds)
    alphabet, stepwise = task.alphabet, kind in ("threshold", "next", "support")
    alone = draw.random() < 0.3
    cell = random_layer(draw, len(alphabet)) if alone else random_stack(draw, alphabet, padded=not stepwise)
    outputs = len(alphabet) + 1 if stepwise else len(task.classes) if kind == "class" else 1
    steps = None
    if stepwise:
        named = draw.sample([*alphabet, "<EOS>"], outputs)
        steps = Steps(tuple(named), "<EOS>", Fraction(1, 200) if kind == "threshold" else None)
    return Network(cell, Readout(matrix(draw, outputs, cell.units), vector(draw, outputs), kind, steps), task)


def answers(network, longest=2):
    strings = [tokens for length in range(longest + 1) for tokens in product(network.alphabet, repeat=length)]
    return [network.class_of(string) for string in strings]


@pytest.mark.parametrize("seed", range(150))
def test_a_network_reads_back_equal(seed, tmp_path):
    network = random_network(random.Random(seed))
    path = tmp_path / "network.json"
    write_network(network, path)
    again = read_network(path)
    assert again == network
    assert again.task.empty is network.task.empty
    if network.cell.is_rational and network.readout.decision != "threshold":  # no softmax is rational
        assert answers(again) == answers(network)


def test_every_kind_is_among_the_random_networks():
    found = [random_network(random.Random(seed)) for seed in range(150)]
    assert {network.readout.decision for network in found} == {"class", "sign", "zero", "threshold", "next", "support"}
    assert {network.task.name for network in found} == {task.name for task in TASKS}
    assert {False, True, None} == {network.task.empty for network in found}
    assert any(network.cell.is_padded for network in found)


GRAMMAR = {
    "tokens": {"a": [1, 0, 0], "b": [0, 1, 0], "#": [0, 0, 1]},
    "start": "#",
    "layers": [
        {"cell": "linear", "input_weight": [["1/2", "-1/2", 0], [0, 1, 0]], "recurrent_weight": [[1, 0], [0, 0]]},
    ],
    "readout": {"weight": [[0, 0], [1, 0], [0, "1/4"]], "bias": ["1/3", 0, 0]},
    "answer": {"kind": "next", "outputs": ["a", "b", "#"], "end": "#"},
    "task": "anbn",
    "empty": False,
}


def read(**change):
    content = {name: value for name, value in {**GRAMMAR, **change}.items() if value is not None}
    return network_from_json(Document(content, "file"))


def test_a_start_is_read_first_and_the_empty_string_is_out():
    network = read()
    assert network.cell.first == ((0, 0, 1),)
    assert network.task.right_class("") == "rejected"
    assert network.right_class("") == "a"  # since a member begins with it
    assert read(empty=None).right_class("") is None  # where "" is a member, # may follow as well
    assert [network.class_of(string) for string in ("aa", "aab", "aabb")] == ["b", "b", "a"]


def test_an_end_is_read_last_for_an_answer_at_the_end():
    answer = {"kind": "accept"}
    content = {"answer": answer, "start": None, "end": "#", "readout": {"weight": [[1, 0]]}}
    assert read(**content).cell.last == ((0, 0, 1),)
    assert read(**content, empty=True).task.empty is True


def test_strings_are_filled_up():
    padding = {"left": [0, 0, 2], "to": 4}
    network = read(padding=padding, answer={"kind": "accept"}, readout={"weight": [[1, 0]]})
    assert (network.cell.padding, network.cell.padded_to) == ((0, 0, 2), 4)


def test_tokens_are_one_hot_in_the_order_of_the_alphabet_unless_the_file_says_otherwise():
    cell = {"cell": "linear", "input_weight": [[1, -1, 0]], "recurrent_weight": [[1]]}
    readout = {"readout": {"weight": [[1]]}, "answer": {"kind": "zero"}, "task": "anbncn"}
    network = network_from_json(Document({**cell, **readout}, "file"))
    assert [network.cell.trace(string, network.alphabet)[-1] for string in ("aab", "cc")] == [(1,), (0,)]
    stack = network_from_json(Document({"layers": [cell], **readout}, "file"))
    assert stack.cell.tokens == ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    assert answers(stack, 4) == answers(network, 4)
    selective = {**cell, "cell": "selective", "recurrent_weight": {"a": [1], "b": [2], "c": [0]}}
    network = network_from_json(Document({**selective, **readout}, "file"))
    assert network.trace("aabc") == [(0,), (1,), (2,), (3,), (0,)]
    assert network_from_json(Document(network_to_json(network), "file")) == network


def test_a_task_may_stand_in_the_file(tmp_path):
    machine = machine_to_json(WORDS)
    tokens = {"push": [1], "pop": [-1], "rest": [0]}
    content = {
        "tokens": tokens,
        "layers": [{"cell": "linear", "input_weight": [[1]], "recurrent_weight": [[1]]}],
        "readout": {"weight": [[1]]},
        "answer": {"kind": "zero"},
        "task": {**machine, "name": "words"},
    }
    network = network_from_json(Document(content, "file"))
    assert network.task == task_of_machine(WORDS, "words")
    assert [str(network.class_of(tuple(text.split()))) for text in ("push rest pop", "push")] == [
        "accepted",
        "rejected",
    ]
    path = tmp_path / "sides.json"
    path.write_text(
        json.dumps({**machine, "classes": [{"name": "level", "where": [{"zero_check": "0"}]}, {"name": "off"}]})
    )
    file = tmp_path / "network.json"
    file.write_text(json.dumps({**content, "answer": {"kind": "sign"}}))
    for task in (path, str(path), task_of_machine(WORDS, "sides", SIDES)):
        assert read_network(file, task=task).task == task_of_machine(WORDS, "sides", SIDES)
    assert read_network(file, empty=False).task.empty is False


def test_whoever_reads_a_file_says_for_which_tokens(tmp_path):
    file = tmp_path / "network.json"
    file.write_text(json.dumps({name: value for name, value in GRAMMAR.items() if name != "tokens"} | {"start": []}))
    with pytest.raises(
        BadInput, match="task: 'anbncn' has the tokens a, b, c; the file is for a, b: say in its field tokens"
    ):
        read_network(file, task="anbncn")
    file.write_text(json.dumps(GRAMMAR))
    with pytest.raises(BadInput, match="tokens: field 'c' is missing"):
        read_network(file, task="anbncn")


MISSING = {"kind": "next", "outputs": ["a", "b", "#"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokens": {"a": [1], "b": [2], "x": [3], "#": [4]}}, "tokens: unknown field 'x'; the fields are a, b, #"),
        ({"tokens": {"a": [1, 2], "b": [2], "#": [1, 2]}}, "tokens: b: [2] is not a list of 2 numbers"),
        (
            {"start": "^"},
            'start: "^" is not a name that has a vector in tokens',
        ),
        ({"start": 3}, "start: 3 is not a string"),
        ({"tokens": None}, 'start: "#" is not a name that has a vector in tokens; give it one'),
        ({"first": [[0, 0, 0]]}, "first: 'start' says the same; leave one of them out"),
        ({"end": "#"}, "end: the answer next predicts the end, and nothing reads it; say it as the answer's end"),
        ({"padding": {"left": [0], "to": 3}}, "padding: left: [0] is not a list of 3 numbers"),
        ({"padding": {"left": [0, 0, 0]}}, "padding: field 'to' is missing"),
        ({"padding": {"left": [0, 0, 0], "to": -1}}, "padded_to: -1 is not a whole number from 0 on"),
        ({"padding": {"left": [0, 0, 0], "to": 3}}, "padding: strings are filled up for an answer at their end"),
        ({"answer": MISSING}, "answer: field 'end' is missing"),
        ({"answer": {**MISSING, "end": "$"}}, "end: '$' is not one of the outputs 'a', 'b', '#'"),
        ({"answer": {**MISSING, "end": "#", "outputs": ["a", "#", "#"]}}, "outputs: '#' is listed twice"),
        ({"answer": {**MISSING, "end": "a"}}, "end: 'a' is a token of the task; name the end symbol otherwise"),
        ({"answer": {**MISSING, "end": "#", "outputs": ["a", "#"]}}, "readout: bias: ["),
        ({"answer": {**MISSING, "end": "#", "threshold": 1}}, "answer: unknown field 'threshold'"),
        ({"answer": {**MISSING, "kind": "threshold", "end": "#"}}, "answer: field 'threshold' is missing"),
        (
            {"answer": {**MISSING, "kind": "threshold", "end": "#", "threshold": 1}},
            "threshold: 1 is not between 0 and 1",
        ),
        ({"answer": {**MISSING, "end": "#", "classes": ["accepted", "rejected"]}}, "answer: unknown field 'classes'"),
        ({"task": None}, "task: missing; the file's tokens are a, b, #, so say what is right of them: task="),
        ({"task": "anbm"}, "task: 'anbm' is not one of binary, ternary, count, bb"),
        ({"task": 3}, "task: 3 is not one of binary, ternary, count, bb"),
        ({"task": "binary"}, "tokens: field '(' is missing"),
        ({"task": {"alphabet": ["a", "b"]}}, "task: field 'states' is missing"),
        (
            {"task": {**machine_to_json(ready_task("anbn").machine), "accepting": [{"state": "c"}]}},
            "task: accepting: state 'c'",
        ),
        ({"empty": "no"}, 'empty: "no" is not true or false'),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(BadInput, match=re.escape(message)) as refusal:
        read(**change)
    assert "\n" not in str(refusal.value)


def test_answers_after_every_token_are_about_a_language():
    tokens = {"(": [1, 0, 0], ")": [0, 1, 0], "#": [0, 0, 1]}
    brackets = {"tokens": tokens, "answer": {**MISSING, "outputs": ["(", ")", "#"], "end": "#"}}
    with pytest.raises(BadInput, match='task: "ternary" is not a task with'):
        read(**brackets, task="ternary", empty=None)
    with pytest.raises(BadInput, match="task: missing; .* one of bb, semidyck1, dyck1"):
        read(**brackets, task=None, empty=None)
    assert read(**brackets, task="dyck1").task == ready_task("dyck1").with_empty(False)


def test_the_order_of_prefix_classes_is_asked_for():
    content = {"cell": "linear", "open_step": 1, "close_step": -1, "recurrent_weight": 1, "task": "dyck1-prefix"}
    readout = {"weight": [[1], [0], [-1]], "bias": [0, 0, 0]}
    with pytest.raises(BadInput, match="classes: missing; .*classes=valid,incomplete,invalid in the order"):
        network_from_json(Document({**content, "readout": {"kind": "ternary", "weight": [1, 0, -1]}}, "file"))
    answer = {"kind": "class", "classes": ["invalid", "valid", "incomplete"]}
    network = network_from_json(Document({**content, "readout": readout, "answer": answer}, "file"))
    assert network.task.classes == ("invalid", "valid", "incomplete")
    assert network_from_json(Document(network_to_json(network), "file")) == network
    with pytest.raises(BadInput, match="empty: 'dyck1-prefix' has the classes .*; only membership"):
        network_from_json(Document({**content, "readout": readout, "answer": answer, "empty": True}, "file"))


def test_a_cell_of_one_unit_over_two_letters(tmp_path):
    network = Network(LinearCell(Fraction(1), Fraction(-1), Fraction(1)), Readout.zero(), ready_task("anbn"))
    write_network(network, tmp_path / "network.json")
    assert read_network(tmp_path / "network.json") == network
    write_network(Network(network.cell, network.readout), tmp_path / "brackets.json")
    with pytest.raises(BadInput, match=re.escape("task: 'anbn' has the tokens a, b; the file is for (, )")):
        read_network(tmp_path / "brackets.json", task="anbn")


@pytest.mark.parametrize("seed", range(60))
def test_safetensors_hold_a_network_or_refuse_it(seed, tmp_path):
    network = random_network(random.Random(seed)).map_weights(lambda value, _: Fraction(round(value * 4), 4))
    path = tmp_path / "network.safetensors"
    try:
        write_network(network, path)
    except BadInput as refusal:
        assert "write a JSON file" in str(refusal) or "could say it by its name" in str(refusal)  # noqa: PT017
    else:
        if network.readout.decision != "zero":
            assert read_network(path) == network


def test_the_empty_string_counts_where_a_file_says_what_it_is():
    """Also of brackets whose count decides, which are otherwise asked about from the first token on."""
    counter = {"cell": "linear", "open_step": 1, "close_step": -1, "recurrent_weight": 1, "task": "bb"}
    for empty, outcome in ((True, "PROVED"), (False, "REFUTED")):
        content = {**counter, "readout": {"kind": "zero"}, "empty": empty}
        verdict = certify(network_from_json(Document(content, "file")))
        assert (str(verdict.outcome), verdict.first) == (outcome, 0)
    assert (verdict.horizon, verdict.failure.string, verdict.failure.right) == (-1, "", "rejected")


@pytest.mark.parametrize("seed", range(1000, 1030))
def test_a_verdict_is_that_of_every_string(seed):
    network = random_network(random.Random(seed))
    exactly = network.cell.is_rational and network.readout.decision != "threshold"
    run = network if exactly else network.in_arithmetic("float64")
    strings = [
        tokens for length in range(network.first_length, 4) for tokens in product(network.alphabet, repeat=length)
    ]
    right = ((string, network.right_class(string)) for string in strings)
    wrong = next((string for string, answer in right if answer is not None and run.class_of(string) != answer), None)
    verdict = certify(network, limit=3)
    if wrong is not None:
        assert verdict.failure.length == len(wrong)
        assert verdict.failure.right == network.right_class(verdict.failure.tokens)
    else:
        assert verdict.failure is None or verdict.failure.length > 3
