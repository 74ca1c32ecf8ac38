"""The page's section on the regions: the picture, what it says in a sentence, and the numbers behind it."""

import re
from html import escape

from tallystick.certificates.verdict import Lengths
from tallystick.reports.membership import LONG_TEST, Members, members
from tallystick.reports.pictures import REGIONS, embedded
from tallystick.reports.reading import Run

LINK = '<a href="#regions">The regions</a>'
TITLE = "The result in one picture"
COUNTED = (2, 4, 8, 16, 32, LONG_TEST)
_MEANING = (
    "Whether a binary network without bias is right on a string depends on a/b and U alone, once the sign of v·a is right: it is "
    "a point of a plane. R_N holds the points that are right on all strings up to length N, exactly and not by sampling. "
    "The regions lie one in another and shrink to the exact counter, (−1, 1), which is a corner of each of them."
)
_WHY = (
    "Among the shortest strings that fail there is always a sorted one, all brackets of one kind before all of the other; a "
    "sample of long strings seldom holds it."
)


def section(run: Run, drawn: bytes) -> str:
    """Return the section, with its heading."""
    found = members(run, COUNTED)
    return "\n".join(
        [
            f'<h2 id="regions">{escape(TITLE)}</h2>',
            f"<p>{_subscripts(_MEANING)}</p>",
            f"<p>{_subscripts(result(found[-1]))}</p>",
            embedded(REGIONS, drawn),
            '<p class="soft">The networks that lie in each region:</p>',
            _table(found),
        ]
    )


def result(found: Members) -> str:
    """Say how the networks of a training length stand between sampled accuracy and the regions."""
    even, length = found.inside[Lengths.EVEN], found.train_length
    near, far, test = (f"{_number(even[n])} up to length {n}" for n in (length, 2 * length, LONG_TEST))
    return (
        f"Networks trained at length {length} score {found.sampled_accuracy:.1f} % in the mean on sampled strings of {LONG_TEST} "
        f"tokens. Right on all strings of even length are, of {found.networks:,} networks, {near}, {far} and {test}. {_WHY}"
    )


def _number(count: int) -> str:
    return f"{count:,}" if count else "none"


def _table(found: list[Members]) -> str:
    titles = ("Training length", "Networks", f"Sampled accuracy, {LONG_TEST} tokens", "Lengths that count")
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    head += "".join(f"<th>{_subscripts(f'R_{longest}')}</th>" for longest in COUNTED)
    body = "\n".join(_rows(one) for one in found)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _rows(found: Members) -> str:
    first = (f"{found.train_length}", f"{found.networks:,}", f"{found.sampled_accuracy:.1f} %")
    rows: list[str] = []
    for place, (lengths, inside) in enumerate(found.inside.items()):
        cells = (*(first if place == 0 else ("", "", "")), str(lengths), *(f"{count:,}" for count in inside.values()))
        style = ' class="first"' if place == 0 else ""
        rows.append(f"<tr{style}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return "\n".join(rows)


def _subscripts(text: str) -> str:
    """Write R_16 with its number set low."""
    return re.sub(r"R_(\w+)", r"<i>R</i><sub>\1</sub>", escape(text))
