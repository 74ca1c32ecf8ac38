"""What trains blocks of networks, and where: the fused kernels, one for GPUs and one for processors, and the compiled scan.

The devices are this machine's processors, over whose cores threads spread the work, or its GPUs.
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import VectorCell
from tallystick.errors import BadInput
from tallystick.training.fused.programs import missing_operation, shapes_of
from tallystick.training.lessons import Script, Shape, course_of, lessons_of, script_of
from tallystick.training.loop import train_block
from tallystick.training.setting import Setting
from tallystick.training.weights import AnyWeights, PerSeed, fresh_weights

Item = TypeVar("Item")
Result = TypeVar("Result")

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


ENGINES = ("auto", "fused", "scan")
"""What may be asked for; auto is the fused kernel for what it can train, and the compiled scan for the rest."""

NARROWEST, NARROW, WIDE = 128, 512, 2048
"""Seeds in a block on processors. Of the scan: wide enough that the vector units outweigh the calls, small enough to stay in the
cache; narrow if there are few seeds, so that every core has some, and narrowest for cells with several units. Of the fused
kernel: at most narrow for cells with several units, and wide for others while a core has few blocks."""

WIDEST_OF_A_CORE, BLOCKS_OF_A_CORE = 2**13, 4
"""Of the fused kernel on processors: the most seeds in a block, so that preparing it takes a few percent of the shortest
training, and how many blocks a core has before they grow beyond `WIDE`, so that a quick core can take over from a slow one."""

WIDEST = 2**20
"""Seeds in a block of the scan on a GPU."""

LONGEST = 16
"""The longest strings of the fused kernels: they unroll them, so that their compilation grows with them."""

MOST_STEPS = 2**25
"""The most steps of the fused kernels: the table of their corrections takes less than a gigabyte."""

MOST_WEIGHTS = {"cpu": 400, "gpu": 150}
"""The most weights of a network in the fused kernels, which are compiled weight by weight: for eight units of an LSTM that takes
LLVM half a minute, and for two units a GPU's compiler another."""

FEW_WEIGHTS = 40
"""The most weights of a network with several units for which a GPU is taken unasked: their kernel compiles in seconds."""

NETWORKS = 512
"""The block of every layout of the fused kernel divides this many networks."""

FILLINGS = 6144
"""Networks for each multiprocessor in the widest block: a whole number of fillings, or nearly, for every layout.

A filling is as many networks as there are registers for. All of them end at the same time, so a last filling that is half
empty takes as long as a full one."""

PORTION = 132 * NETWORKS
"""Networks that share out evenly over the 132 multiprocessors of an H100 or H200."""

MOST = {"initial_scale": 2, "learning_rate": 0.05, "strength": 100}
"""The limits of what gradients grow with. The fused kernel multiplies their lengths by each other, and float32 ends at 10^38; a
network whose weights were ten times the paper's has been seen to go beyond it."""

_USUAL_MULTIPROCESSORS = 128
"""Taken for a device that does not say how many it has."""

Trainer = Callable[[Any, int], tuple[Any, PerSeed]]
"""From a block's initial weights, and how many of its networks are to be trained, to its trained ones, and how many strings each
network got right. The first networks are those; the others only fill the block up."""


