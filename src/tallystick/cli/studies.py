"""The commands of the studies: the paper's experiment and its report, cells and methods side by side, and reasons."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cells import CELLS, LAYERS
from tallystick.cli import look_for_gpus, show, show_json
from tallystick.cli.options import (
    METHODS,
    PRECISIONS,
    Cluster,
    Device,
    Engine,
    Force,
    Json,
    Precision,
    Resume,
    Wide,
    choice,
)
from tallystick.cli.output import progress_bar, show_rows, steps_bar, waiting_bar
from tallystick.errors import BadInput, printable
from tallystick.files import make_folder, refuse_existing
from tallystick.languages.tasks import TASKS

if TYPE_CHECKING:
    from tallystick.studies.explain.explanation import Explanation
    from tallystick.studies.explain.rounding import Rounding
    from tallystick.training.setting import Setting

_RARE = "Less common options"

# JAX, polars and matplotlib take a second to load, so each command imports them when it is called.
# ruff: noqa: PLC0415


def reproduce(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write everything into.")] = Path(
        "reproduction"
    ),
    seeds: Annotated[
        int, typer.Option(metavar="N", help="How many networks of each setting, beside the paper's runs; may be 0.")
    ] = 10_000,
    authors_data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of the authors' strings, to repeat their runs exactly."),
    ] = None,
    runs: Annotated[
        int, typer.Option(metavar="N", help="How many runs each average is taken over; the paper has ten.")
    ] = 10,
    precision: Precision = "float32",
    force: Force = False,
    as_json: Json = False,
    perturb: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="Nudge the initial weights by this much, to see what rounding decides.",
            rich_help_panel=_RARE,
        ),
    ] = 1e-7,
    replicates: Annotated[
        int, typer.Option(metavar="N", help="How often they are nudged.", rich_help_panel=_RARE)
    ] = 30,
    seed: Annotated[int, typer.Option(metavar="N", help="Draws the generated strings.", rich_help_panel=_RARE)] = 0,
    resume: Resume = False,
    cluster: Cluster = None,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Run the paper's whole experiment, and write its report.

    The report has the paper's table beside ours, the figures, the claims with what became of each, and a page for the browser.

    Example: tallystick reproduce --seeds 1000 --out reproduction
    """
    look_for_gpus(device, cluster)
    from tallystick.reports.table_formats import as_text
    from tallystick.studies.reproduce import Plan, run_and_report

    plan = Plan(runs, seeds, authors_data, precision, seed, perturb, replicates)
    how = {"cluster": cluster, "device": device, "engine": engine, "resume": resume, "force": force}
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
        typer.Argument(
            metavar="RUN", help="The folder of a reproduction, or of a run of linear networks with several units."
        ),
    ],
    wide: Wide = False,
    as_json: Json = False,
) -> None:
    """Write the report of a reproduction once more.

    The report has the table, the figures, the claims and the page. Of a run of linear networks with several units, it shows the
    leading eigenvalues against the lengths up to which the networks are right.

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
            show_rows(rows, wide=wide)
        return
    found = write_report(run)
    if as_json:
        show_json({"directory": str(run), "files": [path.name for path in found.files]})
    else:
        show(as_text(found.run, found.rows))


def compare(
    cell: Annotated[str | None, choice(CELLS | LAYERS, "This cell alone.", metavar="CELL")] = None,
    method: Annotated[str | None, choice(METHODS, "This method alone.", metavar="METHOD")] = None,
    units: Annotated[int | None, typer.Option(metavar="N", help="Networks with N units alone.")] = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="How many networks with one unit of each kind.")] = 10_000,
    layer_seeds: Annotated[
        int, typer.Option(metavar="N", help="How many linear, selective and LRU layers of each kind.")
    ] = 1000,
    vector_seeds: Annotated[int, typer.Option(metavar="N", help="How many GRUs and LSTMs of each kind.")] = 100,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write all columns and the figure there: compare.csv, .md, .png, .pdf and .svg."
        ),
    ] = None,
    wide: Wide = False,
    force: Force = False,
    as_json: Json = False,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", help="Draws the order of the training strings, and the test strings.", rich_help_panel=_RARE
        ),
    ] = 0,
    resume: Resume = False,
    cluster: Cluster = None,
    device: Device = "auto",
) -> None:
    """Train with every method and cell, and compare how far they count.

    Of each it says how many networks meet the conditions exactly, how many are proved right at every length, and up to which
    length the others are right.

    Example: tallystick compare --cell linear --seeds 1000
    """
    look_for_gpus(device, cluster)
    from tallystick.studies.compare import chosen_settings, compare_settings
    from tallystick.studies.comparison_table import (
        HEADINGS,
        NARROW,
        as_cells,
        as_record,
        setting_words,
        write_comparison,
    )

    settings = chosen_settings(seeds, vector_seeds, seed, cell, method, layer_seeds=layer_seeds, units=units)
    if out is not None:
        make_folder(out)
    elif resume:
        raise BadInput("resume: an interrupted comparison is gone on with where --out DIR has kept its rows")

    how = {"cluster": cluster, "device": device, "resume": resume, "force": force}
    with steps_bar(len(settings), "settings") as begin:

        def tell(setting: "Setting") -> None:
            begin(" · ".join(setting_words(setting)))

        rows = compare_settings(settings, seed, out=out, tell=tell, **how)
    if out is not None:
        write_comparison(rows, out)
    if as_json:
        show_json({"seed": seed, "rows": [as_record(row) for row in rows]})
    else:
        headings = HEADINGS if wide else NARROW
        show_rows([dict(zip(headings.values(), as_cells(row, headings), strict=True)) for row in rows], wide=wide)


def explain(
    network: Annotated[
        Path | None, typer.Argument(metavar="NETWORK", help="A linear network's file, to explain that network alone.")
    ] = None,
    task: Annotated[
        str | None, choice(TASKS, "Explain training for this task; the default is the paper's tasks and more.")
    ] = None,
    train_length: Annotated[
        int | None, typer.Option(metavar="N", help="The longest training strings; the default is 2, 4 and 8.")
    ] = None,
    method: Annotated[
        str,
        choice((*METHODS, "all"), "With --task: how networks are trained.", metavar="METHOD"),
    ] = "published",
    bias: Annotated[bool, typer.Option("--bias", help="With --task: give the cell a bias.")] = False,
    seeds: Annotated[
        int, typer.Option(metavar="N", help="How many networks are trained, to see where they end.")
    ] = 10_000,
    lengths: Annotated[str, choice(("all", "even"), "With NETWORK: which lengths count.")] = "all",
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Draw figures there: reasons.png, .pdf and .svg, or linear.* with NETWORK."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    precision: Annotated[str, choice(PRECISIONS, "The arithmetic of the weights.", rich_help_panel=_RARE)] = "float32",
    gradients: Annotated[
        str,
        choice(
            ("own", *PRECISIONS),
            "The arithmetic of loss and gradient; own is that of the weights.",
            rich_help_panel=_RARE,
        ),
    ] = "own",
    seed: Annotated[
        int, typer.Option(metavar="N", help="Draws the order of the training strings.", rich_help_panel=_RARE)
    ] = 0,
) -> None:
    """Say why training ends where it does, or why a linear network fails.

    Without NETWORK it trains, and says what each objective does at the exact counter, which way training leaves it, where
    networks end, and what rounding does. With NETWORK it says which eigenvalues the readout sees, what each bracket adds to the
    output, and why the network is right or where it fails.

    Example: tallystick explain --task binary --method count-calm
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
        with waiting_bar(f"training: {len(found) + 1} of {len(settings)} settings"):
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
