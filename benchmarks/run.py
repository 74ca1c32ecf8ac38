"""Measure a suite: `python -m benchmarks.run --suite NAME`.

It needs only what training needs, so it runs where typer, rich and polars are missing. A figure needs matplotlib.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.exact import measure_certificates, measure_languages
from benchmarks.limits import count_limits
from benchmarks.machine import Machine, Row, measured_devices, this_machine
from benchmarks.speed import measure_scaling, measure_settings
from benchmarks.training import compare, measure_contenders, measure_training
from tallystick.errors import BadInput
from tallystick.files import refuse_unwritable, write_document
from tallystick.training.engines import DEVICES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOTHING = "–"
_LARGE = 1000


@dataclass(frozen=True)
class Suite:
    """A set of measurements.

    Attributes:
        measure: gives the rows one by one, for a choice of device.
        finish: fills in what compares rows with each other, when all are measured.
        has_device: whether a device can be chosen.
    """

    measure: Callable[[str], Iterable[Row]]
    finish: Callable[[list[Row]], list[Row]] = list
    has_device: bool = True


SUITES: dict[str, Suite] = {
    "languages": Suite(lambda _: measure_languages(), has_device=False),
    "training": Suite(measure_training, compare),
    "certificates": Suite(lambda _: measure_certificates(), has_device=False),
    "settings": Suite(measure_settings),
    "contenders": Suite(measure_contenders),
    "scaling": Suite(measure_scaling),
    "limits": Suite(lambda _: count_limits(), has_device=False),
}


@dataclass(frozen=True)
class Request:
    """What a user asks for.

    Attributes:
        suite: a name in `SUITES`.
        device: auto, cpu or gpu.
        out: a file for the figures, as JSON.
        figure: a file for a picture of them; its ending says which kind.
        force: whether existing files may be overwritten.
        as_json: whether the answer is JSON instead of a table.
    """

    suite: str = "training"
    device: str = "auto"
    out: Path | None = None
    figure: Path | None = None
    force: bool = False
    as_json: bool = False


def measure(request: Request) -> str:
    """Measure a suite and write the files that are asked for; return the text to print."""
    draw = _check(request)
    machine, suite = this_machine(), SUITES[request.suite]
    rows: list[Row] = []
    for row in suite.measure(request.device):
        _tell(row)
        rows.append(row)
    rows = suite.finish(rows)
    document = {"suite": request.suite, "machine": asdict(machine), "figures": rows}
    if request.out is not None:
        write_document(document, request.out)
    if request.figure is not None and draw is not None:
        from tallystick.reports.drawing import write_figure  # noqa: PLC0415 -- matplotlib, only where something is drawn

        write_figure(lambda: draw(rows, _caption(machine)), request.figure)
    if request.as_json:
        return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
    return f"{machine}\n\n{table(rows)}"


def _check(request: Request) -> "Callable[[list[Row], str], Figure] | None":
    """Refuse what cannot be done before anything is measured; return the function that draws, if a figure is asked for."""
    if request.suite not in SUITES:
        raise BadInput(f"suite: {request.suite!r} is not one of {', '.join(SUITES)}")
    if not SUITES[request.suite].has_device and request.device != "auto":
        raise BadInput(f"device: {request.device!r} decides nothing in the suite {request.suite!r}")
    measured_devices(request.device)
    for path in (request.out, request.figure):
        refuse_unwritable(path, force=request.force)
    if request.figure is None:
        return None
    from benchmarks.figures import DRAWINGS  # noqa: PLC0415 -- matplotlib
    from tallystick.reports.drawing import FORMATS  # noqa: PLC0415

    if request.suite not in DRAWINGS:
        raise BadInput(f"figure: the suite {request.suite!r} has none; {', '.join(DRAWINGS)} have one")
    if request.figure.suffix.removeprefix(".") not in FORMATS:
        raise BadInput(f"figure: {request.figure} does not end with one of {', '.join(f'.{form}' for form in FORMATS)}")
    return DRAWINGS[request.suite]


def _caption(machine: Machine) -> str:
    return "; ".join(str(part) for part in (machine.processor, machine.gpu) if part)


def _tell(row: Row) -> None:
    """Write what has been measured to standard error: a suite takes minutes."""
    words = [f"{value:,.4g}" if isinstance(value, float) else str(value) for value in row.values() if value is not None]
    sys.stderr.write(f"{' · '.join(words[:8])}\n")
    sys.stderr.flush()


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table that reads well in a terminal and in Markdown, with numbers to the right.

    >>> print(table([{"what": "this", "runs_per_second": 12345.6}, {"what": "that", "runs_per_second": None}]))
    | what | runs per second |
    | :--- | --------------: |
    | this |          12,346 |
    | that |               – |
    """
    columns = list(rows[0])
    cells = [[_text(row[column]) for column in columns] for row in rows]
    heads = [column.replace("_", " ") for column in columns]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    to_the_right = [not any(isinstance(row[column], str) for row in rows) for column in columns]
    rule = [
        f"{'-' * (width - 1)}:" if right else f":{'-' * (width - 1)}"
        for right, width in zip(to_the_right, widths, strict=True)
    ]
    return "\n".join(_line(line, widths, to_the_right) for line in (heads, rule, *cells))


def _line(cells: Sequence[str], widths: Sequence[int], to_the_right: Sequence[bool]) -> str:
    padded = [
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, to_the_right, strict=True)
    ]
    return f"| {' | '.join(padded)} |"


def _text(value: object) -> str:
    if value is None:
        return _NOTHING
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= _LARGE:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, measure, print; bad input ends with one line on standard error and status 2."""
    parser = argparse.ArgumentParser("python -m benchmarks.run", description="Measure speed and memory.")
    parser.add_argument("--suite", default=Request.suite, help=", ".join(SUITES))
    parser.add_argument("--device", default=Request.device, help=", ".join(DEVICES))
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON, too")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw them: .png, .pdf or .svg")
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON object")
    try:
        sys.stdout.write(measure(Request(**vars(parser.parse_args(arguments)))) + "\n")
    except BadInput as error:
        sys.stderr.write(f"tallystick: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
