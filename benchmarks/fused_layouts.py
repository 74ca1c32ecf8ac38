"""How fast the fused kernel is by its layout, on this machine's GPU: the measurements behind `fused.kernel.launch_for`.

    python -m benchmarks.fused_layouts [SEEDS]

The kernel alone, on networks that lie on the device already: length 8, 100 epochs, one string a step. SEEDS must be a multiple of
1024.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.machine import best_of
from tallystick.datasets.strings import training_set
from tallystick.training.engines import devices_named
from tallystick.training.ensemble import training_precision
from tallystick.training.fused.kernel import Launch, launch_for, train_fused
from tallystick.training.fused.programs import shapes_of
from tallystick.training.fused.reading import lengths_of
from tallystick.training.lessons import course_of, lessons_of, script_of
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

SHAPES = {"float32": ((1024, 8), (512, 4), (256, 4), (256, 1), (64, 1)), "float64": ((256, 4), (128, 4))}
SHARING = (2, 3, 4)


def main(seeds: int) -> None:
    """Print a line a setting and layout."""
    devices = devices_named("gpu")
    print(f"{devices.name}, {seeds:,} seeds")
    for precision, shapes in SHAPES.items():
        for task in ("binary", "ternary"):
            for bias in (False, True):
                setting = Setting(task, bias, 8, precision=precision)
                with devices.using(), training_precision(setting):
                    measure(setting, seeds, shapes)


def measure(setting: Setting, seeds: int, shapes: tuple[tuple[int, int], ...]) -> None:
    """Time one setting in every layout: the chosen one with each of its choices made otherwise, and every shape of a block."""
    task, strings = setting.goal, training_set(setting.goal, setting.train_length, seed=0)
    weights = fresh_weights(setting.kind, task, np.arange(seeds), bias=setting.bias, dtype=setting.dtype)
    script, shape = script_of(lessons_of(setting, strings), course_of(setting, strings), setting.procedure)
    chosen = launch_for(shapes_of(weights), script, setting.kind, setting.procedure)
    others = [
        {"lengths": () if chosen.lengths else lengths_of(script)},
        {"grows": not chosen.grows},
        {"counts_apart": not chosen.counts_apart},
        *({"sharing": sharing} for sharing in SHARING if sharing != chosen.sharing),
        *({"block": block, "warps": warps} for block, warps in shapes if (block, warps) != chosen[:2]),
    ]
    arrays = jax.tree.map(jnp.asarray, (weights, script, np.int32(seeds)))
    parts = {"kind": setting.kind, "task": task, "method": setting.procedure, "shape": shape}
    label = f"{setting.precision} {setting.task:7} {'with' if setting.bias else 'without':7} bias"
    print(f"{label}, chosen: {chosen}")
    for change in ({}, *others):
        launch = chosen._replace(**change)

        def work(launch: Launch = launch) -> object:
            return jax.block_until_ready(train_fused(*arrays, launch=launch, **parts))

        work()  # compiles
        rate = seeds / best_of(work, 2) / 1e6
        name = ", ".join(f"{key} {value}" for key, value in change.items()) or "as chosen"
        print(f"    {name}: {rate:.2f} million runs/s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2**22)
