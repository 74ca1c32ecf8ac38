"""The weights that the paper's forty runs started from, as PyTorch draws them for the seeds 0 to 9.

    python tests/pytorch/renew_initial_weights.py [FILE]

writes FILE, or the package's `datasets/initial_weights.csv`. Numbers are C hex floats, which keep every bit; several in one field
are separated by spaces, and a field is empty where the network has no such weight.
"""

import csv
import io
import sys
from itertools import product
from pathlib import Path

import pytest

import tallystick
from tallystick.files import write_text

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

TABLE = Path(tallystick.__file__).parent / "datasets" / "initial_weights.csv"

_OUTPUTS = {"binary": 1, "ternary": 3}
_SEEDS = range(10)


def initial_weights_table() -> str:
    """Return the table as text, with one row per task, bias and seed."""
    rows = [_row(task, bias, seed) for task, bias, seed in product(_OUTPUTS, (False, True), _SEEDS)]
    table = io.StringIO()
    writer = csv.DictWriter(table, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()


def main(path: Path = TABLE) -> None:
    """Write the table."""
    write_text(initial_weights_table(), path)


def _row(task: str, bias: bool, seed: int) -> dict[str, str]:
    # The draws come in the order in which the layers are made: the cell before the readout, a weight before its bias.
    torch.manual_seed(seed)
    cell = torch.nn.Linear(3, 1, bias=bias)
    # The ternary readout has a bias in both settings; "without bias" speaks of its cell alone.
    readout = torch.nn.Linear(1, _OUTPUTS[task], bias=bias or task == "ternary")
    open_weight, close_weight, recurrent_weight = _hex_floats(cell.weight)
    return {
        "task": task,
        "bias": str(bias).lower(),
        "seed": str(seed),
        "open_weight": open_weight,
        "close_weight": close_weight,
        "recurrent_weight": recurrent_weight,
        "cell_bias": " ".join(_hex_floats(cell.bias)),
        "readout_weight": " ".join(_hex_floats(readout.weight)),
        "readout_bias": " ".join(_hex_floats(readout.bias)),
    }


def _hex_floats(weights: "torch.Tensor | None") -> list[str]:
    """Return each number of a tensor as text; PyTorch has None for a bias that is not there."""
    return [] if weights is None else [float.hex(number) for number in weights.flatten().tolist()]


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
