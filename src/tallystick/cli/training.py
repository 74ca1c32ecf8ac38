"""The commands that train networks of the user's own: one setting, or a grid of them; and where trained networks lie."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from tallystick.cells import CELLS, LAYERS, ScalarCell
from tallystick.cli.output import (
    Cluster,
    Device,
    Force,
    Json,
    Keep,
    Precision,
    Resume,
    RunOrModel,
    one_of,
    progress_bar,
    rows_table,
    show,
    show_facts,
    show_json,
    show_settings,
    tell_slower_engine,
)
from tallystick.errors import BadInput, printable
from tallystick.networks import Network, read_network, read_scalar_network

Value = TypeVar("Value")

_ONE = [name for name, kind in CELLS.items() if issubclass(kind, ScalarCell)]

# JAX, polars and matplotlib take a second to load, so each command imports them when it is called.
# ruff: noqa: PLC0415


def train(
    out: Annotated[Path, typer.Option(metavar="RUN", help="The run directory.")],
    task: Annotated[str, typer.Option(help="binary, ternary or count.")] = "binary",
    train_length: Annotated[int, typer.Option(help="The longest training strings.")] = 8,
    cell: Annotated[str, typer.Option(help=f"{one_of(CELLS | LAYERS)}.")] = "linear",
    units: Annotated[int, typer.Option(help="How many units the cell has.")] = 1,
    bias: Annotated[bool, typer.Option("--bias", help="Give the cell a bias.")] = False,
    method: Annotated[
        str,
        typer.Option(
            help="published, corrected, decayed, count, count-tokens, count-calm, count-penalty, count-exact, penalty, "
            "lagrangian, tied, unit, tied-unit, projected, curriculum, saturating or saturating-labels; docs/methods.md "
            "says what each does."
        ),
    ] = "published",
    precision: Precision = "float32",
    epochs: Annotated[int, typer.Option(help="Passes over the training set.")] = 100,
    learning_rate: Annotated[float, typer.Option(help="Adam's.")] = 0.005,
    schedule: Annotated[
        str, typer.Option(help="How the rate goes, if not the method's own: constant, cosine, linear or late-cosine.")
    ] = "own",
    gradients: Annotated[
        str, typer.Option(help="float64 computes loss and gradient in it, where the weights are float32.")
    ] = "own",
    strength: Annotated[
        float, typer.Option(help="The weight of a penalty or of multipliers; 0 is the method's own.")
    ] = 0.0,
    start: Annotated[
        str, typer.Option(help="drawn, or exact: at an exact counter, to see whether it stays.")
    ] = "drawn",
    snap: Annotated[
        bool, typer.Option("--snap", help="Round trained weights that are near an exact counter to it.")
    ] = False,
    initial_scale: Annotated[float, typer.Option(help="What the drawn weights are multiplied by.")] = 1.0,
    optimiser: Annotated[
        str, typer.Option(help="Adam's numbers, if not the method's own: adam, calm, short, rmsprop or sign.")
    ] = "own",
    seeds: Annotated[int, typer.Option(help="How many networks.")] = 1000,
    seed: Annotated[int, typer.Option(help="Decides the generated strings.")] = 0,
    keep: Keep = "all",
    cluster: Cluster = None,
    device: Device = "auto",
    resume: Resume = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Train networks of one setting and test them at 20 and 50 tokens.

    Example: tallystick train --task ternary --train-length 4 --seeds 100 --out run
    """
    from tallystick.runs.directory import RunDirectory
    from tallystick.runs.jobs import Keep as Kept
    from tallystick.runs.jobs import training_job
    from tallystick.runs.runner import run_on, training_config
    from tallystick.training.setting import Setting

    setting = Setting(
        task,
        bias,
        train_length,
        cell,
        method,
        precision,
        epochs,
        learning_rate,
        schedule=schedule,
        gradients=gradients,
        strength=strength,
        start=start,
        snap=snap,
        initial_scale=initial_scale,
        optimiser=optimiser,
        units=units,
    )
    kept = Kept.read(keep)
    job, directory = training_job(setting, seeds, seed, kept), RunDirectory(out)
    with progress_bar({job.name: job.seeds}) as report:
        how = {"tell": tell_slower_engine, "report": report, "resume": resume, "force": force}
        run_on(cluster, device, [job], training_config(job, seed, kept), directory, **how)
    if issubclass(setting.kind, ScalarCell):
        _show_run_indicators(out, as_json=as_json)
    else:
        from tallystick.runs.evaluation import measures_of_run

        show_facts(measures_of_run(directory), "networks", as_json=as_json)


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
    cell: Annotated[str, typer.Option(help=f"{one_of(_ONE)}.")] = "linear",
    bias: Annotated[bool, typer.Option("--bias", help="Give the cell a bias.")] = False,
    method: Annotated[str, typer.Option(help="How networks are trained, as for train.")] = "published",
    precision: Precision = "float32",
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
    from tallystick.runs.directory import RunDirectory
    from tallystick.runs.jobs import Keep as Kept
    from tallystick.runs.runner import run_on
    from tallystick.studies.sweep import Grid, axes_of, points_of, sweep_config, sweep_jobs, write_sweep
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
    with progress_bar({job.name: job.seeds for job in jobs}) as report:
        how = {"tell": tell_slower_engine, "report": report, "resume": resume, "force": force}
        run_on(cluster, device, jobs, sweep_config(base, grid, seeds, seed, kept), directory, **how)
    points = points_of(directory)
    written = write_sweep(out, points, x, y)
    if as_json:
        show_json({"directory": str(out), "files": written, "points": points})
    else:
        show(rows_table(points))
        show(f"{printable(str(out))}: {', '.join(written)}")


