from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import BadInput, LinearCell, ReluCell, TanhCell, read_network
from tallystick.networks import Readout
from tallystick.networks.tensors.state_dicts import network_of_tensors

NUMBERS = st.floats(-1e6, 1e6)
BIASES = {"bias_ih": np.array([0.5]), "bias_hh": np.array([0.25])}
RNN = {"weight_ih": np.array([[1.0, -2.0]]), "weight_hh": np.array([[3.0]])}
LINEAR = {"weight": np.array([[1.0, -2.0, 3.0]])}
BINARY = {"weight": np.array([[2.0]]), "bias": np.array([-1.0])}
TERNARY = {"weight": np.array([[-1.0], [0.0], [1.0]]), "bias": np.array([0.0, 0.5, 0.0])}


def under(prefix, tensors, layer=""):
    return {f"{prefix}{name}{layer}": array for name, array in tensors.items()}


@pytest.mark.parametrize("layer", ["", "_l0"], ids=["RNNCell", "RNN"])
@pytest.mark.parametrize("prefix", ["", "rnn.", "module._orig_mod.net.cell."])
@pytest.mark.parametrize(("name", "kind"), [("linear", LinearCell), ("relu", ReluCell), ("tanh", TanhCell)])
def test_a_recurrent_module_is_read_under_any_prefix(layer, prefix, name, kind):
    tensors = under(prefix, RNN, layer)
    assert network_of_tensors(tensors, {"nonlinearity": name}).cell == kind(1, -2, 3)
    biased = tensors | under(prefix, BIASES, layer)
    assert network_of_tensors(biased, {"nonlinearity": name}).cell == kind(Fraction(7, 4), Fraction(-5, 4), 3)


@pytest.mark.parametrize("prefix", ["", "i2h.", "net.0."])
def test_a_linear_module_over_token_and_state_is_read(prefix):
    assert network_of_tensors(under(prefix, LINEAR), {}).cell == LinearCell(1, -2, 3)
    biased = under(prefix, {**LINEAR, "bias": np.array([0.5])})
    assert network_of_tensors(biased, {}).cell == LinearCell(Fraction(3, 2), Fraction(-3, 2), 3)
    assert network_of_tensors(biased, {"nonlinearity": "tanh"}).cell == TanhCell(Fraction(3, 2), Fraction(-3, 2), 3)


@pytest.mark.parametrize("cell", [under("cell.", LINEAR), under("cell.", RNN), under("", RNN, "_l0")])
def test_readouts_are_told_by_their_shape(cell):
    labels = {"nonlinearity": "linear"}
    assert network_of_tensors(cell, labels).readout == Readout.zero()
    assert network_of_tensors(cell | under("fc.", BINARY), labels).readout == Readout.binary(2, -1)
    assert network_of_tensors(cell | under("", BINARY), labels).readout == Readout.binary(2, -1)
    assert network_of_tensors(cell | {"fc.weight": BINARY["weight"]}, labels).readout == Readout.binary(2, 0)
    ternary = Readout.ternary((-1, 0, 1), (0, Fraction(1, 2), 0))
    assert network_of_tensors(cell | under("fc.", TERNARY), labels).readout == ternary
    assert network_of_tensors(cell | under("fc.", TERNARY), labels | {"readout": "ternary"}).readout == ternary


@given(*[NUMBERS] * 5, st.sampled_from([np.float16, ml_dtypes.bfloat16, np.float32, np.float64]))
def test_biases_are_folded_without_rounding(w, v, u, first, second, kind):
    with np.errstate(over="ignore"):
        entries = np.array([w, v, u, first, second]).astype(kind)
    if not np.isfinite(entries.astype(float)).all():
        return
    open_weight, close_weight, recurrent, *biases = (Fraction(float(entry)) for entry in entries)
    tensors = {
        "weight_ih_l0": entries[None, :2],
        "weight_hh_l0": entries[None, 2:3],
        "bias_ih_l0": entries[3:4],
        "bias_hh_l0": entries[4:],
    }
    cell = network_of_tensors(tensors, {"nonlinearity": "relu"}).cell
    assert cell == ReluCell(open_weight + sum(biases), close_weight + sum(biases), recurrent)


