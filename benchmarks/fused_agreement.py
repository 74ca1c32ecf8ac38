"""How far the fused kernel and the compiled scan agree, on this machine's GPU: seed by seed, and as distributions.

    python -m benchmarks.fused_agreement [SEEDS]

For every setting of the paper, in float64 and float32, both engines train the same seeds. Beside their difference stands that of
the scan with itself after every initial weight was changed by up to one unit in the last place: no two ways of rounding can be
expected to agree more closely than that. At length 8 in float32 the ends are compared as distributions, too, by the test of
Kolmogorov and Smirnov.
"""

import sys
from typing import Any

import jax
import numpy as np
from scipy.stats import ks_2samp

from tallystick.datasets.strings import training_set
from tallystick.training.engines import devices_named
from tallystick.training.ensemble import Ensemble, train
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights, nudge_weights

LENGTHS = (2, 4, 8)
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def main(seeds: int) -> None:
    """Print a line a setting, and the distributions at length 8."""
    print(f"{devices_named('gpu').name}, {seeds:,} seeds a setting")
    print(
        "precision task    bias length | kernel and scan: median, 99.9 %, most | scan and nudged scan: median, 99.9 %, most"
    )
    for precision in ("float64", "float32"):
        for task in ("binary", "ternary"):
            for bias in (False, True):
                for length in LENGTHS:
                    compare(Setting(task, bias, length, precision=precision), seeds)


def compare(setting: Setting, seeds: int) -> None:
    """Train one setting by both engines, and by the scan from nudged weights."""
    strings = training_set(setting.goal, setting.train_length, seed=0)
    start = fresh_weights(setting.kind, setting.goal, np.arange(seeds), bias=setting.bias, dtype=setting.dtype)
    moved = nudge_weights(start, float(np.finfo(setting.dtype).eps), seed=0)
    fused, scanned, again = (
        train(setting, weights, strings, device="gpu", engine=engine)
        for weights, engine in ((start, "fused"), (start, "scan"), (moved, "scan"))
    )
    label = f"{setting.precision} {setting.task:7} {'yes' if setting.bias else 'no ':4} {setting.train_length:6}"
    print(f"{label} | {spread(fused, scanned)} | {spread(scanned, again)}", flush=True)
    if setting.train_length == LENGTHS[-1] and setting.precision == "float32":
        for name in ("a/b", "U"):
            distributions(name, *(indicator(name, networks) for networks in (fused, scanned)))


def spread(one: Ensemble, other: Ensemble) -> str:
    """The median, the 99.9 % quantile and the greatest of the seeds' greatest differences in a weight."""
    leaves = zip(*map(jax.tree.leaves, (one.weights, other.weights)), strict=True)
    found = np.max([np.abs(x.astype(np.float64) - y) for x, y in leaves], axis=0)
    return ", ".join(f"{value:.1e}" for value in (*np.quantile(found, (0.5, 0.999)), found.max()))


def indicator(name: str, networks: Ensemble) -> np.ndarray:
    """Return a/b or U of every network."""
    cell: Any = networks.cell()
    return cell.open_step / cell.close_step if name == "a/b" else cell.recurrent_weight


def distributions(name: str, fused: np.ndarray, scanned: np.ndarray) -> None:
    """Print the test, and quantiles of both side by side."""
    test: Any = ks_2samp(fused, scanned)
    quantiles = (" ".join(f"{value:.4f}" for value in np.quantile(part, SHARES)) for part in (fused, scanned))
    found = " | ".join(quantiles)
    print(
        f"    {name:3} Kolmogorov-Smirnov {test.statistic:.4f}, p = {test.pvalue:.3f}; at 5, 25, 50, 75, 95 %: {found}"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