def indicators(path: RunOrModel, as_json: Json = False) -> None:
    """Show a/b, U and their distance from the conditions: exactly for a model (ends with 1 if one fails), as a spread for a run.

    For a linear network of several units they are about its outputs: with k tokens after a bracket, opening instead of closing it
    adds δ_k, which must always be the same, and the drift ε_k must be 0. With a matrix for each token, every token must change
    the output y by s or −s, which is shown after strings whose states span all others.

    Example: tallystick indicators model.json
    """
    if path.is_dir():
        _show_run_indicators(path, as_json=as_json)
        return
    network = read_network(path)
    if not isinstance(network.cell, ScalarCell) and not network.cell.is_affine:
        read_scalar_network(path)  # which says for which cells this is
    _show_conditions(network, path, as_json=as_json)


def _values(name: str, text: str, read: Callable[[str], Value]) -> tuple[Value, ...]:
    """Read values with commas between."""
    try:
        return tuple(read(part.strip()) for part in text.split(","))
    except ValueError:
        kind = "whole numbers" if read is int else "numbers"
        raise BadInput(f"{name}: {text!r} is not one or more {kind} with commas between") from None


def _show_conditions(model: Network, path: Path, *, as_json: bool) -> None:
    from tallystick.counting_conditions import conditions, facts

    found, known = conditions(model), facts(model)
    if as_json:
        more = {"facts": [fact.as_json() for fact in known]} if known else {}
        show_json({"model": str(path), "conditions": [condition.as_json() for condition in found], **more})
    else:
        for condition in found:
            show(f"{condition.formula:10} {'holds' if condition.holds else 'fails'}: {condition.finding}")
        for fact in known:
            show(f"{fact.name:10} {fact.finding}")
    raise typer.Exit(0 if all(condition.holds for condition in found) else 1)


def _show_run_indicators(path: Path, *, as_json: bool) -> None:
    from tallystick.runs.directory import RunDirectory
    from tallystick.runs.evaluation import indicators_of_run

    directory = RunDirectory(path)
    if not issubclass(directory.cell, ScalarCell):
        raise BadInput(
            f"{path}: its cells have no a, b and U; tallystick accuracy --curve and tallystick certify measure them"
        )
    show_settings(indicators_of_run(directory), "indicators", as_json=as_json)