def of_size(layer="_l0", units=1, gates=1, inputs=2):
    return {
        f"rnn.weight_ih{layer}": np.ones((gates * units, inputs)),
        f"rnn.weight_hh{layer}": np.ones((gates * units, units)),
        f"rnn.bias_ih{layer}": np.ones(gates * units),
        f"rnn.bias_hh{layer}": np.ones(gates * units),
    }


SOUND = of_size()
RELU = {"nonlinearity": "relu"}
REFUSALS = {
    "no nonlinearity": (
        SOUND,
        {},
        "metadata nonlinearity: missing, and the tensors do not tell it; write one of linear",
    ),
    "gelu": (SOUND, {"nonlinearity": "gelu"}, "metadata nonlinearity: 'gelu' is not one of linear, relu, tanh"),
    "other cell": (SOUND, {**RELU, "cell": "tanh"}, "metadata cell: 'tanh' contradicts the tensors, which are relu's"),
    "other readout": (
        SOUND,
        {**RELU, "readout": "binary"},
        "metadata readout: 'binary' contradicts the tensors, which",
    ),
    "no layer 1": (SOUND | of_size("_l2", inputs=1), RELU, "rnn.bias_hh_l2: is layer 2 of a module without layer 1"),
    "layer 00": (SOUND | of_size("_l00"), RELU, "rnn.bias_hh_l00: 00 is not the number of a layer, from 0 to 15"),
    "layer 10^9": (of_size("_l1000000000"), RELU, "1000000000 is not the number of a layer"),
    "layers apart": (
        SOUND | of_size("_l1", units=2) | {"fc.weight": np.ones((1, 2)), "fc.bias": np.ones(1)},
        RELU,
        "layer 1 reads 2 numbers; the layer below it has 1 units",
    ),
    "two directions": (SOUND | of_size("_l0_reverse"), RELU, "rnn.bias_hh_l0_reverse: reads the string backwards"),
    "projection": (SOUND | {"rnn.weight_hr_l0": np.ones((1, 1))}, RELU, "rnn.weight_hr_l0: projects the state"),
    "units": (of_size(units=5), RELU, "readout: missing; an nn.Linear(5, 1) or one with an output per class"),
    "many units": (of_size(units=65), RELU, "rnn.weight_hh_l0: shape 65×65 has 65 units; at most 64 are read"),
    "inputs": (
        of_size(inputs=1),
        RELU,
        "rnn.weight_ih_l0: reads vectors of 1 numbers; say what is read for each token",
    ),
    "rows": (SOUND | {"rnn.weight_ih_l0": np.ones((2, 2))}, RELU, "rnn.weight_ih_l0: shape 2×2 is not 1 rows"),
    "odd": (
        SOUND | {"rnn.weight_hh_l0": np.ones((2, 1))},
        RELU,
        "rnn.weight_hh_l0: shape 2×1 is neither units × units",
    ),
    "flat": (SOUND | {"rnn.weight_hh_l0": np.ones(1)}, RELU, "rnn.weight_hh_l0: shape 1 is neither units × units"),
    "empty": (SOUND | {"rnn.weight_hh_l0": np.ones((0, 0))}, RELU, "rnn.weight_hh_l0: shape 0×0 is neither units"),
    "bias shape": (SOUND | {"rnn.bias_hh_l0": np.ones((1, 1))}, RELU, "rnn.bias_hh_l0: shape 1×1 is not 1"),
    "one bias": (under("", RNN) | {"bias_ih": np.ones(1)}, RELU, "bias_ih: stands without its bias_hh"),
    "no state": ({"weight_ih_l0": np.ones((1, 2))}, RELU, "weight_ih_l0: stands without its weight_hh"),
    "only biases": ({"bias_hh": np.ones(1)}, RELU, "bias_hh: stands without its weight_hh"),
    "only a bias": (SOUND | {"fc.bias": np.ones(1)}, RELU, "fc.bias: stands without its weight"),
    "cell and layer": (SOUND | of_size(""), RELU, "rnn.bias_hh_l0: a second cell beside rnn.bias_hh; one is read"),
    "two cells": (
        SOUND | under("other.", RNN),
        RELU,
        "a second cell beside other.weight_hh; say their order with metadata layers=",
    ),
    "cell and linear": (SOUND | under("i2h.", LINEAR), RELU, "i2h.weight: shape 1×3 is neither a readout"),
    "odd names": (
        under("\n.", LINEAR) | under("i2h.", LINEAR),
        {},
        "i2h.weight: a second cell beside '\\n.weight'; one",
    ),
    "two readouts": (
        SOUND | under("a.", BINARY) | under("b.", TERNARY),
        RELU,
        "b.bias: a second readout beside a.bias",
    ),
    "hidden layer": (
        SOUND | {"fc.weight": np.ones((8, 1))},
        RELU,
        "task: missing; a readout of 8 outputs may answer several tasks",
    ),
    "embedding": (
        SOUND | {"embed.weight": np.ones((2, 4))},
        RELU,
        "embed.weight: may stand in front of the cell; if so, say",
    ),
    "normalisation": (SOUND | {"norm.weight": np.ones(1)}, RELU, "norm.weight: shape 1 is neither a readout"),
    "readout bias": (SOUND | {**under("fc.", BINARY), "fc.bias": np.ones(3)}, RELU, "fc.bias: shape 3 is not 1"),
    "cell bias": (under("i2h.", {**LINEAR, "bias": np.ones(3)}), {}, "i2h.bias: shape 3 is not 1"),
    "unknown": (
        SOUND | {"scale": np.ones(1)},
        RELU,
        "scale: unknown tensor; nn.RNN, nn.GRU, nn.LSTM and their cells, nn.Linear and nn.Embedding are read",
    ),
    "running mean": (SOUND | {"bn.running_mean": np.ones(1)}, RELU, "bn.running_mean: unknown tensor"),
    "weight norm": (SOUND | {"fc.weight_g": np.ones(1)}, RELU, "fc.weight_g: unknown tensor"),
    "readout alone": (under("fc.", BINARY), {}, "no cell among the tensors; one has open_step, or weight_ih"),
    "own and other": (SOUND | {"open_step": np.ones(1)}, RELU, "metadata cell: missing"),
    "nan": (SOUND | {"rnn.weight_ih_l0": np.array([[1, np.nan]])}, RELU, "rnn.weight_ih_l0[0, 1]: nan is not a finite"),
}


