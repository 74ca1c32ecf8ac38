"""The tables of docs/measurements.md, in short in docs/methods.md: how many networks each method brings to an exact counter.

    python -m benchmarks.methods [SEEDS] [TABLE ...]

Every row is one training run; the options are those of `tallystick train`. Columns:

    exact      meet the conditions of their cell's theorem, in rationals
    one ulp    each condition is missed by at most one unit in the last place of the weights
    far        miss a condition by more than a hundredth: another minimum, a dead cell, or a task that leads elsewhere
    proved     right on all strings of every length, in real arithmetic; of the zero check where the count is asked for
    even       the median horizon, even lengths counted; a + says that it is at least so much (other cells than the linear one
               are searched to 100)
    train      the mean accuracy during the last epoch
"""

import sys
from collections.abc import Mapping
from dataclasses import replace

import jax
import numpy as np

from tallystick.certificates.one_unit.ensemble import UNLIMITED, meets_conditions
from tallystick.runs.rows import certify_many
from tallystick.runs.runner import train
from tallystick.training.descent import Momenta
from tallystick.training.ensemble import Ensemble
from tallystick.training.methods import METHODS, UNGATED, residuals
from tallystick.training.weights import Weights

Options = Mapping[str, object]
Row = tuple[str, Options]
LINEAR = {"task": "binary"}
RELU = {"task": "count", "cell": "relu"}
SELECTIVE = {"cell": "selective"}


def _rows(common: Options, *variants: Options) -> list[Row]:
    return [(" ".join(f"{key}={value}" for key, value in row.items()), {**common, **row}) for row in variants]


MOMENTA = {
    f"every_token={every} decay={decay} epsilon={epsilon:g}": replace(
        METHODS["count-calm"], every_token=every, momenta=Momenta(decay=decay, epsilon=epsilon)
    )
    for every in (False, True)
    for decay in (0.9, 0.5, 0.0)
    for epsilon in (1e-8, 1e-2)
}
"""Between `count` and `count-calm`: what each of the three changes does."""

TABLES: dict[str, list[Row]] = {
    "linear, binary, no bias, length 8": _rows(LINEAR, *({"method": method} for method in UNGATED)),
    "count-calm in other settings": _rows(
        {"method": "count-calm"},
        *({"seed": seed} for seed in range(1, 5)),
        {"gradients": "float64"},
        {"precision": "float64"},
        {"bias": True},
        {"task": "ternary"},
        {"task": "ternary", "bias": True},
        {"task": "ternary", "schedule": "late-cosine"},
        {"schedule": "constant"},
    ),
    "count-exact": _rows(
        {"method": "count-exact"},
        *(
            {"task": task, "bias": bias, "seed": seed}
            for task, bias in (("binary", True), ("ternary", False), ("ternary", True))
            for seed in (0, 1, 2)
        ),
    ),
    "from count to count-calm": [(name, {**LINEAR, "method": name}) for name in MOMENTA],
    "strength and schedule": _rows(
        LINEAR,
        *({"method": method, "strength": s} for method in ("penalty", "lagrangian") for s in (0.1, 1.0, 10.0, 100.0)),
        *(
            {"method": method, **other}
            for method in ("penalty", "lagrangian")
            for other in ({"bias": True}, {"task": "ternary"}, {"task": "ternary", "bias": True})
        ),
        {"method": "count", "schedule": "constant"},
        {"method": "count", "gradients": "float64"},
    ),
    "snapped": _rows(
        {"snap": True},
        *({"task": task, "bias": bias} for task in ("binary", "ternary") for bias in (False, True)),
        {"train_length": 4},
        {"train_length": 2},
        {"method": "count"},
        {"method": "count-calm"},
        {"method": "count-calm", "task": "ternary"},
        {"method": "tied"},
        {"method": "curriculum"},
    ),
    "started at an exact counter": _rows(
        {"start": "exact"},
        {"method": "published"},
        {"method": "published", "task": "ternary"},
        {"method": "corrected", "task": "ternary"},
        {"method": "decayed"},
        {"method": "count"},
        {"method": "count-calm"},
    ),
    "relu, the count κ": _rows(
        RELU,
        *({"method": m} for m in ("count", "count-calm", "count-penalty", "penalty", "lagrangian", "tied", "unit")),
        {"method": "tied-unit"},
        {"method": "projected"},
        *({"method": "count-penalty", "seed": seed} for seed in (1, 2, 3)),
        {"method": "count-penalty", "snap": True},
    ),
    "selective": _rows(
        SELECTIVE,
        {"task": "binary", "method": "published"},
        {"task": "ternary", "method": "corrected"},
        *({"task": "count", "method": m} for m in ("count", "count-calm", "tied", "unit", "tied-unit", "projected")),
        *({"task": "binary", "method": m} for m in ("tied-unit", "projected")),
        {"task": "binary", "method": "published", "snap": True},
        {"task": "count", "method": "count-calm", "snap": True},
    ),
    "other training lengths": _rows(
        {"seeds": 1024},
        *({"train_length": length, "method": m} for length in (3, 5) for m in ("published", "count-calm")),
        *({"train_length": 12, "method": m, "epochs": 20} for m in ("published", "count-calm")),
    ),
}


