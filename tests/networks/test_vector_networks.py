"""GRUs and LSTMs in files: read exactly, written so that they read back, or refused in one line."""

import json
from fractions import Fraction

import numpy as np
import pytest

from tallystick import BadInput, GruCell, LstmCell, Network, read_network, write_network
from tallystick.cli import main
from tallystick.networks import Readout, network_to_json, read_scalar_network
from tallystick.networks.tensors.state_dicts import network_of_tensors

every_cell = pytest.mark.parametrize("kind", [GruCell, LstmCell], ids=["gru", "lstm"])


def tensors(kind, units=2, outputs=1, seed=0, layer="_l0"):
    generator = np.random.default_rng(seed)
    rows = kind.gates * units
    return {
        f"rnn.weight_ih{layer}": generator.normal(size=(rows, 2)),
        f"rnn.weight_hh{layer}": generator.normal(size=(rows, units)),
        f"rnn.bias_ih{layer}": generator.normal(size=rows),
        f"rnn.bias_hh{layer}": generator.normal(size=rows),
        "decide.weight": generator.normal(size=(outputs, units)),
        "decide.bias": generator.normal(size=outputs),
    }


@every_cell
@pytest.mark.parametrize("units", [1, 2, 3])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("suffix", ["json", "safetensors"])
def test_a_model_reads_back_exactly_equal(kind, units, outputs, suffix, tmp_path):
    model = network_of_tensors(tensors(kind, units, outputs), {})
    assert isinstance(model.cell, kind)
    assert (model.cell.units, model.readout.kind) == (units, {1: "binary", 3: "ternary"}[outputs])
    write_network(model, tmp_path / f"network.{suffix}")
    assert read_network(tmp_path / f"network.{suffix}") == model


@every_cell
@pytest.mark.parametrize("layer", ["", "_l0"], ids=["Cell", "layer"])
def test_every_tensor_goes_to_its_place(kind, layer):
    given = tensors(kind, 2, 3, layer=layer)
    model = network_of_tensors(given, {}).in_arithmetic("float64")
    cell = model.cell
    parts = (cell.input_weight, cell.recurrent_weight, cell.input_bias, cell.recurrent_bias)
    for array, part in zip(given.values(), (*parts, model.readout.weight, model.readout.bias), strict=True):
        assert np.array_equal(array, np.array(part, float))


@every_cell
def test_without_biases_they_are_zero(kind):
    given = {name: array for name, array in tensors(kind).items() if "bias" not in name}
    model = network_of_tensors(given, {"cell": kind.name})
    assert set(model.cell.input_bias + model.cell.recurrent_bias + model.readout.bias) == {0}
    written = network_to_json(model)
    assert written.pop("input_bias") == written.pop("recurrent_bias") == [0] * 2 * kind.gates


def with_change(change):
    return {**tensors(LstmCell), **change}


REFUSALS = {
    "no readout": (
        {"decide.weight": None, "decide.bias": None},
        {},
        "readout: missing; an nn.Linear(2, 1) or one with an output per class reads the cell",
    ),
    "readout units": (
        {"decide.weight": np.ones((1, 3))},
        {},
        "decide.weight: shape 1×3 is neither a readout, rows of 2 as the cell has units, nor an embedding",
    ),
    "two outputs": (
        {"decide.weight": np.ones((2, 2)), "decide.bias": np.ones(2)},
        {},
        "task: missing; a readout of 2 outputs may answer several tasks; say task= (in the file, as --task",
    ),
    "readout bias": ({"decide.bias": np.ones(3)}, {}, "decide.bias: shape 3 is not 1"),
    "two readouts": ({"more.weight": np.ones((1, 2))}, {}, "more.weight: a second readout beside decide.bias"),
    "two cells": (tensors(GruCell, layer=""), {}, "rnn.bias_hh_l0: a second cell beside rnn.bias_hh; one is read"),
    "inputs": (
        {"rnn.weight_ih_l0": np.ones((8, 3))},
        {},
        "rnn.weight_ih_l0: reads vectors of 3 numbers; say what is read",
    ),
    "one bias": ({"rnn.bias_hh_l0": None}, {}, "rnn.bias_ih_l0: stands without its bias_hh"),
    "bias shape": ({"rnn.bias_hh_l0": np.ones(6)}, {}, "rnn.bias_hh_l0: shape 6 is not 8"),
    "nan": ({"rnn.bias_hh_l0": np.full(8, np.nan)}, {}, "rnn.bias_hh_l0[0]: nan is not a finite number"),
    "layer": ({"rnn.weight_hh_l1": np.ones((8, 2))}, {}, "rnn.weight_hh_l1: stands without its weight_ih"),
    "direction": ({"rnn.weight_hh_l0_reverse": np.ones((8, 2))}, {}, "reads the string backwards"),
    "projection": ({"rnn.weight_hr_l0": np.ones((1, 2))}, {}, "rnn.weight_hr_l0: projects the state"),
    "other name": ({}, {"cell": "gru"}, "metadata cell: 'gru' contradicts the tensors, which are lstm's"),
    "nonlinearity": ({}, {"nonlinearity": "relu"}, "metadata nonlinearity: 'relu' contradicts the tensors"),
    "other readout": ({}, {"readout": "ternary"}, "metadata readout: 'ternary' contradicts the tensors"),
    "large": (
        {"rnn.weight_hh_l0": np.ones((260, 65)), "rnn.weight_ih_l0": np.ones((260, 2))},
        {},
        "rnn.weight_hh_l0: shape 260×65 has 65 units; at most 64 are read",
    ),
}


