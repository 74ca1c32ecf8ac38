"""The commands of the studies: the paper's experiment and its report, cells and methods side by side, and reasons."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cli.output import (
    Cluster,
    Device,
    Force,
    Json,
    Precision,
    Resume,
    make_folder,
    progress_bar,
    rows_table,
    show,
    show_json,
)
from tallystick.errors import BadInput, printable
from tallystick.files import refuse_existing

if TYPE_CHECKING:
    from tallystick.studies.explain.explanation import Explanation
    from tallystick.studies.explain.rounding import Rounding
    from tallystick.training.setting import Setting

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
    from tallystick.reports.table_formats import as_text
    from tallystick.studies.reproduce import Plan, run_and_report

    plan = Plan(runs, seeds, authors_data, precision, seed, perturb, replicates)
    how = {"cluster": cluster, "device": device, "resume": resume, "force": force}
    with progress_bar({job.name: job.seeds for job in plan.jobs}) as progress:
        found = run_and_report(plan, out, report=progress, **how)
    written = [path.name for path in found.files]
    if as_json:
        show_json({"directory": str(out), "files": written})
    else:
        show(as_text(found.run, found.rows))
        show(f"{printable(str(out))}: {', '.join(sorted(written))}")


def report(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="A finished reproduction, or a run of linear networks of several units."),
    ],
    as_json: Json = False,
) -> None:
    """Write the table, the figures, the claims and the page of a reproduction once more.

    Of a run of linear networks with several units, draw the leading eigenvalues against the lengths up to which they are right.

    Example: tallystick report reproduction
    """
    from tallystick.reports.figure_eigenvalues import FILES, is_linear_run, write_eigenvalues
    from tallystick.reports.report import write_report
    from tallystick.reports.table_formats import as_text

    if is_linear_run(run):
        rows = [one.as_record() for one in write_eigenvalues(run)]
        if as_json:
            show_json({"directory": str(run), "files": list(FILES), "settings": rows})
        else:
            show(rows_table(rows))
        return
    found = write_report(run)
    if as_json:
        show_json({"directory": str(run), "files": [path.name for path in found.files]})
    else:
        show(as_text(found.run, found.rows))


def compare(
    seeds: Annotated[int, typer.Option(help="How many networks of each scalar cell.")] = 10_000,
    layer_seeds: Annotated[int, typer.Option(help="How many linear, selective and LRU layers of each kind.")] = 1000,
    vector_seeds: Annotated[int, typer.Option(help="How many GRUs and LSTMs of each kind.")] = 100,
    seed: Annotated[int, typer.Option(help="Draws the order of the training strings, and the test strings.")] = 0,
    cell: Annotated[str | None, typer.Option(help="Only this cell.")] = None,
    method: Annotated[str | None, typer.Option(help="Only this method.")] = None,
    units: Annotated[int | None, typer.Option(help="Only networks with so many units.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write compare.csv, compare.md and compare.png, .pdf and .svg there."),
    ] = None,
    cluster: Cluster = None,
    device: Device = "auto",
    resume: Resume = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Train every method and cell, and say how many seeds count exactly, how many are proved, and how far the others hold.

    Example: tallystick compare --cell linear --seeds 1000
    """
    from tallystick.studies.compare import chosen_settings, compare_settings
    from tallystick.studies.comparison_table import HEADINGS, as_cells, as_record, setting_words, write_comparison

    settings = chosen_settings(seeds, vector_seeds, seed, cell, method, layer_seeds=layer_seeds, units=units)
    if out is not None:
        make_folder(out)
    elif resume:
        raise BadInput("resume: an interrupted comparison is gone on with where --out DIR has kept its rows")

    def tell(setting: "Setting") -> None:
        sys.stderr.write(" · ".join(setting_words(setting)) + "\n")

    how = {"cluster": cluster, "device": device, "resume": resume, "force": force}
    rows = compare_settings(settings, seed, out=out, tell=tell, **how)
    if out is not None:
        write_comparison(rows, out)
    if as_json:
        show_json({"seed": seed, "rows": [as_record(row) for row in rows]})
    else:
        show(rows_table([dict(zip(HEADINGS.values(), as_cells(row), strict=True)) for row in rows]))