@pytest.mark.parametrize(("tensors", "metadata", "message"), REFUSALS.values(), ids=REFUSALS)
def test_anything_else_is_refused_with_its_reason(saved, refused, tensors, metadata, message):
    refused(saved(tensors, **metadata), message)


def test_a_state_dict_is_read_from_a_file(saved):
    model = read_network(saved(SOUND | under("fc.", BINARY), format="pt", **RELU))
    assert model.cell == ReluCell(3, 3, 1)
    assert model.readout == Readout.binary(2, -1)


@pytest.mark.parametrize("kind", [np.longdouble, np.complex128, np.bool_, np.object_, np.str_])
def test_arrays_of_other_kinds_are_refused(kind):
    with pytest.raises(
        BadInput, match=r"^weight: entries of .* are neither floats of at most 64 bits nor whole numbers"
    ):
        network_of_tensors({"weight": np.ones((1, 3), kind)}, {})


def gru(inputs, units, prefix="rnn."):
    return {
        f"{prefix}weight_ih_l0": np.ones((3 * units, inputs)),
        f"{prefix}weight_hh_l0": np.ones((3 * units, units)),
    }


def linear(prefix, rows, columns, *, bias=True):
    return {f"{prefix}.weight": np.ones((rows, columns))} | ({f"{prefix}.bias": np.ones(rows)} if bias else {})


