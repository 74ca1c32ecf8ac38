"""The suites training and contenders: full runs per second of this tool and of what it is compared with, side by side.

In the suite training all of them train the same setting: binary without bias, length 8, 100 epochs, one string per step. The
contenders are a per-token PyTorch loop that does what the published one does, PyTorch over all networks at once, `jax.vmap` as
one would first write it, a numba kernel in two editions, and this tool, by its compiled scan and by its fused kernel. Slow ones
are timed over a part of the epochs; every epoch does the same work, and their note says so.

In the suite contenders those that can do it train each of the paper's twelve settings, in float32.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import NamedTuple

import numpy as np

from benchmarks.baselines import baseline
from benchmarks.limits import most_runs, strings_of
from benchmarks.machine import (
    Machine,
    Row,
    best_of,
    forget_peak,
    has_gpu,
    measured_devices,
    peak_gigabytes,
    this_machine,
)
from benchmarks.speed import Timing, initial_weights, time_kernel, time_tool
from tallystick.datasets.strings import encode
from tallystick.runs.jobs import paper_grid
from tallystick.training.engines import cores, devices_named
from tallystick.training.setting import Setting

SETTING = Setting("binary", bias=False, train_length=8)
"""What all contenders train."""

LOOP = "PyTorch, token by token"
"""The published-style loop, which the others are compared with."""

_LOOP_EPOCHS, _VMAP_EPOCHS = 2, 10
# Enough to fill the device. PyTorch needs more to outweigh its calls, and is timed with each of these numbers of seeds.
_CPU_SEEDS, _GPU_SEEDS = 2**14, 2**20
_PYTORCH_SEEDS, _PYTORCH_SECONDS = {"cpu": (2**14, 2**16), "cuda": (2**22,)}, 0.5


class Contender(NamedTuple):
    """A way to train: its name, its device, its precision, and a function that times it or says why it cannot."""

    what: str
    device: str
    precision: str
    measure: Callable[[], Timing | str]


def _published_loop() -> Timing | str:
    loop = baseline("pytorch_loop")
    if isinstance(loop, str):
        return loop
    strings = strings_of(SETTING)
    labels = [int(target) for (target,) in SETTING.answers(strings)]
    seconds = _whole_run(loop.seconds_per_epoch(strings, labels, epochs=_LOOP_EPOCHS), 1)
    return Timing(1, seconds, 1, f"one core; {_note(_LOOP_EPOCHS)}")


def _batched_pytorch(function: str, device: str, setting: Setting = SETTING) -> Timing | str:
    """Time PyTorch over all networks; on a CPU with few or many seeds, and one thread or one per core, whichever is quickest."""
    module = baseline("pytorch_batched")
    if isinstance(module, str):
        return module
    if device == "gpu":
        if not module.sees_gpu():
            return "needs a GPU; PyTorch sees none"
        place, numbers = "cuda", (1,)
    else:
        place, numbers = "cpu", sorted({1, cores()})
    ways = [(seeds, threads) for seeds in _PYTORCH_SEEDS[place] for threads in numbers]
    timings = [_batch(module, function, place, *way, setting) for way in ways]
    return max(timings, key=lambda timing: timing.runs_per_second)


def _batch(module: ModuleType, function: str, place: str, seeds: int, threads: int, setting: Setting) -> Timing:
    given = _start(seeds, setting), *_lessons(setting)
    train = partial(getattr(module, function), *given, device=place)
    with module.threads(threads):
        train(epochs=1)  # compiles
        once = best_of(lambda: train(epochs=1), 1)
        epochs = max(1, min(setting.epochs, round(_PYTORCH_SECONDS / once)))
        seconds = _whole_run(best_of(lambda: train(epochs=epochs), 2), epochs)
    if place != "cpu":
        return Timing(seeds, seconds, None, _note(epochs))
    return Timing(seeds, seconds, threads, f"{'one core' if threads == 1 else 'all cores'}; {_note(epochs)}")


def _vmap(device: str, setting: Setting = SETTING) -> Timing | str:
    module = baseline("jax_vmap")
    if isinstance(module, str):
        return module
    seeds = _GPU_SEEDS if device == "gpu" else _CPU_SEEDS
    train = partial(module.train, _start(seeds, setting), *_lessons(setting), epochs=_VMAP_EPOCHS)
    with devices_named(device).using():
        train()
        seconds = _whole_run(best_of(train, 2), _VMAP_EPOCHS)
    return Timing(seeds, seconds, None if device == "gpu" else cores(), _note(_VMAP_EPOCHS))


def _numba(function: str, setting: Setting = SETTING) -> Timing | str:
    module = baseline("numba_kernel")
    if isinstance(module, str):
        return module
    train, seeds = getattr(module, function), _CPU_SEEDS // 2 * cores()
    start, lessons = _start(seeds, setting), _lessons(setting)
    train(start[:, :64], *lessons, epochs=1)  # compiles
    return Timing(seeds, best_of(lambda: train(start, *lessons), 2), cores(), "all cores")


def _tool(device: str, precision: str, engine: str = "auto") -> Timing | str:
    return time_tool(replace(SETTING, precision=precision), device, engine)


def _kernel(precision: str) -> Timing:
    return time_kernel(replace(SETTING, precision=precision), devices_named("gpu"))


def _whole_run(seconds: float, epochs: int) -> float:
    """Return the seconds of a whole run, given those of some epochs."""
    return seconds * SETTING.epochs / epochs


def _note(epochs: int) -> str:
    return f"{epochs} {'epoch' if epochs == 1 else 'epochs'} timed, scaled to {SETTING.epochs}"


def _lessons(setting: Setting = SETTING) -> list[np.ndarray]:
    """Return the strings as the baselines take them: opening brackets, closing brackets, the right answers."""
    strings = strings_of(setting)
    answers = setting.answers(strings)
    return [part.astype(np.float32) for part in (*encode(strings), answers[:, 0] if answers.shape[1] == 1 else answers)]


def _start(seeds: int, setting: Setting = SETTING) -> np.ndarray:
    """Return initial weights as the baselines take them: a row for `(`, for `)`, and so on as `Parts` names them."""
    inputs, recurrent, bias, readout, offset = initial_weights(setting, seeds)
    return np.stack([*inputs, *recurrent, *bias, *readout, *offset])


CONTENDERS = (
    Contender(LOOP, "cpu", "float32", _published_loop),
    Contender("PyTorch, batched", "cpu", "float32", partial(_batched_pytorch, "train", "cpu")),
    Contender("PyTorch, batched, compiled", "cpu", "float32", partial(_batched_pytorch, "train_compiled", "cpu")),
    Contender("jax.vmap", "cpu", "float32", partial(_vmap, "cpu")),
    Contender("numba, plain", "cpu", "float32", partial(_numba, "train_plain")),
    Contender("numba, by intrinsics", "cpu", "float32", partial(_numba, "train")),
    Contender("this tool, by the scan", "cpu", "float32", partial(_tool, "cpu", "float32", "scan")),
    Contender("this tool, by the scan", "cpu", "float64", partial(_tool, "cpu", "float64", "scan")),
    Contender("this tool", "cpu", "float32", partial(_tool, "cpu", "float32")),
    Contender("this tool", "cpu", "float64", partial(_tool, "cpu", "float64")),
    Contender("PyTorch, batched", "gpu", "float32", partial(_batched_pytorch, "train", "gpu")),
    Contender("PyTorch, batched, compiled", "gpu", "float32", partial(_batched_pytorch, "train_compiled", "gpu")),
    Contender("jax.vmap", "gpu", "float32", partial(_vmap, "gpu")),
    Contender("this tool, XLA", "gpu", "float32", partial(_tool, "gpu", "float32", "scan")),
    Contender("this tool, XLA", "gpu", "float64", partial(_tool, "gpu", "float64", "scan")),
    Contender("this tool, fused", "gpu", "float32", partial(_tool, "gpu", "float32", "fused")),
    Contender("this tool, fused", "gpu", "float64", partial(_tool, "gpu", "float64", "fused")),
    Contender("the fused kernel alone", "gpu", "float32", partial(_kernel, "float32")),
    Contender("the fused kernel alone", "gpu", "float64", partial(_kernel, "float64")),
)
"""From the slowest to the quickest, as expected."""


def measure_training(device: str) -> Iterator[Row]:
    """Measure the contenders of a device one by one; the published-style loop is always among them."""
    machine, devices = this_machine(), measured_devices(device)
    for contender in CONTENDERS:
        if contender.device in devices or contender.what == LOOP:
            forget_peak()
            yield _row(contender, _timing(contender), machine)


def compare(rows: list[Row]) -> list[Row]:
    """Fill in each rate as a multiple of the published-style loop's, and the quickest rate as a multiple of each."""
    rates = [rate for row in rows if isinstance(rate := row["runs_per_second"], float)]
    loop = next((row["runs_per_second"] for row in rows if row["what"] == LOOP), None)
    for row in rows:
        rate = row["runs_per_second"]
        if isinstance(rate, float):
            row["times_the_loop"] = rate / loop if isinstance(loop, float) else None
            row["quickest_is_times"] = max(rates) / rate
    return rows