def explain(
    network: Annotated[
        Path | None, typer.Argument(metavar="[NETWORK]", help="A linear network's file, to explain that network alone.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="binary, ternary or count; without it, the paper's tasks and more.")
    ] = None,
    train_length: Annotated[
        int | None, typer.Option(help="The longest training strings; without it 2, 4 and 8.")
    ] = None,
    bias: Annotated[bool, typer.Option("--bias", help="With --task: train with a bias.")] = False,
    method: Annotated[str, typer.Option(help="With --task: how it is trained; all for every method.")] = "published",
    gradients: Annotated[str, typer.Option(help="float64: loss and gradient in float64, weights in float32.")] = "own",
    precision: Annotated[str, typer.Option(help="float32 or float64 throughout.")] = "float32",
    seeds: Annotated[int, typer.Option(help="How many networks are trained, to see where they end.")] = 10_000,
    seed: Annotated[int, typer.Option(help="The order of the training strings.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Draw reasons.png, .pdf and .svg there: loss, regions, paths, rounding; of a network linear.png, .pdf, .svg.",
        ),
    ] = None,
    lengths: Annotated[str, typer.Option(help="Of a network: all, or even.")] = "all",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Say what each objective does at the exact counter, which way training leaves it, where seeds end, and what rounding does.

    With NETWORK: which eigenvalues of a linear network the readout sees, what brackets add, why it is right or where it fails.

    Example: tallystick explain --task binary --method count-calm --train-length 8
    """
    training = task, train_length, bias, method, gradients, precision, seeds, seed
    _refuse_both(
        network, lengths, is_training=training != (None, None, False, "published", "own", "float32", 10_000, 0)
    )
    if network is not None:
        _explain_network(network, lengths, out, force=force, as_json=as_json)
        return
    from tallystick.runs.jobs import training_job
    from tallystick.studies.explain.explanation import explain as explain_setting
    from tallystick.studies.explain.explanation import settings_to_explain
    from tallystick.studies.explain.figure import FILES, write_reasons
    from tallystick.studies.explain.rounding import gradient_rounding
    from tallystick.studies.explain.words import as_record, as_text

    finer = {"gradients": gradients, "precision": precision}
    settings = settings_to_explain(task, method, train_length, bias=bias, **finer)
    for setting in settings:
        training_job(setting, seeds, seed)  # refuses before anything is trained
    if out is not None:
        make_folder(out)
        for name in FILES:
            refuse_existing(out / name, force=force)
    found: list[tuple[Explanation, Rounding | None]] = []
    for setting in settings:
        rounding = gradient_rounding(setting, seed=seed) if setting.precision == "float32" else None
        found.append((explain_setting(setting, seeds, seed), rounding))
        if not as_json:
            show(as_text(*found[-1]))
            sys.stdout.flush()
    if as_json:
        show_json({"seeds": seeds, "explanations": [as_record(*one) for one in found]})
    if out is not None:
        write_reasons(out, found, seed)


def _refuse_both(network: Path | None, lengths: str, *, is_training: bool) -> None:
    """Refuse options of training beside a network's file, and of a network without one."""
    if network is not None and is_training:
        raise BadInput(f"{network}: a network's file is explained as it is; options of training go without a file")
    if network is None and lengths != "all":
        raise BadInput("lengths: goes with a network's file, as in tallystick explain network.json --lengths even")


def _explain_network(path: Path, lengths: str, out: Path | None, *, force: bool, as_json: bool) -> None:
    from tallystick.networks import read_network
    from tallystick.studies.explain.linear import as_record, explain_linear
    from tallystick.studies.explain.linear_figure import FILES, write_picture
    from tallystick.studies.explain.linear_words import as_text

    network = read_network(path)
    if out is not None:
        make_folder(out)
        for name in FILES:
            refuse_existing(out / name, force=force)
    found = explain_linear(network, lengths)
    if as_json:
        show_json(as_record(found))
    else:
        show(as_text(found))
    if out is not None:
        write_picture(out, found)
