"""Table 2, row by row: ten runs, the ensemble they are drawn from, the band, and the paper's number beside them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from tallystick.reports.paper import MISPRINTS, Printed, inside_band, printed_digit_matches, printed_table
from tallystick.reports.reading import Run, values
from tallystick.reports.settings import COLUMNS, PAPER_RUNS, Setting

_BAND = (2.5, 97.5)
_ROUNDING_LENGTH = 8

Band = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """One entry of Table 2 in one edition; avg, min and max are of the first runs, in percent."""

    edition: str
    setting: Setting
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
        return None if self.band is None else inside_band(self.printed.avg, *self.band)


def table(run: Run) -> list[Row]:
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


def _row(run: Run, edition: str, setting: Setting, column: str, models: pl.DataFrame) -> Row:
    accuracies = values(models, f"accuracy_{column}")
    few = values(models.filter(pl.col("seed").is_between(0, run.runs - 1)), f"accuracy_{column}")
    few = few if len(few) else accuracies[: run.runs]
    found = {"avg": float(few.mean()), "min": float(few.min()), "max": float(few.max())}
    printed = printed_table()[setting, column]
    return Row(
        edition=edition,
        setting=setting,
        column=column,
        **found,
        ensemble_mean=float(accuracies.mean()) if len(accuracies) > run.runs else None,
        band=_band(run, edition, setting, column),
        printed=printed,
        differing=_differing(found, setting, column) if edition == "exact" else (),
        note="; ".join(_notes(run, edition, setting, column, found, len(few))),
    )


def _band(run: Run, edition: str, setting: Setting, column: str) -> Band | None:
    """Return what chance allows: rounding alone for the authors' own seeds and strings, sampling for the others."""
    kind = "rounding" if edition == "exact" else "sampling"
    wanted = {"edition": edition, "kind": kind, "column": column, **setting._asdict()}
    averages = values(run.replicates.filter(**wanted), "average")
    if not len(averages):
        return None
    low, high = np.percentile(averages, (0, 100) if kind == "rounding" else _BAND)
    return float(low), float(high)


def _notes(run: Run, edition: str, setting: Setting, column: str, found: dict[str, float], runs: int) -> Iterator[str]:
    printed = printed_table()[setting, column]
    misprint = MISPRINTS.get((setting, column))
    if runs != PAPER_RUNS:
        yield f"over {runs} runs, not {PAPER_RUNS}"
    if edition == "exact":
        yield equality_note(found, printed, misprint.which if misprint else None)
        rounds = setting.train_length == _ROUNDING_LENGTH and run.precision(edition) == "float32"
        if rounds and _differing(found, setting, column):
            yield "length 8 is decided by rounding in float32"
    if misprint:
        yield misprint.note(printed)


def _differing(found: dict[str, float], setting: Setting, column: str) -> tuple[str, ...]:
    """Return which of avg, min and max do not equal the printed digits, a misprint apart."""
    printed, misprint = printed_table()[setting, column], MISPRINTS.get((setting, column))
    return differing(found, printed, misprint.which if misprint else None)


def equality_note(found: dict[str, float], printed: Printed, misprinted: str | None = None) -> str:
    """Say which of avg, min and max equal the printed digits; a misprinted one is left to its own note.

    >>> equality_note({"avg": 69.2, "min": 64.0, "max": 77.33}, Printed("69.2", "6.04", "77.3"), "min")
    'avg and max equal to the printed digit'
    >>> equality_note({"avg": 69.3, "min": 64.0, "max": 77.33}, Printed("69.2", "64.0", "77.3"))
    'avg 69.3 (printed 69.2) differs'
    """
    compared = [which for which in found if which != misprinted]
    off = [
        f"{which} {found[which]:.1f} (printed {getattr(printed, which)})"
        for which in differing(found, printed, misprinted)
    ]
    if off:
        return f"{_listed(off)} {'differs' if len(off) == 1 else 'differ'}"
    return "equal to the printed digit" if misprinted is None else f"{_listed(compared)} equal to the printed digit"


def differing(found: dict[str, float], printed: Printed, misprinted: str | None = None) -> tuple[str, ...]:
    """Return which of avg, min and max do not equal the printed digits; a misprinted one is left out."""
    return tuple(
        which
        for which, value in found.items()
        if which != misprinted and not printed_digit_matches(value, getattr(printed, which))
    )


def _listed(words: list[str]) -> str:
    """Join words as a sentence does."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