def _line(networks: Ensemble) -> str:
    weights = _as_executed(networks)
    size = np.abs(weights.inputs[0])
    ulp = np.spacing(networks.weights.inputs[0].dtype.type(1))
    with np.errstate(all="ignore"):
        steps, recurrent = residuals(networks.setting.kind, weights)
        near = (np.abs(steps) <= ulp * size) & (np.abs(recurrent) <= ulp)
        close = (np.abs(steps) <= size / 100) & (np.abs(recurrent) <= 1 / 100)
    # A ReLU cell that steps downwards on `(` meets the equations of a counter that it is not.
    alive = weights.inputs[0] > 0 if networks.setting.cell == "relu" else size > 0
    exact = meets_conditions(networks.cell())
    counts = f"{_share(exact)}  {_share(near & alive)}  {int((~(close & alive)).sum()):6d}"
    return f"{counts}  {_proved(networks)}"


def _as_executed(networks: Ensemble) -> Weights:
    """The weights as doubles, with the steps a and b as the network adds them up: a bias is in them, rounded."""
    cell = networks.cell()
    weights = networks.weights._replace(inputs=(cell.open_step, cell.close_step), bias=())
    return jax.tree.map(lambda array: np.asarray(array, np.float64), weights)


def _proved(networks: Ensemble) -> str:
    found = certify_many(networks).horizons
    middle = np.argsort(found.even, kind="stable")[(len(found.even) - 1) // 2]
    horizon = int(found.even[middle])
    shown = "unlimited" if horizon == UNLIMITED else f"{horizon}{'' if found.even_exact[middle] else '+'}"
    return f"{_share(found.all == UNLIMITED)}  {shown:>9}"


def _share(mask: np.ndarray) -> str:
    return f"{100 * np.mean(mask):6.2f}%"


def _table(name: str, rows: list[Row], seeds: int) -> None:
    print(f"\n{name}\n{'':46}{'exact':>7}  {'one ulp':>7}  {'far':>6}  {'proved':>7}  {'even':>9}  {'train':>6}")
    for label, options in rows:
        networks = train(**{"seeds": seeds, **options})
        print(
            f"{label:46}{_line(networks)}  {networks.accuracy_train.mean():6.2f}   of {networks.accuracy_train.size:,}",
            flush=True,
        )


def main(arguments: list[str]) -> None:
    """Print the tables whose names begin with what is asked for, all of them without arguments."""
    METHODS.update(MOMENTA)  # under names of their own, for this run alone
    seeds = int(arguments[0]) if arguments else 10_000
    asked = tuple(arguments[1:])
    for name, rows in TABLES.items():
        if not asked or name.startswith(asked):
            _table(name, rows, seeds)


if __name__ == "__main__":
    main(sys.argv[1:])
