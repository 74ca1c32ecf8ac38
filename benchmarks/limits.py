"""The suite limits: the most runs per second that a machine could do, from its lanes and the instructions of a step.

    runs/s ≤ min(lanes · clock / instructions, special lanes · clock / special instructions) / steps

The rate is that of a machine which starts an instruction in every lane at every clock and waits for nothing, neither for
memory nor for an earlier result. It says how far there is to go. Roots and quotients count as the multiply-adds that would
compute them: a processor with a unit for them that works beside the others can reach a little more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from typing import NamedTuple

from benchmarks.instructions import ADDITION, MULTIPLICATION, MULTIPLY_ADD, RECIPROCAL, step_instructions
from benchmarks.machine import Gpu, Machine, Processor, Row, this_machine
from tallystick.datasets.strings import training_set
from tallystick.runs.jobs import paper_grid
from tallystick.training.setting import PRECISIONS, Setting


class Cost(NamedTuple):
    """What an operation costs: instructions in all, and how many of them go to the special-function unit."""

    instructions: float
    special: float = 0


ONE = Cost(1)
_SHOWN = (ADDITION, MULTIPLICATION, MULTIPLY_ADD, "max", RECIPROCAL, "sqrt", "exp")

# By hand, in multiply-adds. A reciprocal is an estimate and Newton's steps of two instructions, one step for single precision and
# two for double; a root is the same with steps of three or four and a last product. An exponential is 2ⁿ·e^r: four for n and r,
# a polynomial of degree 6, one for 2ⁿ; for a double, n is a multiple of 1/16, whose power comes from a table. A tanh is an
# exponential, a reciprocal and one more.
_BY_HAND = {
    "float32": {RECIPROCAL: Cost(3), "sqrt": Cost(5), "exp": Cost(11), "tanh": Cost(15)},
    "float64": {RECIPROCAL: Cost(5), "sqrt": Cost(8), "exp": Cost(11), "tanh": Cost(17)},
}
# A GPU has no table in registers, so that n is whole and the polynomial of degree 11.
_WITHOUT_A_TABLE = {**_BY_HAND["float64"], "exp": Cost(16), "tanh": Cost(22)}
# An NVIDIA GPU has them in hardware in single precision, 2ˣ in place of eˣ; a double is brought to its digits by hand. The
# hardware's tanh has too few digits; 1 − 2/(1 + e²ˣ) has enough.
_IN_HARDWARE = {RECIPROCAL: Cost(1, 1), "sqrt": Cost(1, 1), "exp": Cost(2, 1), "tanh": Cost(5, 2)}


class Lanes(NamedTuple):
    """What a multiprocessor starts in one clock: instructions in single and in double precision, special functions."""

    float32: int
    float64: int
    special: int


# From the table of arithmetic throughput in NVIDIA's CUDA C++ programming guide, by compute capability.
GPU_LANES = {
    "8.0": Lanes(64, 32, 16),
    "8.6": Lanes(128, 2, 16),
    "8.9": Lanes(128, 2, 16),
    "9.0": Lanes(128, 64, 16),
}


@dataclass(frozen=True)
class Rates:
    """What a device does in one precision: instructions and special functions per second, and what operations cost it."""

    instructions: float
    special: float
    costs: Mapping[str, Cost]

    def steps(self, counted: Mapping[str, float]) -> float:
        """Return the most steps per second, of one seed each, where a step needs these instructions."""
        instructions = sum(size * self.costs.get(name, ONE).instructions for name, size in counted.items())
        special = sum(size * self.costs.get(name, ONE).special for name, size in counted.items())
        return min(self.instructions / instructions, self.special / special if special else inf)


def costs_by_hand(precision: str) -> Mapping[str, Cost]:
    """Return what roots, reciprocals and functions cost where multiply-adds compute them."""
    return _BY_HAND[precision]


def processor_rates(processor: Processor, precision: str, cores: int) -> Rates | None:
    """Return what some of the cores can do; None where their clock is not known."""
    if processor.gigahertz is None:
        return None
    lanes = processor.vector_units * processor.vector_bits // (8 * PRECISIONS[precision].itemsize)
    return Rates(cores * lanes * processor.gigahertz * 1e9, inf, _BY_HAND[precision])


def gpu_rates(gpu: Gpu, precision: str, number: int) -> Rates | None:
    """Return what a number of the GPUs can do; None where their lanes or their clock are not known."""
    if gpu.capability not in GPU_LANES or not gpu.multiprocessors or gpu.gigahertz is None:
        return None
    lanes, clocks = GPU_LANES[gpu.capability], number * gpu.multiprocessors * gpu.gigahertz * 1e9
    costs = _IN_HARDWARE if precision == "float32" else _WITHOUT_A_TABLE
    return Rates(clocks * getattr(lanes, precision), clocks * lanes.special, costs)


def most_runs(setting: Setting, machine: Machine, device: str, units: int | None = None) -> float | None:
    """Return the most runs of a setting per second, on `units` cores or GPUs; the default is all of them."""
    if device == "gpu":
        rates = gpu_rates(machine.gpu, setting.precision, units or machine.gpu.number) if machine.gpu else None
    else:
        rates = processor_rates(machine.processor, setting.precision, units or machine.processor.cores)
    return rates.steps(_instructions_of(setting)) / steps_of(setting) if rates else None


def count_limits() -> Iterator[Row]:
    """Give the instructions of a step, by name, and the most runs per second here, for each of the paper's settings."""
    machine = this_machine()
    for setting in paper_grid("float32"):
        counted = _instructions_of(setting)
        most = {
            f"{device}_{precision}": most_runs(replace(setting, precision=precision), machine, device)
            for device in ("cpu", "gpu")
            for precision in PRECISIONS
        }
        yield {
            "task": setting.task,
            "bias": "with" if setting.bias else "without",
            "train_length": setting.train_length,
            "steps_a_run": steps_of(setting),
            **{name.replace("-", "_"): round(counted.get(name, 0.0), 2) for name in _SHOWN},
            **most,
        }


def strings_of(setting: Setting) -> list[str]:
    """Return the training set that every measurement uses."""
    return training_set(setting.goal, setting.train_length, seed=0)


def steps_of(setting: Setting) -> int:
    """Return how many steps a run has."""
    return setting.epochs * len(strings_of(setting))


def _instructions_of(setting: Setting) -> dict[str, float]:
    """Return the instructions of a step, which are the same in every precision and epoch."""
    return _instructions(replace(setting, precision="float32", epochs=1))


@cache
def _instructions(setting: Setting) -> dict[str, float]:
    return step_instructions(setting, strings_of(setting))
