"""Trains the networks of `trained.json` anew: binary, with bias, to length 8, a hundred epochs, float32."""

import json

from networks import TRAINED

from tallystick import train_gated
from tallystick.cells.gated import GATED_CELLS

METHODS = ("corrected", "count-tokens")
SEEDS = 2


def described(model, cell):
    return {
        "cell": cell,
        "weights": list(vars(model.cell).values()),
        "readout": [model.readout.weight, model.readout.bias],
    }


if __name__ == "__main__":
    settings = [(cell, units, method) for cell in GATED_CELLS for units in (1, 2) for method in METHODS]
    ensembles = {setting: train_gated(*setting[:2], method=setting[2], seeds=SEEDS) for setting in settings}
    lines = [
        f'"{method} {cell} {units} {seed}": {json.dumps(described(networks.model(seed), cell))}'
        for (cell, units, method), networks in ensembles.items()
        for seed in range(SEEDS)
    ]
    TRAINED.write_text("{" + ",\n ".join(lines) + "}\n")
