"""The page: one HTML file that holds everything it shows and loads nothing."""

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import cast

import polars as pl

from tallystick.errors import printable
from tallystick.reports import table
from tallystick.reports.claims import Account
from tallystick.reports.findings import RULE, Finding, Standing, judge, number_text
from tallystick.reports.page_parts import (
    PICTURES,
    REGIONS,
    REGIONS_LINK,
    figure_html,
    html_table,
    regions_section,
    sparkline,
)
from tallystick.reports.paper import COLUMN_TITLES, Group
from tallystick.reports.reading import Run, values
from tallystick.reports.table import Row

TITLE = "Bracket counting with linear recurrent networks: the paper's experiment, reproduced"
QUESTION = (
    "A network of one linear cell can count brackets exactly, and does so just when a/b = −1 and U = 1. "
    "El-Naggar, Madhyastha and Weyde (2023) trained ten networks a setting and found that training misses these "
    "conditions. What does the same training give over many more seeds, and how much of each printed number is chance, "
    "or rounding?"
)
SPARKLINES = (
    "Below each entry: how the accuracies of all models are spread, from 0 to 100 %, with a line at the average of the runs "
    "and a blue one at the paper's."
)
_FIRST = ' class="first"'


def page(run: Run, rows: list[Row], by_edition: Mapping[str, list[Account]], drawn: Mapping[str, bytes]) -> str:
    """Return the whole page; `drawn` holds the figures by file name, and those that were not drawn are left out."""
    template = Template((files("tallystick.reports") / "page_template.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(TITLE),
        question=escape(QUESTION),
        claims=_claims(run, by_edition),
        table="\n".join(_edition(run, rows, edition) for edition in run.editions),
        regions_link=REGIONS_LINK if REGIONS.file in drawn else "",
        regions=regions_section(run, drawn[REGIONS.file]) if REGIONS.file in drawn else "",
        figures="\n".join(figure_html(picture, drawn[picture.file]) for picture in PICTURES if picture.file in drawn),
        made=_provenance(run),
    )


def _edition(run: Run, rows: list[Row], edition: str) -> str:
    with_horizons = table.has_horizons(run)
    titles = ("Setting", "Length", *COLUMN_TITLES.values(), *([table.HORIZON_TITLE] if with_horizons else []))
    body: list[str] = []
    previous: Group | None = None
    for setting, entries in table.lines(rows, edition).items():
        first = _FIRST if setting.group != previous else ""
        models = run.of_edition(edition)[setting]
        cells = "".join(f"<td>{_cell(row)}{_distribution(row, models)}</td>" for row in entries)
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
            _list(table.remarks(rows, edition), "notes"),
        ]
    )


def _cell(row: Row) -> str:
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
        f"<tr{_FIRST if first else ''}>"
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


def _list(sentences: list[str], style: str) -> str:
    if not sentences:
        return ""
    return f'<ul class="{style}">' + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"
