"""Regenerates `initial_weights.csv`, the forty sets of weights that the paper's runs started from.

They are what PyTorch draws for the seeds 0 to 9 when the two layers of a network are made, so this, and nothing else in the
package, needs PyTorch: `python -m tallystick.datasets.regenerate_initial_weights [FILE]`.

Numbers are written as C hex floats, which keep every bit; several in one field are separated by spaces, and a field is empty
where the network has no such weight.
"""

import csv
import io
import sys
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from tallystick.errors import MissingExtra
from tallystick.files import write_text

TABLE = Path(__file__).with_name("initial_weights.csv")

Library: TypeAlias = Any
"""PyTorch, which is an extra."""

Tensor: TypeAlias = Any
"""One of its tensors, or None."""

_OUTPUTS = {"binary": 1, "ternary": 3}
_SEEDS = range(10)


def initial_weights_table() -> str:
    """Return the table as text: a row for every task, bias and seed."""
    torch = _torch()
    rows = [_row(torch, task, bias, seed) for task, bias, seed in product(_OUTPUTS, (False, True), _SEEDS)]
    table = io.StringIO()
    writer = csv.DictWriter(table, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()


def main(path: Path | None = None) -> None:
    """Write the table to `path`, or in place of the one that is shipped."""
    write_text(initial_weights_table(), path or TABLE)


def _torch() -> Library:
    try:
        return import_module("torch")
    except ModuleNotFoundError:
        raise MissingExtra("torch", "torch") from None


def _row(torch: Library, task: str, bias: bool, seed: int) -> dict[str, str]:
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


def _hex_floats(weights: Tensor) -> list[str]:
    """Write each number of a tensor; PyTorch has None for a bias that is not there."""
    return [] if weights is None else [float.hex(number) for number in weights.flatten().tolist()]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
