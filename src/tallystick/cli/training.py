"""The commands that train networks of the user's own: one setting, or a grid of them; and where trained networks lie."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tallystick.cells import CELLS, LAYERS, ScalarCell
from tallystick.cli import look_for_gpus, show, show_json
from tallystick.cli.options import (
    METHODS,
    OPTIMISERS,
    PRECISIONS,
    SCHEDULES,
    Cluster,
    Device,
    Engine,
    Force,
    Json,
    Keep,
    Resume,
    RunOrNetwork,
    Wide,
    choice,
)
from tallystick.cli.output import progress_bar, show_facts, show_rows, show_settings
from tallystick.errors import BadInput, printable
from tallystick.languages.tasks import TASKS
from tallystick.networks import Network, read_network, read_scalar_network

if TYPE_CHECKING:
    from tallystick.runs.directory import RunDirectory
    from tallystick.runs.jobs import Job

Value = TypeVar("Value")

OWN = "own"
DETAILS = "How it is trained"
_AXES = ("learning_rate", "initial_scale", "train_length", "epochs", "optimiser")
_ONE = [name for name, kind in CELLS.items() if issubclass(kind, ScalarCell)]

Out = Annotated[Path, typer.Option(metavar="RUN", help="The folder to write the run into.")]
Task = Annotated[
    str,
    choice(TASKS, "What is asked: more ( than ) or not; fewer, as many or more; or the count itself."),
]
Bias = Annotated[bool, typer.Option("--bias", help="Give the cell a bias.")]
Method = Annotated[str, choice(METHODS, "How networks are trained, as docs/methods.md explains.", metavar="METHOD")]
Precision = Annotated[
    str, choice(PRECISIONS, "The arithmetic of the weights; the paper's is float32.", rich_help_panel=DETAILS)
]
Gradients = Annotated[
    str,
    choice(
        (OWN, *PRECISIONS), "The arithmetic of loss and gradient; own is that of the weights.", rich_help_panel=DETAILS
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Draws the training and test strings.", rich_help_panel=DETAILS)]

# JAX, polars and matplotlib take a second to load, so each command imports them when it is called.
# ruff: noqa: PLC0415


def train(
    out: Out,
    task: Task = "binary",
    train_length: Annotated[int, typer.Option(metavar="N", help="The longest training strings.")] = 8,
    cell: Annotated[str, choice(CELLS | LAYERS, "The kind of cell.", metavar="CELL")] = "linear",
    units: Annotated[int, typer.Option(metavar="N", help="How many units the cell has.")] = 1,
    bias: Bias = False,
    seeds: Annotated[int, typer.Option(metavar="N", help="How many networks, each from a seed of its own.")] = 1000,
    method: Method = "published",
    force: Force = False,
    as_json: Json = False,
    epochs: Annotated[
        int, typer.Option(metavar="N", help="Passes over the training set.", rich_help_panel=DETAILS)
    ] = 100,
    learning_rate: Annotated[
        float, typer.Option(metavar="X", help="Adam's learning rate.", rich_help_panel=DETAILS)
    ] = 0.005,
    schedule: Annotated[
        str,
        choice(
            (OWN, *SCHEDULES),
            "How the learning rate changes; own is the method's own way.",
            metavar="SCHEDULE",
            rich_help_panel=DETAILS,
        ),
    ] = OWN,
    optimiser: Annotated[
        str,
        choice(
            (OWN, *OPTIMISERS),
            "Adam's constants; own are the method's own.",
            metavar="OPTIMISER",
            rich_help_panel=DETAILS,
        ),
    ] = OWN,
    precision: Precision = "float32",
    gradients: Gradients = OWN,
    strength: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="The factor on a penalty or on multipliers; 0 stands for the method's own.",
            rich_help_panel=DETAILS,
        ),
    ] = 0.0,
    start: Annotated[
        str,
        choice(
            ("drawn", "exact"),
            "Start from drawn weights, or at an exact counter to see whether training stays there.",
            rich_help_panel=DETAILS,
        ),
    ] = "drawn",
    initial_scale: Annotated[
        float, typer.Option(metavar="X", help="The factor on the drawn weights.", rich_help_panel=DETAILS)
    ] = 1.0,
    snap: Annotated[
        bool,
        typer.Option(
            "--snap",
            help="Round trained weights to the exact counter next to them, if one is near.",
            rich_help_panel=DETAILS,
        ),
    ] = False,
    seed: Seed = 0,
    resume: Resume = False,
    keep: Keep = "all",
    cluster: Cluster = None,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Train networks, and test how far they are right.

    It ends with their accuracy on strings of 20 and 50 tokens, their horizon (the length up to which ALL strings are right), and
    how close they come to an exact counter.

    Example: tallystick train --task ternary --seeds 100 --out run
    """
    look_for_gpus(device, cluster)
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
        how = {"engine": engine, "tell": tell_slower_engine, "report": report, "resume": resume, "force": force}
        run_on(cluster, device, [job], training_config(job, seed, kept), directory, **how)
    _show_training(directory, as_json=as_json)


