"""All that is drawn from a run directory, in the order a reader meets it."""

import json
from pathlib import Path

from tallystick.files import write_whole
from tallystick.reports import claims, drawing, table_files
from tallystick.reports.claims import Account
from tallystick.reports.figure_indicators import draw_indicators
from tallystick.reports.figure_paths import draw_paths
from tallystick.reports.figure_precision import draw_precision, has_both_precisions
from tallystick.reports.figure_regions import draw_regions
from tallystick.reports.membership import networks
from tallystick.reports.page import page
from tallystick.reports.reading import Run, read_run
from tallystick.reports.table import table

_FIGURES = tuple(f"{name}.{form}" for name in ("figure1", "regions", "paths", "precision") for form in drawing.FORMATS)
REPORT_FILES = ("table2.csv", "table2.md", "table2.tex", *_FIGURES, "claims.json", "report.html")


def write_report(directory: Path) -> list[Path]:
    """Draw the table, the figures, the claims and the page from a run directory, and write them into it.

    Nothing is written unless everything could be drawn; each file is then written whole. Files of an earlier report are
    replaced. Returns the paths written, in the order of `REPORT_FILES`.
    """
    run = read_run(directory)
    rows = table(run)
    by_edition = {edition: claims.accounts(run, edition) for edition in run.editions}
    figures = _figures(run)
    contents = {
        "table2.csv": table_files.as_csv(rows).encode(),
        "table2.md": table_files.as_markdown(run, rows).encode(),
        "table2.tex": table_files.as_latex(run, rows).encode(),
        **figures,
        "claims.json": _claims_json(by_edition, run.main_edition),
        "report.html": page(run, rows, by_edition, figures).encode(),
    }
    return [_written(directory / name, content) for name, content in contents.items()]


def _written(path: Path, content: bytes) -> Path:
    write_whole(path, lambda temporary: temporary.write_bytes(content))
    return path


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


def _claims_json(by_edition: dict[str, list[Account]], main: str) -> bytes:
    document = claims.as_json(by_edition, main)
    return (json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
