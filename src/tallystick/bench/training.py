"""The training suite: full runs per second, binary without bias, length 8, 100 epochs, one string a step.

Side by side in one run: a per-token PyTorch loop that does what the published one does, PyTorch over all networks at once,
`jax.vmap` as one would first write it, a hand-vectorised numba kernel in two editions, and this tool, by its compiled scan and
by its fused kernel. Slow ones are timed over a part of the steps; every step does the same work, and their note says so.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import NamedTuple

import jax
import numpy as np

from tallystick.bench.baselines import baseline
from tallystick.bench.limits import most_runs
from tallystick.bench.machine import Machine, gpu_devices, measured_devices, this_machine
from tallystick.bench.rows import Row
from tallystick.bench.timing import best_of, forget_peak, peak_gigabytes
from tallystick.bench.tool import Timing, drawn, steps_of, strings_of, time_tool
from tallystick.datasets.encoding import encode
from tallystick.training.cores import cores
from tallystick.training.setting import Setting

SETTING = Setting("binary", bias=False, train_length=8)
LOOP = "PyTorch, token by token"

_LOOP_EPOCHS = 2
_BATCHED_STRINGS = 60
_VMAP_EPOCHS = 10
_SEEDS = {"cpu": 2**14, "gpu": 2**20, "cuda": 2**20}


class Contender(NamedTuple):
    """What is measured: its name, where it runs, in which precision, and how; the measurement may say why it cannot be."""

    what: str
    device: str
    precision: str
    measure: Callable[[], Timing | str]


def measure_training(device: str) -> Iterator[Row]:
    """Measure the contenders of a device one by one; the published-style loop is always among them."""
    machine, devices = this_machine(), measured_devices(device)
    for contender in CONTENDERS:
        if contender.device in devices or contender.what == LOOP:
            forget_peak()
            yield _row(contender, _timing(contender), machine)


def compared(rows: list[Row]) -> list[Row]:
    """Fill in how many times as quick as the published-style loop each is, and how many times the quickest is as quick."""
    rates = [rate for row in rows if isinstance(rate := row["runs_per_second"], float)]
    loop = next((row["runs_per_second"] for row in rows if row["what"] == LOOP), None)
    for row in rows:
        rate = row["runs_per_second"]
        if isinstance(rate, float):
            row["times_the_loop"] = rate / loop if isinstance(loop, float) else None
            row["quickest_is_times"] = max(rates) / rate
    return rows


def _timing(contender: Contender) -> Timing | str:
    if contender.device == "gpu" and not gpu_devices():
        return "needs a GPU; JAX sees none"
    try:
        return contender.measure()
    except RuntimeError as error:  # no compiler for PyTorch, a GPU without room: the others can still be measured
        return f"failed: {(str(error).strip() or type(error).__name__).splitlines()[0]}"


def _row(contender: Contender, timing: Timing | str, machine: Machine) -> Row:
    measured = isinstance(timing, Timing)
    rate = timing.runs_per_second if measured else None
    used = timing.cores if measured else None
    setting = replace(SETTING, precision=contender.precision)
    most = most_runs(setting, machine, contender.device, used) if measured else None
    return {
        "what": contender.what,
        "device": contender.device,
        "precision": contender.precision,
        "seeds": timing.seeds if measured else None,
        "runs_per_second": rate,
        "and_core": rate / used if rate and used else None,
        "times_the_loop": None,
        "quickest_is_times": None,
        "percent_of_limit": 100 * rate / most if rate and most else None,
        "peak_GB": round(peak_gigabytes(), 2) if measured else None,
        "note": timing.note if measured else timing,
    }


def _published_loop() -> Timing | str:
    loop = baseline("pytorch_loop")
    if isinstance(loop, str):
        return loop
    strings = strings_of(SETTING)
    labels = [int(target) for (target,) in SETTING.answers(strings)]
    seconds = loop.seconds_per_epoch(strings, labels, epochs=_LOOP_EPOCHS)
    return Timing(1, 100 * seconds, 1, f"one core; {_LOOP_EPOCHS} epochs timed, scaled to 100")


def _batched_pytorch(function: str, device: str) -> Timing | str:
    """PyTorch over all networks; on a CPU with one thread or one a core, whichever is quicker."""
    module = baseline("pytorch_batched")
    if isinstance(module, str):
        return module
    if device == "gpu":
        return _batch(module, function, "cuda", 1) if module.sees_gpu() else "needs a GPU; PyTorch sees none"
    timings = [_batch(module, function, "cpu", threads) for threads in sorted({1, cores()})]
    return max(timings, key=lambda timing: timing.runs_per_second)


def _batch(module: ModuleType, function: str, place: str, threads: int) -> Timing:
    seeds, lessons = _SEEDS[place], [part[:_BATCHED_STRINGS] for part in _lessons()]
    train = partial(getattr(module, function), _start(seeds), *lessons, epochs=1, device=place)
    with module.threads(threads):
        train()  # compiles
        seconds = best_of(train, 2) * steps_of(SETTING) / _BATCHED_STRINGS
    scaled = f"{_BATCHED_STRINGS} steps timed, scaled"
    if place == "cuda":
        return Timing(seeds, seconds, None, scaled)
    return Timing(seeds, seconds, threads, f"{'one core' if threads == 1 else 'all cores'}; {scaled}")


def _vmap(device: str) -> Timing | str:
    module = baseline("jax_vmap")
    if isinstance(module, str):
        return module
    seeds = _SEEDS[device]
    train = partial(module.train, _start(seeds), *_lessons(), epochs=_VMAP_EPOCHS)
    with _on(device):
        train()
        seconds = best_of(train, 2) * 100 / _VMAP_EPOCHS
    used = None if device == "gpu" else cores()
    return Timing(seeds, seconds, used, f"{_VMAP_EPOCHS} epochs timed, scaled to 100")


def _numba(function: str) -> Timing | str:
    module = baseline("numba_kernel")
    if isinstance(module, str):
        return module
    train, seeds = getattr(module, function), _SEEDS["cpu"] // 2 * cores()
    start, lessons = _start(seeds), _lessons()
    train(start[:, :64], *lessons, epochs=1)  # compiles
    return Timing(seeds, best_of(lambda: train(start, *lessons), 2), cores(), "all cores")


def _tool(device: str, precision: str, engine: str | None = None) -> Timing | str:
    return time_tool(replace(SETTING, precision=precision), device, engine)


def _on(device: str) -> AbstractContextManager[object]:
    return jax.default_device(jax.devices(device)[0])


def _lessons() -> list[np.ndarray]:
    """The strings as the baselines take them: opening brackets, closing brackets, the right answer."""
    strings = strings_of(SETTING)
    return [part.astype(np.float32) for part in (*encode(strings), SETTING.answers(strings)[:, 0])]


def _start(seeds: int) -> np.ndarray:
    """Initial weights as the baselines take them: for `(`, for `)`, recurrent, readout."""
    weights = drawn(SETTING, seeds)
    return np.stack([*weights.inputs, *weights.recurrent, *weights.readout_weight])


CONTENDERS = (
    Contender(LOOP, "cpu", "float32", _published_loop),
    Contender("PyTorch, batched", "cpu", "float32", partial(_batched_pytorch, "train", "cpu")),
    Contender("PyTorch, batched, compiled", "cpu", "float32", partial(_batched_pytorch, "train_compiled", "cpu")),
    Contender("jax.vmap", "cpu", "float32", partial(_vmap, "cpu")),
    Contender("numba, plain", "cpu", "float32", partial(_numba, "train_plain")),
    Contender("numba, by intrinsics", "cpu", "float32", partial(_numba, "train")),
    Contender("this tool", "cpu", "float32", partial(_tool, "cpu", "float32")),
    Contender("this tool", "cpu", "float64", partial(_tool, "cpu", "float64")),
    Contender("PyTorch, batched", "gpu", "float32", partial(_batched_pytorch, "train", "gpu")),
    Contender("PyTorch, batched, compiled", "gpu", "float32", partial(_batched_pytorch, "train_compiled", "gpu")),
    Contender("jax.vmap", "gpu", "float32", partial(_vmap, "gpu")),
    Contender("this tool, XLA", "gpu", "float32", partial(_tool, "gpu", "float32", "scan")),
    Contender("this tool, XLA", "gpu", "float64", partial(_tool, "gpu", "float64", "scan")),
    Contender("this tool, fused", "gpu", "float32", partial(_tool, "gpu", "float32", "fused")),
    Contender("this tool, fused", "gpu", "float64", partial(_tool, "gpu", "float64", "fused")),
)
"""From the slowest to the quickest, as far as is known beforehand."""
