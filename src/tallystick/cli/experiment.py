"""The commands of the experiment: training, testing, reproducing, reporting."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tallystick.cells import CELLS, ScalarCell, VectorCell
from tallystick.cli.output import (
    Cluster,
    Device,
    Force,
    Json,
    Keep,
    Resume,
    one_of,
    show,
    show_facts,
    show_json,
    show_settings,
)
from tallystick.errors import BadInput, printable
from tallystick.networks import Network, read_network, read_scalar_network

Precision = Annotated[str, typer.Option(help="float32, as in the paper, or float64.")]
_SEVERAL = [name for name, kind in CELLS.items() if issubclass(kind, VectorCell)]
RunOrModel = Annotated[
    Path, typer.Argument(metavar="RUN|MODEL", help="A run directory, or a model's JSON or safetensors file.")
]

# JAX, polars and matplotlib take a second to load, so each command imports them when it is called.
# ruff: noqa: PLC0415


def reproduce(
    runs: Annotated[int, typer.Option(help="Runs behind each average, as the paper's ten.")] = 10,
    seeds: Annotated[int, typer.Option(help="Seeds of each setting beside them; 0 leaves the runs alone.")] = 10_000,
    authors_data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The authors' strings, for the exact edition."),
    ] = None,
    precision: Precision = "float32",
    perturb: Annotated[
        float, typer.Option(help="Nudge the initial weights by this much to see what rounding decides.")
    ] = 1e-7,
    replicates: Annotated[int, typer.Option(help="How often they are nudged.")] = 30,
    seed: Annotated[int, typer.Option(help="Decides the generated strings.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The run directory.")] = Path("reproduction"),
    cluster: Cluster = None,
    device: Device = "auto",
    resume: Resume = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Run the paper's whole experiment: table, figures, claims, page.

    Example: tallystick reproduce --seeds 1000 --out reproduction
    """
    from tallystick.cli.progress import watched
    from tallystick.reports.table_formats import as_text
    from tallystick.studies.reproduce import Plan, run_and_report

    plan = Plan(runs, seeds, authors_data, precision, seed, perturb, replicates)
    how = {"cluster": cluster, "device": device, "resume": resume, "force": force}
    with watched({job.name: job.seeds for job in plan.jobs}) as progress:
        found = run_and_report(plan, out, progress=progress, **how)
    written = [path.name for path in found.files]
    if as_json:
        show_json({"directory": str(out), "files": written})
    else:
        show(as_text(found.run, found.rows))
        show(f"{printable(str(out))}: {', '.join(sorted(written))}")


def train(
    out: Annotated[Path, typer.Option(metavar="RUN", help="The run directory.")],
    task: Annotated[str, typer.Option(help="binary, ternary or count.")] = "binary",
    train_length: Annotated[int, typer.Option(help="The longest training strings.")] = 8,
    cell: Annotated[str, typer.Option(help=f"{one_of(CELLS)}.")] = "linear",
    units: Annotated[int, typer.Option(help=f"How many units a {one_of(_SEVERAL)} has.")] = 1,
    bias: Annotated[bool, typer.Option("--bias", help="Give the cell a bias.")] = False,
    method: Annotated[
        str,
        typer.Option(
            help="published, corrected, decayed, count, count-tokens, count-calm, count-penalty, penalty, lagrangian, "
            "tied, unit, tied-unit, projected or curriculum; docs/methods.md says what each does."
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
    from tallystick.cli.progress import tell_slower_engine, watched
    from tallystick.runs.cluster import workers_named
    from tallystick.runs.keeping import Keep as Kept
    from tallystick.runs.run_directory import RunDirectory
    from tallystick.runs.training_run import device_for, run_training, training_job
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
    job = training_job(setting, seeds, seed, kept)
    with workers_named(cluster) as workers, watched({job.name: job.seeds}) as progress:
        job = replace(job, device=device_for(setting, workers, device))
        tell_slower_engine([job])
        options = {"keep": kept, "workers": workers, "resume": resume, "force": force}
        run_training(job, seed, RunDirectory(out), report=progress, **options)
    _show_run(out, as_json=as_json)


def evaluate(
    path: RunOrModel,
    strings: Annotated[Path, typer.Option(metavar="FILE", help="One string a line, optionally with its label.")],
    arithmetic: Annotated[
        str | None,
        typer.Option(
            help="What a model runs in: rational (unless told otherwise; a GRU or an LSTM float64), float16, float32 or float64."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Test a run's networks, or one model, on a file of strings of any length.

    Example: tallystick evaluate model.json --strings strings.txt
    """
    if path.is_dir():
        if arithmetic is not None:
            raise BadInput(
                f"arithmetic: {arithmetic!r} is for a model; a run's networks are tested in their own precision"
            )
        from tallystick.runs.evaluation import evaluate_run
        from tallystick.runs.run_directory import RunDirectory

        show_settings(evaluate_run(RunDirectory(path), strings), "accuracy", as_json=as_json)
        return
    from tallystick.datasets.strings import score

    model = read_network(path)
    arithmetic = arithmetic or ("rational" if isinstance(model.cell, ScalarCell) else "float64")
    found = score(model.in_arithmetic(arithmetic), strings)
    if as_json:
        show_json({"model": str(path), "arithmetic": arithmetic, **found})
    else:
        show(
            f"{found['right']} of {found['strings']} strings right in {arithmetic} arithmetic: {found['accuracy']:.2f} %"
        )


def indicators(path: RunOrModel, as_json: Json = False) -> None:
    """Show a/b, U and their distance from the conditions: exactly for a model (ends with 1 if one fails), as a spread for a run.

    Example: tallystick indicators model.json
    """
    if path.is_dir():
        _show_run_indicators(path, as_json=as_json)
        return
    _show_conditions(read_scalar_network(path), path, as_json=as_json)


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A finished reproduction.")],
    as_json: Json = False,
) -> None:
    """Write the table, the figures, the claims and the page of a reproduction once more.

    Example: tallystick report reproduction
    """
    from tallystick.reports.report import write_report
    from tallystick.reports.table_formats import as_text

    found = write_report(run)
    if as_json:
        show_json({"directory": str(run), "files": [path.name for path in found.files]})
    else:
        show(as_text(found.run, found.rows))


def _show_conditions(model: Network, path: Path, *, as_json: bool) -> None:
    from tallystick.indicators import conditions

    found = conditions(model.cell)
    if as_json:
        show_json({"model": str(path), "conditions": [condition.as_json() for condition in found]})
    else:
        for condition in found:
            show(f"{condition.formula:10} {'holds' if condition.holds else 'fails'}: {condition.finding}")
    raise typer.Exit(0 if all(condition.holds for condition in found) else 1)


def _show_run_indicators(path: Path, *, as_json: bool) -> None:
    from tallystick.runs.evaluation import indicators_of_run
    from tallystick.runs.run_directory import RunDirectory

    directory = RunDirectory(path)
    if not issubclass(directory.cell, ScalarCell):
        raise BadInput(
            f"{path}: GRUs and LSTMs have no a, b and U; tallystick accuracy --curve and tallystick certify measure them"
        )
    show_settings(indicators_of_run(directory), "indicators", as_json=as_json)


def _show_run(path: Path, *, as_json: bool) -> None:
    """Show what became of the networks of a run that has just been trained."""
    from tallystick.runs.evaluation import measures_of_run
    from tallystick.runs.run_directory import RunDirectory

    directory = RunDirectory(path)
    if issubclass(directory.cell, ScalarCell):
        _show_run_indicators(path, as_json=as_json)
    else:
        show_facts(measures_of_run(directory), "networks", as_json=as_json)
