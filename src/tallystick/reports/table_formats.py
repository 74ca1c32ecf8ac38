"""Table 2 in five forms: for the terminal, as CSV for a program, as Markdown for a reader, as LaTeX for a paper, as HTML."""

import csv
import io
from collections.abc import Iterable
from html import escape

import numpy as np
import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tallystick.errors import printable
from tallystick.reports import paper, table
from tallystick.reports.findings import number_text
from tallystick.reports.paper import COLUMN_TITLES, PaperSetting
from tallystick.reports.reading import Run, Values, further_columns, values
from tallystick.reports.table import Row

CSV_COLUMNS = (
    *("edition", "classification", "bias", "train_length", "column", "avg", "min", "max", "ensemble_mean"),
    *("band_low", "band_high", "paper_avg", "paper_min", "paper_max", "inside", "note"),
)

FIRST = ' class="first"'
"""Marks the first row of a group in a table of the page."""

_WIDTH, _HEIGHT, _BINS = 120, 22, 40
_EDGES = np.linspace(0, 100, _BINS + 1)
_TEXT = {"length": 6, "tokens": 6, "avg (min/max)": 17, "the paper's": 17, "band of chance": 18, "mean": 5}
"""The columns of the table for the terminal, each with its width."""

FURTHER_LEGEND = "Further columns: the median over seeds, and the range of the middle 90 %."
SPARKLINES = (
    "Below each entry: how the accuracies of all models are spread, from 0 to 100 %, with a line at the average of the runs "
    "and a blue one at the paper's."
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


def _text_table(run: Run, rows: list[Row], edition: str) -> RenderableType:
    """Return one line per entry, in blocks of one kind of network: this fits 80 columns, which the paper's layout does not."""
    blocks: dict[str, Table] = {}
    for setting, entries in table.lines(rows, edition).items():
        twice = ", softmax twice" if setting.task == "ternary" and table.has_published_ternary(run, edition) else ""
        shown = blocks.setdefault(f"{setting.group}{twice}", _text_block(has_header=not blocks))
        for number, row in enumerate(entries):
            shown.add_row("" if number else str(setting.train_length), *_text_cells(row))
    return Group(*(part for name, shown in blocks.items() for part in (Text(name, style="bold"), shown)))


def _text_block(*, has_header: bool) -> Table:
    shown = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold",
        show_header=has_header,
        width=sum(_TEXT.values()) + 10,
    )
    for title, width in _TEXT.items():
        shown.add_column(title, no_wrap=True, width=width, justify="right" if title == "length" else "left")
    return shown


def _text_horizons(run: Run, edition: str) -> Table:
    shown = Table("Horizon", "even lengths", "all lengths", pad_edge=False, show_edge=False, header_style="bold")
    for setting in run.of_edition(edition):
        found = table.horizons_of(run, edition, setting)
        shown.add_row(str(setting), *(str(found[name]) if name in found else "" for name in ("even", "all")))
    return shown


def _text_cells(row: Row) -> list[Text]:
    """Return an entry's strings, our numbers, the paper's, the band, and the ensemble's mean."""
    return [
        Text(COLUMN_TITLES[row.column].removesuffix(" tokens").lower()),
        Text(table.entry(row)),
        Text(table.paper_entry(row), style="cyan"),
        Text(table.band_entry(row), style={True: "green", False: "red", None: "dim"}[row.inside]),
        Text(table.mean_entry(row).removeprefix("mean "), style="dim"),
    ]


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