def sweep(
    out: Out,
    learning_rate: Annotated[
        str, typer.Option(metavar="X,X,…", help="Adam's learning rate: one or more, with commas between.")
    ] = "0.005",
    initial_scale: Annotated[
        str, typer.Option(metavar="X,X,…", help="The factor on the drawn weights: one or more.")
    ] = "1",
    train_length: Annotated[
        str, typer.Option(metavar="N,N,…", help="The longest training strings: one or more.")
    ] = "8",
    epochs: Annotated[str, typer.Option(metavar="N,N,…", help="Passes over the training set: one or more.")] = "100",
    optimiser: Annotated[
        str,
        typer.Option(metavar="NAME,…", help=f"Adam's constants: one or more of {', '.join((OWN, *OPTIMISERS))}."),
    ] = OWN,
    task: Task = "binary",
    cell: Annotated[str, choice(_ONE, "The kind of cell.", metavar="CELL")] = "linear",
    bias: Bias = False,
    method: Method = "published",
    seeds: Annotated[int, typer.Option(metavar="N", help="How many networks at each point.")] = 1000,
    wide: Wide = False,
    force: Force = False,
    as_json: Json = False,
    x: Annotated[
        str | None, choice(_AXES, "What runs across the heat map.", metavar="AXIS", rich_help_panel=DETAILS)
    ] = None,
    y: Annotated[
        str | None, choice(_AXES, "What runs up the heat map.", metavar="AXIS", rich_help_panel=DETAILS)
    ] = None,
    precision: Precision = "float32",
    seed: Seed = 0,
    resume: Resume = False,
    keep: Keep = "all",
    cluster: Cluster = None,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Train every combination of some options, and draw which networks count.

    The options that take several values are the learning rate, the initial scale, the training length, the number of epochs
    and the optimiser.

    Example: tallystick sweep --learning-rate 0.001,0.005 --out sweep
    """
    look_for_gpus(device, cluster)
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
        how = {"engine": engine, "tell": tell_slower_engine, "report": report, "resume": resume, "force": force}
        run_on(cluster, device, jobs, sweep_config(base, grid, seeds, seed, kept), directory, **how)
    points = points_of(directory)
    written = write_sweep(out, points, x, y)
    if as_json:
        show_json({"directory": str(out), "files": written, "points": points})
    else:
        show_rows(points, ("share_meeting_conditions", "horizon_even_median"), wide=wide)
        show(f"{printable(str(out))}: {', '.join(written)}")


def indicators(path: RunOrNetwork, wide: Wide = False, as_json: Json = False) -> None:
    """Show how close networks are to an exact counter: a/b, U and the theorems' conditions.

    Of one network everything is exact, and the exit status is 1 if a condition fails; of a run, the spread over its networks
    is shown. Of a linear network with several units it is about the outputs: with k tokens after a bracket, opening it instead of
    closing it adds δ_k, which must always be the same, and the drift ε_k must be 0. With a matrix for each token, every token
    must change the output y by s or −s, which is shown after strings whose states span all others.

    Example: tallystick indicators network.json
    """
    if path.is_dir():
        _show_run_indicators(path, wide=wide, as_json=as_json)
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


def tell_slower_engine(jobs: "list[Job]") -> None:
    """Say which jobs a GPU trains by the compiled scan because its kernel cannot, and why; each reason once."""
    from tallystick.training.engines import engine_text

    ways = dict.fromkeys(engine_text(job.setting, job.strings, job.device, job.engine) for job in jobs)
    sys.stderr.writelines(f"{way}\n" for way in ways if way.startswith("gpu, compiled scan: "))


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


def _show_run_indicators(path: Path, *, wide: bool, as_json: bool) -> None:
    from tallystick.runs.directory import RunDirectory
    from tallystick.runs.evaluation import indicators_of_run

    directory = RunDirectory(path)
    if not issubclass(directory.cell, ScalarCell):
        raise BadInput(
            f"{path}: its cells have no a, b and U; tallystick accuracy --curve and tallystick certify measure them"
        )
    means = ("ab_ratio_mean", "recurrent_weight_mean")
    show_settings(indicators_of_run(directory), "indicators", means, wide=wide, as_json=as_json)


def _show_training(directory: "RunDirectory", *, as_json: bool) -> None:
    """Show what became of trained networks: their accuracy, their horizons, and where cells with one unit lie."""
    from tallystick.runs.evaluation import accuracies_of_run, horizons_of_run, indicators_of_run, measures_of_run

    if not issubclass(directory.cell, ScalarCell):
        show_facts(measures_of_run(directory), "networks", as_json=as_json)
        return
    found = {
        "indicators": indicators_of_run(directory),
        "accuracies": accuracies_of_run(directory),
        "horizons": horizons_of_run(directory),
    }
    if as_json:
        show_json(found)
        return
    ((places,), (accuracies,), (horizons,)) = found.values()
    show_facts([training_facts({**places, **accuracies, **horizons})], "networks", as_json=False)


def training_facts(found: dict[str, Any]) -> dict[str, object]:
    """Return what is known of trained cells with one unit, each fact in words."""
    lengths = [name.removeprefix("accuracy_") for name in found if name.startswith("accuracy_")]
    accuracies = [
        f"{found[f'accuracy_{length}']:.4g} % {'in training' if length == 'train' else f'at {length} tokens'}"
        for length in lengths
    ]
    facts: dict[str, object] = {
        "networks": f"{found['models']:,}, each {found['cell']} on the task {found['task']}, method {found['method']}",
        "accuracy": f"{', '.join(accuracies)}, in the mean",
        "horizon": f"{found['horizon_all_median']} in the median, {found['horizon_all_max']} at the most: "
        "the length up to which ALL strings are right",
        "horizon even": f"{found['horizon_even_median']} in the median, {found['horizon_even_max']} at the most, "
        "where even lengths alone count",
        "proved": f"{found['proved']:,} of {found['models']:,} networks are right at every length",
    }
    for name, wanted in (("ab_ratio", -1), ("recurrent_weight", 1)):
        if f"{name}_median" in found:
            median, low, high = (f"{found[f'{name}_{part}']:.4g}" for part in ("median", "min", "max"))
            facts[name] = f"{median} in the median, from {low} to {high}; {wanted} counts exactly"
    return facts
