"""A suite asked for: checked, measured, written, shown. Both command lines end here."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.bench.machine import Machine, measured_devices, this_machine
from tallystick.bench.rows import Row, table
from tallystick.bench.suites import SUITES
from tallystick.documents import write_document
from tallystick.errors import BadInput
from tallystick.files import refuse_unwritable, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Attributes:
        suite: a name in `SUITES`.
        device: auto, cpu or gpu.
        out: a file for the figures, as JSON.
        figure: a file for a picture of them; its ending says which kind.
        force: whether files that are there may be overwritten.
        as_json: whether the answer is JSON, and not a table.
    """

    suite: str = "training"
    device: str = "auto"
    out: Path | None = None
    figure: Path | None = None
    force: bool = False
    as_json: bool = False


def run(request: Request) -> str:
    """Measure a suite and write the files asked for; return what is to be printed."""
    draw = _checked(request)
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
        _write_figure(request.figure, lambda: draw(rows, _caption(machine)))
    if request.as_json:
        return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
    return f"{machine}\n\n{table(rows)}"


def _checked(request: Request) -> "Callable[[list[Row], str], Figure] | None":
    """Refuse what cannot be done before anything is measured; return what draws the figure, if one is asked for."""
    if request.suite not in SUITES:
        raise BadInput(f"suite: {request.suite!r} is not one of {', '.join(SUITES)}")
    if not SUITES[request.suite].has_device and request.device != "auto":
        raise BadInput(f"device: {request.device!r} decides nothing in the suite {request.suite!r}")
    measured_devices(request.device)
    for path in (request.out, request.figure):
        refuse_unwritable(path, force=request.force)
    if request.figure is None:
        return None
    from tallystick.reports.drawing import FORMATS  # noqa: PLC0415 -- matplotlib, only where something is drawn
    from tallystick.reports.figure_bench import DRAWINGS  # noqa: PLC0415

    if request.suite not in DRAWINGS:
        raise BadInput(f"figure: the suite {request.suite!r} has none; {', '.join(DRAWINGS)} have one")
    if request.figure.suffix.removeprefix(".") not in FORMATS:
        raise BadInput(f"figure: {request.figure} does not end with one of {', '.join(f'.{form}' for form in FORMATS)}")
    return DRAWINGS[request.suite]


def _write_figure(path: Path, draw: "Callable[[], Figure]") -> None:
    from tallystick.reports.drawing import drawn  # noqa: PLC0415

    form = path.suffix.removeprefix(".")
    content = drawn(draw, [form])[form]
    write_whole(path, lambda temporary: temporary.write_bytes(content))


def _caption(machine: Machine) -> str:
    return "; ".join(str(part) for part in (machine.processor, machine.gpu) if part)


def _tell(row: Row) -> None:
    """Say on standard error what has been measured: a suite takes minutes."""
    words = [f"{value:,.4g}" if isinstance(value, float) else str(value) for value in row.values() if value is not None]
    sys.stderr.write(f"{' · '.join(words[:8])}\n")
    sys.stderr.flush()
