"""The proven checker and Python's agree about tanh cells, GRUs and LSTMs in real numbers. `make proofs` builds the former."""

import pytest
from executed_cases import PROGRAM, proven_answer
from forged import issued, sealed
from gated_cases import LIMIT, forgeries, networks
from vector_networks import counting_gru, counting_lstm

from tallystick.checker.checking import check

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the proven checker is not built (make proofs)")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["lstm", "gru", "three classes", "two units", "edge", "tanh"])
def test_the_checkers_agree(name, seed):
    content = issued(networks(seed)[name], limit=LIMIT)
    assert proven_answer(sealed(content))[0] is check(sealed(content)).valid is True
    for forged in forgeries(content):
        python, (proven, line) = check(sealed(forged)), proven_answer(sealed(forged))
        assert (python.valid is True) == (proven is True), (python, line)
        # What the proven checker calls false is false.
        assert proven is not False or python.valid is False, (python, line)


def test_a_false_claim_is_called_false():
    content = issued(counting_gru(0.9), limit=LIMIT)
    forged = {**content, "verdict": "BOUNDED", "counterexample": None, "horizon": content["horizon"] + 1}
    assert check(sealed(forged)).valid is False
    assert proven_answer(sealed(forged))[0] is False


def test_it_says_what_it_has_verified():
    valid, line = proven_answer(sealed(issued(counting_lstm(8), limit=LIMIT)))
    assert valid is True
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
    assert proven_answer(sealed(claim))[0] is check(sealed(claim)).valid is valid
