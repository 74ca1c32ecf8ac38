"""Networks as a library runs them: built there, run on every string, and their horizons those of that build."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from certificates.vector_networks import counting_gru, counting_lstm, ternary  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from tallystick import BadInput, LinearCell, Network, Readout, TanhCell, certify, write_network  # noqa: E402
from tallystick.certificates.running.library_arrays import LIBRARIES  # noqa: E402
from tallystick.certificates.verdict import AS_EXECUTED, Outcome  # noqa: E402
from tallystick.cli import app  # noqa: E402

every_library = pytest.mark.parametrize("library", LIBRARIES)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@every_library
@pytest.mark.parametrize("network", [counting_lstm(3.0), ternary(counting_gru(0.9))], ids=["LSTM", "GRU"])
def test_the_horizon_is_that_of_every_string(library, network):
    verdict = certify(network, run_by=library, arithmetic="float32", upto=9)
    proved = certify(network, arithmetic="float32-any-order")
    assert verdict.arithmetic == AS_EXECUTED
    assert (verdict.outcome, verdict.horizon) == (proved.outcome, proved.horizon) == (Outcome.REFUTED, proved.horizon)
    assert verdict.failure.found == proved.failure.found or verdict.failure.length == proved.failure.length
    assert library in verdict.model.versions
    assert f"built in {library} in float32" in verdict.reason
    assert "it holds for this build alone" in verdict.reason
    assert "as verdicts in any order assume" in verdict.reason


def test_pytorchs_own_module_is_what_is_run():
    """The failing string fails in an nn.LSTM made by hand, and in NumPy's double precision too."""
    network = counting_lstm(3.0)
    verdict = certify(network, run_by="torch", upto=9)
    module = torch.nn.LSTM(2, 1, batch_first=True)
    with torch.no_grad():
        for own, weight in zip(module.parameters(), network.cell.tensors().values(), strict=True):
            own.copy_(torch.tensor(weight))
        tokens = torch.tensor([["()".index(token) for token in verdict.failure.string]])
        hidden = module(torch.nn.functional.one_hot(tokens, 2).float())[0][0, -1]
        output = float(hidden @ torch.tensor(network.readout.weight[0]) + torch.tensor(network.readout.bias[0]))
    assert (output > 0) == (verdict.failure.found == "Pos")
    assert verdict.trace()[-1][0] == pytest.approx(output, rel=1e-6)


@every_library
@pytest.mark.parametrize("arithmetic", ["float16", "bfloat16", "float32", "float64"])
def test_every_format_is_run(library, arithmetic):
    """1 − 2⁻⁹ is 1 in bfloat16 alone, so that the network counts there, and in the others it fails."""
    cell = LinearCell(1, -1, 1 - 2**-9)
    verdict = certify(Network(cell, Readout.binary(1, -1 / 512)), run_by=library, arithmetic=arithmetic, upto=6)
    assert (verdict.outcome is Outcome.BOUNDED) == (arithmetic == "bfloat16")


@every_library
def test_a_zero_check_is_run(library):
    verdict = certify(Network(LinearCell(0.5, -0.5, 1), Readout.zero()), run_by=library, upto=6)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 6)
    verdict = certify(Network(TanhCell(0.5, -0.5, 1), Readout.zero()), run_by=library, upto=8)
    assert (verdict.outcome, verdict.horizon, verdict.failure.length) == (Outcome.REFUTED, 1, 2)


def test_what_cannot_be_run_is_refused():
    network = counting_lstm(3.0)
    for arguments, message in (
        ({"run_by": "keras"}, "run_by: 'keras' is not one of numpy, torch, jax"),
        ({"run_by": "numpy", "arithmetic": "float32-fused"}, "arithmetic: 'float32-fused' is not one of float16"),
        (
            {"run_by": "numpy", "limit": 5},
            "limit: a network that is run goes from length 1 on, up to upto=; leave limit= out",
        ),
        ({"upto": 5}, "upto: a Network says for itself what it reads and answers; leave upto= out"),
    ):
        with pytest.raises(BadInput) as refusal:
            certify(network, **arguments)
        assert str(refusal.value).startswith(message)
    with pytest.raises(BadInput, match="run_by: 'torch' is for a Network"):
        certify(lambda strings: [0] * len(strings), task="binary", run_by="torch")


def test_the_command_says_what_was_run(tmp_path):
    path = tmp_path / "network.json"
    write_network(counting_lstm(3.0), path)
    ended = CliRunner().invoke(app, ["certify", str(path), "--run-by", "torch", "--upto", "8"])
    assert ended.exit_code == 1
    assert ended.stdout.startswith("As run here, right on every string up to length 6.\nFails on ")
    assert "\nREFUTED, horizon 6, all lengths, as executed\n" in ended.stdout
    assert "torch " + torch.__version__ in ended.stdout
    ended = CliRunner().invoke(
        app, ["certify", str(path), "--run-by", "numpy", "--arithmetic", "float32", "--upto", "5", "--json"]
    )
    found = json.loads(ended.stdout)
    assert (ended.exit_code, found["verdict"], found["horizon"]) == (0, "BOUNDED", 5)
    assert (found["arithmetic"], found["run"]["versions"]["numpy"]) == (AS_EXECUTED, np.__version__)
