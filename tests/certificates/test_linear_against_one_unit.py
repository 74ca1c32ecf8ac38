"""Layers of one unit get the verdicts that the cells of one unit have always had: those of the frozen corpus."""

import json
import sys
from pathlib import Path

import pytest

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Outcome
from tallystick.checker import check
from tallystick.errors import BadInput
from tallystick.numbers import exact

sys.path.insert(0, str(Path(__file__).parents[1] / "frozen"))

from freeze import corpus

LONGEST = 400
"""Horizons up to here are found again; those of the cells go to 10^30."""


def questions(name):
    """The questions of the corpus about cells of a name in real numbers, with their answers."""
    asked = (entry for entry in corpus() if entry["model"]["cell"] == name and entry["options"]["arithmetic"] == "real")
    return [entry for entry in asked if entry["answers"]["certify"]["status"] != 2]


def as_layer(network):
    """The network with its cell as a layer of one unit."""
    cell = network.cell.map_weights(lambda weight, _: exact(weight))
    steps = ((cell.open_step, cell.close_step),)
    if isinstance(cell, ts.LinearCell):
        layer = ts.LinearLayer(steps, ((cell.recurrent_weight,),), (0,), (0,))
    else:
        layer = ts.SelectiveLayer(steps, ((cell.open_recurrent_weight, cell.close_recurrent_weight),), (0,))
    return ts.Network(layer, network.readout, network.task)


def compare(entry, folder):
    """Whether a layer of one unit is said what the cell was said; a verdict that stays open must not say more."""
    path = folder / "model.json"
    path.write_text(json.dumps(entry["model"]))
    said, lengths = entry["answers"]["certify"]["said"], entry["options"]["lengths"]
    unlimited = said["horizon"] == "unlimited"
    within = unlimited or said["verdict"] == "BOUNDED" or said["horizon"] > LONGEST
    limit = entry["options"].get("limit", 40) if within else said["horizon"] + 2
    try:
        verdict = certify(as_layer(ts.read_network(path)), lengths, limit=limit)
    except BadInput:  # weights of a size that only the cells of one unit allow
        return False
    if verdict.outcome is Outcome.BOUNDED:
        assert unlimited or verdict.horizon <= said["horizon"], entry["model"]
        return said["verdict"] == "BOUNDED" and verdict.horizon == said["horizon"]
    horizon = "unlimited" if verdict.horizon is None else verdict.horizon
    assert (verdict.outcome.value, horizon) == (said["verdict"], said["horizon"]), entry["model"]
    assert check(json.dumps(certificate(verdict))).valid, entry["model"]
    return True


def must_be_found(entry):
    """Whether the layer's verdict must be the cell's: not beyond LONGEST, nor where a theorem of one selective unit proves it."""
    said = entry["answers"]["certify"]["said"]
    if said["verdict"] == "PROVED":
        return entry["model"]["cell"] == "linear"
    return said["horizon"] <= LONGEST


@pytest.mark.parametrize("name", ["linear", "selective"])
def test_a_layer_of_one_unit_gets_the_verdicts_of_the_cell(name, tmp_path):
    asked = questions(name)
    assert sum(map(must_be_found, asked)) > 60
    for entry in asked:
        assert compare(entry, tmp_path) or not must_be_found(entry), entry["model"]
