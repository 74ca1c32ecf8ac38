"""Where networks are trained: on this machine's processors, or on its GPUs; work is spread over the cores by threads."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

import jax

from tallystick.errors import BadInput

Item = TypeVar("Item")
Result = TypeVar("Result")

# By default JAX takes three quarters of a GPU's memory when it first uses it. Networks need little of it, several processes may
# share one GPU, and the driver keeps gigabytes of the host's memory for what is taken.
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
    """Let this thread compute on the processors, for work that has no engine for a GPU."""
    return devices_named("cpu").using()


def _gpus() -> tuple[Any, ...]:
    try:
        return tuple(jax.local_devices(backend="gpu"))
    except RuntimeError:
        return ()


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_every_core(work: Callable[[Item], Result], items: Iterable[Item], workers: int | None = None) -> list[Result]:
    """Do the work on all items, as many at a time as there are cores; the first failure stops what has not begun.

    Threads are enough, since XLA computes outside Python's lock.
    """
    with ThreadPoolExecutor(workers or cores()) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
