import json
import re
from fractions import Fraction

import numpy as np
import pytest

from tallystick import LinearCell, Network, Readout, ReluCell, SelectiveCell, read_network, write_network
from tallystick.cli.accuracy import score
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.languages.tasks import BB_MEMBERSHIP, BINARY, SEMI_DYCK1_MEMBERSHIP, TERNARY
from tallystick.networks import network_from_json, network_to_json

COUNTER = {
    "cell": "linear",
    "open_step": 1,
    "close_step": "-1/1",
    "recurrent_weight": "0x1p+0",
    "readout": {"kind": "binary", "weight": [2.5], "bias": ["-1/3"]},
}

MODELS = [
    Network(LinearCell(Fraction(1, 3), -0.1, 1), Readout.binary(2.5, -1)),
    Network(SelectiveCell(1, -2, 0.5, 2), Readout.zero()),
    Network(ReluCell(np.float32(0.7), np.float32(-0.7), 1), Readout.ternary((-1, 0, 1), (0, 0.5, 0))),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model.cell).__name__)
def test_a_model_reads_back_exactly_equal(model, tmp_path):
    write_network(model, tmp_path / "model.json")
    assert read_network(tmp_path / "model.json") == model.in_arithmetic("rational")


@pytest.mark.parametrize("task", [BB_MEMBERSHIP, SEMI_DYCK1_MEMBERSHIP, BINARY], ids=lambda task: task.name)
def test_another_task_than_usual_is_kept(task, tmp_path):
    path = tmp_path / "model.json"
    for readout in (Readout.zero(), Readout.binary(Fraction(2), Fraction(-1))):
        network = Network(LinearCell(Fraction(1), Fraction(-1), Fraction(1)), readout, task)
        usual = network.task == Network(network.cell, readout).task
        write_network(network, path)
        assert ("task" in json.loads(path.read_text())) is not usual
        assert read_network(path) == network
        write_network(network, tmp_path / "model.safetensors")
        assert read_network(tmp_path / "model.safetensors") == network


def written(tmp_path, value):
    path = tmp_path / "model.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_numbers_are_read_exactly(tmp_path):
    model = read_network(written(tmp_path, {**COUNTER, "open_step": 0.1}))
    assert model.cell == LinearCell(Fraction(1, 10), Fraction(-1), Fraction(1))
    assert model.readout == Readout.binary(Fraction(5, 2), Fraction(-1, 3))
    assert model.in_arithmetic("float32").cell.open_step == np.float32(0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": "elman"}, 'cell: "elman" is not one of linear, selective, relu, tanh, gru, lstm'),
        ({"open_step": "one"}, "open_step: 'one' is not a number: write 0.25"),
        ({"open_step": True}, "open_step: True is not a number"),
        ({"open_step": None}, "open_step: None is not a number"),
        ({"recurrent_weight": [1, 1]}, "recurrent_weight: [1, 1] is not a number"),
        ({"cell": "selective"}, 'recurrent_weight: "0x1p+0" is not a JSON list'),
        ({"cell": "selective", "recurrent_weight": [1]}, "recurrent_weight: [1] is not a list of 2 numbers"),
        ({"readout": {"kind": "quaternary"}}, 'readout: kind: "quaternary" is not one of zero, binary, ternary'),
        ({"readout": {"kind": "binary"}}, "readout: field 'weight' is missing"),
        ({"readout": {"kind": "zero", "weight": [1]}}, "readout: unknown field 'weight'; the fields are kind"),
        ({"readout": {"kind": "ternary", "weight": [1]}}, "readout: weight: [1] is not a list of 3 numbers"),
        ({"readout": {"kind": "binary", "weight": ["1e9999999"]}}, "has an exponent beyond"),
        ({"open_step": 1, "colour": "red"}, "unknown field 'colour'"),
        ({"task": "ternary"}, 'task: "ternary" is not a task with 2 classes: one of binary, bb, semidyck1'),
        ({"task": "count"}, 'task: "count" is not a task with 2 classes'),
        ({"task": 2}, "task: 2 is not a string"),
    ],
)
def test_a_bad_model_is_refused_in_one_line(tmp_path, change, message):
    path = written(tmp_path, {**COUNTER, **change})
    with pytest.raises(BadInput, match=re.escape(message)) as refusal:
        read_network(path)
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


def test_a_model_needs_a_cell_and_a_readout():
    with pytest.raises(BadInput, match="cell: 1 is not a Cell or a Stack"):
        Network(1, Readout.zero())
    with pytest.raises(BadInput, match="readout: 2 is not a Readout"):
        Network(LinearCell(1, -1, 1), 2)


def test_absurd_exponents_are_refused(tmp_path):
    for number in ("1e999999999999999999999", "1e-99999", "1" + "0" * 4301):
        path = written(tmp_path, json.dumps(COUNTER).replace('"open_step": 1', f'"open_step": {number}'))
        with pytest.raises(BadInput, match="model.json: "):
            read_network(str(path))


