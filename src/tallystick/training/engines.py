"""The engines that train a block of networks: the compiled scan anywhere, and on a GPU the fused kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import VectorCell
from tallystick.errors import BadInput
from tallystick.training.devices import Devices, devices_named
from tallystick.training.fused.launch import NETWORKS, launch_for, reason_against, widest_on
from tallystick.training.lessons import course_of, lessons_of
from tallystick.training.loop import train_block
from tallystick.training.setting import Setting
from tallystick.training.weights import PerSeed, Weights

ENGINES = ("scan", "fused")

NARROWEST, NARROW, WIDE = 128, 512, 2048
"""Seeds in a block of the scan on processors: wide enough that the vector units outweigh the calls, small enough for all of it
to stay in the cache; narrow where there are few seeds, so that every core has some, and narrowest for cells with several
units."""

WIDEST = 2**20
"""Seeds in a block of the scan on a GPU."""

Trainer = Callable[[Any], tuple[Any, PerSeed]]
"""From a block's initial weights to its trained ones, and how many strings each network got right."""


@dataclass(frozen=True)
class Engine:
    """How blocks are trained: scan or fused, and where."""

    name: str
    devices: Devices

    def width(self, seeds: int, setting: Setting) -> int:
        """Return how many seeds make a block; of a GPU's few widths the least that holds them all."""
        if issubclass(setting.kind, VectorCell):
            return NARROWEST
        if self.devices.kind == "cpu" and self.name == "scan":
            return NARROW if seeds <= 2 * NARROW else WIDE
        widest = widest_on(self.devices.multiprocessors) if self.name == "fused" else WIDEST
        return min(widest, max(NETWORKS, 1 << (seeds - 1).bit_length()))

    def trainer(self, setting: Setting, strings: list[str]) -> Trainer:
        """Return what trains a block on the strings."""
        return {"scan": _scan, "fused": self._fused}[self.name](setting, strings)

    def _fused(self, setting: Setting, strings: list[str]) -> Trainer:
        # The kernel is for a GPU; elsewhere JAX works it out step by step, which is slow and good for tests.
        from tallystick.training.fused.kernel import train_fused  # noqa: PLC0415 -- Pallas takes a while to load
        from tallystick.training.fused.script import script_of  # noqa: PLC0415

        interpret = self.devices.kind == "cpu"
        script, shape = script_of(lessons_of(setting, strings), course_of(setting, strings), setting.procedure)

        def train(block: Weights) -> tuple[Weights, PerSeed]:
            launch = launch_for(len(jax.tree.leaves(block)), setting.gradient_dtype)
            arrays = jax.tree.map(jnp.asarray, (block, script))
            return train_fused(*arrays, shape=shape, launch=launch, interpret=interpret, **_parts(setting))

        return train


def devices_for(setting: Setting, name: str = "auto") -> Devices:
    """Return the devices that train a setting: cells with several units are trained on processors alone."""
    if issubclass(setting.kind, VectorCell) and name != "gpu":
        return devices_named("cpu")
    if issubclass(setting.kind, VectorCell):
        raise BadInput(f"device: {name!r} is for cells with one unit, not for a {setting.cell}")
    return devices_named(name)


def engine_for(setting: Setting, strings: list[str], devices: Devices, wanted: str | None = None) -> Engine:
    """Return the quickest engine for training a setting on the strings, or the one that is asked for."""
    if wanted is not None and wanted not in ENGINES:
        raise BadInput(f"engine: {wanted!r} is not one of {', '.join(ENGINES)}")
    reason = _reason_against_fused(setting, strings) if devices.kind == "gpu" or wanted == "fused" else None
    if wanted == "fused" and reason:
        raise BadInput(f"engine: {reason}")
    quickest = "fused" if devices.kind == "gpu" and not reason else "scan"
    return Engine(wanted or quickest, devices)


def how_trained(setting: Setting, strings: list[str], kind: str) -> str:
    """Say what trains a setting on the strings, on a kind of device, and why nothing quicker does.

    >>> setting = Setting("binary", bias=False, train_length=20)
    >>> how_trained(setting, ["(" * 20], "gpu")
    'gpu, compiled scan: strings of 20 tokens are longer than the 16 that the fused kernel holds'
    """
    if kind == "cpu":
        return "cpu, compiled scan"
    reason = _reason_against_fused(setting, strings)
    return f"gpu, compiled scan: {reason}" if reason else "gpu, fused kernel"


def _reason_against_fused(setting: Setting, strings: list[str]) -> str | None:
    try:
        import jax.experimental.pallas.triton  # noqa: F401, PLC0415 -- takes a while to load
    except ImportError:
        return "this version of JAX has no Pallas for Triton, in which the fused kernel is written"
    return reason_against(setting, strings)


def _scan(setting: Setting, strings: list[str]) -> Trainer:
    lessons, course = lessons_of(setting, strings), course_of(setting, strings)

    def train(block: Weights) -> tuple[Weights, PerSeed]:
        return train_block(*jax.tree.map(jnp.asarray, (block, lessons, course)), **_parts(setting))

    return train


def _parts(setting: Setting) -> dict[str, Any]:
    return {"kind": setting.kind, "task": setting.scored_as, "method": setting.procedure}


def on_host(trained: tuple[Weights, PerSeed]) -> tuple[Weights, np.ndarray]:
    """Bring a trained block to the host's memory."""
    weights, right = trained
    return jax.tree.map(np.asarray, weights), np.asarray(right, np.float64)