TOKENS = {"tokens": '{"(": 0, ")": 1}'}
EMBEDDED = gru(2, 2) | linear("embed", 3, 2, bias=False)
QUESTIONS = {
    "embedding or readout": (
        EMBEDDED,
        {},
        "embed.weight: shape 3×2 without a bias may be an embedding or the readout; say which with metadata embedding=embed or "
        "readout=embed",
    ),
    "no readout": (
        EMBEDDED,
        {"embedding": "embed"} | TOKENS,
        "readout: missing; an nn.Linear(2, 1) or one with an output",
    ),
    "two logits": (
        gru(2, 2) | linear("fc", 2, 2),
        {},
        "task: missing; a readout of 2 outputs may answer several tasks; say task=",
    ),
    "no classes": (
        gru(2, 2) | linear("fc", 2, 2),
        {"task": "bb"},
        "classes: missing; say which output is which: classes=rejected",
    ),
    "which row": (
        gru(4, 2) | linear("e", 3, 4, bias=False) | linear("fc", 1, 2),
        {},
        "e.weight: say which row is which token",
    ),
    "row beyond": (
        gru(4, 2) | linear("e", 3, 4, bias=False) | linear("fc", 1, 2),
        {"tokens": '{"(": 0, ")": 3}'},
        "tokens: ')' has the index 3; the network reads indices from 0 to 2",
    ),
    "vectors for rows": (
        gru(4, 2) | linear("e", 3, 4, bias=False) | linear("fc", 1, 2),
        {"tokens": '{"(": [1], ")": [2]}'},
        "tokens: '(' is a vector; e.weight is read as an nn.Embedding, with a row for each index; if it is an nn.Linear, say",
    ),
    "what is read": (
        gru(3, 2) | linear("fc", 1, 2),
        {},
        "rnn.weight_ih_l0: reads vectors of 3 numbers; say what is read",
    ),
    "place beyond": (gru(3, 2) | linear("fc", 1, 2), {"tokens": '{"(": 0, ")": 3}'}, "tokens: ')' has the index 3"),
    "short vector": (gru(3, 2) | linear("fc", 1, 2), {"tokens": '{"(": [1], ")": [2]}'}, "tokens: '(' has 1 numbers"),
    "broken tokens": (gru(3, 2) | linear("fc", 1, 2), {"tokens": '{"(": 0'}, "metadata tokens: line 1: not JSON"),
    "wrong tokens": (gru(3, 2) | linear("fc", 1, 2), {"tokens": "ab"}, "tokens: 'ab' are not ( ), each once"),
    "text for a number": (
        gru(3, 2) | linear("fc", 1, 2),
        {"tokens": '{"(": ["x"], ")": [2]}'},
        "metadata tokens: (: 'x' is not a number",
    ),
    "other alphabet": (
        gru(2, 2) | linear("fc", 1, 2),
        {"task": "anbn"},
        "tokens: missing; say what is read for each token: tokens={'a': 0, 'b': 1}",
    ),
    "in front": (
        gru(4, 2) | linear("project", 4, 3) | linear("fc", 1, 2),
        {},
        "project.weight: may stand in front of the cell; if so, say metadata embedding=",
    ),
    "front that does not fit": (
        gru(4, 2) | linear("e", 3, 3, bias=False) | linear("fc", 1, 2),
        {"embedding": "e"} | TOKENS,
        "e.weight: gives 3 numbers; the cell reads 4",
    ),
    "embedding or linear": (
        gru(2, 3) | {"e.weight": np.array([[1, -1], [5, 5]])} | linear("fc", 1, 3),
        TOKENS,
        "e.weight: shape 2×2 without a bias may be an nn.Embedding, with a row for each index, or an nn.Linear, with a column; "
        "say metadata front=nn.Embedding or front=nn.Linear",
    ),
    "embedding or linear, by its name": (
        gru(2, 3) | {"e.weight": np.array([[1, -1], [5, 5]])} | linear("fc", 1, 3),
        TOKENS | {"embedding": "e"},
        "e.weight: shape 2×2 without a bias may be an nn.Embedding",
    ),
    "a front that is something else": (
        gru(2, 3) | {"e.weight": np.array([[1, -1], [5, 5]])} | linear("fc", 1, 3),
        {"tokens": '{"(": [1, 0], ")": [0, 1]}', "front": "nn.Embedding"},
        "metadata front: nn.Embedding has no bias and reads tokens that are indices",
    ),
    "another front": (
        gru(2, 3) | {"e.weight": np.array([[1, -1], [5, 5]])} | linear("fc", 1, 3),
        TOKENS | {"front": "Conv"},
        "metadata front: 'Conv' is not one of nn.Embedding, nn.Linear",
    ),
    "long vectors": (
        gru(1025, 1) | linear("fc", 1, 1),
        {},
        "rnn.weight_ih_l0: reads vectors of 1,025 numbers; at most 1,024",
    ),
    "long front": (
        gru(2, 1) | linear("e", 2, 1025) | linear("fc", 1, 1),
        {"embedding": "e"} | TOKENS,
        "e.weight: shape 2×1025 is not rows of at most 1,024 numbers",
    ),
    "many outputs": (
        gru(2, 3) | linear("fc", 65, 3),
        {},
        "fc.weight: shape 65×3 does not read the 3 units of the cell, as",
    ),
    "no such prefix": (
        EMBEDDED,
        {"embedding": "emb"},
        "metadata embedding: 'emb' is not the prefix of an nn.Linear or nn.",
    ),
    "order of modules": (
        gru(2, 2, "a.") | gru(2, 2, "b.") | linear("fc", 1, 2),
        {},
        "b.weight_hh_l0: a second cell beside a.weight_hh_l0; say their order with metadata layers=a,b",
    ),
    "other modules": (gru(2, 2) | linear("fc", 1, 2), {"layers": "a,b"}, "metadata layers: 'a,b' does not name each"),
    "two readouts": (
        gru(2, 2) | linear("a", 1, 2) | linear("b", 1, 2),
        {"readout": "b"},
        "a.weight: a second readout beside b.bias",
    ),
}


