"""What can be said without PyTorch; `tests/pytorch/test_models.py` asks PyTorch itself."""

import subprocess
import sys

import pytest

from tallystick import BadInput, LinearCell, from_torch


def stand_in(name, home="torch.nn.modules.rnn", **attributes):
    return type(name, (), {"__module__": home, **attributes})()


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (None, "cell: builtins.NoneType is not one of torch.nn.RNN, torch.nn.RNNCell, torch.nn.GRU, "),
        ("model.safetensors", "cell: builtins.str is not one of"),
        (LinearCell(1, -1, 1), "cell: tallystick.cells.linear.LinearCell is not one of"),
        (stand_in("Transformer"), "cell: torch.nn.modules.rnn.Transformer is not one of"),
        (stand_in("RNN", home="my_networks"), "cell: my_networks.RNN is not one of"),
        (stand_in("RNN", mode="RNN_GELU"), "cell: nonlinearity 'RNN_GELU' is not one of tanh, relu"),
        (stand_in("RNNCell", nonlinearity=None), "cell: nonlinearity None is not one of tanh, relu"),
    ],
)
def test_what_is_no_cell_of_pytorch_is_refused(cell, message):
    with pytest.raises(BadInput, match=message):
        from_torch(cell)


def test_pytorch_is_not_imported():
    code = "import sys, tallystick.networks; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
