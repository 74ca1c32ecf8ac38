"""Table 2 as CSV for a program, Markdown for a reader and LaTeX for a paper."""

import csv
import io

from tallystick.errors import printable
from tallystick.reports import layout
from tallystick.reports.reading import Run
from tallystick.reports.settings import COLUMN_TITLES, Setting
from tallystick.reports.table import Row

CSV_COLUMNS = (
    *("edition", "classification", "bias", "train_length", "column", "avg", "min", "max", "ensemble_mean"),
    *("band_low", "band_high", "paper_avg", "paper_min", "paper_max", "inside", "note"),
)


def as_csv(rows: list[Row]) -> str:
    """Return one line an entry; the paper's numbers as printed, ours to four decimals."""
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
    """Return one table an edition in the paper's layout, the paper's numbers and the band beside each entry."""
    parts = ["# Table 2: accuracy in percent\n"]
    for edition in run.editions:
        parts.append(f"## {_markdown(layout.heading(run, edition))}\n")
        parts.append(_markdown_table(rows, edition))
        parts.append("\n".join(f"- {_markdown(sentence)}" for sentence in layout.legend(run, rows, edition)) + "\n")
        notes = layout.remarks(rows, edition)
        if notes:
            parts.append("Notes:\n\n" + "\n".join(f"- {_markdown(note)}" for note in notes) + "\n")
    return "\n".join(parts)


def _markdown_table(rows: list[Row], edition: str) -> str:
    titles = [f"{title} | paper | band, mean" for title in COLUMN_TITLES.values()]
    lines = [f"| setting | length | {' | '.join(titles)} |", "| --- | ---: |" + " --- | --- | --- |" * len(titles)]
    for setting, entries in layout.lines(rows, edition):
        cells = [
            " | ".join(map(_markdown, (layout.entry(row), layout.paper_entry(row), _band_and_mean(row))))
            for row in layout.columns_of(entries)
        ]
        lines.append(f"| {_markdown(str(setting.group))} | {setting.train_length} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _band_and_mean(row: Row) -> str:
    return ", ".join(part for part in (layout.band_entry(row), layout.mean_entry(row)) if part)


def as_latex(run: Run, rows: list[Row]) -> str:
    r"""Return one table an edition, to be read with `\input`; needs `booktabs` and nothing else."""
    parts = [
        r"% Table 2 of the paper, reproduced by tallystick. Needs \usepackage{booktabs}; read it with \input{table2}."
    ]
    return "\n".join(parts + [_latex_table(run, rows, edition) for edition in run.editions])


def _latex_table(run: Run, rows: list[Row], edition: str) -> str:
    body: list[str] = []
    previous: Setting | None = None
    for setting, entries in layout.lines(rows, edition):
        if previous is not None:
            body.append(r"\midrule" if setting.group != previous.group else r"\addlinespace")
        body += _latex_lines(setting, layout.columns_of(entries))
        previous = setting
    caption = " ".join([layout.heading(run, edition) + ".", *layout.legend(run, rows, edition)])
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


def _latex_lines(setting: Setting, entries: list[Row]) -> list[str]:
    """Return a setting's three lines: ours, the paper's, the band."""
    ours = " & ".join(_latex(layout.entry(row)) for row in entries)
    paper = " & ".join(rf"\textit{{{_latex(layout.paper_entry(row))}}}" for row in entries)
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
