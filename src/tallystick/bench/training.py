"""The training suite: full runs per second, binary without bias, length 8, 100 epochs, one string a step, side by side."""

from collections.abc import Iterator
from dataclasses import replace

from tallystick.bench.contenders import CONTENDERS, LOOP, SETTING, Contender
from tallystick.bench.limits import most_runs
from tallystick.bench.machine import Machine, has_gpu, measured_devices, this_machine
from tallystick.bench.rows import Row
from tallystick.bench.timing import forget_peak, peak_gigabytes
from tallystick.bench.tool import Timing


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
