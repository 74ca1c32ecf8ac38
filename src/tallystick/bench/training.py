"""The training suite: full runs per second, binary without bias, length 8, 100 epochs, one string a step.

Beside the loop, in the same run: a hand-vectorised numba kernel in two editions, and a per-token PyTorch loop that does
what the published one does. Both lie in the project's benchmarks/ folder and need numba and PyTorch; where one is missing,
the row says so.
"""

import sys
import time
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np

from tallystick.bench.timing import best_of, peak_gigabytes
from tallystick.datasets.encoding import encode
from tallystick.datasets.tasks import BINARY
from tallystick.datasets.training_sets import training_set
from tallystick.training.cores import cores
from tallystick.training.ensemble import train
from tallystick.training.initial_weights import fresh_weights
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

SIZES = (1_000, 100_000)
NUMBA_SEEDS = 16_000
PYTORCH_EPOCHS = 2
BASELINES = Path("benchmarks")


def measure_training() -> list[dict[str, object]]:
    """Return runs per second and per core of the loop and of each baseline, and how many times faster the loop is."""
    strings = training_set(BINARY, 8, seed=0)
    loop = [_loop_row(precision, size, strings) for precision in ("float32", "float64") for size in SIZES]
    rows = [*loop, *_numba_rows(strings), _pytorch_row(strings)]
    fastest = max(_per_core(row) for row in loop)
    for row in rows:
        row["fastest_loop_is"] = f"{fastest / _per_core(row):,.1f} times" if _per_core(row) else "not measured"
    return rows


def _per_core(row: dict[str, object]) -> float:
    rate = row["runs_per_second_and_core"]
    return rate if isinstance(rate, float) else 0.0


def _row(name: str, seeds: int, seconds_per_run: float, used_cores: int, note: str) -> dict[str, object]:
    return {
        "what": name,
        "seeds": seeds,
        "runs_per_second": 1 / seconds_per_run,
        "runs_per_second_and_core": 1 / seconds_per_run / used_cores,
        "peak_GB": round(peak_gigabytes(), 2),
        "note": note,
    }


def _missing(name: str, reason: str) -> dict[str, object]:
    nothing = dict.fromkeys(("runs_per_second", "runs_per_second_and_core", "peak_GB"), "-")
    return {"what": name, "seeds": 0, **nothing, "note": reason}


def _loop_row(precision: str, size: int, strings: list[str]) -> dict[str, object]:
    setting = Setting("binary", bias=False, train_length=8, precision=precision)
    initial = _initial(size, setting.dtype)
    started = time.perf_counter()
    train(setting, initial.places(slice(0, 1)), strings)
    compiled = time.perf_counter() - started
    seconds = best_of(lambda: train(setting, initial, strings), repeats=1 if size > SIZES[0] else 3)
    return _row(
        f"this loop, {precision}", size, seconds / size, cores(), f"first block {compiled:.1f} s, compiling included"
    )


def _initial(size: int, dtype: np.dtype) -> Weights:
    return fresh_weights(
        Setting("binary", bias=False, train_length=8).kind, BINARY, np.arange(size), bias=False, dtype=dtype
    )


def _numba_rows(strings: list[str]) -> list[dict[str, object]]:
    """The kernel written plainly, and the same with its own exponential and fused multiply-adds."""
    kernel = _baseline("numba_kernel")
    if isinstance(kernel, str):
        return [_missing("numba kernel", kernel)]
    initial = _initial(NUMBA_SEEDS, np.dtype(np.float32))
    start = np.stack([*initial.inputs, *initial.recurrent, *initial.readout_weight])
    lessons = [part.astype(np.float32) for part in (*encode(strings), BINARY.targets(strings)[:, 0])]
    rows: list[dict[str, object]] = []
    for name, train_all in (("numba, plain", kernel.train_plain), ("numba, by intrinsics", kernel.train)):
        train_all(start[:, :64], *lessons, epochs=1)  # compiles
        seconds = best_of(lambda train_all=train_all: train_all(start, *lessons), repeats=2)
        rows.append(_row(f"{name}, float32", NUMBA_SEEDS, seconds / NUMBA_SEEDS, cores(), "all cores"))
    return rows


def _pytorch_row(strings: list[str]) -> dict[str, object]:
    name = "PyTorch, token by token"
    loop = _baseline("pytorch_loop")
    if isinstance(loop, str):
        return _missing(name, loop)
    seconds = loop.seconds_per_epoch(
        strings, [int(target) for (target,) in BINARY.targets(strings)], epochs=PYTORCH_EPOCHS
    )
    return _row(name, 1, 100 * seconds, 1, f"one core; {PYTORCH_EPOCHS} epochs timed, scaled to 100")


def _baseline(name: str) -> ModuleType | str:
    """Import a baseline from the project's benchmarks folder, or say why it cannot be."""
    if not (BASELINES / f"{name}.py").is_file():
        return f"run it from a checkout: {BASELINES / name}.py is not here"
    sys.path.insert(0, str(BASELINES))
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        return f"needs {error.name}"
    finally:
        sys.path.remove(str(BASELINES))