@pytest.mark.parametrize(("change", "metadata", "message"), REFUSALS.values(), ids=REFUSALS)
def test_anything_else_is_refused_with_its_reason(saved, refused, change, metadata, message):
    refused(
        saved({name: array for name, array in with_change(change).items() if array is not None}, **metadata), message
    )


JSON = {
    "cell": "gru",
    "input_weight": [["1/3", -1], [0, 0], ["0x1p-1", 0.1]],
    "recurrent_weight": [[1], [2], [3]],
    "readout": {"kind": "binary", "weight": [[2.5]], "bias": [-1]},
}


def test_numbers_are_read_exactly(tmp_path):
    path = tmp_path / "network.json"
    path.write_text(json.dumps(JSON))
    model = read_network(path)
    weights = ((Fraction(1, 3), Fraction(-1)), (0, 0), (Fraction(1, 2), Fraction(1, 10)))
    assert model.cell == GruCell(weights, ((1,), (2,), (3,)), (0, 0, 0), (0, 0, 0))
    assert model.readout == Readout(((Fraction(5, 2),),), (-1,))
    with pytest.raises(BadInput, match="weight_ih_l0: 1/3 is not exactly a float64; a JSON file keeps it as it is"):
        write_network(model, tmp_path / "network.safetensors")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recurrent_weight": [[1], [2]]}, "recurrent_weight: [[1], [2]] is not a list of 3 rows a unit"),
        ({"recurrent_weight": []}, "recurrent_weight: [] is not a list of 3 rows a unit"),
        ({"recurrent_weight": [[1]] * 300}, "for 1 to 64 units: 300 rows do not go"),
        ({"recurrent_weight": [[1], [2], [3, 4]]}, "recurrent_weight[2]: [3, 4] is not a list of 1 number"),
        ({"input_weight": [[1, 2]]}, "input_weight: [[1, 2]] is not a list of 3 rows"),
        ({"input_bias": [1, 2]}, "input_bias: [1, 2] is not a list of 3 numbers"),
        ({"input_bias": [1, 2, "x"]}, "input_bias[2]: 'x' is not a number"),
        ({"open_step": 1}, "unknown field 'open_step'"),
        ({"cell": ["gru"]}, 'cell: ["gru"] is not a string'),
        ({"readout": {"kind": "zeros"}}, 'kind: "zeros" is not one of zero, binary, ternary, count'),
        ({"readout": {"kind": "binary"}}, "readout: field 'weight' is missing"),
        ({"readout": {"kind": "zero", "weight": [[1, 2]]}}, "readout: weight[0]: [1, 2] is not a list of 1 number"),
        ({"readout": {"kind": "zero", "bias": [1]}}, "readout: unknown field 'bias'"),
        ({"readout": {"kind": "ternary", "weight": [[1]]}}, "readout: weight: [[1]] is not a list of 3 rows"),
        ({"readout": {"kind": "binary", "weight": [1]}}, "readout: weight[0]: 1 is not a JSON list"),
    ],
)
def test_a_bad_json_model_is_refused_in_one_line(tmp_path, refused, change, message):
    path = tmp_path / "network.json"
    path.write_text(json.dumps({**JSON, **change}))
    refused(path, message)


def test_a_model_needs_parts_that_fit():
    cell = network_of_tensors(tensors(GruCell), {}).cell
    with pytest.raises(BadInput, match="readout: reads 1 units; the cell has 2"):
        Network(cell, Readout(((1,),), (0,)))
    with pytest.raises(BadInput, match="readout: 3 is not a Readout"):
        Network(cell, 3)
    for weight, bias, message in (
        ((), (), "weight: .* is not a tuple with one entry per output, of 1 to 64"),
        ((1,), (0,), r"weight\[0\]: 1 is not a tuple of numbers, one a unit"),
        (((1,), (2, 3), (4,)), (0, 0, 0), r"weight\[1\]: \(2, 3\) is not a tuple of 1 numbers"),
        (((1,),), (0, 0, 0), "weight: .* is not a tuple of 3 rows of 1"),
        (((1,),), (None,), r"bias\[0\]: None is not a number"),
    ):
        with pytest.raises(BadInput, match=message):
            Readout(weight, bias)


def test_a_model_gives_a_string_its_class():
    model = network_of_tensors(tensors(LstmCell, outputs=3), {}).in_arithmetic("float64")
    state = model.cell.final_state("(()")
    outputs = model.readout.outputs(state.hidden)
    assert model.outputs("(()") == outputs
    assert model.class_of("(()") == model.class_of_state(state) == model.task.classes[int(np.argmax(outputs))]
    assert [str(model.right_class(string)) for string in ("(", "()", "))")] == ["Pos", "Zero", "Neg"]


def test_what_is_for_cells_without_gates_says_so(tmp_path, capsys):
    path = tmp_path / "network.json"
    path.write_text(json.dumps(JSON))
    with pytest.raises(BadInput, match="network.json: a gru cell; this is for linear, selective, relu and tanh cells"):
        read_scalar_network(path)
    with pytest.raises(SystemExit) as end:
        main(["indicators", str(path)])
    assert end.value.code == 2
    (tmp_path / "strings.txt").write_text("()\n((\n")
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(path), "--strings", str(tmp_path / "strings.txt"), "--arithmetic", "float64"])
    assert end.value.code == 0
    assert "of 2 strings right in float64" in capsys.readouterr().out
