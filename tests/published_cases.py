"""Networks that other people published, as networks of this package; their weights lie in a folder beside the repository.

`network_of("weiss_anbn_gru")` skips the test that calls it where the folder is missing.
"""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from tallystick.cells import GraphCell, LstmCell, NoResetGruCell, Stack, Unit
from tallystick.cells.vector import State
from tallystick.languages.tasks import ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import Steps
from tallystick.numbers import exact

WEISS = ("weiss_anbn_gru", "weiss_anbncn_lstm")
ELNAGGAR = ("elnaggar_10epochs", "elnaggar_20epochs")
MDL = ("mdlrnn_an_bn", "mdlrnn_an_bn_cn")
CASES = (*WEISS, *MDL, *ELNAGGAR)

_PLACES = [parent / "shared" / "published-networks" / "cases.json" for parent in Path(__file__).resolve().parents]


@cache
def _cases():
    found = next((place for place in _PLACES if place.exists()), None)
    return None if found is None else {case["id"]: case for case in json.loads(found.read_text())["cases"]}


def case_of(name):
    """Return what the folder says of a network: its weights, equations, protocol and truth."""
    cases = _cases()
    if cases is None:
        pytest.skip("the folder shared/published-networks is missing")
    return cases[name]


def network_of(name, *, padded=False):
    """Return a published network; `padded` fills up strings as the authors did, where they did."""
    case = case_of(name)
    if name in MDL:
        return _mdl(case)
    weights = {field: numbers_in(values) for field, values in case["weights"].items()}
    return _elnaggar(case, weights, padded=padded) if name in ELNAGGAR else _weiss(case, weights)


def numbers_in(values):
    """Return nested lists of hex floats as tuples of rationals."""
    return tuple(map(numbers_in, values)) if isinstance(values, list) else exact(values)


def _weiss(case, weights):
    """Return a GRU without reset gate or an LSTM over embeddings, with a trained initial state."""
    gru = "Wz" in weights
    gates = "zn" if gru else "ifco"

    def stacked(letter):
        return tuple(row for gate in gates for row in weights[letter + gate])

    bias = stacked("b")
    cell = (NoResetGruCell if gru else LstmCell)(stacked("W"), stacked("U"), bias, (Fraction(0),) * len(bias))
    tokens = weights["E"][: len(case["alphabet"])]
    steps = Steps(tuple(case["symbol_order"]), case["end_symbol"], exact(case["protocol"]["threshold"]))
    start = State(weights["h0"], weights.get("c0", ()))
    readout = Readout(weights["V"], weights["vb"], "threshold", steps)
    return Network(Stack((cell,), tokens, (start,)), readout, ready_task("anbn" if gru else "anbncn"))


def _elnaggar(case, weights, *, padded):
    """Return an LSTM behind a linear layer, which is folded into the tokens' vectors."""
    columns = tuple(zip(*weights["fc1.weight"], strict=True))
    blank = weights["fc1.bias"]
    tokens = tuple(tuple(map(sum, zip(column, blank, strict=True))) for column in columns)
    layer = (weights[f"lstm.{part}_l0"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    padding = {"padding": blank, "padded_to": 10} if padded else {}
    readout = Readout(weights["fc2.weight"], weights["fc2.bias"], "class")
    return Network(Stack((LstmCell(*layer),), tokens, **padding), readout, ready_task("dyck1-prefix"))


MDL_ACTIVATIONS = ("identity", "relu", "sigmoid", "tanh", "square")


def _mdl(case):
    """Return a graph of units; it reads `#` first, and the greatest output names the next token."""
    alphabet = tuple(case["alphabet"])
    one_hot = tuple(tuple(Fraction(place == entry) for entry in range(len(alphabet))) for place in range(len(alphabet)))
    cell, outputs = _mdl_graph(case["weights"], len(alphabet))
    pick = tuple(tuple(Fraction(place == output) for place in range(cell.units)) for output in outputs)
    readout = Readout(pick, (Fraction(0),) * len(pick), "next", Steps(alphabet, case["end_symbol"]))
    task = ready_task("anbn" if len(alphabet) == 3 else "anbncn").with_empty(False)
    return Network(Stack((cell,), one_hot[1:], first=one_hot[:1]), readout, task)


def _mdl_graph(weights, inputs):
    """Return the graph, and the places of its outputs.

    A unit reads earlier layers of the same step, and the memory, which layers of the step before wrote. The output layer is
    activated twice if it is one of those that send or write anything, else once.
    """
    forward = [(source, target, _layer(found)) for source, target, found in weights["forward"]]
    written = {source: _layer(found) for source, found in weights["to_memory"]}
    read = {target: _layer(found) for target, found in weights["from_memory"]}
    names = {layer: _names(groups) for layer, groups in weights["activations"]}
    last = max(target for _, target, _ in forward)
    looped = sorted({source for source, _, _ in forward} | set(written))
    layers = sorted({*looped, last})
    place_of, places = {}, 0
    for layer in layers:
        place_of[layer] = range(places, places + len(names[layer]))
        places += len(names[layer])
    units = []
    for layer in layers:
        for row, name in enumerate(names[layer]):
            bias, sources, recurrent = Fraction(0), {}, {}
            for source, target, (matrix, biases) in forward:
                if target == layer and source < layer:  # a layer that feeds itself does so with zeros
                    bias += biases[row]
                    sources |= dict(zip(place_of[source], matrix[row], strict=True))
                assert source < target or not any(map(any, matrix))
            if layer in read and layer in looped:
                matrix, biases = read[layer]
                bias += biases[row]
                for source, (into, into_biases) in written.items():
                    assert not any(into_biases)
                    for column, place in enumerate(place_of[source]):
                        recurrent[place] = sum(w * into[cell][column] for cell, w in enumerate(matrix[row]))
            reads = tuple(Fraction(row == entry) for entry in range(inputs)) if layer == 0 else ()
            units.append(Unit(name, bias, reads, _sparse(sources), _sparse(recurrent)))
    outputs = list(place_of[last])
    if last in looped:
        units += [
            Unit(name, Fraction(0), (), ((place, Fraction(1)),))
            for place, name in zip(outputs, names[last], strict=True)
        ]
        outputs = list(range(places, len(units)))
    return GraphCell(tuple(units)), outputs


def _layer(found):
    return numbers_in(found["W"]), numbers_in(found["b"])


def _names(groups):
    by_place = {place: MDL_ACTIVATIONS[kind] for kind, places in groups for place in places}
    return [by_place[place] for place in range(len(by_place))]


def _sparse(weights):
    return tuple((place, weight) for place, weight in sorted(weights.items()) if weight)