@dataclass(frozen=True)
class Engine:
    """How blocks are trained: scan or fused, and where."""

    name: str
    devices: Devices

    def width(self, seeds: int, setting: Setting) -> int:
        """Return how many seeds make a block.

        On processors the fused kernel gives every core the same number of blocks, all of one width. On a GPU a block is whole
        portions, or a power of two that holds all seeds, up to the widest.
        """
        if self.devices.kind == "cpu" and self.name == "fused":
            least, most = (NARROW, NARROW) if issubclass(setting.kind, VectorCell) else (WIDE, WIDEST_OF_A_CORE)
            of_a_core = -(-seeds // cores())
            blocks = max(-(-of_a_core // most), min(BLOCKS_OF_A_CORE, -(-of_a_core // least)))
            return -(-of_a_core // (blocks * NARROWEST)) * NARROWEST
        if issubclass(setting.kind, VectorCell) and self.name == "scan":
            return NARROWEST
        if self.devices.kind == "cpu":
            return NARROW if seeds <= 2 * NARROW else WIDE
        fillings = FILLINGS * (self.devices.multiprocessors or _USUAL_MULTIPROCESSORS)
        widest = fillings if self.name == "fused" else WIDEST
        return min(widest, seeds if seeds % PORTION == 0 else max(NETWORKS, 1 << (seeds - 1).bit_length()))

    def trainer(self, setting: Setting, strings: list[str]) -> Trainer:
        """Return what trains a block on the strings."""
        parts: dict[str, Any] = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure}
        if self.name == "scan":
            lesson = lessons_of(setting, strings), course_of(setting, strings)
            return lambda block, _: train_block(*jax.tree.map(jnp.asarray, (block, *lesson)), **parts)
        script, shape = _script_of(setting, tuple(strings), self.devices.kind)
        if self.devices.kind == "cpu":
            from tallystick.training.fused.processor import train_on_processor  # noqa: PLC0415 -- an extra brings LLVM

            return lambda block, _: train_on_processor(block, script, shape=shape, **parts)
        from tallystick.training.fused.kernel import launch_for, train_fused  # noqa: PLC0415 -- Pallas takes a while to load

        def train(block: AnyWeights, seeds: int) -> tuple[AnyWeights, PerSeed]:
            launch = launch_for(shapes_of(block), script, setting.kind, setting.procedure)
            arrays = jax.tree.map(jnp.asarray, (block, script, np.int32(seeds)))
            return train_fused(*arrays, shape=shape, launch=launch, **parts)

        return train


@lru_cache(maxsize=16)
def _script_of(setting: Setting, strings: tuple[str, ...], _: str) -> tuple[Script, Shape]:
    """Return the script that all blocks and parts of a run share; every kind of device computes its own tables."""
    lesson = list(strings)
    return script_of(lessons_of(setting, lesson), course_of(setting, lesson), setting.procedure)


def devices_for(setting: Setting, name: str = "auto") -> Devices:
    """Return the devices that train a setting: a GPU where there is one and its kernel for such a network is soon compiled."""
    if name != "auto" or not issubclass(setting.kind, VectorCell):
        return devices_named(name)
    return devices_named("cpu" if _reason_against_gpu(setting, setting.train_length, FEW_WEIGHTS) else "auto")


def engine_for(setting: Setting, strings: list[str], devices: Devices, wanted: str = "auto") -> Engine:
    """Return the engine that is asked for; the setting and the strings alone decide which one auto is."""
    return Engine(engine_name(setting, strings, devices.kind, wanted), devices)


def engine_name(setting: Setting, strings: list[str], kind: str, wanted: str = "auto") -> str:
    """Return which engine of a kind of device trains a setting on the strings: fused or scan."""
    if wanted not in ENGINES:
        raise BadInput(f"engine: {wanted!r} is not one of {', '.join(ENGINES)}")
    reason = None if wanted == "scan" else _reason_against_fused(setting, strings, kind)
    if wanted == "fused" and reason:
        raise BadInput(f"engine: {reason}")
    return "scan" if wanted == "scan" or reason else "fused"


def engine_text(setting: Setting, strings: list[str], kind: str, wanted: str = "auto") -> str:
    """Say what trains a setting on the strings, on a kind of device, and why the kernel does not, unless the scan is asked for.

    >>> setting = Setting("binary", bias=False, train_length=20)
    >>> engine_text(setting, ["(" * 20], "gpu")
    'gpu, compiled scan: strings of 20 tokens are longer than the 16 that a fused kernel holds'
    """
    if engine_name(setting, strings, kind, wanted) == "fused":
        return f"{kind}, fused kernel"
    reason = None if wanted == "scan" else _reason_against_fused(setting, strings, kind)
    return f"{kind}, compiled scan: {reason}" if reason else f"{kind}, compiled scan"


def _reason_against_fused(setting: Setting, strings: list[str], kind: str) -> str | None:
    """Say why the fused kernel of a kind of device cannot train a setting on the strings; None if it can."""
    longest, steps = max([1, *map(len, strings)]), len(strings) * setting.epochs
    if longest > LONGEST:
        return f"strings of {longest} tokens are longer than the {LONGEST} that a fused kernel holds"
    if steps > MOST_STEPS:
        return f"{steps:,} steps are more than the {MOST_STEPS:,} that a fused kernel has corrections for"
    for name, most in MOST.items():
        if getattr(setting, name) > most:
            return f"{name}: {getattr(setting, name):g} is more than {most:g}, and may lead beyond what a fused kernel holds"
    return _reason_against_processor(setting, longest) if kind == "cpu" else _reason_against_gpu(setting, longest)


def _reason_against_gpu(setting: Setting, longest: int, most: int = MOST_WEIGHTS["gpu"]) -> str | None:
    try:
        import jax.experimental.pallas.triton  # noqa: F401, PLC0415 -- takes a while to load

        from tallystick.training.fused.instructions import OPERATIONS  # noqa: PLC0415 -- which loads it too
    except ImportError:
        return "this version of JAX has no Pallas for Triton, in which the fused kernel is written"
    return _reason_against_numbers(setting, longest, most, frozenset(OPERATIONS))


def _reason_against_processor(setting: Setting, longest: int) -> str | None:
    try:
        from tallystick.training.fused.vectors import OPERATIONS  # noqa: PLC0415 -- which needs LLVM
    except ImportError:
        return "llvmlite is not installed, which compiles the fused kernel; pip install 'tallystick[train]' brings it"
    return _reason_against_numbers(setting, longest, MOST_WEIGHTS["cpu"], frozenset(OPERATIONS))


@cache
def _reason_against_numbers(setting: Setting, longest: int, most: int, known: frozenset[str]) -> str | None:
    """Say why a network cannot be trained number by number: it has too many, or a step does what is not known."""
    example = fresh_weights(
        setting.kind, setting.goal, np.arange(0), bias=setting.bias, dtype=setting.dtype, units=setting.units
    )
    weights = sum(map(prod, shapes_of(example)))
    if weights > most:
        return f"{weights} weights are more than the {most} that the fused kernel is compiled for"
    missing = missing_operation(example, setting, longest, known)
    return missing and f"the fused kernel has no form of {missing}, which a step of a {setting.cell} needs"
