"""Table 2 in the paper's layout: settings down, columns across, and the words each entry is written with."""

from collections.abc import Iterator

from tallystick.reports.reading import Run
from tallystick.reports.settings import BANDS, COLUMNS, DOUBLED_SOFTMAX, EDITIONS, Setting
from tallystick.reports.table import Row, inside_count

_ALL = 100.0


def shown(value: float) -> str:
    """Write a percentage as the paper does: one decimal, and 100 without one.

    >>> shown(66.666), shown(99.96), shown(99.94)
    ('66.7', '100', '99.9')
    """
    text = f"{value:.1f}"
    return "100" if text == f"{_ALL:.1f}" else text


def entry(row: Row) -> str:
    """Return this edition's ten runs as `avg (min/max)`."""
    return f"{shown(row.avg)} ({shown(row.min)}/{shown(row.max)})"


def paper_entry(row: Row) -> str:
    """Return the paper's `avg (min/max)`, as printed."""
    return f"{row.printed.avg} ({row.printed.min}/{row.printed.max})"


def band_entry(row: Row) -> str:
    """Return where the paper's average lies: `inside 66.2–72.9`, `outside …`, or a dash where no band was made."""
    if row.band is None:
        return "–"
    return f"{'inside' if row.inside else 'outside'} {shown(row.band[0])}–{shown(row.band[1])}"


def mean_entry(row: Row) -> str:
    """Return the ensemble's mean, or nothing where there are no more than the ten runs."""
    return "" if row.ensemble_mean is None else f"mean {shown(row.ensemble_mean)}"


def lines(rows: list[Row], edition: str) -> Iterator[tuple[Setting, dict[str, Row]]]:
    """Go through the settings of one edition, each with its entries by column."""
    found: dict[Setting, dict[str, Row]] = {}
    for row in rows:
        if row.edition == edition:
            found.setdefault(row.setting, {})[row.column] = row
    yield from found.items()


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
    if ternary_is_published(run, edition):
        sentences.append(DOUBLED_SOFTMAX)
    return sentences


def ternary_is_published(run: Run, edition: str) -> bool:
    """Say whether this edition's ternary models were trained by the published method, softmax twice."""
    return not run.models.filter(edition=edition, task="ternary", method="published").is_empty()


def remarks(rows: list[Row], edition: str) -> list[str]:
    """Return the notes of one edition, each with the entry it belongs to, but for plain equality."""
    return [
        f"{row.setting}, {row.column if row.column == 'train' else row.column + ' tokens'}: {row.note}."
        for row in rows
        if row.edition == edition and row.note not in ("", "equal to the printed digit")
    ]


def columns_of(entries: dict[str, Row]) -> list[Row]:
    """Return a setting's entries in the order of the columns."""
    return [entries[column] for column in COLUMNS]
