"""All that is drawn from a run directory, in the order a reader meets it."""

import json
from dataclasses import dataclass
from pathlib import Path

from tallystick.files import write_whole
from tallystick.reports import claims, drawing, table_formats
from tallystick.reports.figure_histograms import draw_indicators, draw_precision, has_both_precisions
from tallystick.reports.figure_paths import draw_paths
from tallystick.reports.figure_regions import draw_regions, networks
from tallystick.reports.page import page
from tallystick.reports.reading import Run, read_run
from tallystick.reports.table import Row, table_rows

_FIGURES = tuple(f"{name}.{form}" for name in ("figure1", "regions", "paths", "precision") for form in drawing.FORMATS)
REPORT_FILES = ("table2.csv", "table2.md", "table2.tex", *_FIGURES, "claims.json", "report.html")


@dataclass(frozen=True)
class RunReport:
    """What was read from a run directory, the rows of Table 2 made of it, and the files written, as `REPORT_FILES` has them."""

    run: Run
    rows: list[Row]
    files: list[Path]


def write_report(directory: Path) -> RunReport:
    """Draw the table, the figures, the claims and the page from a run directory, and write them into it.

    The run is read once. Nothing is written unless everything could be drawn; each file is then written whole. Files of an
    earlier report are replaced.
    """
    run = read_run(directory)
    rows = table_rows(run)
    by_edition = {edition: claims.accounts(run, edition) for edition in run.editions}
    claims_json = json.dumps(
        claims.as_json(by_edition, run.main_edition), ensure_ascii=False, indent=1, allow_nan=False
    )
    figures = _figures(run)
    contents = {
        "table2.csv": table_formats.as_csv(rows).encode(),
        "table2.md": table_formats.as_markdown(run, rows).encode(),
        "table2.tex": table_formats.as_latex(run, rows).encode(),
        **figures,
        "claims.json": f"{claims_json}\n".encode(),
        "report.html": page(run, rows, by_edition, figures).encode(),
    }
    for name, content in contents.items():
        write_whole(directory / name, lambda temporary, content=content: temporary.write_bytes(content))
    return RunReport(run, rows, [directory / name for name in contents])


def _figures(run: Run) -> dict[str, bytes]:
    """Draw each figure the run has the models for."""
    drawn = drawing.files("figure1", lambda: draw_indicators(run))
    if networks(run):
        drawn |= drawing.files("regions", lambda: draw_regions(run))
    if not run.paths.is_empty():
        drawn |= drawing.files("paths", lambda: draw_paths(run))
    if has_both_precisions(run):
        drawn |= drawing.files("precision", lambda: draw_precision(run))
    return drawn
