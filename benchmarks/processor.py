"""The fused kernel for processors beside the compiled scan, in one run: speed, cores, precisions, and how far the weights agree.

    python -m benchmarks.processor [SECONDS]

Each row is timed for about so many seconds (one by default), in turn by both engines; compiling is timed apart. `nudged` is
how far the scan's own weights move if every initial weight is changed by up to one unit in the last place: no two ways of
rounding can be expected to agree more closely. Differences are the median over seeds of the greatest difference in a weight.
"""

import sys
from dataclasses import replace
from time import perf_counter

import jax
import numpy as np

from benchmarks.baselines import numba_kernel
from benchmarks.machine import this_machine
from benchmarks.speed import initial_weights, strings_of, training_work
from benchmarks.training import SETTING, _lessons, _start
from tallystick.runs.jobs import paper_grid
from tallystick.training.engines import NARROWEST, WIDE, cores
from tallystick.training.ensemble import Ensemble, train
from tallystick.training.setting import Setting
from tallystick.training.weights import nudge_weights

_COMPARED, _EPOCHS = 64, 5
"""Seeds and epochs of the comparison of weights."""

CELLS = [
    Setting("binary", True, 8, cell=cell, units=units)
    for cell, units in (
        ("lstm", 1),
        ("lstm", 2),
        ("lstm", 4),
        ("gru", 2),
        ("linear", 4),
        ("linear", 16),
        ("selective", 4),
        ("lru", 4),
        ("lru", 16),
    )
]


def show(*columns: object) -> None:
    """Print a row of a table at once."""
    print("|", " | ".join(map(str, columns)), "|", flush=True)


def rate(setting: Setting, engine: str, seconds: float, workers: int | None = None) -> tuple[float, float]:
    """Return runs per second, of as many seeds as take about so long, and the seconds of a first run of few."""
    started = perf_counter()
    training_work(replace(setting, epochs=1), 1, "cpu", engine)()
    compiling = perf_counter() - started
    seeds, taken = (WIDE if setting.units == 1 else NARROWEST) * cores(), 0.0
    while True:
        work = training_work(setting, seeds, "cpu", engine, workers)
        started = perf_counter()
        work()
        taken = perf_counter() - started
        if taken > seconds / 2:
            return seeds / taken, compiling
        seeds *= max(2, min(16, int(seconds / max(taken, 1e-3))))


def difference(one: Ensemble, other: Ensemble) -> str:
    """Return the median over seeds of the greatest difference in a weight."""
    leaves = zip(*map(jax.tree.leaves, (one.weights, other.weights)), strict=True)
    found = [np.abs(x.astype(np.float64) - y).reshape(-1, _COMPARED).max(axis=0) for x, y in leaves]
    return f"{np.median(np.max(found, axis=0)):.1e}"


def compare(setting: Setting, seconds: float) -> None:
    """Print one row."""
    (fused, compiling), (scanned, other) = (rate(setting, engine, seconds) for engine in ("fused", "scan"))
    short, strings = replace(setting, epochs=_EPOCHS), strings_of(setting)
    start = initial_weights(short, _COMPARED)
    nudged = nudge_weights(start, float(np.finfo(setting.dtype).eps), seed=0)
    ends = [
        train(short, weights, strings, device="cpu", engine=engine)
        for weights, engine in ((start, "fused"), (start, "scan"), (nudged, "scan"))
    ]
    name = (
        setting.cell
        if setting.units == 1 and setting.cell not in ("lstm", "gru")
        else f"{setting.cell}, {setting.units}"
    )
    bias = "with" if setting.bias else "without"
    show(
        *(name, setting.task, bias, setting.train_length, setting.precision, f"{fused:,.0f}", f"{scanned:,.0f}"),
        *(f"{fused / scanned:.1f}", f"{compiling:.1f}", f"{other:.1f}"),
        *(difference(ends[0], ends[1]), difference(ends[1], ends[2])),
    )


def main(seconds: float = 1.0) -> None:
    """Print the tables."""
    print(this_machine())
    print("\nfull runs per second, on all cores:\n")
    heads = (
        "cell",
        "task",
        "bias",
        "length",
        "precision",
        "fused",
        "scan",
        "times",
        "compiled in s",
        "scan's",
        "difference",
    )
    show(*heads, "nudged")
    show(*["---"] * (len(heads) + 1))
    for precision in ("float32", "float64"):
        for setting in paper_grid(precision):
            compare(setting, seconds)
    for setting in CELLS:
        compare(setting, seconds)
    one, all_of_them = (rate(SETTING, "fused", seconds, workers)[0] for workers in (1, None))
    print(
        f"\none core: {one:,.0f} runs per second, {100 * cores() * one / all_of_them:.0f} % of the share of one among {cores()}"
    )
    seeds = 4096 * cores()
    start, lessons = _start(seeds), _lessons()
    opening, closing, answers = lessons
    numba_kernel.train(start[:, :64], opening, closing, answers, epochs=1)  # compiles
    started = perf_counter()
    numba_kernel.train(start, opening, closing, answers)
    by_hand = seeds / (perf_counter() - started)
    print(
        f"the numba kernel written by hand: {by_hand:,.0f}; "
        f"the fused kernel: {all_of_them:,.0f}, {all_of_them / by_hand:.2f} times as many"
    )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
