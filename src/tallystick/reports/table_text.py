"""Table 2 for the terminal."""

from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tallystick.reports import layout
from tallystick.reports.horizons import LEGEND, has_horizons, horizons_of
from tallystick.reports.reading import Run, read_run
from tallystick.reports.settings import COLUMN_TITLES, Setting
from tallystick.reports.table import Row, table


def table_text(directory: Path) -> RenderableType:
    """Return the table of a run directory in the paper's layout, one block an edition."""
    run = read_run(directory)
    rows = table(run)
    blocks: list[RenderableType] = []
    for edition in run.editions:
        blocks += [Text(layout.heading(run, edition), style="bold"), _table(run, rows, edition)]
        blocks += [Text(sentence) for sentence in layout.legend(run, rows, edition)]
        blocks += [Text(f"- {note}", style="dim") for note in layout.remarks(rows, edition)]
        if has_horizons(run):
            blocks += [Text(), _horizons(run, edition), Text(LEGEND)]
        blocks.append(Text())
    return Group(*blocks)


def _table(run: Run, rows: list[Row], edition: str) -> Table:
    shown = Table(pad_edge=False, show_edge=False, header_style="bold")
    shown.add_column("Setting")
    for title in COLUMN_TITLES.values():
        shown.add_column(title, no_wrap=True)
    lines = list(layout.lines(rows, edition))
    for number, (setting, entries) in enumerate(lines):
        last = number + 1 == len(lines) or lines[number + 1][0].group != setting.group
        cells = [_cell(row) for row in layout.columns_of(entries)]
        shown.add_row(_name(setting, layout.ternary_is_published(run, edition)), *cells, end_section=last)
    return shown


def _horizons(run: Run, edition: str) -> Table:
    shown = Table("Horizon", "even lengths", "all lengths", pad_edge=False, show_edge=False, header_style="bold")
    for setting in run.of_edition(edition):
        found = horizons_of(run, edition, setting)
        shown.add_row(str(setting), *(str(found[name]) if name in found else "" for name in ("even", "all")))
    return shown


def _name(setting: Setting, published: bool) -> Text:
    name = Text(f"{setting.group}\nlength {setting.train_length}")
    if setting.task == "ternary" and published:
        name.append("\nsoftmax twice", style="dim")
    return name


def _cell(row: Row) -> Text:
    """Return an entry's three lines: ours, the paper's, the band with the ensemble's mean."""
    cell = Text(f"{layout.entry(row)}\n")
    cell.append(f"paper {layout.paper_entry(row)}\n", style="cyan")
    cell.append(layout.band_entry(row), style={True: "green", False: "red", None: "dim"}[row.inside])
    mean = layout.mean_entry(row)
    return cell.append(f", {mean}", style="dim") if mean else cell
