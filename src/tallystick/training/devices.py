"""Where networks are trained: on this machine's processors, or on its GPUs."""

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import jax

from tallystick.errors import BadInput

# JAX would take three quarters of a GPU's memory when it first uses it. Networks need little of it, several processes may share
# one GPU, and the driver keeps gigabytes of the host's memory for what is taken.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

DEVICES = ("auto", "cpu", "gpu")
"""What may be asked for; auto is a GPU where there is one."""


@dataclass(frozen=True)
class Devices:
    """The devices that share the work.

    Attributes:
        kind: cpu or gpu.
        units: JAX's devices; the processors are one.
    """

    kind: str
    units: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The first device's own name, and how many there are."""
        name = self.units[0].device_kind
        return name if len(self.units) == 1 else f"{len(self.units)} × {name}"

    @property
    def multiprocessors(self) -> int:
        """How many a GPU has, or 0 where it does not say."""
        return getattr(self.units[0], "core_count", None) or 0

    def using(self, number: int = 0) -> AbstractContextManager[object]:
        """Let this thread compute on one of the devices."""
        return jax.default_device(self.units[number % len(self.units)])


def devices_named(name: str = "auto") -> Devices:
    """Return the devices of a name; a GPU that is asked for by name must be there."""
    if name not in DEVICES:
        raise BadInput(f"device: {name!r} is not one of {', '.join(DEVICES)}")
    gpus = () if name == "cpu" else _gpus()
    if name == "gpu" and not gpus:
        raise BadInput(
            "device: 'gpu', but JAX sees none here; tallystick[cuda] brings JAX for NVIDIA's, cpu does without"
        )
    return Devices("gpu", gpus) if gpus else Devices("cpu", (jax.devices("cpu")[0],))


def on_processors() -> AbstractContextManager[object]:
    """Let this thread compute on the processors, whatever else there is: what has no engine for a GPU."""
    return devices_named("cpu").using()


def _gpus() -> tuple[Any, ...]:
    try:
        return tuple(jax.local_devices(backend="gpu"))
    except RuntimeError:
        return ()
