"""Table 2, entry by entry, with the words each is written with; and how far the networks can be trusted beyond its lengths.

An entry has ten runs, the ensemble they are drawn from, the band that chance allows, and the paper's number beside them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from tallystick.certificates.one_unit.ensemble import UNLIMITED
from tallystick.reports.paper import (
    BANDS,
    COLUMNS,
    DOUBLED_SOFTMAX,
    EDITIONS,
    MISPRINTS,
    PAPER_RUNS,
    PaperSetting,
    Printed,
    differences,
    equality_note,
    is_inside_band,
    printed_table,
)
from tallystick.reports.reading import Run, values

HORIZON_TITLE = "Horizon"
HORIZON_LEGEND = (
    "Horizon: the length up to which a network is right on ALL strings, exactly, in the median and at the most over its seeds, "
    "when even lengths count and when all do."
)
_BAND = (2.5, 97.5)
_ROUNDING_LENGTH = 8

Band = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """One entry of Table 2 in one edition; avg, min and max are of the first runs, in percent."""

    edition: str
    setting: PaperSetting
    column: str
    avg: float
    min: float
    max: float
    ensemble_mean: float | None
    band: Band | None
    printed: Printed
    differing: tuple[str, ...]
    note: str

    @property
    def inside(self) -> bool | None:
        """Whether the paper's average lies in the band; None without a band."""
        return None if self.band is None else is_inside_band(self.printed.avg, *self.band)


def table_rows(run: Run) -> list[Row]:
    """Return the rows of every edition, in the paper's order."""
    return [
        _row(run, edition, setting, column, models)
        for edition in run.editions
        for setting, models in run.of_edition(edition).items()
        for column in COLUMNS
    ]


def inside_count(rows: list[Row], edition: str) -> tuple[int, int]:
    """Return how many of the paper's averages lie inside an edition's bands, and how many bands there are."""
    verdicts = [row.inside for row in rows if row.edition == edition and row.inside is not None]
    return sum(verdicts), len(verdicts)


def _row(run: Run, edition: str, setting: PaperSetting, column: str, models: pl.DataFrame) -> Row:
    accuracies = values(models, f"accuracy_{column}")
    few = values(models.filter(pl.col("seed").is_between(0, run.runs - 1)), f"accuracy_{column}")
    few = few if len(few) else accuracies[: run.runs]
    found = {"avg": float(few.mean()), "min": float(few.min()), "max": float(few.max())}
    printed, misprint = printed_table()[setting, column], MISPRINTS.get((setting, column))
    misprinted = misprint.which if misprint else None
    differing = differences(found, printed, misprinted) if edition == "exact" else ()
    notes = [f"over {len(few)} runs, not {PAPER_RUNS}"] if len(few) != PAPER_RUNS else []
    if edition == "exact":
        notes.append(equality_note(found, printed, misprinted))
    if differing and setting.train_length == _ROUNDING_LENGTH and run.precision(edition) == "float32":
        notes.append("length 8 is decided by rounding in float32")
    if misprint:
        notes.append(misprint.note(printed))
    return Row(
        edition=edition,
        setting=setting,
        column=column,
        **found,
        ensemble_mean=float(accuracies.mean()) if len(accuracies) > run.runs else None,
        band=_band(run, edition, setting, column),
        printed=printed,
        differing=differing,
        note="; ".join(notes),
    )


def _band(run: Run, edition: str, setting: PaperSetting, column: str) -> Band | None:
    """Return what chance allows: rounding alone for the authors' own seeds and strings, sampling for the others."""
    kind = "rounding" if edition == "exact" else "sampling"
    wanted = {"edition": edition, "kind": kind, "column": column, **setting._asdict()}
    averages = values(run.replicates.filter(**wanted), "average")
    if not len(averages):
        return None
    low, high = np.percentile(averages, (0, 100) if kind == "rounding" else _BAND)
    return float(low), float(high)


def percentage(value: float) -> str:
    """Write a percentage as the paper does: one decimal, and 100 without one.

    >>> percentage(66.666), percentage(99.96), percentage(99.94)
    ('66.7', '100', '99.9')
    """
    return f"{value:.1f}".replace("100.0", "100")


def entry(row: Row) -> str:
    """Return this edition's ten runs as `avg (min/max)`."""
    return f"{percentage(row.avg)} ({percentage(row.min)}/{percentage(row.max)})"


