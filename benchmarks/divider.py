"""How fast doubles could be trained at best beside singles, where one unit computes roots and quotients and others multiply.

    python -m benchmarks.divider

A processor has one unit for roots and quotients, the divider, that works beside its multipliers. It takes longer for a vector of
doubles than for one of singles, which has twice as many lanes. Multiply-adds can compute roots and quotients, too, from an
estimate. For each of the paper's settings the script finds the least clocks of a step of one vector, whichever unit computes
what: neither the divider nor the multipliers can be done sooner. As in the counted limit (`limits.py`) nothing ever waits.
Additions, which may have units of their own, loads and stores count nothing.

How long the divider is held, and for how many clocks a root, a quotient or a store keeps the multipliers from multiply-adds, is
measured here.

Last, the kernel itself is timed on one core: as it is, and with each root replaced by a single product, which trains nothing but
shows what could be gained at the most if something else computed the roots of doubles.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, c_int64
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import jax
import numpy as np

from benchmarks.limits import costs_by_hand, count_limits, steps_of, strings_of
from benchmarks.machine import best_of, compile_function, this_machine
from tallystick.runs.jobs import paper_grid
from tallystick.training.ensemble import training_precision
from tallystick.training.fused import processor
from tallystick.training.fused.vectors import OPERATIONS
from tallystick.training.lessons import course_of, lessons_of, script_of
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

_TIMES = 20_000
_FEW, _STORES, _CHAINS, _PRODUCTS = 4, 32, 16, 128
"""Roots or quotients, stores, chains of multiply-adds and multiply-adds in a loop. There are more chains than it takes to
begin two multiply-adds in each clock, so that some are still ready when others are held up."""

_NETWORKS, _STEPS = 768, 20_000
"""What the kernel is timed with: whole blocks in either precision, for so many steps that nothing else takes time."""

_LANES = {"float32": 16, "float64": 8}
_TYPES = {"float32": ("float", "f32"), "float64": ("double", "f64")}


class Held(NamedTuple):
    """What a root or a quotient of one vector takes of either unit, in clocks."""

    divider: float
    multipliers: float


class Step(NamedTuple):
    """What a step does for each seed: products, and roots and quotients with what they take and what they cost by hand."""

    products: float
    roots: float
    quotients: float


class Units(NamedTuple):
    """What operations on one vector take: a product, a root and a quotient by the divider or by hand, and a store.

    A store is counted in the clocks for which it keeps the multipliers from multiply-adds.
    """

    product: float
    root: Held
    quotient: Held
    root_by_hand: float
    quotient_by_hand: float
    store: float = 0


def least_clocks(step: Step, units: Units) -> float:
    """Return the clocks of the best division of labour between the units: those of the busier one, as few as can be."""
    works = [(step.roots, units.root, units.root_by_hand), (step.quotients, units.quotient, units.quotient_by_hand)]
    divider = sum(number * held.divider for number, held, _ in works)
    multipliers = step.products * units.product + sum(number * held.multipliers for number, held, _ in works)
    # What relieves the divider most for each clock of the multipliers is computed by hand first.
    for number, held, by_hand in sorted(works, key=lambda work: (work[2] - work[1].multipliers) / work[1].divider):
        relief, cost = number * held.divider, number * (by_hand - held.multipliers)
        if divider > multipliers and relief + cost > 0:
            share = min(1, (divider - multipliers) / (relief + cost))
            divider, multipliers = divider - share * relief, multipliers + share * cost
    return max(divider, multipliers)


def measure_units(precision: str, gigahertz: float) -> Units:
    """Measure what operations take, in loops of nothing else, and beside multiply-adds that keep the multipliers busy."""

    def clocks(**operations: int) -> float:
        work = _compile(precision, **operations)
        return best_of(lambda: work(_TIMES), 10) * gigahertz * 1e9 / _TIMES

    products = clocks(fma=_PRODUCTS)

    def beside(name: str, number: int) -> float:
        return (clocks(**{name: number, "fma": _PRODUCTS}) - products) / number

    def held(name: str) -> Held:
        return Held(clocks(**{name: _FEW}) / _FEW, beside(name, _FEW))

    one, hand = products / _PRODUCTS, costs_by_hand(precision)
    root, quotient = (hand[name].instructions * one for name in ("sqrt", "reciprocal"))
    return Units(one, held("sqrt"), held("div"), root, quotient, beside("store", _STORES))


def _compile(precision: str, *, sqrt: int = 0, div: int = 0, fma: int = 0, store: int = 0) -> Callable[[int], None]:
    """Compile a loop of so many roots, quotients and multiply-adds of a vector, in chains that do not wait for each other.

    Stores are spread over the multiply-adds.
    """
    element, suffix = _TYPES[precision]
    vector, name = f"<{_LANES[precision]} x {element}>", f"v{_LANES[precision]}{suffix}"

    def constant(number: float) -> str:
        return "<" + ", ".join([f"{element} {number}"] * _LANES[precision]) + ">"

    chains: list[list[str]] = []
    for number in range(sqrt + div + min(fma, _CHAINS)):
        times = 1 if number < sqrt + div else fma // _CHAINS
        chains.append([f"%x{number}", *(f"%x{number}.{time}" for time in range(times))])
    begun, body, kept = [], [], []
    for number, chain in enumerate(chains):
        begun.append(f"  {chain[0]} = phi {vector} [ {constant(1.5)}, %entry ], [ {chain[-1]}, %loop ]")
        kept.append(f"  store volatile {vector} {chain[-1]}, ptr %room")
        if number < sqrt:
            body.append(f"  {chain[1]} = call {vector} @llvm.sqrt.{name}({vector} {chain[0]})")
        elif number < sqrt + div:
            body.append(f"  {chain[1]} = fdiv {vector} {constant(2.5)}, {chain[0]}")
    rounds = zip(*(pairwise(chain) for chain in chains[sqrt + div :]), strict=True)
    for place, (before, after) in enumerate(pair for each in rounds for pair in each):
        operands = f"{vector} {before}, {vector} {constant(0.5)}, {vector} {constant(1.0)}"
        body.append(f"  {after} = call {vector} @llvm.fma.{name}({operands})")
        if store and place % (fma // store) == 0:
            body.append(f"  store volatile {vector} {constant(0.5)}, ptr %room")
    text = "\n".join(
        [
            f"declare {vector} @llvm.sqrt.{name}({vector})",
            f"declare {vector} @llvm.fma.{name}({vector}, {vector}, {vector})",
            "define void @work(i64 %times) {",
            f"entry:\n  %room = alloca {vector}\n  br label %loop",
            "loop:\n  %number = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *begun,
            *body,
            "  %next = add i64 %number, 1\n  %goes_on = icmp slt i64 %next, %times",
            "  br i1 %goes_on, label %loop, label %done\ndone:",
            *kept,
            "  ret void\n}",
        ]
    )
    return compile_function(text, "work", CFUNCTYPE(None, c_int64))


def least_of_settings(units: dict[str, Units]) -> Iterator[tuple[object, ...]]:
    """Give the least clocks of a step in each setting and precision, and float64's runs in percent of float32's."""
    for row in count_limits():
        names = ("multiplication", "multiply_add", "exp", "sqrt", "reciprocal")
        counted = {name: float(str(row[name])) for name in names}
        clocks = []
        for precision, of in units.items():
            products = counted["multiplication"] + counted["multiply_add"]
            products += counted["exp"] * costs_by_hand(precision)["exp"].instructions
            clocks.append(least_clocks(Step(products, counted["sqrt"], counted["reciprocal"]), of))
        yield row["task"], row["bias"], row["train_length"], *clocks, _share(*clocks)


def kernel_clocks(setting: Setting, gigahertz: float) -> float:
    """Return the clocks of a step of one vector in the kernel, on one core."""
    strings, task = strings_of(setting), setting.goal
    setting = replace(setting, epochs=-(-_STEPS // len(strings)))
    with training_precision(setting):
        weights = fresh_weights(setting.kind, task, np.arange(_NETWORKS), bias=setting.bias, dtype=setting.dtype)
        script, shape = script_of(lessons_of(setting, strings), course_of(setting, strings), setting.procedure)
        arrays = jax.tree.map(np.asarray, (weights, script))
        parts = {"shape": shape, "kind": setting.kind, "task": task, "method": setting.procedure}

        def work() -> object:
            return processor.train_on_processor(*arrays, **parts)

        work()  # compiles
        seconds = best_of(work, 10)
    return seconds * gigahertz * 1e9 * _LANES[setting.precision] / (_NETWORKS * steps_of(setting))


@contextmanager
def products_for_roots() -> Iterator[None]:
    """Let kernels that are compiled inside multiply where they should take roots."""
    root = OPERATIONS["sqrt"]
    processor.forget_compiled()
    OPERATIONS["sqrt"] = OPERATIONS["square"]
    try:
        yield
    finally:
        OPERATIONS["sqrt"] = root
        processor.forget_compiled()


def clocks_of_settings(gigahertz: float) -> Iterator[tuple[object, ...]]:
    """Give the clocks of both precisions, and those of float64 without roots, each with what it is in percent of float32."""
    for setting in paper_grid("float32"):
        double = replace(setting, precision="float64")
        single, whole = (kernel_clocks(one, gigahertz) for one in (setting, double))
        with products_for_roots():
            free = kernel_clocks(double, gigahertz)
        bias = "with" if setting.bias else "without"
        shares = _share(single, whole), _share(single, free)
        yield setting.task, bias, setting.train_length, single, whole, shares[0], free, shares[1]


def _share(single: float, double: float) -> int:
    """Return how many of float32's runs float64 makes, in percent, from the clocks of a vector in each."""
    return round(100 * single / double * _LANES["float64"] / _LANES["float32"])