def test_an_unknown_arithmetic_is_refused():
    with pytest.raises(BadInput, match="arithmetic: 'float8' is not one of rational, "):
        MODELS[0].in_arithmetic("float8")


def test_a_model_is_scored_in_its_own_arithmetic(tmp_path):
    strings = tmp_path / "strings.txt"
    strings.write_text("((()))\n()\n((\n)(,Zero\n)(,ZeroNeg\n")
    tenth = Network(LinearCell(Fraction(1, 10), Fraction(-1, 10), Fraction(1)), Readout.zero())
    assert score(tenth, strings) == {"strings": 5, "right": 5, "accuracy": 100.0}
    assert score(tenth.in_arithmetic("float32"), strings)["right"] == 4


@pytest.mark.parametrize("suffix", ["json", "safetensors"])
def test_a_number_too_long_to_write_is_refused(tmp_path, suffix):
    """Python writes no whole number of more than 4,300 digits."""
    for field in ("open_step", "close_step", "recurrent_weight"):
        weights = {"open_step": 1, "close_step": -1, "recurrent_weight": 1} | {field: Fraction(1, 10**5000 + 1)}
        with pytest.raises(BadInput, match=field):
            write_network(Network(LinearCell(**weights), Readout.zero()), tmp_path / f"model.{suffix}")
    with pytest.raises(BadInput, match="readout.bias"):
        write_network(Network(LinearCell(1, -1, 1), Readout.binary(1, 10**5000)), tmp_path / f"model.{suffix}")
    assert not list(tmp_path.iterdir())


LONG = {
    "tokens": {"(": [1, 0, 2], ")": [0, 1, "1/2"]},
    "layers": [
        {
            "cell": "gru",
            "input_weight": [[1, 0, 1]] * 3,
            "recurrent_weight": [[0.5]] * 3,
            "initial_state": {"h": [0.25]},
        }
    ],
    "readout": {"weight": [[2]], "bias": [1]},
    "answer": {"kind": "sign", "classes": ["ZeroNeg", "Pos"]},
    "task": "binary",
}

COUNTER_LAYER = {name: value for name, value in COUNTER.items() if name != "readout"}


def test_the_long_form_holds_tokens_layers_and_a_state_to_start_from():
    network = network_from_json(Document(LONG, "file"))
    assert network.cell.tokens == ((1, 0, 2), (0, 1, Fraction(1, 2)))
    assert network.cell.start[0].hidden == (Fraction(1, 4),)
    assert network.readout.decision == "sign"
    assert network_from_json(Document(network_to_json(network), "file")) == network
    short = {name: value for name, value in LONG.items() if name not in ("tokens", "task")}
    short["layers"] = [COUNTER_LAYER]
    assert network_from_json(Document(short, "file")).cell.trace("((")[-1] == (2,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokens": {"(": [1, 0, 2]}}, r"tokens: field '\)' is missing"),
        ({"tokens": {"(": [1, 0, 2], ")": [1]}}, "a list of 3 numbers"),
        ({"tokens": {"(": [1, 0], ")": [0, 1]}}, r"layers\[0\]: input_weight\[0\]: .* a list of 2 numbers"),
        ({"layers": []}, "layers: .* a list of at least one layer"),
        ({"layers": LONG["layers"] * 17}, r"layers\[1\]: input_weight\[0\]: .* a list of 1 number"),
        ({"layers": [{**COUNTER_LAYER, "cell": "elman"}]}, r"layers\[0\]: cell: .* one of linear"),
        (
            {"layers": [{**LONG["layers"][0], "initial_state": {"h": [0], "c": [0]}}]},
            "initial_state: unknown field 'c'",
        ),
        ({"answer": {"kind": "sure"}}, "kind: .* one of zero, sign, class, count, accept, threshold, next, support"),
        (
            {"answer": {"kind": "sign", "classes": ["Pos", "Zero"]}},
            "classes: .* is not a list of the classes of the task 'binary', each once: ZeroNeg, Pos",
        ),
        ({"answer": {"kind": "class"}}, "readout: bias: .* a list of 3 numbers"),
        (
            {"answer": {"kind": "accept"}},
            "task: 'binary' has the classes ZeroNeg, Pos; the answer accept is for membership",
        ),
        ({"task": "ternary"}, "task: .* a task with 2 classes"),
        ({"task": "anbn"}, r"tokens: field 'a' is missing"),
        ({"task": []}, r"task: \[\] is not a string"),
    ],
)
def test_the_long_form_is_refused_by_the_field(change, message):
    with pytest.raises(BadInput, match=message):
        network_from_json(Document({**LONG, **change}, "file"))