def paper_entry(row: Row) -> str:
    """Return the paper's `avg (min/max)`, as printed."""
    return f"{row.printed.avg} ({row.printed.min}/{row.printed.max})"


def band_entry(row: Row) -> str:
    """Return where the paper's average lies: `inside 66.2–72.9`, `outside …`, or a dash where no band was made."""
    if row.band is None:
        return "–"
    return f"{'inside' if row.inside else 'outside'} {percentage(row.band[0])}–{percentage(row.band[1])}"


def mean_entry(row: Row) -> str:
    """Return the ensemble's mean, or nothing where there are no more than the ten runs."""
    return "" if row.ensemble_mean is None else f"mean {percentage(row.ensemble_mean)}"


def lines(rows: list[Row], edition: str) -> dict[PaperSetting, list[Row]]:
    """Return the settings of one edition, each with its entries in the order of the columns."""
    found: dict[PaperSetting, list[Row]] = {}
    for row in rows:
        if row.edition == edition:
            found.setdefault(row.setting, []).append(row)
    return found


def heading(run: Run, edition: str) -> str:
    """Return the edition's title."""
    return f"Edition {edition}: {EDITIONS[edition]}, {run.precision(edition)}"


def verdict(rows: list[Row], edition: str) -> str:
    """Return one sentence on how the paper's averages lie in this edition's bands."""
    inside, bands = inside_count(rows, edition)
    if not bands:
        return "No band was made for this edition."
    return f"{inside} of the paper's {bands} averages lie inside the band ({BANDS[edition]})."


def agreement(rows: list[Row]) -> str:
    """Return one sentence on how many of the exact edition's entries equal the printed digits."""
    exact = [row for row in rows if row.edition == "exact"]
    equal = {length: [row for row in exact if row.setting.train_length == length] for length in (2, 4, 8)}
    counts = ", ".join(
        f"{sum(not row.differing for row in some)} of {len(some)} at length {length}"
        for length, some in equal.items()
        if some
    )
    return f"Entries whose avg, min and max equal the printed digits (misprints apart): {counts}."


def legend(run: Run, rows: list[Row], edition: str) -> list[str]:
    """Return the sentences that belong under one edition's table."""
    sentences = [
        f"Entries are avg (min/max) of {run.runs} runs, seeds 0 to {run.runs - 1}, in percent.",
        verdict(rows, edition),
    ]
    if edition == "exact":
        sentences.insert(1, agreement(rows))
    if has_published_ternary(run, edition):
        sentences.append(DOUBLED_SOFTMAX)
    return sentences


def has_published_ternary(run: Run, edition: str) -> bool:
    """Say whether this edition's ternary models were trained by the published method, softmax twice."""
    return not run.models.filter(edition=edition, task="ternary", method="published").is_empty()


def remarks(rows: list[Row], edition: str) -> list[str]:
    """Return the notes of one edition, each with the entry it belongs to, but for plain equality."""
    return [
        f"{row.setting}, {row.column if row.column == 'train' else row.column + ' tokens'}: {row.note}."
        for row in rows
        if row.edition == edition and row.note not in ("", "equal to the printed digit")
    ]


class Horizon(NamedTuple):
    """The median and the greatest horizon of a setting's networks."""

    median: float
    greatest: int

    def __str__(self) -> str:
        return f"{_length(self.median)}, at most {_length(self.greatest)}"


def horizons_of(run: Run, edition: str, setting: PaperSetting) -> dict[str, Horizon]:
    """Return the horizons of a setting for even and for all lengths; empty where none were worked out."""
    models = run.of_edition(edition)[setting]
    found = {name: models[f"horizon_{name}"].drop_nulls() for name in ("even", "all")}
    return {name: Horizon(column.median(), column.max()) for name, column in found.items() if len(column)}  # type: ignore[arg-type]


def horizon_lines(run: Run, edition: str, setting: PaperSetting) -> list[str]:
    """Return a setting's horizons as a reader sees them, a line for even and one for all lengths."""
    return [f"{name} {horizon}" for name, horizon in horizons_of(run, edition, setting).items()]


def has_horizons(run: Run) -> bool:
    """Say whether the run worked any out."""
    return bool(run.models["horizon_even"].count())


def _length(value: float) -> str:
    return "unlimited" if value >= UNLIMITED else f"{value:g}"
