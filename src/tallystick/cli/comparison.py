"""The command that sets cells and methods side by side."""

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cli.output import (
    Cluster,
    Device,
    Force,
    Json,
    Resume,
    make_folder,
    refuse_existing,
    rows_table,
    show,
    show_json,
)
from tallystick.errors import BadInput
from tallystick.files import remove_partial, write_text, write_whole

if TYPE_CHECKING:
    from tallystick.runs.workers import Workers
    from tallystick.studies.compare import Comparison, KeptRows
    from tallystick.training.setting import Setting

# JAX, polars and matplotlib take a second to load, so they are imported when the command is called.
# ruff: noqa: PLC0415

FILES = ("compare.csv", "compare.md", "compare.png", "compare.pdf", "compare.svg")


def compare(
    seeds: Annotated[int, typer.Option(help="How many networks of each scalar cell.")] = 10_000,
    vector_seeds: Annotated[int, typer.Option(help="How many GRUs and LSTMs of each kind.")] = 100,
    seed: Annotated[int, typer.Option(help="Draws the order of the training strings, and the test strings.")] = 0,
    cell: Annotated[str | None, typer.Option(help="Only this cell.")] = None,
    method: Annotated[str | None, typer.Option(help="Only this method.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write compare.csv, compare.md and compare.png, .pdf and .svg there."),
    ] = None,
    cluster: Cluster = None,
    device: Device = "auto",
    resume: Resume = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Train every method and cell, and say how many seeds count exactly, how many are proved, and how far the others hold.

    Example: tallystick compare --cell linear --seeds 1000
    """
    from tallystick.runs.cluster import workers_named
    from tallystick.runs.lock import at_work_in
    from tallystick.studies.compare import check_comparison, default_settings, default_vector_settings
    from tallystick.studies.compare import compare as compared
    from tallystick.studies.comparison_table import HEADINGS, as_cells, as_record

    check_comparison(seeds, vector_seeds, seed)
    wanted = [(setting, setting.method, seeds) for setting in default_settings()]
    wanted += [(setting, setting.method, vector_seeds) for setting in default_vector_settings()]
    settings = [(s, size) for s, name, size in wanted if cell in (None, s.cell) and method in (None, name)]
    if not settings:
        raise BadInput(f"cell: nothing is compared that has the cell {cell!r} and the method {method!r}")
    if out is not None:
        make_folder(out)
    elif resume:
        raise BadInput("resume: an interrupted comparison is gone on with where --out DIR has kept its rows")
    with nullcontext() if out is None else at_work_in(out), workers_named(cluster) as workers:
        kind = workers.device(device)
        kept = None if out is None else _kept_rows(out, settings, seed, kind, resume=resume, force=force)
        rows = _compared(settings, partial(compared, seed=seed, device=kind), workers if cluster else None, kept)
        if out is not None:
            _write(out, rows)
    if as_json:
        show_json({"seed": seed, "rows": [as_record(row) for row in rows]})
    else:
        show(rows_table([dict(zip(HEADINGS.values(), as_cells(row), strict=True)) for row in rows]))


def _kept_rows(
    out: Path,
    settings: "list[tuple[Setting, int]]",
    seed: int,
    device: str,
    *,
    resume: bool,
    force: bool,
) -> "KeptRows":
    """Return the rows that an interrupted comparison has left, if it is to be gone on with."""
    from tallystick.studies.compare import KEPT, KeptRows

    remove_partial(out, KEPT, *FILES)
    if resume and (out / KEPT).exists():
        return KeptRows(out, settings, seed, device).read()
    if os.path.lexists(out / KEPT) and not force:
        raise BadInput(f"{out / KEPT}: exists already; --resume goes on with it, --force starts anew")
    for name in FILES:
        refuse_existing(out / name, force=force)
    return KeptRows(out, settings, seed, device)


def _compared(
    settings: "list[tuple[Setting, int]]",
    compared: "Callable[[Setting, int], Comparison]",
    cluster: "Workers | None",
    kept: "KeptRows | None",
) -> "list[Comparison]":
    """Compare the settings, on this machine one after another, on a cluster as many at a time as it has workers."""
    from tallystick.studies.comparison_table import setting_words

    def tell(place: int) -> None:
        sys.stderr.write(" · ".join(setting_words(settings[place][0])) + "\n")

    rows: dict[int, Comparison] = {} if kept is None else dict(kept.rows)
    missing = [place for place in range(len(settings)) if place not in rows]

    def take(place: int, row: "Comparison") -> None:
        rows[place] = row
        if kept is not None:
            kept.add(place, row)

    def told_and_taken(number: int, row: "Comparison") -> None:
        tell(missing[number])
        take(missing[number], row)

    if cluster is None:
        for place in missing:
            tell(place)
            take(place, compared(*settings[place]))
    else:
        cluster.each(compared, [settings[place] for place in missing], told_and_taken)
    return [rows[place] for place in range(len(settings))]


def _write(out: Path, rows: "list[Comparison]") -> None:
    from tallystick.reports import drawing
    from tallystick.studies import comparison_table

    write_text(comparison_table.as_csv(rows), out / "compare.csv")
    write_text(comparison_table.as_markdown(rows), out / "compare.md")
    for name, content in drawing.files("compare", lambda: comparison_table.draw_comparison(rows)).items():
        write_whole(out / name, lambda temporary, content=content: temporary.write_bytes(content))
