"""The command that sets cells and methods side by side."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cli.output import Cluster, Force, Json, make_folder, refuse_existing, rows_table, show, show_json
from tallystick.errors import BadInput
from tallystick.files import write_text, write_whole

if TYPE_CHECKING:
    from tallystick.experiments.comparison import Comparison
    from tallystick.training.gated.setting import GatedSetting
    from tallystick.training.setting import Setting

# JAX, polars and matplotlib take a second to load, so they are imported when the command is called.
# ruff: noqa: PLC0415

FILES = ("compare.csv", "compare.md", "compare.png", "compare.pdf", "compare.svg")


def compare(
    seeds: Annotated[int, typer.Option(help="How many networks of each scalar cell.")] = 10_000,
    gated_seeds: Annotated[int, typer.Option(help="How many GRUs and LSTMs of each kind.")] = 100,
    seed: Annotated[int, typer.Option(help="Draws the order of the training strings, and the test strings.")] = 0,
    cell: Annotated[str | None, typer.Option(help="Only this cell.")] = None,
    method: Annotated[str | None, typer.Option(help="Only this method.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write compare.csv, compare.md and compare.png, .pdf and .svg there."),
    ] = None,
    cluster: Cluster = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Train every method and cell, and say how many seeds count exactly, how many are proved, and how far the others hold.

    Example: tallystick compare --cell linear --seeds 1000
    """
    from tallystick.experiments.comparison import default_gated_settings, default_settings
    from tallystick.reports.comparison import HEADINGS, as_cells, as_record

    wanted = [(setting, setting.method, seeds) for setting in default_settings()]
    wanted += [(setting, setting.taught.method, gated_seeds) for setting in default_gated_settings()]
    settings = [(s, size) for s, name, size in wanted if cell in (None, s.cell) and method in (None, name)]
    if not settings:
        raise BadInput(f"cell: nothing is compared that has the cell {cell!r} and the method {method!r}")
    if out is not None:
        make_folder(out)
        for name in FILES:
            refuse_existing(out / name, force=force)
    rows = _compared(settings, seed, cluster)
    if out is not None:
        _write(out, rows)
    if as_json:
        show_json({"seed": seed, "rows": [as_record(row) for row in rows]})
    else:
        show(rows_table([dict(zip(HEADINGS.values(), as_cells(row), strict=True)) for row in rows]))


def _compared(
    settings: "list[tuple[Setting | GatedSetting, int]]", seed: int, cluster: str | None
) -> "list[Comparison]":
    """Compare the settings, on this machine one after another, on a cluster as many at a time as it has workers."""
    from tallystick.experiments.cluster import workers_named
    from tallystick.experiments.comparison import compare as compared
    from tallystick.reports.comparison import described

    def tell(place: int) -> None:
        sys.stderr.write(" · ".join(described(settings[place][0])) + "\n")

    rows: dict[int, Comparison] = {}
    if cluster is None:
        for place, (setting, size) in enumerate(settings):
            tell(place)
            rows[place] = compared(setting, size, seed)
        return list(rows.values())

    def take(place: int, row: "Comparison") -> None:
        tell(place)
        rows[place] = row

    with workers_named(cluster) as workers:
        workers.each(partial(compared, seed=seed), settings, take)
    return [rows[place] for place in range(len(settings))]


def _write(out: Path, rows: "list[Comparison]") -> None:
    from tallystick.reports import comparison, drawing
    from tallystick.reports.figure_comparison import draw_comparison

    write_text(comparison.as_csv(rows), out / "compare.csv")
    write_text(comparison.as_markdown(rows), out / "compare.md")
    for name, content in drawing.files("compare", lambda: draw_comparison(rows)).items():
        write_whole(out / name, lambda temporary, content=content: temporary.write_bytes(content))
