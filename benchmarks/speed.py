"""How fast this tool trains, on a device and by an engine: the suites settings and scaling."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.limits import most_runs, steps_of, strings_of
from benchmarks.machine import Row, best_of, enlarge, measured_devices, this_machine
from tallystick.cells import Cell
from tallystick.errors import BadInput
from tallystick.languages.tasks import Task
from tallystick.runs.jobs import paper_grid
from tallystick.training.engines import WIDE, Devices, Engine, cores, devices_named, engine_for
from tallystick.training.ensemble import train, training_precision
from tallystick.training.setting import PRECISIONS, Setting
from tallystick.training.weights import Weights, fresh_weights

# A CPU gets one block per core and a GPU whole blocks, so that no other width is compiled. A GPU needs several blocks, so that it
# never waits for the next one. The most seeds bound the memory where a run takes next to no time.
_CPU_MOST = 2**20
_GPU_BLOCKS, _GPU_MOST_BLOCKS = 4, 8
_MANY = 10**9

_SETTINGS_SECONDS = 2.0
_GPU_SEEDS = 10_000_000

# The scaling suite.
_SHORT = Setting("binary", bias=False, train_length=8, epochs=10)
_SEEDS = {"cpu": 4096, "gpu": 2**18}
_ALONG_SEEDS = {
    "cpu": (1, 10, 100, 1_000, 10_000, 100_000),
    "gpu": (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 2_000_000),
}
_LENGTHS = (2, 4, 6, 8, 10, 12)
_EPOCHS = (1, 10, 100, 1_000)


class Timing(NamedTuple):
    """A number of seeds, the seconds that full runs of them take, the cores used (None on a GPU), and a note."""

    seeds: int
    seconds: float
    cores: int | None
    note: str = ""

    @property
    def runs_per_second(self) -> float:
        """Full runs per second."""
        return self.seeds / self.seconds


def measure_settings(device: str) -> Iterator[Row]:
    """Measure the paper's twelve settings in both precisions, by the default engine; on the GPU where there is one.

    On processors the compiled scan is measured beside it, and one core alone. On a GPU ten million seeds are trained from the
    host's memory and back, and beside it the kernel alone.
    """
    machine, device = this_machine(), devices_named(device).kind
    for setting in (setting for precision in PRECISIONS for setting in paper_grid(precision)):
        timing = (
            time_tool(setting, device, seconds=_SETTINGS_SECONDS)
            if device == "cpu"
            else time_seeds(setting, device, _GPU_SEEDS)
        )
        assert isinstance(timing, Timing), timing  # every device trains the paper's settings
        rate = timing.runs_per_second
        kernel = time_kernel(setting, devices_named(device)).runs_per_second if device == "gpu" else None
        beside = _beside(setting) if device == "cpu" else {}
        most = most_runs(setting, machine, device, units=1 if kernel else None)  # the kernel alone is timed on one GPU
        yield {
            "task": setting.task,
            "bias": "with" if setting.bias else "without",
            "train_length": setting.train_length,
            "precision": setting.precision,
            "device": device,
            "seeds": timing.seeds,
            "runs_per_second": rate,
            "kernel_alone": kernel,
            "percent_of_kernel": 100 * rate / kernel if kernel else None,
            "one_core": beside.get("one_core"),
            "scan": beside.get("scan"),
            "steps_per_second": rate * steps_of(setting),
            "percent_of_limit": 100 * (kernel or rate) / most if most else None,
        }


def _beside(setting: Setting) -> dict[str, float]:
    """Return the runs per second of one core alone, and of all cores by the compiled scan."""
    timings = {
        "one_core": time_tool(setting, "cpu", seconds=_SETTINGS_SECONDS / 2, workers=1),
        "scan": time_tool(setting, "cpu", "scan", _SETTINGS_SECONDS / 2),
    }
    return {name: timing.runs_per_second for name, timing in timings.items() if isinstance(timing, Timing)}


def measure_scaling(device: str) -> Iterator[Row]:
    """Measure short runs as seeds, training length, epochs and cores grow, one at a time.

    The quickest engine of the device trains; the cores are those of the CPU on every device.
    """
    chosen = devices_named(device).kind
    seeds = _SEEDS[chosen]
    for size in _ALONG_SEEDS[chosen]:
        yield _scaling_row("seeds", size, _SHORT, size, chosen)
    for length in _LENGTHS:
        yield _scaling_row("training length", length, replace(_SHORT, train_length=length), seeds, chosen)
    for epochs in _EPOCHS:
        yield _scaling_row("epochs", epochs, replace(_SHORT, train_length=4, epochs=epochs), seeds, chosen)
    if "cpu" in measured_devices(device):
        for number in _powers_of_two(cores()):
            yield _scaling_row("cores", number, _SHORT, _SEEDS["cpu"] * cores(), "cpu", workers=number)


def _powers_of_two(most: int) -> list[int]:
    """Return the powers of two below a number, and the number itself."""
    return [*(2**power for power in range(most.bit_length()) if 2**power < most), most]


def _scaling_row(along: str, at: int, setting: Setting, seeds: int, device: str, workers: int | None = None) -> Row:
    work = training_work(setting, seeds, device, workers=workers)
    work()  # compiles
    seconds, steps = best_of(work, 2), steps_of(setting)
    return {
        "along": along,
        "at": at,
        "device": device,
        "seeds": seeds,
        "steps_a_run": steps,
        "seconds": seconds,
        "runs_per_second": seeds / seconds,
        "steps_per_second": seeds * steps / seconds,
    }


def time_tool(
    setting: Setting, device: str, engine: str = "auto", seconds: float = 1.0, workers: int | None = None
) -> Timing | str:
    """Time full runs of as many seeds as take about the given seconds; or say why they cannot be run."""
    used = (workers or cores()) if device == "cpu" else None
    try:
        first, most = _sizes(setting, device, engine)
        seeds, taken = enlarge(lambda size: training_work(setting, size, device, engine, workers), first, most, seconds)
    except BadInput as error:
        return str(error)
    return Timing(seeds, taken, used)


def time_seeds(setting: Setting, device: str, seeds: int) -> Timing:
    """Time full runs of a number of seeds, from the host's memory and back."""
    work = training_work(setting, seeds, device)
    work()  # compiles
    return Timing(seeds, best_of(work, 2), cores() if device == "cpu" else None)


