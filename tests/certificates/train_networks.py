"""Trains the networks of `trained_networks.json` anew: binary, with bias, to length 8, a hundred epochs, float32."""

import json

from vector_networks import TRAINED, VECTOR_CELLS

from tallystick import train

METHODS = ("corrected", "count-tokens")
SEEDS = 2


def as_json(model, cell):
    return {
        "cell": cell,
        "weights": list(vars(model.cell).values()),
        "readout": [model.readout.weight, model.readout.bias],
    }


if __name__ == "__main__":
    settings = [(cell, units, method) for cell in VECTOR_CELLS for units in (1, 2) for method in METHODS]
    options = {"bias": True, "seeds": SEEDS}
    ensembles = {
        (cell, units, method): train(cell=cell, units=units, method=method, **options)
        for cell, units, method in settings
    }
    lines = [
        f'"{method} {cell} {units} {seed}": {json.dumps(as_json(networks.network(seed), cell))}'
        for (cell, units, method), networks in ensembles.items()
        for seed in range(SEEDS)
    ]
    TRAINED.write_text("{" + ",\n ".join(lines) + "}\n")