def _show(heads: tuple[str, ...], rows: Iterable[tuple[object, ...]], named: int, digits: int = 1) -> None:
    """Print a table whose first columns are names, its other numbers with so many decimals."""
    print(f"\n| {' | '.join(heads)} |")
    print(f"| {' | '.join(['---'] * named + ['---:'] * (len(heads) - named))} |")
    for row in rows:
        cells = (f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell) for cell in row)
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print what operations take, the least clocks of a step in each setting, and those of the kernel."""
    machine = this_machine()
    gigahertz = machine.processor.gigahertz
    if gigahertz is None:
        raise SystemExit("the clock of this processor cannot be measured")
    units = {precision: measure_units(precision, gigahertz) for precision in _LANES}
    print(machine.processor)
    taken = ((f"{_LANES[name]} in {name}", of.product, *of.root, *of.quotient, of.store) for name, of in units.items())
    _show(
        ("clocks for a vector of", "product", "root", "beside", "quotient", "beside", "store beside"),
        taken,
        1,
        digits=2,
    )
    setting = ("task", "bias", "length")
    _show((*setting, "float32", "float64", "float64 in % of float32"), least_of_settings(units), 2)
    heads = ("float32", "float64", "in % of float32", "float64 without roots", "in % of float32")
    _show((*setting, *heads), clocks_of_settings(gigahertz), 2)


if __name__ == "__main__":
    main()
