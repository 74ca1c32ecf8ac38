"""The fused kernel for GPUs on every kind of cell, in one run: its speed beside others, and how far it is from the scan.

    python -m benchmarks.gpu_cells [CELL:UNITS[:bias] ...]

Each row is the kernel alone, on networks that lie on the device already: binary, length 8, 100 epochs, one string a step. The
others do the same work on the same GPU, for one epoch: `jax.vmap` and PyTorch's `vmap` under `torch.compile` as one would first
write them (`baselines/several_units.py`), and the scan, which is JAX's batched program of this tool. `limit` is the most that the
GPU could do if it never waited, from a count of instructions (`limits.py`). `differs` is the median over seeds of the greatest
difference between a weight of the kernel's and of the scan's, and `nudged` the same for the scan and a scan from initial weights
that are changed by up to one unit in the last place: no two ways of rounding can be expected to agree more closely.

Without a GPU only these two are printed, of the kernel as JAX works it out on the processors.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.baselines import several_units
from benchmarks.fused_agreement import train_by_kernel
from benchmarks.limits import most_runs
from benchmarks.machine import this_machine
from tallystick.cells import VectorCell
from tallystick.datasets.strings import encode, training_set
from tallystick.training.engines import Engine, devices_named
from tallystick.training.ensemble import train, training_precision
from tallystick.training.lessons import course_of, lessons_of
from tallystick.training.loop import train_block
from tallystick.training.setting import Setting
from tallystick.training.weights import AnyWeights, fresh_weights, nudge_weights

CELLS = (
    *("linear:1", "linear:1:bias", "linear:4", "linear:4:bias", "lstm:1:bias", "lstm:2", "lstm:2:bias"),
    *("gru:2:bias", "selective:4:bias", "lru:4:bias"),
)
FILLING = 132 * 2 * 128
"""How many networks an H200 trains at once if they need all registers. With fewer it trains half as many more at a time, so the
numbers that are timed are whole multiples of three fillings."""

_COMPARED, _EPOCHS, _SCANNED, _MAPPED = 64, 5, 2**12, 2**16


def initial(setting: Setting, seeds: int) -> AnyWeights:
    """Return fresh weights."""
    sizes = {"bias": setting.bias, "dtype": setting.dtype, "units": setting.units}
    return fresh_weights(setting.kind, setting.goal, np.arange(seeds), **sizes)


def seconds_of(work: Callable[[], object]) -> float:
    """Return how long work takes until its results are there."""
    started = perf_counter()
    jax.block_until_ready(work())
    return perf_counter() - started


def kernel_rate(setting: Setting) -> tuple[float, float]:
    """Return runs per second, and the seconds of a first call, which compiles."""
    seeds = (24 if issubclass(setting.kind, VectorCell) else 96) * FILLING
    strings = training_set(setting.goal, setting.train_length, seed=0)
    train_block_by_kernel = Engine("fused", devices_named("gpu")).trainer(setting, strings)
    block = jax.tree.map(jnp.asarray, initial(setting, seeds))
    first, *later = (seconds_of(lambda: train_block_by_kernel(block, seeds)) for _ in range(3))
    return seeds / min(later), first - min(later)


def scan_rate(setting: Setting) -> float:
    """Return runs per second of the compiled scan on the same device, from a run of one epoch."""
    short = replace(setting, epochs=1)
    strings = training_set(setting.goal, setting.train_length, seed=0)
    arrays = jax.tree.map(
        jnp.asarray, (initial(short, _SCANNED), lessons_of(short, strings), course_of(short, strings))
    )
    parts = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure}
    seconds_of(lambda: train_block(*arrays, **parts))
    return _SCANNED / seconds_of(lambda: train_block(*arrays, **parts)) / setting.epochs


def mapped_rates(setting: Setting) -> list[str]:
    """Return runs per second of `jax.vmap` and of compiled PyTorch, from one epoch; empty where neither has such a cell."""
    if setting.cell not in ("lstm", "linear") or not issubclass(setting.kind, VectorCell):
        return ["", ""]
    networks, *lessons = mapped_case(setting, _MAPPED)
    options: dict[str, Any] = {"cell": setting.cell, "epochs": 1}
    works = (
        lambda: several_units.train_jax(networks, *lessons, **options),
        lambda: several_units.train_pytorch(networks, *lessons, **options, device="cuda"),
    )
    found = []
    for work in works:
        seconds_of(work)
        found.append(f"{_MAPPED / seconds_of(work) / setting.epochs:,.0f}")
    return found


def mapped_case(setting: Setting, seeds: int) -> tuple[several_units.Network, np.ndarray, np.ndarray]:
    """Return networks, strings and targets as `several_units` takes them."""
    weights = initial(setting, seeds)
    parts = {"inputs": weights.inputs, "recurrent": weights.recurrent, "readout": weights.readout_weight}
    if weights.bias:
        parts |= {"biases": np.stack(weights.bias), "offset": weights.readout_bias[0]}
    networks = {name: np.ascontiguousarray(np.moveaxis(part, -1, 0)) for name, part in parts.items()}
    strings = training_set(setting.goal, setting.train_length, seed=0)
    tokens = np.stack(encode(strings), axis=-1).astype(setting.dtype)
    return networks, tokens, setting.answers(strings)[:, 0].astype(setting.dtype)


def differences(setting: Setting) -> tuple[float, float]:
    """Return how far the kernel's weights are from those of the scan, and how far the scan's move after a nudge."""
    short = replace(setting, epochs=_EPOCHS)
    strings = training_set(setting.goal, setting.train_length, seed=0)
    start = initial(short, _COMPARED)
    scanned = train(short, start, strings, device="cpu", engine="scan").weights
    fused = train_by_kernel(short, start, strings)
    nudged = train(short, nudge_weights(start, 2.0**-23, 0), strings, device="cpu", engine="scan").weights
    return _distance(scanned, fused), _distance(scanned, nudged)


def _distance(first: AnyWeights, second: AnyWeights) -> float:
    pairs = zip(*map(jax.tree.leaves, (first, second)), strict=True)
    parts = [np.abs(np.asarray(a, float) - np.asarray(b, float)).reshape(-1, _COMPARED).max(axis=0) for a, b in pairs]
    return float(np.median(np.max(parts, axis=0)))


def main(*cells: str) -> None:
    """Print a row per cell."""
    settings = [_setting(*cell.split(":")) for cell in cells or CELLS]
    devices = devices_named()
    if devices.kind == "cpu":
        print("worked out on processors, length 8, binary, float32\n")
        _print_row("cell", "bias", "differs", "nudged")
        _print_row(*["---"] * 2, *["---:"] * 2)
        for setting in settings:
            _print_row(*_names(setting), *(f"{distance:.1e}" for distance in differences(setting)))
        return
    print(f"{devices.name}, length 8, binary, float32\n")
    heads = ("runs per second", "limit", "jax.vmap", "PyTorch", "scan", "compiled in", "differs", "nudged")
    _print_row("cell", "bias", *heads)
    _print_row(*["---"] * 2, *["---:"] * len(heads))
    for setting in settings:
        with devices.using(), training_precision(setting):
            rate, compiling = kernel_rate(setting)
            scanned, mapped = scan_rate(setting), mapped_rates(setting)
        distances = [f"{distance:.1e}" for distance in differences(setting)]
        most = most_runs(setting, this_machine(), "gpu")
        limit = f"{most:,.0f}" if most else "not known"
        rates = (f"{rate:,.0f}", limit, *mapped, f"{scanned:,.0f}")
        _print_row(*_names(setting), *rates, f"{compiling:.1f} s", *distances)


def _setting(cell: str, units: str, *bias: str) -> Setting:
    return Setting("binary", bool(bias), 8, cell=cell, units=int(units))


def _names(setting: Setting) -> tuple[str, str]:
    return f"{setting.cell}, {setting.units}", "with" if setting.bias else "without"


def _print_row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
