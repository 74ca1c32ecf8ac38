"""The commands of the experiment: training, testing, reproducing, reporting."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tallystick.cells import CELLS
from tallystick.cells.gated import GATED_CELLS
from tallystick.cli.gated import evaluate_gated_run, is_gated_run, train_gated
from tallystick.cli.output import Cluster, Device, Force, Json, Keep, Resume, one_of, show, show_json, show_settings
from tallystick.errors import BadInput, printable
from tallystick.models import GatedModel, Model, read_model, read_scalar_model

Precision = Annotated[str, typer.Option(help="float32, as in the paper, or float64.")]
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
    from tallystick.experiments.reproduction import Plan
    from tallystick.reports.table_text import table_text
    from tallystick.reproduction import reproduce as run

    options = {
        "runs": runs,
        "seeds": seeds,
        "authors_data": authors_data,
        "precision": precision,
        "seed": seed,
        "perturb": perturb,
        "replicates": replicates,
    }
    with watched({job.name: job.seeds for job in Plan(**options).jobs()}) as progress:
        written = run(out, progress=progress, cluster=cluster, device=device, resume=resume, force=force, **options)
    if as_json:
        show_json({"directory": str(out), "files": [path.name for path in written]})
    else:
        show(table_text(out))
        show(f"{printable(str(out))}: {', '.join(sorted(path.name for path in written))}")


def train(
    out: Annotated[Path, typer.Option(metavar="RUN", help="The run directory.")],
    task: Annotated[str, typer.Option(help="binary, ternary or count.")] = "binary",
    train_length: Annotated[int, typer.Option(help="The longest training strings.")] = 8,
    cell: Annotated[str, typer.Option(help=f"{one_of(CELLS)}; or {one_of(GATED_CELLS)}, with gates.")] = "linear",
    units: Annotated[int, typer.Option(help=f"How many units a {one_of(GATED_CELLS)} has.")] = 1,
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
    from tallystick.experiments.cluster import workers_named
    from tallystick.experiments.keeping import Keep as Kept
    from tallystick.experiments.run_directory import RunDirectory
    from tallystick.experiments.training_run import run_training, training_job
    from tallystick.training.setting import Setting

    gated = cell in GATED_CELLS
    setting = Setting(
        task,
        bias,
        train_length,
        "linear" if gated else cell,
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
    )
    if gated:
        _refuse_for_gates(cell, keep=(keep, "all"), device=(device, "auto"))
        from tallystick.training.gated.setting import GatedSetting

        gates = GatedSetting(cell, units, setting)
        train_gated(gates, seeds, seed, out, cluster=cluster, resume=resume, force=force, as_json=as_json)
        return
    if units != 1:
        raise BadInput(f"units: {units} is for cells with gates; a {cell} cell has 1")
    kept = Kept.read(keep)
    job = training_job(setting, seeds, seed, kept)
    with workers_named(cluster) as workers, watched({job.name: job.seeds}) as progress:
        job = replace(job, device=workers.device(device))
        tell_slower_engine([job])
        options = {"keep": kept, "workers": workers, "resume": resume, "force": force}
        run_training(job, seed, RunDirectory(out), report=progress, **options)
    _show_run_indicators(out, as_json=as_json)


def _refuse_for_gates(cell: str, **asked: tuple[object, object]) -> None:
    """Refuse what a run of GRUs or LSTMs has no choice of."""
    for name, (value, plain) in asked.items():
        if value != plain:
            raise BadInput(f"{name}: {value!r} is for cells without gates, not for a {cell}")


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
        if is_gated_run(path):
            evaluate_gated_run(path, strings, as_json=as_json)
            return
        from tallystick.experiments.evaluation import evaluate_run
        from tallystick.experiments.run_directory import RunDirectory

        show_settings(evaluate_run(RunDirectory(path), strings), "accuracy", as_json=as_json)
        return
    from tallystick.datasets.scores import score

    model = read_model(path)
    arithmetic = arithmetic or ("float64" if isinstance(model, GatedModel) else "rational")
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
        if is_gated_run(path):
            raise BadInput(
                f"{path}: GRUs and LSTMs have no a, b and U; tallystick accuracy --curve and tallystick certify measure them"
            )
        _show_run_indicators(path, as_json=as_json)
        return
    _show_conditions(read_scalar_model(path), path, as_json=as_json)


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A finished reproduction.")],
    as_json: Json = False,
) -> None:
    """Write the table, the figures, the claims and the page of a reproduction once more.

    Example: tallystick report reproduction
    """
    from tallystick.reports.report import write_report
    from tallystick.reports.table_text import table_text

    written = write_report(run)
    if as_json:
        show_json({"directory": str(run), "files": [path.name for path in written]})
    else:
        show(table_text(run))


def _show_conditions(model: Model, path: Path, *, as_json: bool) -> None:
    from tallystick.indicators import conditions

    found = conditions(model.cell)
    if as_json:
        show_json({"model": str(path), "conditions": [condition.as_json() for condition in found]})
    else:
        for condition in found:
            show(f"{condition.formula:10} {'holds' if condition.holds else 'fails'}: {condition.finding}")
    raise typer.Exit(0 if all(condition.holds for condition in found) else 1)


def _show_run_indicators(path: Path, *, as_json: bool) -> None:
    from tallystick.experiments.evaluation import indicators_of_run
    from tallystick.experiments.run_directory import RunDirectory

    show_settings(indicators_of_run(RunDirectory(path)), "indicators", as_json=as_json)
