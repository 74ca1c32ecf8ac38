"""Graphs of units and the kinds of GRU in files."""

import json
from dataclasses import dataclass
from fractions import Fraction

import pytest
from published_cases import CASES, network_of

from tallystick import BadInput, Network, Readout, certify, read_network, write_network
from tallystick.cells import GRUS, UNTRAINED, GraphCell, Stack, Unit
from tallystick.cells.simple import SimpleLayer
from tallystick.certificates.certificate import certificate
from tallystick.checker import check
from tallystick.files import parse_document
from tallystick.networks import network_from_json, network_to_json
from tallystick.numbers import exact, positive_part

UNITS = [
    {"activation": "relu", "bias": "1/3", "input": [0.5, -0.5], "recurrent": {"1": 1, "0": 2}},
    {"activation": "step", "forward": {"0": "0x1p-1"}},
    {"activation": "tanh", "input": [0, 1], "forward": {"0": 3, "1": 0}},
]
GRAPH = {"cell": "graph", "units": UNITS, "readout": {"kind": "binary", "weight": [[0, 0, 1]], "bias": [0]}}


def network_in(content):
    return network_from_json(parse_document(json.dumps(content), "file"))


def test_a_graph_is_read_by_the_places_of_its_units():
    cell = network_in(GRAPH).cell
    assert cell == GraphCell(
        (
            Unit("relu", exact("1/3"), (exact(0.5), exact(-0.5)), (), ((0, 2), (1, 1))),
            Unit("step", 0, (), ((0, exact(0.5)),)),
            Unit("tanh", 0, (0, 1), ((0, 3),)),
        )
    )


def test_a_graph_is_written_as_it_is_read(tmp_path):
    network = network_in(GRAPH)
    assert network_in(network_to_json(network)) == network
    stack = Stack((network.cell,), start=((1, 0, 2),))
    started = Network(stack, network.readout, network.task)
    write_network(started, tmp_path / "network.json")
    assert read_network(tmp_path / "network.json") == started


@pytest.mark.parametrize("reset", list(GRUS), ids=str)
def test_a_gru_says_where_its_reset_gate_stands(reset, tmp_path):
    kind = GRUS[reset]
    cell = kind(((1, 2),) * kind.gates, ((3,),) * kind.gates, (4,) * kind.gates, (5,) * kind.gates)
    network = Network(cell, Readout(((1,),), (0,)))
    written = network_to_json(network)
    assert written.get("reset", "after") == reset
    assert network_in(written) == network
    write_network(network, tmp_path / "network.json")
    assert read_network(tmp_path / "network.json") == network


@pytest.mark.parametrize("name", CASES)
def test_published_networks_are_written_and_read(name, tmp_path):
    network = network_of(name)
    write_network(network, tmp_path / "network.json")
    assert read_network(tmp_path / "network.json") == network


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (network_in(GRAPH), "cell: a graph of units is written as JSON"),
        (
            Network(GRUS["before"](((1, 2),) * 3, ((3,),) * 3, (0,) * 3, (0,) * 3), Readout(((1,),), (0,))),
            "cell: a GRU",
        ),
    ],
)
def test_tensors_do_not_say_every_cell(network, message, tmp_path):
    with pytest.raises(BadInput, match=message):
        write_network(network, tmp_path / "network.safetensors")


def unit(**changes):
    return {**GRAPH, "units": [{**UNITS[0], **changes}, *UNITS[1:]]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**GRAPH, "units": []}, r"file: units: \[\] is not a list of 1 to 64 units"),
        (
            unit(activation="gelu"),
            r'units\[0\]: activation: "gelu" is not one of identity, relu, sigmoid, tanh, square, step',
        ),
        (
            unit(forward={"0": 1}),
            r"units\[0\]: forward: '0' is not the place of a unit that may be read here: none before the first",
        ),
        (
            unit(recurrent={"3": 1}),
            r"units\[0\]: recurrent: '3' is not the place of a unit that may be read here: 0 to",
        ),
        (unit(input=[1]), r"units\[0\]: input: \[1\] is not a list of 2 numbers"),
        (unit(bias="one"), r"units\[0\]: bias: 'one' is not a number"),
        (unit(weight=1), r"units\[0\]: unknown field 'weight'"),
        (
            {**GRAPH, "cell": "grph"},
            "is not one of linear, selective, relu, tanh, gru, lstm, lru, graph",
        ),
    ],
)
def test_what_is_wrong_with_a_graph_is_named(content, message):
    with pytest.raises(BadInput, match=message):
        network_in(content)


@pytest.mark.parametrize("reset", ["never", 0, None, True])
def test_an_unknown_reset_is_refused(reset):
    network = Network(GRUS["after"](((1, 2),) * 3, ((3,),) * 3, (4,) * 3, (5,) * 3), Readout(((1,),), (0,)))
    with pytest.raises(BadInput, match='reset: .* is not one of "after", "before", false'):
        network_in({**network_to_json(network), "reset": reset})


def test_a_cell_that_is_not_trained_is_one_entry_of_a_table(monkeypatch):
    @dataclass(frozen=True)
    class Leaning(SimpleLayer):
        """h' = W·x + U·h + b, and above zero half of it."""

        name = "leaning"
        deciders = ("exact states", "gated boxes")

        @staticmethod
        def squash(x):
            return x - positive_part(x) * Fraction(1, 2)

    monkeypatch.setitem(UNTRAINED, "leaning", Leaning)
    content = {
        "cell": "leaning",
        "input_weight": [[1, -1]],
        "recurrent_weight": [[1]],
        "readout": {"kind": "binary", "weight": [[1]], "bias": [0]},
    }
    network = network_in(content)
    assert isinstance(network.cell, Leaning)
    assert network_in(network_to_json(network)) == network
    verdict = certify(network, limit=10)
    assert check(json.dumps(certificate(verdict))).valid
    assert verdict.failure.string == "(()"  # 1/2, then 3/4, then −1/4
