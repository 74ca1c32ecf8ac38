"""How fast doubles could be trained at best beside singles, where one unit computes roots and quotients and others multiply.

    python -m benchmarks.divider

A processor has one unit for roots and quotients, the divider, that works beside its multipliers. It takes longer for a vector of
doubles than for one of singles, which has twice as many lanes. Multiply-adds can compute roots and quotients, too, from an
estimate. For each of the paper's settings the script finds the least clocks of a step of one vector, whichever unit computes
what: neither the divider nor the multipliers can be done sooner. As in the counted limit (`limits.py`) nothing ever waits.
Additions, which may have units of their own, and loads count nothing.

How long the divider is held, and for how many clocks a root or a quotient keeps the multipliers from products, is measured here.
"""

from collections.abc import Callable
from ctypes import CFUNCTYPE, c_int64
from itertools import pairwise
from typing import NamedTuple

from benchmarks.limits import costs_by_hand, count_limits
from benchmarks.machine import best_of, compile_function, this_machine

_TIMES = 20_000
_FEW, _CHAINS, _PRODUCTS = 4, 8, 128
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
    """What operations on one vector take: a product, and a root and a quotient by the divider or by hand."""

    product: float
    root: Held
    quotient: Held
    root_by_hand: float
    quotient_by_hand: float


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

    def held(name: str) -> Held:
        beside = clocks(**{name: _FEW, "fma": _PRODUCTS}) - products
        return Held(clocks(**{name: _FEW}) / _FEW, beside / _FEW)

    one, hand = products / _PRODUCTS, costs_by_hand(precision)
    by_hand = (hand[name].instructions * one for name in ("sqrt", "reciprocal"))
    return Units(one, held("sqrt"), held("div"), *by_hand)


def _compile(precision: str, *, sqrt: int = 0, div: int = 0, fma: int = 0) -> Callable[[int], None]:
    """Compile a loop of so many roots, quotients and multiply-adds of a vector, in chains that do not wait for each other."""
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
    body += [
        f"  {after} = call {vector} @llvm.fma.{name}({vector} {before}, {vector} {constant(0.5)}, {vector} {constant(1.0)})"
        for each in rounds
        for before, after in each
    ]
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


def main() -> None:
    """Print what operations take, and the least clocks of a step in each setting."""
    machine = this_machine()
    gigahertz = machine.processor.gigahertz
    if gigahertz is None:
        raise SystemExit("the clock of this processor cannot be measured")
    units = {precision: measure_units(precision, gigahertz) for precision in _LANES}
    print(f"{machine.processor}\n")
    print(
        "| clocks for a vector of | product | root | beside | quotient | beside |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    )
    for precision, of in units.items():
        numbers = (of.product, *of.root, *of.quotient)
        print(f"| {_LANES[precision]} in {precision} | {' | '.join(f'{number:.2f}' for number in numbers)} |")
    print(
        "\n| task | bias | length | float32 | float64 | float64 in % of float32 |\n| --- | --- | ---: | ---: | ---: | ---: |"
    )
    for row in count_limits():
        counted = {
            name: float(str(row[name])) for name in ("multiplication", "multiply_add", "exp", "sqrt", "reciprocal")
        }
        clocks = []
        for precision, of in units.items():
            products = counted["multiplication"] + counted["multiply_add"]
            products += counted["exp"] * costs_by_hand(precision)["exp"].instructions
            clocks.append(least_clocks(Step(products, counted["sqrt"], counted["reciprocal"]), of))
        share = 100 * clocks[0] / clocks[1] * _LANES["float64"] / _LANES["float32"]
        single, double = (f"{number:.1f}" for number in clocks)
        print(f"| {row['task']} | {row['bias']} | {row['train_length']} | {single} | {double} | {share:.0f} |")


if __name__ == "__main__":
    main()