def measure_contenders(device: str) -> Iterator[Row]:
    """Measure each of the paper's settings by whatever can train it, on the GPU where there is one."""
    device = devices_named(device).kind
    for setting in paper_grid("float32"):
        by_hand = device == "cpu" and setting.task == "binary" and not setting.bias
        ways = {
            "jax.vmap": partial(_vmap, device, setting),
            "PyTorch": partial(_batched_pytorch, "train_compiled", device, setting),
            "numba": partial(_numba, "train", setting) if by_hand else lambda: "trains another setting",
            "scan": partial(time_tool, setting, device, "scan"),
            "this_tool": partial(time_tool, setting, device),
        }
        timings = {what: _timing(Contender(what, device, "float32", measure)) for what, measure in ways.items()}
        rates = {what: found.runs_per_second for what, found in timings.items() if isinstance(found, Timing)}
        others = [rate for what, rate in rates.items() if what != "this_tool"]
        yield {
            "task": setting.task,
            "bias": "with" if setting.bias else "without",
            "train_length": setting.train_length,
            "device": device,
            **{what: rates.get(what) for what in ways},
            "times_the_next": rates["this_tool"] / max(others) if others and "this_tool" in rates else None,
            "note": "; ".join(f"{what} {found}" for what, found in timings.items() if isinstance(found, str)),
        }


def _timing(contender: Contender) -> Timing | str:
    if contender.device == "gpu" and not has_gpu():
        return "needs a GPU; JAX sees none"
    try:
        return contender.measure()
    except Exception as error:  # no compiler for PyTorch, a GPU without room: the others can still be measured
        first, *_ = (str(error).strip() or "no message").splitlines()
        return f"failed: {type(error).__name__}: {first}"


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