def _sizes(setting: Setting, device: str, engine: str) -> tuple[int, int]:
    """Return how many seeds are timed first, and how many at most."""
    if device == "cpu":
        return WIDE * cores(), _CPU_MOST
    block = engine_for(setting, strings_of(setting), devices_named(device), engine).width(_MANY, setting)
    return _GPU_BLOCKS * block, _GPU_MOST_BLOCKS * block


def time_kernel(setting: Setting, devices: Devices, seeds: int | None = None) -> Timing:
    """Time the fused kernel alone, on networks that are on the device already and stay there."""
    engine = Engine("fused", devices)
    seeds = seeds or _GPU_BLOCKS * engine.width(_MANY, setting)
    with devices.using(), training_precision(setting):
        block = jax.tree.map(jnp.asarray, initial_weights(setting, seeds))
        strings = strings_of(setting)
        trainer = engine.trainer(setting, strings)

        def work() -> object:
            return jax.block_until_ready(trainer(block, seeds))

        work()  # compiles
        return Timing(seeds, best_of(work, 2), None, "on the device before and after")


def training_work(
    setting: Setting, seeds: int, device: str, engine: str = "auto", workers: int | None = None
) -> Callable[[], object]:
    """Return the training as a function to time; the initial weights are drawn before."""
    initial, strings = initial_weights(setting, seeds), strings_of(setting)
    return lambda: train(setting, initial, strings, workers=workers, device=device, engine=engine)


def initial_weights(setting: Setting, seeds: int) -> Weights:
    """Draw initial weights; the last few draws are kept, because settings share them."""
    return _initial_weights(setting.kind, setting.goal, setting.bias, setting.dtype, setting.units, seeds)


@lru_cache(maxsize=3)
def _initial_weights(kind: type[Cell], task: Task, bias: bool, dtype: np.dtype, units: int, seeds: int) -> Weights:
    return fresh_weights(kind, task, np.arange(seeds), bias=bias, dtype=dtype, units=units)
