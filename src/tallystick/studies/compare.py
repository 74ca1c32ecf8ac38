"""Cells and methods side by side: how many seeds meet the conditions, how many are proved, how far the others hold."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from tallystick.cells import VectorCell
from tallystick.certificates.linear.affine import affine_network
from tallystick.certificates.linear.ensemble import has_linear_horizons
from tallystick.certificates.linear.limits import is_exact_counter
from tallystick.certificates.one_unit.ensemble import SEARCHED, UNLIMITED, has_theorem, meets_conditions
from tallystick.certificates.verdict import Lengths
from tallystick.datasets.strings import long_suite
from tallystick.errors import BadInput, check_whole
from tallystick.files import refuse_existing, remove_partial
from tallystick.networks import Network
from tallystick.runs.evaluation import Proof, exact_horizons, proofs_on
from tallystick.runs.jobs import ALL, MOST_SEEDS, training_job
from tallystick.runs.resuming import KeptResults, OneByOne, at_work_in, do_missing, workers_named
from tallystick.runs.rows import are_finite, certify_many
from tallystick.runs.runner import versions
from tallystick.training.ensemble import Ensemble, silent, train
from tallystick.training.methods import UNGATED
from tallystick.training.setting import Setting
from tallystick.training.snapping import snap

TRAIN_LENGTH = 8
LONG = 1000
SAMPLE = 200
"""Of cells with several units, which are certified one by one, so many seeds are."""

MOST_VECTOR_SEEDS = 100_000
KEPT = "compare.rows.json"
FILES = ("compare.csv", "compare.md", "compare.png", "compare.pdf", "compare.svg")
_TRAINED = 90.0
_PLAIN, _SATURATING = ("published", "count-calm"), ("saturating", "saturating-labels")
_SPREADS = ("horizons", "even_horizons")


@dataclass(frozen=True)
class Spread:
    """The 10 %, 50 % and 90 % quantile and the greatest of some horizons; infinite is unlimited."""

    low: float
    median: float
    high: float
    greatest: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Spread":
        """Sum horizons up; a quantile is one of them."""
        low, median, high = (float(value) for value in np.quantile(values, (0.1, 0.5, 0.9), method="lower"))
        return cls(low, median, high, float(values.max()))


@dataclass(frozen=True)
class Comparison:
    """What became of the seeds of one setting.

    Attributes:
        setting: cell, method, task and the rest.
        seeds: how many were trained.
        exact: the share that meets the conditions of its cell's theorem exactly; of layers, that is proved and gives the count
            at every length; None for a cell that has no theorem.
        proved: the share that is right at every length, by a theorem, in real arithmetic.
        horizons: the horizons, every length counted.
        even_horizons: the same where even lengths count alone, as in the paper's data.
        certified: how many seeds the horizons are taken over.
        horizons_exact: the share of the horizons, every length counted, that are exact; the others are lower bounds.
        accuracy_50: the mean accuracy on the paper's kind of test strings of 50 tokens, in percent, as executed.
        accuracy_long: the same on strings of 1,000 tokens.
        failed: the share that did not train: below 90 % on its own training strings, or weights that are not finite.
    """

    setting: Setting
    seeds: int
    exact: float | None
    proved: float
    horizons: Spread
    even_horizons: Spread
    certified: int
    horizons_exact: float
    accuracy_50: float
    accuracy_long: float
    failed: float


def default_settings() -> list[Setting]:
    """Return the scalar cells that are compared: every method on the linear cell, the telling ones on the others."""
    linear = [Setting("binary", False, TRAIN_LENGTH, method=name) for name in UNGATED]
    linear += [
        Setting("binary", False, TRAIN_LENGTH, precision="float64"),
        Setting("binary", False, TRAIN_LENGTH, start="exact"),
        Setting("binary", False, TRAIN_LENGTH, snap=True),
        Setting("binary", False, TRAIN_LENGTH, method="count-calm", snap=True),
        Setting("binary", True, TRAIN_LENGTH),
        Setting("binary", True, TRAIN_LENGTH, method="count-calm"),
        Setting("ternary", False, TRAIN_LENGTH),
        Setting("ternary", False, TRAIN_LENGTH, method="count-calm"),
        Setting("binary", True, TRAIN_LENGTH, method="count-exact"),
        Setting("ternary", False, TRAIN_LENGTH, method="count-exact"),
    ]
    others = [
        Setting("binary", False, TRAIN_LENGTH, "selective", name) for name in ("published", "count-calm", "penalty")
    ]
    others.append(Setting("binary", False, TRAIN_LENGTH, "selective", "count-calm", snap=True))
    # A ReLU cell cannot go below zero: it is asked for the count of semi-Dyck-1.
    others += [Setting("count", False, TRAIN_LENGTH, "relu", name) for name in ("count", "count-calm", "count-penalty")]
    others += [Setting("binary", False, TRAIN_LENGTH, "tanh", name) for name in ("published", "count-calm")]
    return linear + others


def default_vector_settings() -> list[Setting]:
    """Return the GRUs and LSTMs that are compared, all with biases, as libraries have them."""

    def rows(task: str, cell: str, *methods: str, units: tuple[int, ...]) -> list[Setting]:
        return [Setting(task, True, TRAIN_LENGTH, cell, method, units=size) for size in units for method in methods]

    plain = [setting for cell in ("gru", "lstm") for setting in rows("binary", cell, *_PLAIN, units=(1, 2))]
    return [
        *plain,
        *rows("binary", "lstm", *_SATURATING, units=(1, 2)),
        *rows("ternary", "lstm", "published", *_SATURATING, units=(1,)),
        *rows("binary", "gru", "saturating-labels", units=(1,)),
    ]


def default_layer_settings() -> list[Setting]:
    """Return the layers that are compared: as the paper trains, as counts best in one unit, and both snapped."""

    def layers(cell: str, units: int, *, snap: bool) -> list[Setting]:
        plain = [
            Setting("binary", bias, TRAIN_LENGTH, cell, method, units=units)
            for method, bias in (("published", False), ("count-calm", True))
        ]
        return [setting for one in plain for setting in ([one, replace(one, snap=True)] if snap else [one])]

    linear = [setting for units in (2, 4, 16) for setting in layers("linear", units, snap=True)]
    selective = [setting for units in (4, 16) for setting in layers("selective", units, snap=True)]
    return linear + selective + [setting for units in (4, 16) for setting in layers("lru", units, snap=False)]


def chosen_settings(
    seeds: int,
    vector_seeds: int,
    seed: int,
    cell: str | None = None,
    method: str | None = None,
    *,
    layer_seeds: int = 1000,
    units: int | None = None,
) -> list[tuple[Setting, int]]:
    """Return what is compared, each setting with its number of seeds: all, or those of one cell, method or number of units."""
    ALL.check_seeds(seeds)
    check_whole(vector_seeds, "vector_seeds", least=1, most=MOST_VECTOR_SEEDS)
    check_whole(layer_seeds, "layer_seeds", least=1, most=MOST_VECTOR_SEEDS)
    check_whole(seed, "seed", least=0, most=MOST_SEEDS)
    every = [(setting, seeds) for setting in default_settings()]
    every += [(setting, layer_seeds) for setting in default_layer_settings()]
    every += [(setting, vector_seeds) for setting in default_vector_settings()]
    said = {"cell": cell, "method": method, "units": units}
    wanted = {name: value for name, value in said.items() if value is not None}
    for name, value in wanted.items():
        known = sorted({getattr(setting, name) for setting, _ in every})
        if value not in known:
            raise BadInput(f"{name}: {value!r} is not one of {', '.join(map(str, known))}, which are compared")
    chosen = [pair for pair in every if all(value == getattr(pair[0], name) for name, value in wanted.items())]
    if not chosen:
        words = ", ".join(f"{name} {value!r}" for name, value in wanted.items())
        raise BadInput(f"{next(iter(wanted))}: nothing is compared that has the {words}")
    return chosen


def compare_settings(
    settings: Sequence[tuple[Setting, int]],
    seed: int = 0,
    *,
    out: Path | None = None,
    cluster: str | None = None,
    device: str = "auto",
    resume: bool = False,
    force: bool = False,
    tell: Callable[[Setting], object] = silent,
) -> list[Comparison]:
    """Compare settings, each with its number of seeds: here one after another, on a cluster as many at a time as it has workers.

    Args:
        settings: what is compared.
        seed: draws the order of the training strings, and the test strings.
        out: a folder that keeps the rows as they come, so that the comparison can be resumed.
        cluster: where to train; the default is this machine.
        device: auto, cpu or gpu.
        resume: go on with the rows that the folder has.
        force: replace them.
        tell: told of a setting as its training begins, or as its row comes from a cluster.
    """
    with nullcontext() if out is None else at_work_in(out), workers_named(cluster) as workers:
        kind = workers.device(device)
        rows = kept_rows(out, settings, seed, kind)
        if out is not None:
            remove_partial(out, *FILES)
            if not rows.begin(resume=resume, force=force):
                for name in FILES:
                    refuse_existing(out / name, force=force)

        def tell_and_compare(setting: Setting, seeds: int) -> Comparison:
            tell(setting)
            return compare(setting, seeds, seed, device)

        def tell_and_keep(place: int, row: Comparison) -> None:
            tell(settings[place][0])
            rows.add(place, row)

        if cluster is None:
            do_missing(settings, rows.found, tell_and_compare, rows.add, OneByOne())
        else:
            do_missing(settings, rows.found, partial(compare, seed=seed, device=device), tell_and_keep, workers)
        return [rows.found[place] for place in range(len(settings))]


def compare(setting: Setting, seeds: int, seed: int = 0, device: str = "auto") -> Comparison:
    """Train the seeds of a setting and sum up what became of them; several units take a GPU only where it is asked for."""
    several = issubclass(setting.kind, VectorCell)
    networks = _trained(replace(setting, snap=False), seeds, seed, "cpu" if several and device != "gpu" else device)
    if setting.snap:
        networks = replace(networks, setting=setting, weights=snap(networks.weights, setting.kind, setting.goal))
    known = not several or has_linear_horizons(setting.kind)
    return (summary if known else summary_one_by_one)(networks, seed)


@lru_cache(maxsize=1)
def _trained(setting: Setting, seeds: int, seed: int, device: str) -> Ensemble:
    """Train the seeds of a setting, once for two rows that differ only in whether they are snapped."""
    job = training_job(setting, seeds, seed)
    return train(setting, job.initial(np.arange(seeds)), job.strings, device=device)


def summary(networks: Ensemble, seed: int = 0) -> Comparison:
    """Say what became of trained networks; `seed` draws the test strings."""
    setting, size = networks.setting, len(networks.accuracy_train)
    found = certify_many(networks).horizons
    every, even = (np.where(h == UNLIMITED, np.inf, h.astype(np.float64)) for h in (found.all, found.even))
    return Comparison(
        setting,
        size,
        _exact_share(networks, np.isinf(every)),
        float(np.isinf(every).mean()),
        Spread.of(every),
        Spread.of(even),
        size,
        float(found.all_exact.mean()),
        *_accuracies(networks, setting, seed),
        _failed_share(networks),
    )


def _exact_share(networks: Ensemble, proved: np.ndarray) -> float | None:
    """Return the share that meets the conditions of its theorem; of layers, that is proved and gives the count itself."""
    if has_theorem(networks.setting.kind):
        return float(meets_conditions(networks.cell()).mean())
    if not has_linear_horizons(networks.setting.kind):
        return None
    counters = [_gives_the_count(networks.network(int(place))) for place in np.flatnonzero(proved)]
    return sum(counters) / len(proved)


def _gives_the_count(network: Network) -> bool:
    """Say whether a proved linear network has outputs that are the count, times a number and plus another."""
    affine = affine_network(network)
    # With a matrix for each token nothing else is ever proved.
    return affine is not None and (not affine.is_shared or is_exact_counter(affine, Lengths.ALL))


def summary_one_by_one(networks: Ensemble, seed: int = 0) -> Comparison:
    """Say the same of cells with several units, which no theorem proves; a horizon is what is proved from below."""
    size = len(networks.accuracy_train)
    sample = replace(
        networks, weights=networks.weights.places(slice(SAMPLE)), accuracy_train=networks.accuracy_train[:SAMPLE]
    )
    every, even = (proofs_on(sample, lengths, SEARCHED) for lengths in Lengths)
    return Comparison(
        networks.setting,
        size,
        None,
        0.0,
        Spread.of(_horizons(every)),
        Spread.of(_horizons(even)),
        len(every),
        exact_horizons(every) / len(every),
        *_accuracies(networks, networks.setting, seed),
        _failed_share(networks),
    )


def _horizons(proofs: list[Proof | None]) -> np.ndarray:
    """Return the horizon proved of each; a network whose weights are not finite has no proof, and counts as 0."""
    return np.array([0.0 if proof is None else float(proof.horizon) for proof in proofs])


def _accuracies(networks: Ensemble, setting: Setting, seed: int) -> tuple[float, float]:
    at_50, at_long = (float(networks.accuracy(long_suite(setting.goal, n, seed)).mean()) for n in (50, LONG))
    return at_50, at_long


def _failed_share(networks: Ensemble) -> float:
    return float(np.mean((networks.accuracy_train < _TRAINED) | ~are_finite(networks)))


def kept_rows(
    out: Path | None, settings: Sequence[tuple[Setting, int]], seed: int, device: str
) -> KeptResults[Comparison]:
    """Return the rows of a comparison as a folder keeps them, beside what decides them; none are read yet."""
    asked = {
        "settings": [[asdict(setting), seeds] for setting, seeds in settings],
        "seed": seed,
        "device": device,
        **versions(),
    }
    return KeptResults(None if out is None else out / KEPT, asked, _plain, partial(_row, settings))


def _plain(row: Comparison) -> dict[str, object]:
    return {name: value for name, value in asdict(row).items() if name != "setting"}


def _row(settings: Sequence[tuple[Setting, int]], place: int, found: Mapping[str, object]) -> Comparison:
    values = {field.name: found[field.name] for field in fields(Comparison) if field.name != "setting"}
    spreads = {name: Spread(**found[name]) for name in _SPREADS}  # pyright: ignore[reportCallIssue]
    return Comparison(settings[place][0], **{**values, **spreads})  # pyright: ignore[reportArgumentType]
