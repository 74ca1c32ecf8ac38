"""The command of reasons: why training ends where it does."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cli.output import Force, Json, make_folder, refuse_existing, show, show_json
from tallystick.errors import BadInput
from tallystick.files import write_whole

if TYPE_CHECKING:
    from tallystick.studies.explain.explanation import Explanation
    from tallystick.studies.explain.rounding import Rounding
    from tallystick.training.setting import Setting

PAPERS = (("binary", False, "published"), ("binary", True, "published"), ("ternary", False, "published"))
OTHERS = (("ternary", False, "corrected"), ("count", False, "count"), ("binary", False, "count-calm"))
EVERY = "all"
FILES = ("reasons.png", "reasons.pdf", "reasons.svg")


def explain(
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
        typer.Option(metavar="DIR", help="Draw reasons.png, .pdf and .svg there: loss, regions, paths, rounding."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Say what each objective does at the exact counter, which way training leaves it, where seeds end, and what rounding does.

    Example: tallystick explain --task binary --method count-calm --train-length 8
    """
    from tallystick.runs.training_run import training_job  # noqa: PLC0415 -- JAX takes a second to load
    from tallystick.studies.explain.explanation import explain as explained  # noqa: PLC0415
    from tallystick.studies.explain.rounding import gradient_rounding  # noqa: PLC0415
    from tallystick.studies.explain.words import as_record, as_text  # noqa: PLC0415

    settings = _settings(_chosen(task, method, bias=bias), train_length, gradients, precision)
    for setting in settings:
        training_job(setting, seeds, seed)  # refuses before anything is trained
    if out is not None:
        make_folder(out)
        for name in FILES:
            refuse_existing(out / name, force=force)
    found: list[tuple[Explanation, Rounding | None]] = []
    for setting in settings:
        rounding = gradient_rounding(setting, seed=seed) if setting.precision == "float32" else None
        found.append((explained(setting, seeds, seed), rounding))
        if not as_json:
            show(as_text(*found[-1]))
            sys.stdout.flush()
    if as_json:
        show_json({"seeds": seeds, "explanations": [as_record(*one) for one in found]})
    if out is not None:
        _draw(out, found, seed)


def _chosen(task: str | None, method: str, *, bias: bool) -> tuple[tuple[str, bool, str], ...]:
    """Return tasks, biases and methods."""
    from tallystick.training.methods import METHODS  # noqa: PLC0415

    if task is None and (bias or method != "published"):
        raise BadInput("task: missing; --bias and --method go with --task")
    if task is None:
        return PAPERS + OTHERS
    return tuple((task, bias, name) for name in (METHODS if method == EVERY else (method,)))


def _settings(
    chosen: tuple[tuple[str, bool, str], ...], train_length: int | None, gradients: str, precision: str
) -> "list[Setting]":
    from tallystick.training.setting import Setting  # noqa: PLC0415

    return [
        Setting(task, bias, length, method=method, gradients=gradients, precision=precision)
        for task, bias, method in chosen
        for length in ((2, 4, 8) if train_length is None else (train_length,))
    ]


def _draw(out: Path, found: "list[tuple[Explanation, Rounding | None]]", seed: int) -> None:
    from tallystick.reports.drawing import files  # noqa: PLC0415
    from tallystick.studies.explain.explanation import landscape  # noqa: PLC0415
    from tallystick.studies.explain.figure import draw_reasons  # noqa: PLC0415

    pictures = [(landscape(one, seed), rounding) for one, rounding in found]
    for name, content in files("reasons", lambda: draw_reasons(pictures)).items():
        write_whole(out / name, lambda temporary, content=content: temporary.write_bytes(content))
