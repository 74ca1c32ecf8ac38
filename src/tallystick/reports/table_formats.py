"""Table 2 in four forms: for the terminal, as CSV for a program, as Markdown for a reader, and as LaTeX for a paper."""

import csv
import io

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tallystick.errors import printable
from tallystick.reports import table
from tallystick.reports.paper import COLUMN_TITLES, PaperSetting
from tallystick.reports.reading import Run
from tallystick.reports.table import Row

CSV_COLUMNS = (
    *("edition", "classification", "bias", "train_length", "column", "avg", "min", "max", "ensemble_mean"),
    *("band_low", "band_high", "paper_avg", "paper_min", "paper_max", "inside", "note"),
)


def as_text(run: Run, rows: list[Row]) -> RenderableType:
    """Return one block per edition in the paper's layout, for the terminal."""
    blocks: list[RenderableType] = []
    for edition in run.editions:
        blocks += [Text(table.heading(run, edition), style="bold"), _text_table(run, rows, edition)]
        blocks += [Text(sentence) for sentence in table.legend(run, rows, edition)]
        blocks += [Text(f"- {note}", style="dim") for note in table.remarks(rows, edition)]
        if table.has_horizons(run):
            blocks += [Text(), _text_horizons(run, edition), Text(table.HORIZON_LEGEND)]
        blocks.append(Text())
    return Group(*blocks)


def _text_table(run: Run, rows: list[Row], edition: str) -> Table:
    shown = Table(pad_edge=False, show_edge=False, header_style="bold")
    shown.add_column("Setting")
    for title in COLUMN_TITLES.values():
        shown.add_column(title, no_wrap=True)
    lines = list(table.lines(rows, edition).items())
    for number, (setting, entries) in enumerate(lines):
        last = number + 1 == len(lines) or lines[number + 1][0].group != setting.group
        cells = [_text_cell(row) for row in entries]
        shown.add_row(_text_name(setting, table.has_published_ternary(run, edition)), *cells, end_section=last)
    return shown


def _text_horizons(run: Run, edition: str) -> Table:
    shown = Table("Horizon", "even lengths", "all lengths", pad_edge=False, show_edge=False, header_style="bold")
    for setting in run.of_edition(edition):
        found = table.horizons_of(run, edition, setting)
        shown.add_row(str(setting), *(str(found[name]) if name in found else "" for name in ("even", "all")))
    return shown


def _text_name(setting: PaperSetting, published: bool) -> Text:
    name = Text(f"{setting.group}\nlength {setting.train_length}")
    if setting.task == "ternary" and published:
        name.append("\nsoftmax twice", style="dim")
    return name


def _text_cell(row: Row) -> Text:
    """Return an entry's three lines: ours, the paper's, the band with the ensemble's mean."""
    cell = Text(f"{table.entry(row)}\n")
    cell.append(f"paper {table.paper_entry(row)}\n", style="cyan")
    cell.append(table.band_entry(row), style={True: "green", False: "red", None: "dim"}[row.inside])
    mean = table.mean_entry(row)
    return cell.append(f", {mean}", style="dim") if mean else cell


def as_csv(rows: list[Row]) -> str:
    """Return one line per entry; the paper's numbers as printed, ours to four decimals."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows(_csv_line(row) for row in rows)
    return text.getvalue()


def _csv_line(row: Row) -> list[str]:
    low, high = row.band or (None, None)
    numbers = [row.avg, row.min, row.max, row.ensemble_mean, low, high]
    inside = "" if row.inside is None else str(row.inside).lower()
    return [
        row.edition,
        row.setting.task,
        str(row.setting.bias).lower(),
        str(row.setting.train_length),
        row.column,
        *("" if number is None else f"{number:.4f}" for number in numbers),
        *row.printed,
        inside,
        row.note,
    ]


def as_markdown(run: Run, rows: list[Row]) -> str:
    """Return one table per edition in the paper's layout, the paper's numbers and the band beside each entry."""
    parts = ["# Table 2: accuracy in percent\n"]
    for edition in run.editions:
        parts.append(f"## {_markdown(table.heading(run, edition))}\n")
        parts.append(_markdown_table(rows, edition))
        parts.append("\n".join(f"- {_markdown(sentence)}" for sentence in table.legend(run, rows, edition)) + "\n")
        notes = table.remarks(rows, edition)
        if notes:
            parts.append("Notes:\n\n" + "\n".join(f"- {_markdown(note)}" for note in notes) + "\n")
    return "\n".join(parts)


def _markdown_table(rows: list[Row], edition: str) -> str:
    titles = [f"{title} | paper | band, mean" for title in COLUMN_TITLES.values()]
    lines = [f"| setting | length | {' | '.join(titles)} |", "| --- | ---: |" + " --- | --- | --- |" * len(titles)]
    for setting, entries in table.lines(rows, edition).items():
        cells = [
            " | ".join(map(_markdown, (table.entry(row), table.paper_entry(row), _band_and_mean(row))))
            for row in entries
        ]
        lines.append(f"| {_markdown(str(setting.group))} | {setting.train_length} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _band_and_mean(row: Row) -> str:
    return ", ".join(part for part in (table.band_entry(row), table.mean_entry(row)) if part)


def as_latex(run: Run, rows: list[Row]) -> str:
    r"""Return one table per edition, to be read with `\input`; needs `booktabs` and nothing else."""
    parts = [
        r"% Table 2 of the paper, reproduced by tallystick. Needs \usepackage{booktabs}; read it with \input{table2}."
    ]
    return "\n".join(parts + [_latex_table(run, rows, edition) for edition in run.editions])


def _latex_table(run: Run, rows: list[Row], edition: str) -> str:
    body: list[str] = []
    previous: PaperSetting | None = None
    for setting, entries in table.lines(rows, edition).items():
        if previous is not None:
            body.append(r"\midrule" if setting.group != previous.group else r"\addlinespace")
        body += _latex_lines(setting, entries)
        previous = setting
    caption = " ".join([table.heading(run, edition) + ".", *table.legend(run, rows, edition)])
    titles = " & ".join(COLUMN_TITLES.values())
    return "\n".join(
        [
            r"\begin{table}[htbp]\centering\footnotesize",
            r"\begin{tabular}{@{}llllll@{}}",
            r"\toprule",
            rf"Classification & Length & & {titles} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_latex(caption)}}}",
            rf"\label{{tab:table2-{edition}}}",
            r"\end{table}",
            "",
        ]
    )


def _latex_lines(setting: PaperSetting, entries: list[Row]) -> list[str]:
    """Return a setting's three lines: ours, the paper's, the band."""
    ours = " & ".join(_latex(table.entry(row)) for row in entries)
    paper = " & ".join(rf"\textit{{{_latex(table.paper_entry(row))}}}" for row in entries)
    band = " & ".join(_latex(_band_and_mean(row)) for row in entries)
    return [
        rf"{_latex(str(setting.group).capitalize())} & {setting.train_length} & ours & {ours} \\",
        rf" & & \textit{{paper}} & {paper} \\",
        rf" & & band & {band} \\",
    ]


_LATEX = str.maketrans(
    {
        **{character: "\\" + character for character in "&%#_${}"},
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "–": "--",
        "−": "$-$",
    }
)
_MARKDOWN = str.maketrans({character: "\\" + character for character in "\\`*_[]<>#|"})


def _latex(text: str) -> str:
    """Escape text for LaTeX."""
    return printable(text).translate(_LATEX)


def _markdown(text: str) -> str:
    """Escape text for Markdown, in a table or out of it."""
    return printable(text).translate(_MARKDOWN)
