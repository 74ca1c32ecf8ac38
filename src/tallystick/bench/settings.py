"""The settings suite: how fast this tool trains each of the paper's twelve settings, in both precisions, on one device."""

from collections.abc import Iterator

from tallystick.bench.limits import most_runs
from tallystick.bench.machine import this_machine
from tallystick.bench.rows import Row
from tallystick.bench.tool import Timing, steps_of, time_kernel, time_tool
from tallystick.experiments.jobs import paper_grid
from tallystick.training.devices import devices_named
from tallystick.training.setting import PRECISIONS

_SECONDS = 2.0


def measure_settings(device: str) -> Iterator[Row]:
    """Measure the settings one by one, by the quickest engine of the device; of a GPU and a CPU, on the GPU."""
    machine, device = this_machine(), devices_named(device).kind
    for setting in (setting for precision in PRECISIONS for setting in paper_grid(precision)):
        timing = time_tool(setting, device, seconds=_SECONDS)
        assert isinstance(timing, Timing), timing  # whatever the device, it trains the paper's settings
        rate = timing.runs_per_second
        kernel = time_kernel(setting, devices_named(device)).runs_per_second if device == "gpu" else None
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
            "steps_per_second": rate * steps_of(setting),
            "percent_of_limit": 100 * (kernel or rate) / most if most else None,
        }
