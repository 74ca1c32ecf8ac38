"""The machine that measurements are taken on, as it names itself: processor, GPU, versions."""

import platform
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tallystick.training.cores import cores
from tallystick.training.devices import devices_named

LIBRARIES = ("jax", "jaxlib", "numpy", "optax", "numba", "torch")
_CPU_INFORMATION = Path("/proc/cpuinfo")
# AMD's processors before this family work through 512 bits in two halves.
_AMD_FAMILY_OF_WHOLE_512_BITS = 26


@dataclass(frozen=True)
class Processor:
    """A CPU: its name, the cores this process may use, the width of its vector units, how many a core has, its clock.

    The clock is the one the system states; None where it states none.
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
    """All of it."""

    processor: Processor
    gpu: Gpu | None
    versions: dict[str, str]

    def __str__(self) -> str:
        """Name it in a line."""
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"{self.processor}; {self.gpu or 'no GPU'}; {versions}"


def this_machine() -> Machine:
    """Look at the machine this runs on."""
    return Machine(_processor(), _gpu(), {"Python": platform.python_version(), **_versions()})


def measured_devices(device: str) -> tuple[str, ...]:
    """Return what a choice of device asks to be measured: both where it is left open."""
    devices_named(device)  # refuses what is not there
    return ("cpu", "gpu") if device == "auto" else (device,)


def has_gpu() -> bool:
    """Say whether JAX sees a GPU."""
    return devices_named("auto").kind == "gpu"


def _processor() -> Processor:
    stated = _stated()
    flags = stated.get("flags", stated.get("Features", "")).split()
    clock = stated.get("cpu MHz")
    return Processor(
        stated.get("model name") or platform.processor() or platform.machine(),
        cores(),
        _vector_bits(flags, stated),
        vector_units=2,
        gigahertz=round(float(clock) / 1000, 3) if clock else None,
    )


def _stated() -> dict[str, str]:
    """Return what the system says of its first processor."""
    if not _CPU_INFORMATION.is_file():
        return {}
    first, *_ = _CPU_INFORMATION.read_text().split("\n\n")
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _vector_bits(flags: list[str], stated: dict[str, str]) -> int:
    """The widest vector that a unit takes in one clock."""
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
    """The highest clock of the multiprocessors, as the driver states it."""
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
