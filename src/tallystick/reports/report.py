"""All that is drawn from a run directory, in the order a reader meets it; and the page: one HTML file that loads nothing."""

import base64
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple, cast

from tallystick.errors import printable
from tallystick.files import write_whole
from tallystick.reports import claims, drawing, table_formats
from tallystick.reports.claims import Account
from tallystick.reports.figure_training import draw_indicators, draw_paths, draw_precision, has_both_precisions
from tallystick.reports.findings import RULE, Finding, Standing, judge, number_text
from tallystick.reports.paper import Group
from tallystick.reports.reading import Run, read_run
from tallystick.reports.regions import draw_regions, networks, regions_section
from tallystick.reports.table import Row, table_rows
from tallystick.reports.table_formats import FIRST, html_table

TITLE = "Bracket counting with linear recurrent networks: the paper's experiment, reproduced"
QUESTION = (
    "A network of one linear cell can count brackets exactly, and does so just when a/b = −1 and U = 1. "
    "El-Naggar, Madhyastha and Weyde (2023) trained ten networks a setting and found that training misses these "
    "conditions. What does the same training give over many more seeds, and how much of each printed number is chance, "
    "or rounding?"
)
_FIGURES = tuple(f"{name}.{form}" for name in ("figure1", "regions", "paths", "precision") for form in drawing.FORMATS)
REPORT_FILES = ("table2.csv", "table2.md", "table2.tex", *_FIGURES, "claims.json", "report.html")
_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


class Picture(NamedTuple):
    """A figure as the page shows it: its file, what it shows, and the words for those who cannot see it."""

    title: str
    file: str
    caption: str


PICTURES = (
    Picture(
        "Figure 1: the indicators after training",
        "figure1.svg",
        "a/b and U after training, by task, bias and training length. The dashed line is the theorem's condition, the "
        "triangle the median. Each histogram is scaled to its own peak; shares cut off are written at the edge.",
    ),
    # Thousands of line segments: smaller, and quicker to show, as pixels.
    Picture(
        "The paths of (a/b, U) during training",
        "paths.png",
        "Each line is one seed, from its initial weights (hollow) to its trained ones (filled); the cross is (−1, 1).",
    ),
    Picture(
        "Single against double precision",
        "precision.svg",
        "Ternary, training length 8: accuracy over seeds in float32 and in float64, the paper's ten-run average dashed.",
    ),
)
# It has a section of its own.
REGIONS = Picture(
    "The regions and the trained networks",
    "regions.svg",
    "The plane (a/b, U). Shaded, from light to dark: right on all strings up to length 2, 4, 8, 16 and 32. Dots: trained "
    "networks, by training length; the cross is the exact counter, (−1, 1). The lower row enlarges the framed part.",
)


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
    with ThreadPoolExecutor() as pool:  # NumPy resamples outside Python's lock, which matplotlib holds
        accounts = {edition: pool.submit(claims.accounts, run, edition) for edition in run.editions}
        figures = _figures(run)
    by_edition = {edition: account.result() for edition, account in accounts.items()}
    claims_json = json.dumps(
        claims.as_json(by_edition, run.main_edition), ensure_ascii=False, indent=1, allow_nan=False
    )
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


