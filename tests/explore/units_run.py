"""A made-up run of cells with two units, as training would write it."""

import numpy as np
import polars as pl

NETWORKS = 40
UNITS = 2


def write_units_run(directory, cell="gru", gates=3):
    """Write networks with small random weights and made-up measures of them."""
    from tallystick.cells import KINDS  # noqa: PLC0415
    from tallystick.runs.columns import schema_of  # noqa: PLC0415 -- JAX, for the tests that need a run

    generator = np.random.default_rng(3)
    schema = schema_of(KINDS[True][cell])
    quality = np.linspace(0.2, 0.99, NETWORKS)
    values = {
        "edition": ["fresh"] * NETWORKS,
        "cell": [cell] * NETWORKS,
        "units": [UNITS] * NETWORKS,
        "task": ["binary"] * NETWORKS,
        "bias": [False] * NETWORKS,
        "train_length": [4] * NETWORKS,
        "method": ["published"] * NETWORKS,
        "precision": ["float32"] * NETWORKS,
        "seed": list(range(NETWORKS)),
        "tensors": generator.uniform(-1, 1, (NETWORKS, gates * UNITS * (2 + UNITS))).astype(np.float32).tolist(),
        "readout_weight": generator.uniform(-1, 1, (NETWORKS, UNITS)).astype(np.float32).tolist(),
        "readout_bias": [[]] * NETWORKS,
        "counting_unit": ["hidden 1"] * NETWORKS,
        "counting_slope": quality / 10,
        "counting_r_squared": quality,
        "first_failure": [None, *range(2, NETWORKS + 1)],
        **{f"horizon_{lengths}": [4] * NETWORKS for lengths in ("all", "even")},
        **{f"horizon_{lengths}_exact": [True] * NETWORKS for lengths in ("all", "even")},
        **{f"accuracy_{length}": 50 + 50 * quality**2 for length in ("train", 20, 50, 1000, 10_000)},
    }
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.toml").write_text(f'cell = "{cell}"\nunits = {UNITS}\n')
    pl.DataFrame({name: values[name] for name in schema}, schema=schema).write_parquet(directory / "models.parquet")
    return directory
