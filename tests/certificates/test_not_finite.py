"""NaN and the infinities are no weights: every way by which a model comes in refuses them, in one line that names the field."""

import json
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from brute_force import SCALAR_CELLS
from safetensors.numpy import save_file
from vector_networks import counting_gru, counting_lstm

from tallystick.cells import LinearCell, SelectiveCell
from tallystick.certificates.one_unit.ensemble import horizons
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout, network_to_json, read_network

KINDS = (float, np.float16, np.float32, np.float64, np.longdouble, ml_dtypes.bfloat16)
NOT_FINITE = [kind(name) for kind in KINDS for name in ("nan", "inf", "-inf")]
IN_JSON = ("NaN", "Infinity", "-Infinity", '"nan"', '"inf"', '"-Infinity"', '"1e99999"', '"1/0"', "null", "true")
FIELDS = [
    (kind, name) for kind in SCALAR_CELLS.values() for name in ("open_step", "close_step", *kind.recurrent_fields())
]
MODEL = Network(SelectiveCell(1, -1, 1, 1), Readout.ternary((-1, 0, 1), (1, 2, 3)))


def refused(mentioned, build, *arguments, **options):
    with pytest.raises(BadInput) as refusal:
        build(*arguments, **options)
    message = str(refusal.value)
    assert "\n" not in message
    assert all(text in message for text in mentioned), message


@pytest.mark.parametrize("value", NOT_FINITE, ids=repr)
def test_by_hand(value):
    for kind, field in FIELDS:
        weights = dict.fromkeys(("open_step", "close_step", *kind.recurrent_fields()), 1) | {field: value}
        refused((field, "finite"), kind, **weights)
    for field in ("weight", "bias"):
        refused((field, "finite"), Readout.binary, **{"weight": 1, field: value})
        for place in range(3):
            numbers = tuple(value if place == other else 1 for other in range(3))
            refused((f"{field}[{place}]", "finite"), Readout.ternary, **{"weight": (1, 1, 1), field: numbers})
    refused(("weight", "finite"), Readout, ((value,),), (1,))
    refused(("bias", "finite"), Readout, ((1,),), (value,))


@pytest.mark.parametrize("cell", [counting_lstm(2.0).cell, counting_gru(0.9).cell], ids=["lstm", "gru"])
@pytest.mark.parametrize("value", NOT_FINITE, ids=repr)
def test_a_gru_or_an_lstm_by_hand(cell, value):
    for field, weights in vars(cell).items():
        last = (*weights[-1][:-1], value) if isinstance(weights[-1], tuple) else value
        refused((field, "finite"), replace, cell, **{field: (*weights[:-1], last)})


@pytest.mark.parametrize("text", IN_JSON)
def test_json(tmp_path, text):
    path = tmp_path / "model.json"
    sound = network_to_json(MODEL)
    places = [
        ("open_step",),
        ("close_step",),
        ("recurrent_weight", 1),
        ("readout", "weight", 0),
        ("readout", "bias", 2),
    ]
    for place in places:
        path.write_text(json.dumps(_replaced(sound, place, "HERE")).replace('"HERE"', text))
        refused((str(path),), read_network, path)


def _replaced(document, place, value):
    if not place:
        return value
    if isinstance(document, list):
        return [_replaced(entry, place[1:], value) if i == place[0] else entry for i, entry in enumerate(document)]
    return {**document, place[0]: _replaced(document[place[0]], place[1:], value)}


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_safetensors(tmp_path, kind, value):
    path = tmp_path / "model.safetensors"
    sizes = {"open_step": 1, "close_step": 1, "recurrent_weight": 2, "readout.weight": 3, "readout.bias": 3}
    sound = {name: np.ones(size, kind) for name, size in sizes.items()}
    for name, tensor in sound.items():
        wrong = tensor.copy()
        wrong[-1] = value
        save_file({**sound, name: wrong}, path, {"cell": "selective", "readout": "ternary"})
        refused((str(path), name, "finite"), read_network, path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("readout", [Readout.zero(), Readout.binary(np.ones(2), np.ones(2))], ids=["zero", "binary"])
def test_an_ensemble(value, readout):
    sound, wrong = np.ones(2), np.array([1, value])
    for place in range(3):
        weights = [wrong if place == other else sound for other in range(3)]
        refused(("finite",), horizons, Network(LinearCell(*weights), readout))