def page(run: Run, rows: list[Row], by_edition: Mapping[str, list[Account]], drawn: Mapping[str, bytes]) -> str:
    """Return the whole page; `drawn` holds the figures by file name, and those that were not drawn are left out."""
    template = Template((files("tallystick.reports") / "page_template.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(TITLE),
        question=escape(QUESTION),
        claims=_claims(run, by_edition),
        table="\n".join(table_formats.as_html(run, rows, edition) for edition in run.editions),
        regions_link='<a href="#regions">The regions</a>' if REGIONS.file in drawn else "",
        regions=regions_section(run, figure_html(REGIONS, drawn[REGIONS.file])) if REGIONS.file in drawn else "",
        figures="\n".join(figure_html(picture, drawn[picture.file]) for picture in PICTURES if picture.file in drawn),
        made=_provenance(run),
    )


def figure_html(picture: Picture, content: bytes) -> str:
    """Return a figure as HTML that loads nothing."""
    kind = _TYPES[picture.file.rpartition(".")[2]]
    source = f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
    return (
        f'<figure><h3>{escape(picture.title)}</h3><img src="{source}" alt="{escape(picture.caption)}">'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )


def _claims(run: Run, by_edition: Mapping[str, list[Account]]) -> str:
    main = run.main_edition
    editions = [main, *(edition for edition in by_edition if edition != main)]
    titles = ("", "Claim", *editions, f"Reason (edition {main})")
    body: list[str] = []
    for place, account in enumerate(by_edition[main]):
        verdicts = "".join(f"<td>{_verdict(by_edition[edition][place])}</td>" for edition in editions)
        reason = f"{escape(account.reason)}<br><span class='soft'>Decided by {escape(account.claim.decides)}.</span>"
        body.append(
            f"<tr><td>{account.claim.number}</td><td>{escape(account.claim.text)}</td>{verdicts}<td>{reason}</td></tr>"
        )
    numbers = "\n".join(
        _numbers([by_edition[edition][place] for edition in editions]) for place in range(len(by_edition[main]))
    )
    return f'{html_table(map(escape, titles), body)}<p class="soft">{escape(RULE)}</p>\n{numbers}'


def _verdict(account: Account) -> str:
    verdict = escape(account.verdict)
    return f'<span class="verdict {verdict}">{verdict}</span>'


def _numbers(accounts: list[Account]) -> str:
    """Return a claim's numbers in every edition, folded away."""
    tables = "\n".join(_numbers_table(account) for account in accounts)
    return f"<details><summary>The numbers behind claim {accounts[0].claim.number}</summary>\n{tables}\n</details>"


def _numbers_table(account: Account) -> str:
    body = [
        _number(group, finding, first=place == 0)
        for group, found in account.findings.items()
        for place, finding in enumerate(found)
    ]
    verdicts = ", ".join(f"{group} {judge(found)}" for group, found in account.findings.items())
    titles = ("Group", "Number", "Value", "95 % interval", "")
    return f"<h3>Edition {escape(account.edition)}: {escape(verdicts)}</h3>{html_table(titles, body)}"


def _number(group: Group, finding: Finding, *, first: bool) -> str:
    interval = "" if finding.interval is None else " to ".join(map(number_text, finding.interval))
    styles = {Standing.HOLDS: "supported", Standing.FAILS: "refuted", Standing.OPEN: "mixed", None: ""}
    cells = (str(group), finding.name, number_text(finding.value), interval)
    return (
        f"<tr{FIRST if first else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + f'<td class="{styles[finding.standing]}">{escape(finding.standing or "")}</td></tr>'
    )


def _provenance(run: Run) -> str:
    counts = {f"models, edition {edition}": f"{_size(run, edition):,}" for edition in run.editions}
    return f"{_pairs({**counts, **run.record})}\n<h3>config.toml</h3>\n<pre>{escape(run.config)}</pre>"


def _size(run: Run, edition: str) -> int:
    return sum(map(len, run.of_edition(edition).values()))


def _pairs(record: Mapping[str, object]) -> str:
    return (
        "<dl>" + "\n".join(f"<dt>{_text(key)}</dt><dd>{_value(value)}</dd>" for key, value in record.items()) + "</dl>"
    )


def _value(value: object) -> str:
    """Write a value of record.json, whatever it is."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return ", ".join(f"{_text(key)} {_value(inner)}" for key, inner in pairs)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_value(inner) for inner in cast("Sequence[object]", value))
    return _text(value)


def _text(value: object) -> str:
    """Write a name or a value as it stands in its file; a number of a million digits may stand there as 1e999999."""
    return escape(printable(str(value)))
