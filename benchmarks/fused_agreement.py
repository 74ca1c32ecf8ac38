"""How far the fused kernel for GPUs and the compiled scan agree: seed by seed, and as distributions.

    python -m benchmarks.fused_agreement [SEEDS] [float64] [float32]

For every setting of the paper, in both precisions or the one that is named, both engines train the same seeds. Beside their
difference stands that of the scan with itself after every initial weight was changed by up to one unit in the last place: no two
ways of rounding can be expected to agree more closely than that. At length 8 in float32 the ends are compared as distributions,
too, by the test of Kolmogorov and Smirnov.

Without a GPU, JAX works the kernel out on the processors, operation by operation and in the kernel's order, but with exact
quotients and roots in place of the device's approximations.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import ks_2samp

from tallystick.datasets.strings import training_set
from tallystick.training.engines import NETWORKS, devices_named
from tallystick.training.ensemble import train, training_precision
from tallystick.training.fused.kernel import launch_for, train_fused
from tallystick.training.fused.programs import shapes_of
from tallystick.training.lessons import course_of, lessons_of, script_of
from tallystick.training.setting import Setting
from tallystick.training.weights import AnyWeights, fresh_weights, nudge_weights

LENGTHS = (2, 4, 8)
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def main(seeds: int, *precisions: str) -> None:
    """Print a line a setting, and the distributions at length 8."""
    devices = devices_named()
    print(f"{devices.name if devices.kind == 'gpu' else 'worked out on processors'}, {seeds:,} seeds a setting")
    print(
        "precision task    bias length | kernel and scan: median, 99.9 %, most | scan and nudged scan: median, 99.9 %, most"
    )
    for precision in precisions or ("float64", "float32"):
        for task in ("binary", "ternary"):
            for bias in (False, True):
                for length in LENGTHS:
                    compare(Setting(task, bias, length, precision=precision), seeds)


def train_by_kernel(setting: Setting, weights: AnyWeights, strings: list[str]) -> AnyWeights:
    """Train by the kernel for GPUs, on one where there is one."""
    if devices_named().kind == "gpu":
        return train(setting, weights, strings, device="gpu", engine="fused").weights
    seeds = len(weights.example)
    filled = np.minimum(np.arange(-(-seeds // NETWORKS) * NETWORKS), seeds - 1)
    with training_precision(setting):
        script, shape = script_of(lessons_of(setting, strings), course_of(setting, strings), setting.procedure)
        launch = launch_for(shapes_of(weights), script, setting.kind, setting.procedure)
        parts = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure, "shape": shape}
        arrays = jax.tree.map(jnp.asarray, (weights.places(filled), script, np.int32(seeds)))
        trained, _ = train_fused(*arrays, launch=launch, interpret=True, **parts)
    return jax.tree.map(np.asarray, trained).places(slice(0, seeds))


def compare(setting: Setting, seeds: int) -> None:
    """Train one setting by both engines, and by the scan from nudged weights."""
    strings = training_set(setting.goal, setting.train_length, seed=0)
    start = fresh_weights(setting.kind, setting.goal, np.arange(seeds), bias=setting.bias, dtype=setting.dtype)
    moved = nudge_weights(start, float(np.finfo(setting.dtype).eps), seed=0)
    scanned, again = (train(setting, weights, strings, engine="scan").weights for weights in (start, moved))
    fused = train_by_kernel(setting, start, strings)
    label = f"{setting.precision} {setting.task:7} {'yes' if setting.bias else 'no ':4} {setting.train_length:6}"
    print(f"{label} | {spread(fused, scanned)} | {spread(scanned, again)}", flush=True)
    if setting.train_length == LENGTHS[-1] and setting.precision == "float32":
        for name in ("a/b", "U"):
            distributions(name, *(indicator(name, setting, networks) for networks in (fused, scanned)))


def spread(one: AnyWeights, other: AnyWeights) -> str:
    """The median, the 99.9 % quantile and the greatest of the seeds' greatest differences in a weight."""
    leaves = zip(*map(jax.tree.leaves, (one, other)), strict=True)
    found = np.max([np.abs(x.astype(np.float64) - y) for x, y in leaves], axis=0)
    return ", ".join(f"{value:.1e}" for value in (*np.quantile(found, (0.5, 0.999)), found.max()))


def indicator(name: str, setting: Setting, weights: AnyWeights) -> np.ndarray:
    """Return a/b or U of every network."""
    cell: Any = weights.cell(setting.kind)
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
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, *sys.argv[2:])