def as_html(run: Run, rows: list[Row], edition: str) -> str:
    """Return one edition's table as a part of the page, with its heading, legend and notes."""
    with_horizons = table.has_horizons(run)
    titles = ("Setting", "Length", *COLUMN_TITLES.values(), *([table.HORIZON_TITLE] if with_horizons else []))
    body: list[str] = []
    previous: paper.Group | None = None
    for setting, entries in table.lines(rows, edition).items():
        first = FIRST if setting.group != previous else ""
        models = run.of_edition(edition)[setting]
        cells = "".join(f"<td>{_html_cell(row)}{_distribution(row, models)}</td>" for row in entries)
        if with_horizons:
            cells += f"<td>{'<br>'.join(map(escape, table.horizon_lines(run, edition, setting)))}</td>"
        body.append(f"<tr{first}><td>{escape(str(setting.group))}</td><td>{setting.train_length}</td>{cells}</tr>")
        previous = setting.group
    legend = [*table.legend(run, rows, edition), *([table.HORIZON_LEGEND] if with_horizons else []), SPARKLINES]
    return "\n".join(
        [
            f"<h3>{escape(table.heading(run, edition))}</h3>",
            f'<p class="soft">{escape(" ".join(legend))}</p>',
            html_table(map(escape, titles), body),
            _html_notes(table.remarks(rows, edition)),
            *_html_further(run, edition),
        ]
    )


def _html_cell(row: Row) -> str:
    standing = {True: "inside", False: "outside", None: "mean"}[row.inside]
    mean = table.mean_entry(row)
    return (
        f"{escape(table.entry(row))}<br>"
        f'<span class="paper">paper {escape(table.paper_entry(row))}</span><br>'
        f'<span class="{standing}">{escape(table.band_entry(row))}</span>'
        + (f'<span class="mean">, {escape(mean)}</span>' if mean else "")
    )


def _distribution(row: Row, models: pl.DataFrame) -> str:
    label = f"{row.setting}, {COLUMN_TITLES[row.column]}"
    return "<br>" + sparkline(values(models, f"accuracy_{row.column}"), row.avg, float(row.printed.avg), label)


def _html_further(run: Run, edition: str) -> list[str]:
    """Return a table of the columns that the paper has nothing beside, where there are any."""
    columns = further_columns(run)
    if not columns:
        return []
    rows = [
        f"<tr><td>{escape(str(setting.group))}</td><td>{setting.train_length}</td>"
        + "".join(f"<td>{_spread(values(models, column.name))}</td>" for column in columns)
        + "</tr>"
        for setting, models in run.of_edition(edition).items()
    ]
    titles = ("Setting", "Length", *(column.title or column.name for column in columns))
    return [f'<p class="soft">{escape(FURTHER_LEGEND)}</p>', html_table(map(escape, titles), rows)]


def _spread(numbers: Values) -> str:
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return "–"
    low, median, high = map(number_text, np.percentile(known, (5, 50, 95)))
    return f"{median} ({low} to {high})"


def _html_notes(sentences: list[str]) -> str:
    if not sentences:
        return ""
    return '<ul class="notes">' + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def html_table(titles: Iterable[str], rows: Iterable[str]) -> str:
    """Return a table that scrolls where it is too wide; titles and rows are HTML already."""
    head, body = "".join(f"<th>{title}</th>" for title in titles), "\n".join(rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def sparkline(percentages: Values, average: float, printed: float, label: str) -> str:
    """Draw how many models have which accuracy, from 0 to 100 %, with a line at our average and one at the paper's."""
    counts, _ = np.histogram(np.clip(percentages, 0, 100), _EDGES)
    low, high = (_short(percentage) for percentage in (percentages.min(), percentages.max()))
    text = escape(f"{label}: {len(percentages):,} models, from {low} to {high} %")
    return (
        f'<svg class="spark" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{text}"><title>{text}</title>'
        f'<path class="bars" d="{_bars(counts)}"/>{_line("ours", average)}{_line("printed", printed)}</svg>'
    )


def _bars(counts: np.ndarray) -> str:
    """One path for all bars; the least of them can still be seen."""
    wide, heights = _WIDTH / _BINS, np.ceil(counts / counts.max() * (_HEIGHT - 2))
    return "".join(
        f"M{_short(place * wide)} {_HEIGHT}v-{int(height)}h{_short(wide)}v{int(height)}z"
        for place, height in enumerate(heights)
        if height
    )


def _line(style: str, percentage: float) -> str:
    x = _short(percentage / 100 * _WIDTH)
    return f'<path class="{style}" d="M{x} 0V{_HEIGHT}"/>'


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
