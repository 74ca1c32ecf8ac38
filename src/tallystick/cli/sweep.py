"""The command that trains over a grid."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from tallystick.cli.output import Cluster, Device, Force, Json, Keep, Resume, rows_table, show, show_json
from tallystick.errors import BadInput, printable
from tallystick.files import write_text, write_whole

Value = TypeVar("Value")

# JAX, polars and matplotlib take a second to load, so they are imported when the command is called.
# ruff: noqa: PLC0415


def sweep(
    out: Annotated[Path, typer.Option(metavar="RUN", help="The run directory.")],
    learning_rate: Annotated[str, typer.Option(help="Adam's, one or more with commas between.")] = "0.005",
    initial_scale: Annotated[str, typer.Option(help="What the drawn weights are multiplied by, one or more.")] = "1",
    train_length: Annotated[str, typer.Option(help="The longest training strings, one or more.")] = "8",
    epochs: Annotated[str, typer.Option(help="Passes over the training set, one or more.")] = "100",
    optimiser: Annotated[
        str, typer.Option(help="One or more of adam, calm, short, rmsprop and sign; own is the method's.")
    ] = "own",
    task: Annotated[str, typer.Option(help="binary, ternary or count.")] = "binary",
    cell: Annotated[str, typer.Option(help="linear, selective, relu or tanh.")] = "linear",
    bias: Annotated[bool, typer.Option("--bias", help="Give the cell a bias.")] = False,
    method: Annotated[str, typer.Option(help="How networks are trained, as for train.")] = "published",
    precision: Annotated[str, typer.Option(help="float32, as in the paper, or float64.")] = "float32",
    seeds: Annotated[int, typer.Option(help="How many networks at each point.")] = 1000,
    seed: Annotated[int, typer.Option(help="Decides the generated strings.")] = 0,
    x: Annotated[str | None, typer.Option(help="Which axis runs across the heat map.")] = None,
    y: Annotated[str | None, typer.Option(help="Which axis runs up.")] = None,
    keep: Keep = "all",
    cluster: Cluster = None,
    device: Device = "auto",
    resume: Resume = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Train every combination of learning rates, initial scales, lengths, epochs and optimisers, and draw who counts.

    Example: tallystick sweep --learning-rate 0.001,0.005,0.02 --initial-scale 0.5,1,2 --out sweep
    """
    from tallystick.cli.progress import tell_slower_engine, watched
    from tallystick.runs.cluster import workers_named
    from tallystick.runs.keeping import Keep as Kept
    from tallystick.runs.lock import at_work_in
    from tallystick.runs.run_directory import RunDirectory
    from tallystick.runs.training_run import run_whole
    from tallystick.studies.sweep import Grid, axes_of, points_of, sweep_config, sweep_jobs
    from tallystick.training.setting import Setting

    grid = Grid(
        _values("learning_rate", learning_rate, float),
        _values("initial_scale", initial_scale, float),
        _values("train_length", train_length, int),
        _values("epochs", epochs, int),
        _values("optimiser", optimiser, str),
    )
    base, kept = Setting(task, bias, grid.train_length[0], cell, method, precision), Kept.read(keep)
    jobs, directory = sweep_jobs(base, grid, seeds, seed, kept), RunDirectory(out)
    axes_of([vars(setting) for setting in grid.settings(base)], x, y)  # refuses before anything is trained
    with workers_named(cluster) as workers, watched({job.name: job.seeds for job in jobs}) as report:
        jobs = [replace(job, device=workers.device(device)) for job in jobs]
        tell_slower_engine(jobs)
        options = {"keep": kept, "workers": workers, "resume": resume, "force": force}
        run_whole(jobs, sweep_config(base, grid, seeds, seed), directory, report=report, **options)
    points = points_of(directory)
    with at_work_in(out):
        written = _write(out, points, x, y)
    if as_json:
        show_json({"directory": str(out), "files": written, "points": points})
    else:
        show(rows_table(points))
        show(f"{printable(str(out))}: {', '.join(written)}")


def _values(name: str, text: str, read: Callable[[str], Value]) -> tuple[Value, ...]:
    """Read values with commas between."""
    try:
        return tuple(read(part.strip()) for part in text.split(","))
    except ValueError:
        kind = "whole numbers" if read is int else "numbers"
        raise BadInput(f"{name}: {text!r} is not one or more {kind} with commas between") from None


def _write(out: Path, points: list[dict[str, object]], x: str | None, y: str | None) -> list[str]:
    from tallystick.reports import drawing
    from tallystick.studies.sweep import draw_sweep

    table = io.StringIO()
    writer = csv.DictWriter(table, points[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(points)
    write_text(table.getvalue(), out / "sweep.csv")
    figures = drawing.files("sweep", lambda: draw_sweep(points, x, y))
    for name, content in figures.items():
        write_whole(out / name, lambda temporary, content=content: temporary.write_bytes(content))
    kept = [name for name in ("models.parquet", "histograms.parquet", "summary.json") if (out / name).exists()]
    return [*kept, "sweep.csv", *figures]