@pytest.mark.parametrize(("tensors", "metadata", "message"), QUESTIONS.values(), ids=QUESTIONS)
def test_what_can_be_read_in_two_ways_is_asked_about(saved, refused, tensors, metadata, message):
    refused(saved(tensors, **metadata), message)


def test_metadata_answers_the_question(saved):
    readout = read_network(saved(EMBEDDED, readout="embed"))
    assert (readout.readout.kind, readout.cell.inputs) == ("ternary", 2)
    embedded = EMBEDDED | linear("fc", 1, 2)  # with another module for the readout there is one reading left
    assert read_network(saved(embedded, **TOKENS)).readout.kind == "binary"
    reader = read_network(
        saved(gru(3, 2) | linear("fc", 2, 2)), task="bb", classes=["accepted", "rejected"], tokens="()"
    )
    assert reader == read_network(
        saved(
            gru(3, 2) | linear("fc", 2, 2),
            task="bb",
            classes="accepted,rejected",
            tokens='{"(": [1, 0, 0], ")": [0, 1, 0]}',
        )
    )


def test_a_square_module_in_front_is_read_as_what_it_is_said_to_be(saved):
    cell = gru(2, 3) | linear("fc", 1, 3)
    cell["rnn.weight_ih_l0"] = np.arange(18.0).reshape(9, 2)
    square, columns = np.array([[1, -1], [5, 5]]), '{"(": [1, 5], ")": [-1, 5]}'
    by_rows = read_network(saved(cell, tokens='{"(": [1, -1], ")": [5, 5]}'))
    by_columns = read_network(saved(cell, tokens=columns))
    said = {"embedding": "e"} | TOKENS
    assert by_rows != by_columns
    assert read_network(saved(cell | {"e.weight": square}, **said, front="nn.Embedding")) == by_rows
    assert read_network(saved(cell | {"e.weight": square}, **said, front="nn.Linear")) == by_columns
    vectors = {"tokens": '{"(": [1, 0], ")": [0, 1]}'}
    assert read_network(saved(cell | {"e.weight": square}, **vectors)) == by_columns
    symmetric = np.array([[1, 5], [5, -2]])  # a row is a column, so nothing needs to be said
    assert read_network(saved(cell | {"e.weight": symmetric}, **said)).cell.inputs == 2
