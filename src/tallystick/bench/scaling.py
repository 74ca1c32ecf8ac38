"""The scaling suite: how the cost of training grows with seeds, training length, epochs and cores, one at a time."""

from collections.abc import Iterator
from dataclasses import replace

from tallystick.bench.machine import measured_devices
from tallystick.bench.rows import Row
from tallystick.bench.timing import best_of
from tallystick.bench.tool import prepared, steps_of
from tallystick.training.cores import cores
from tallystick.training.devices import devices_named
from tallystick.training.setting import Setting

_SHORT = Setting("binary", bias=False, train_length=8, epochs=10)
_SEEDS = {"cpu": 4096, "gpu": 2**18}
_ALONG_SEEDS = {
    "cpu": (1, 10, 100, 1_000, 10_000, 100_000),
    "gpu": (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 2_000_000),
}
_LENGTHS = (2, 4, 6, 8, 10, 12)
_EPOCHS = (1, 10, 100, 1_000)


def measure_scaling(device: str) -> Iterator[Row]:
    """Measure short runs along each axis, by the quickest engine; cores are those of the CPU, whatever the device."""
    chosen = devices_named(device).kind
    seeds = _SEEDS[chosen]
    for size in _ALONG_SEEDS[chosen]:
        yield _row("seeds", size, _SHORT, size, chosen)
    for length in _LENGTHS:
        yield _row("training length", length, replace(_SHORT, train_length=length), seeds, chosen)
    for epochs in _EPOCHS:
        yield _row("epochs", epochs, replace(_SHORT, train_length=4, epochs=epochs), seeds, chosen)
    if "cpu" in measured_devices(device):
        for number in _up_to(cores()):
            yield _row("cores", number, _SHORT, _SEEDS["cpu"] * cores(), "cpu", workers=number)


def _up_to(most: int) -> list[int]:
    """The powers of two below a number, and the number itself."""
    return [*(2**power for power in range(most.bit_length()) if 2**power < most), most]


def _row(along: str, at: int, setting: Setting, seeds: int, device: str, workers: int | None = None) -> Row:
    work = prepared(setting, seeds, device, workers=workers)
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
