"""The command that measures."""

from pathlib import Path
from typing import Annotated

import typer

from tallystick.cli.output import Force, Json, show


def bench(
    suite: Annotated[
        str, typer.Option(help="Which suite: languages, training, certificates, settings, scaling or limits.")
    ] = "training",
    device: Annotated[str, typer.Option(help="What is measured: cpu, gpu, or auto, which is all there is.")] = "auto",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the figures as JSON, too.")] = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw them: .png, .pdf or .svg.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Measure speed and memory, each figure beside what it is compared with.

    Example: tallystick bench --suite training --device cpu
    """
    from tallystick.bench import Request, run  # noqa: PLC0415 -- JAX takes a second to load

    show(run(Request(suite, device, out, figure, force=force, as_json=as_json)))
