"""The proven checker about tanh cells, GRUs, LSTMs and programs in real numbers. `make proofs` builds it."""

import pytest
from forged import issued
from proven_cases import ACCEPTED, PROGRAM, REFUSED, compare, proven_answers, sealed
from vector_networks import counting_gru, counting_lstm

import tallystick as ts

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the proven checker is not built (make proofs)")

LIMIT = 12
TANH = ts.Network(ts.TanhCell(0.01, -0.01, 1), ts.Readout.binary(1, -0.005))
LAYER = ts.Network(ts.TanhLayer(((0.01, -0.01),), ((1.0,),), (0.0,), (0.0,)), ts.Readout(((1.0,),), (-0.005,)))


def test_a_false_claim_is_called_false():
    content = issued(counting_gru(0.9), limit=LIMIT)
    forged = {**content, "verdict": "BOUNDED", "counterexample": None, "horizon": content["horizon"] + 1}
    assert [found.outcome for found in compare([content, sealed(forged)])] == [ACCEPTED, REFUSED]


@pytest.mark.parametrize("network", [counting_gru(0.9), TANH, LAYER], ids=["gru", "tanh", "layer"])
def test_only_the_method_that_decides_a_network_is_its_evidence(network):
    content = issued(network, limit=4)
    own = content["evidence"]
    others = [{"method": name} for name in ("luck", "boxes", "gated boxes", "enclosures", "sorting")]
    forged = [{**content, "evidence": one} for one in (*others, {"method": "enclosures", "tanh_neighbours": None})]
    changed = [sealed(one) for one in forged if one["evidence"] != own]
    assert [found.outcome for found in compare([content, *changed])] == [ACCEPTED] + [REFUSED] * (len(forged) - 1)


def test_it_says_what_it_has_verified():
    (line,) = proven_answers([issued(counting_lstm(8), limit=LIMIT)])
    assert line.startswith(f"holds: BOUNDED: every string of 1 to {LIMIT} tokens gets its right class")
    assert line.endswith("a lstm network whose state has 2 numbers, in real numbers")


def program(bias):
    """A step with tanh, a sigmoid, a product and a mean: h' = (1 − s)·h + s·tanh(h/2 + bias) with s = sigmoid(2 + h·h)."""
    operations = [
        ["sum", [["1/2", 0]], bias],
        ["tanh", 1],
        ["product", 0, 0],
        ["sum", [[1, 3]], 2],
        ["sigmoid", 4],
        ["mean", 5, 0, 2],
    ]
    return {"operations": operations, "results": [6]}


@pytest.mark.parametrize(("horizon", "valid"), [(1, True), (2, False)])
def test_a_network_of_programs_is_covered(horizon, valid):
    model = {
        "cell": "own",
        "start": [0],
        "step": {"(": program("3/4"), ")": program("-3/4")},
        "hidden": {"operations": [], "results": [0]},
        "readout": {"kind": "binary", "weight": [[1]], "bias": ["-1/5"]},
        "task": {
            "name": "binary",
            "machine": "bb",
            "classes": ["ZeroNeg", "Pos"],
            "right": ["ZeroNeg", "ZeroNeg", "Pos"],
        },
    }
    said = {"lengths": "all", "arithmetic": "real", "verdict": "BOUNDED", "horizon": horizon, "counterexample": None}
    claim = {
        "format": "tallystick certificate 1",
        "model": model,
        "readout": "binary",
        **said,
        "evidence": {"method": "boxes"},
    }
    assert [found.outcome for found in compare([sealed(claim)])] == [ACCEPTED if valid else REFUSED]
