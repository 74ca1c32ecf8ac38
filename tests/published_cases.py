"""Networks that other people published, as networks of this package; their weights lie in a folder beside the repository.

`network_of("weiss_anbn_gru")` skips the test that calls it where the folder is missing.
"""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from tallystick.cells import LstmCell, Stack
from tallystick.cells.gru import NoResetGruCell
from tallystick.cells.vector import State
from tallystick.languages.ready_machines import DYCK1_COUNTER, LOST
from tallystick.languages.tasks import READY_TASKS, Task, ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import Steps
from tallystick.numbers import exact

WEISS = ("weiss_anbn_gru", "weiss_anbncn_lstm")
ELNAGGAR = ("elnaggar_10epochs", "elnaggar_20epochs")
CASES = (*WEISS, *ELNAGGAR)

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
    return Network(Stack((LstmCell(*layer),), tokens, **padding), readout, _dyck1_prefix())


def _dyck1_prefix():
    return READY_TASKS.get("dyck1-prefix") or Task(
        "dyck1-prefix", DYCK1_COUNTER, ("valid", "incomplete", "invalid"), _prefix_class
    )


def _prefix_class(_, configuration):
    return 2 if configuration.state == LOST else int(configuration.counters[0] != 0)