def test_the_order_of_tokens_in_a_file_does_not_matter():
    swapped = {**LONG, "tokens": dict(reversed(LONG["tokens"].items()))}
    assert list(swapped["tokens"]) == [")", "("]
    assert network_from_json(Document(swapped, "file")) == network_from_json(Document(LONG, "file"))


TWO = {
    **COUNTER_LAYER,
    "readout": {"weight": [[2], [-2]], "bias": [-1, 1]},
    "answer": {"kind": "class", "classes": ["Pos", "ZeroNeg"]},
    "task": "binary",
}


def without(content, *names):
    return {name: value for name, value in content.items() if name not in names}


def test_outputs_stand_in_the_order_that_the_file_says(tmp_path):
    network = read_network(written(tmp_path, TWO))
    assert [str(network.class_of(string)) for string in ("((", "()", "))")] == ["Pos", "ZeroNeg", "ZeroNeg"]
    stack = read_network(written(tmp_path, {**without(TWO, *COUNTER_LAYER), "layers": [COUNTER_LAYER]}))
    assert [str(stack.class_of(string)) for string in ("((", "()", "))")] == ["Pos", "ZeroNeg", "ZeroNeg"]
    reversed_sign = Network(network.cell, Readout.binary(Fraction(-1)), BINARY.in_order(["Pos", "ZeroNeg"]))
    five = Readout(tuple((Fraction(n),) for n in range(3)), (Fraction(0),) * 3)
    permuted = Network(network.cell, five, TERNARY.in_order(["Zero", "Pos", "Neg"]))
    for one in (network, stack, reversed_sign, permuted):
        write_network(one, tmp_path / "again.json")
        assert read_network(tmp_path / "again.json") == one


def test_whoever_reads_a_file_may_say_what_it_is_asked_for(tmp_path):
    path = written(tmp_path, COUNTER)
    assert read_network(path, task="bb").task is BB_MEMBERSHIP
    assert read_network(path, classes=["Pos", "ZeroNeg"]).task == BINARY.in_order(["Pos", "ZeroNeg"])
    path = written(tmp_path, without(TWO, "answer", "task") | {"answer": {"kind": "class"}})
    asked = read_network(path, task="semidyck1", classes=["accepted", "rejected"])
    assert asked.task == SEMI_DYCK1_MEMBERSHIP.in_order(["accepted", "rejected"])
    path = written(tmp_path, {**TWO, "answer": {"kind": "class", "classes": ["accepted", "rejected"]}, "task": "bb"})
    assert read_network(path, task="semidyck1").task == asked.task  # the file says which output accepts


def test_an_accepting_output_is_the_sign_asked_for_membership(tmp_path):
    content = {**TWO, "readout": {"weight": [[1]]}, "answer": {"kind": "accept"}, "task": "bb"}
    network = read_network(written(tmp_path, content))
    assert network == Network(network.cell, Readout(((Fraction(1),),), (Fraction(0),)), BB_MEMBERSHIP)
    with pytest.raises(BadInput, match="task: missing; a readout of 1 output may answer several tasks"):
        read_network(written(tmp_path, without(content, "task")))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"answer": {"kind": "class"}}, {}, "classes: missing; .*classes=ZeroNeg,Pos in"),
        ({"answer": {"kind": "class"}}, {"task": "bb"}, "classes: missing; .*classes=rejected,accepted in"),
        ({}, {"task": "bb"}, "classes: .* of the task 'bb', each once: rejected, accepted"),
        ({}, {"task": "ternary"}, "task: 'ternary' has 3 classes, Neg, Zero, Pos; a readout of 2 outputs tells 2"),
        ({}, {"task": "ternary", "classes": ["Neg", "Zero", "Pos"]}, "task: 'ternary' has 3 classes"),
        ({}, {"task": "sorting"}, "task: 'sorting' is not one of binary"),
        ({}, {"task": "count"}, "task: 'count' asks for a number"),
        ({}, {"task": "anbn", "classes": ["accepted", "rejected"]}, "task: 'anbn' has the tokens a, b"),
        ({}, {"classes": ["Pos"]}, r"classes: \['Pos'\] is not a list of the classes of the task 'binary'"),
        ({"readout": {"weight": [[1]] * 65}}, {}, "readout: weight: .* is not a list of 3 rows"),
        ({"readout": {"kind": "binary", "weight": [1]}}, {}, "readout: unknown field 'kind'"),
    ],
)
def test_what_outputs_mean_is_asked_where_nobody_says_it(tmp_path, change, options, message):
    path = written(tmp_path, {**TWO, **change})
    with pytest.raises(BadInput, match=message) as refusal:
        read_network(path, **options)
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


def test_two_outputs_without_a_task_are_asked_about(tmp_path):
    path = written(tmp_path, without(TWO, "task") | {"answer": {"kind": "class"}})
    with pytest.raises(BadInput, match="task: missing; a readout of 2 outputs may answer several tasks; .*--task.* bb"):
        read_network(path)
