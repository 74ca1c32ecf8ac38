"""The machine that measurements are taken on: what it is, how long it takes for a piece of work, and in how much memory."""

import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from ctypes import CFUNCTYPE, c_int64
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import log2
from pathlib import Path
from typing import Any

from llvmlite import binding

from tallystick.training.engines import cores, devices_named

Row = dict[str, object]
"""What was measured, by column; None where it could not be measured."""

LIBRARIES = ("jax", "jaxlib", "numpy", "optax", "numba", "torch")
_CPU_INFORMATION = Path("/proc/cpuinfo")
_STATUS, _FORGET_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# AMD's processors before this family work through 512 bits in two halves.
_AMD_FAMILY_OF_WHOLE_512_BITS = 26


@dataclass(frozen=True)
class Processor:
    """A CPU: its name, the cores this process may use, the width of its vector units, how many each core has, its clock.

    The clock is measured: a virtual machine may state another. None where it cannot be measured.
    """

    name: str
    cores: int
    vector_bits: int
    vector_units: int
    gigahertz: float | None

    def __str__(self) -> str:
        """Name it in a line."""
        clock = f" at {self.gigahertz:.2f} GHz" if self.gigahertz else ""
        return f"{self.name}, {self.cores} cores of {self.vector_units} × {self.vector_bits} bits{clock}"


@dataclass(frozen=True)
class Gpu:
    """The GPUs that JAX sees, all of one kind: name, number, compute capability, multiprocessors of each, highest clock."""

    name: str
    number: int
    capability: str
    multiprocessors: int
    gigahertz: float | None

    def __str__(self) -> str:
        """Name it in a line."""
        clock = f" at {self.gigahertz:.2f} GHz" if self.gigahertz else ""
        return f"{self.number} × {self.name}, {self.multiprocessors} multiprocessors{clock}"


@dataclass(frozen=True)
class Machine:
    """The processor, the GPUs if there are any, and the versions of the libraries."""

    processor: Processor
    gpu: Gpu | None
    versions: dict[str, str]

    def __str__(self) -> str:
        """Name it in a line."""
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"{self.processor}; {self.gpu or 'no GPU'}; {versions}"


def this_machine() -> Machine:
    """Describe the machine this runs on."""
    return Machine(_processor(), _gpu(), {"Python": platform.python_version(), **_versions()})


def measured_devices(device: str) -> tuple[str, ...]:
    """Return the devices that a choice asks for: both if it is auto."""
    devices_named(device)  # refuses a device that is not there
    return ("cpu", "gpu") if device == "auto" else (device,)


def has_gpu() -> bool:
    """Return whether JAX sees a GPU."""
    return devices_named("auto").kind == "gpu"


def best_of(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the least time of several, in seconds: what the machine can do when nothing else disturbs it."""
    times: list[float] = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def enlarge(
    work_of: Callable[[int], Callable[[], object]], first: int, most: int, seconds: float, repeats: int = 2
) -> tuple[int, float]:
    """Enlarge the work until it takes about the given seconds; return its size and its least time.

    `work_of` prepares the work of a size, which is not timed. The very first call compiles and is not timed either.
    """
    size, work = first, work_of(first)
    work()
    taken = best_of(work, 1)
    while taken < seconds / 2 and size < most:
        # Small work shows little of its rate, so it grows at most sixteenfold at a time.
        size = min(most, size * 2 ** max(1, min(4, round(log2(seconds / taken)))))
        work = work_of(size)
        taken = best_of(work, 1)
    # Long work is not repeated.
    return size, taken if taken > 2 * seconds else min(taken, best_of(work, repeats))


def forget_peak() -> None:
    """Restart the record of the most memory held, where the system lets a process do so."""
    with suppress(OSError):
        _FORGET_PEAK.write_text("5")


def peak_gigabytes() -> float:
    """Return the most memory this process has held since `forget_peak`, or since it began."""
    try:
        lines = _STATUS.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e9
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def _processor() -> Processor:
    stated = _cpu_information()
    flags = stated.get("flags", stated.get("Features", "")).split()
    return Processor(
        stated.get("model name") or platform.processor() or platform.machine(),
        cores(),
        _vector_bits(flags, stated),
        vector_units=2,
        gigahertz=_measured_gigahertz(),
    )


_PRODUCTS = 10**6
_CLOCKS_OF_A_PRODUCT = 3
_CHAIN = """
define i64 @multiply(i64 %x, i64 %times) {
entry:
  br label %loop
loop:
  %number = phi i64 [ 0, %entry ], [ %next, %loop ]
  %product = phi i64 [ %x, %entry ], [ %longer, %loop ]
  %longer = mul i64 %product, %x
  %next = add i64 %number, 1
  %goes_on = icmp slt i64 %next, %times
  br i1 %goes_on, label %loop, label %done
done:
  ret i64 %longer
}
"""


@cache
def _measured_gigahertz() -> float | None:
    """Time products of whole numbers, each of which waits for the one before it: on x86 they take three clocks each."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return None
    multiply = compile_function(_CHAIN, "multiply", CFUNCTYPE(c_int64, c_int64, c_int64))
    seconds = best_of(lambda: multiply(3, _PRODUCTS), 20)
    return round(_CLOCKS_OF_A_PRODUCT * _PRODUCTS / seconds / 1e9, 3)


def compile_function(text: str, name: str, kind: Callable[[int], Any]) -> Any:  # noqa: ANN401 -- what ctypes calls it by
    """Compile one function, written in LLVM's language, for this processor."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    cpu, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    target = binding.Target.from_default_triple().create_target_machine(cpu=cpu, features=features)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(text), target)
    engine.finalize_object()
    _COMPILED.append(engine)
    return kind(engine.get_function_address(name))


_COMPILED: list[Any] = []
"""What compiled functions live in."""


def _cpu_information() -> dict[str, str]:
    """Return what the system says of its first processor."""
    if not _CPU_INFORMATION.is_file():
        return {}
    first, *_ = _CPU_INFORMATION.read_text().split("\n\n")
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _vector_bits(flags: list[str], stated: dict[str, str]) -> int:
    """Return the widest vector that a unit takes in one clock."""
    halves = "AMD" in stated.get("vendor_id", "") and int(stated.get("cpu family", 0)) < _AMD_FAMILY_OF_WHOLE_512_BITS
    if "avx512f" in flags and not halves:
        return 512
    return 256 if "avx" in flags else 128


def _gpu() -> Gpu | None:
    if not has_gpu():
        return None
    devices = devices_named("gpu").units
    first = devices[0]
    return Gpu(
        first.device_kind,
        len(devices),
        str(getattr(first, "compute_capability", "")),
        int(getattr(first, "core_count", 0)),
        _gpu_gigahertz(),
    )


def _gpu_gigahertz() -> float | None:
    """Return the highest clock of the multiprocessors, as the driver states it."""
    command = ["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"]
    try:
        stated = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout
        return int(stated.split()[0]) / 1000
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
