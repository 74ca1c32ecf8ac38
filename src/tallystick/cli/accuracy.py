"""The commands that try networks on strings: all of a length, drawn ones, or a file of them."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cells import CELLS, ScalarCell, VectorCell
from tallystick.certificates.one_unit.exact_accuracy import (
    ExactAccuracy,
    accuracy_curve,
    exact_accuracy,
    is_counted_in_closed_form,
)
from tallystick.certificates.verdict import REAL
from tallystick.cli import show, show_json
from tallystick.cli.certificates import Arithmetic, ReadoutName, refuse_unless, with_readout
from tallystick.cli.options import Force, Json, RunOrNetwork, Wide, choice
from tallystick.cli.output import show_rows, show_settings, waiting_bar
from tallystick.datasets.strings import read_strings
from tallystick.errors import BadInput
from tallystick.files import refuse_unwritable
from tallystick.languages.counter_machine import String
from tallystick.languages.task import Task, read_string
from tallystick.languages.tasks import BINARY, TASKS, TERNARY
from tallystick.networks import Network, read_network
from tallystick.numbers import ARITHMETICS, standard_floats

if TYPE_CHECKING:
    from tallystick.runs.measures import CountingUnit, Curve

# JAX, polars and matplotlib take a second to load, so each function imports them when it is called.
# ruff: noqa: PLC0415


_MOST_WORK = 10**17
"""The sum of the cubes of the strings' lengths times the squared bits that a state gains per token: some minutes of work."""

_DRAWN = "Drawn strings, of networks with several units"


@dataclass(frozen=True)
class Drawn:
    """Strings that are drawn: of which length, whether of shorter ones too, how many of each, and from which seed."""

    length: int = 10_000
    shorter: bool = False
    number: int = 100
    seed: int = 0


def accuracy(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="NETWORK|RUN", help="A network's JSON or safetensors file, or the folder of a run of GRUs or LSTMs."
        ),
    ],
    length: Annotated[
        int | None, typer.Option(metavar="N", help="The length of the strings; the default for drawn ones is 10,000.")
    ] = None,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve", help="Every shorter length, too; of a GRU or an LSTM the lengths 2, 5, 10, 20, 50 and so on."
        ),
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the curve into a .png, .pdf or .svg file.")
    ] = None,
    arithmetic: Arithmetic = REAL,
    force: Force = False,
    as_json: Json = False,
    readout: ReadoutName = None,
    number: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="How many strings are drawn of each length; the default is 100.", rich_help_panel=_DRAWN
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Draws the strings; the default is 0.", rich_help_panel=_DRAWN)
    ] = None,
) -> None:
    """Count exactly how many of all strings of a length are right.

    GRUs, LSTMs and their runs are tried on drawn strings instead, and so are linear networks with several units where --length
    is not given or --number is. Where the sign of the count does not decide what is right, or the alphabet is another one,
    every string is looked at.

    Example: tallystick accuracy network.json --length 50 --curve
    """
    refuse_unwritable(figure, force=force)
    model = None if path.is_dir() else read_network(path)
    if model is None or not (isinstance(model.cell, ScalarCell) or _is_counted(model, length, number, seed)):
        refuse_unless(readout is None and arithmetic == REAL, "--readout and --arithmetic", "cells without gates", path)
        given = {"length": length, "number": number, "seed": seed}
        drawn = Drawn(shorter=curve, **{name: value for name, value in given.items() if value is not None})
        if model is None:
            _show_run(path, drawn, figure, as_json=as_json)
        else:
            _show_network(path, model, drawn, figure, as_json=as_json)
        return
    refuse_unless(
        number is None and seed is None, "--number and --seed", "GRUs and LSTMs, whose strings are drawn", path
    )
    if length is None:
        raise BadInput("length: missing; say how long the strings are, as with --length 50")
    model = with_readout(model, readout)
    found = (
        accuracy_curve(model, length, arithmetic) if curve or figure else [exact_accuracy(model, length, arithmetic)]
    )
    if figure is not None:
        from tallystick.reports.figure_accuracy import write_accuracy_figure

        write_accuracy_figure(found, figure)
    if as_json:
        lengths = {"curve": [_accuracy_json(one) for one in found]} if curve else {}
        show_json({**_accuracy_json(found[-1]), "arithmetic": arithmetic, **lengths})
    else:
        for one in found if curve else found[-1:]:
            _show_accuracy(one, model.task, in_classes=not curve)


def _is_counted(network: Network, length: int | None, number: int | None, seed: int | None) -> bool:
    """Say whether all strings of a network with several units are counted: it is linear, and nothing asks for drawn ones.

    Strings are drawn where the sign of n − m is asked for, and nowhere else.
    """
    if not network.is_usual:
        return True
    return length is not None and number is None and seed is None and is_counted_in_closed_form(network)


def evaluate(
    path: RunOrNetwork,
    strings: Annotated[
        Path, typer.Option(metavar="FILE", help="A file with one string per line, optionally a comma and its label.")
    ],
    arithmetic: Annotated[
        str | None,
        choice(
            ARITHMETICS,
            "What one network runs in; the default is rational, and float64 for a GRU or an LSTM.",
            metavar="ARITHMETIC",
        ),
    ] = None,
    wide: Wide = False,
    as_json: Json = False,
) -> None:
    """Test networks on the strings of a file.

    Strings may have any length. A run's networks are tested in the precision that they were trained in.

    Example: tallystick evaluate network.json --strings strings.txt
    """
    if path.is_dir():
        if arithmetic is not None:
            raise BadInput(
                f"arithmetic: {arithmetic!r} is for a model; a run's networks are tested in their own precision"
            )
        from tallystick.runs.directory import RunDirectory
        from tallystick.runs.evaluation import evaluate_run

        with waiting_bar("running the networks"):
            found = evaluate_run(RunDirectory(path), strings)
        show_settings(found, "accuracy", wide=wide, as_json=as_json)
        return
    model = read_network(path)
    arithmetic = arithmetic or ("rational" if isinstance(model.cell, ScalarCell) else "float64")
    found = score(model.in_arithmetic(arithmetic), strings)
    if as_json:
        show_json({"model": str(path), "arithmetic": arithmetic, **found})
    else:
        asked = found.get("asked", found["strings"])
        unasked = f"; nothing is asked after the other {found['strings'] - asked}" if asked < found["strings"] else ""
        show(
            f"{found['right']} of {asked} strings right in {arithmetic} arithmetic: {found['accuracy']:.2f} %{unasked}"
        )


def score(model: Network, path: Path) -> dict[str, int | float]:
    """Return how many strings of the file the model puts into the right class of its readout.

    Labels are checked for the network's task; the zero check accepts those of the binary and of the ternary task. A network that
    names the next token is asked only where its task says what may follow: `asked` says of how many strings, and the others count
    neither as right nor as wrong.
    """
    membership = model.is_usual and model.task.name not in TASKS
    texts = read_strings(path, *((BINARY, TERNARY) if membership else (model.task,)))
    strings = [read_string(text, model.alphabet) for text in texts]
    _check_effort(model, strings, path)
    wanted = [(string, right) for string in strings if (right := model.right_class(string)) is not None]
    if not wanted:
        raise BadInput(f"{path}: after none of its strings does the task {model.task.name!r} say what must follow")
    with standard_floats():  # a state that overflows is simply wrong
        right = sum(model.class_of(string) == expected for string, expected in wanted)
    asked = {} if model.readout.steps is None else {"asked": len(wanted)}
    return {"strings": len(strings), **asked, "right": right, "accuracy": 100 * right / len(wanted)}


def _check_effort(model: Network, strings: list[String], path: Path) -> None:
    """Refuse strings along which exact states would grow for hours."""
    weights = model.cell.recurrent_weights if isinstance(model.cell, ScalarCell) else ()
    growth = max((_bits(weight) for weight in weights if isinstance(weight, Fraction)), default=0)
    if growth**2 * sum(len(string) ** 3 for string in strings) > _MOST_WORK:
        longest = max(map(len, strings))
        raise BadInput(
            f"{path}: along strings of up to {longest:,} tokens rational states would grow for hours; "
            "--arithmetic float64 takes them"
        )


def _bits(weight: Fraction) -> int:
    return max(weight.numerator.bit_length(), weight.denominator.bit_length()) - 1


def _show_run(path: Path, drawn: Drawn, figure: Path | None, *, as_json: bool) -> None:
    """Show how a run's networks do on drawn strings, length by length."""
    from tallystick.runs.directory import RunDirectory
    from tallystick.runs.evaluation import ensembles_of_run, spread

    directory = RunDirectory(path)
    cell = directory.config().get("cell", "linear")
    if issubclass(directory.cell, ScalarCell):
        several = " and ".join(name for name, kind in CELLS.items() if issubclass(kind, VectorCell))
        raise BadInput(f"{path}: a run of {cell} cells; this is for runs of {several}")
    found = list(ensembles_of_run(directory))
    if len(found) > 1:
        raise BadInput(f"{path}: a run of {len(found)} settings; this is for runs of one")
    ((setting, networks),) = found
    size = len(networks.accuracy_train)
    name = f"{_name(networks.setting.cell, networks.setting.units)}, {setting['method']}"
    curve = _curve(networks.networks(), drawn, figure, name)
    points = [
        {"length": length, "strings": curve.strings, **spread("accuracy", shares / 100)}
        for length, shares in zip(curve.lengths, curve.accuracy, strict=True)
    ]
    if as_json:
        show_json({"run": str(path), **setting, "models": size, **_points_json(points, drawn)})
    else:
        _show_points(f"{size} networks, each {name}", points, drawn)


def _show_network(path: Path, network: Network, drawn: Drawn, figure: Path | None, *, as_json: bool) -> None:
    """Show how one network does on drawn strings, length by length, where it first fails, and how its units follow the count."""
    from tallystick.runs.columns import LONG, SHORT, STRINGS
    from tallystick.runs.measures import border_strings, counting_units, earliest_failures, uniform_strings

    name, network = _name(network.cell.name, network.cell.units), network.in_arithmetic("float64")
    curve = _curve(network, drawn, figure, name)
    points: list[dict[str, object]] = [
        {"length": n, "strings": curve.strings, "correct": round(share * curve.strings / 100), "accuracy": share / 100}
        for n, share in zip(curve.lengths, curve.accuracy[:, 0].tolist(), strict=True)
    ]
    failed = int(earliest_failures(network, border_strings(LONG, STRINGS, drawn.seed))[0])
    units = counting_units(network, uniform_strings(SHORT, STRINGS, drawn.seed))
    if as_json:
        traits = {"first_failure": failed or None, "units": [_unit_json(unit) for unit in units]}
        show_json({"model": str(path), **_points_json(points, drawn), **traits})
        return
    _show_points(name, points, drawn)
    show(
        f"first failure: {f'at {failed} tokens' if failed else 'none'} among the beginnings of {STRINGS} strings of {LONG}"
    )
    for unit in units:
        show(f"{unit.part} {unit.unit}: R² {unit.r_squared[0]:.4f} with the count, slope {unit.slope[0]:.4g}")


def _curve(networks: Network, drawn: Drawn, figure: Path | None, name: str) -> "Curve":
    """Run networks on drawn strings, and draw how they do where that is asked for."""
    from tallystick.runs.measures import curve_to

    shorter = drawn.shorter or figure is not None
    with waiting_bar(f"running on strings of up to {drawn.length:,} tokens"):
        curve = curve_to(networks, drawn.length, shorter=shorter, strings=drawn.number, seed=drawn.seed)
    if figure is not None:
        from tallystick.reports.figure_accuracy import write_long_accuracy_figure

        write_long_accuracy_figure(curve, name, figure)
    return curve


def _points_json(points: list[dict[str, object]], drawn: Drawn) -> dict[str, object]:
    return {"sampled": True, "seed": drawn.seed, **points[-1], **({"curve": points} if drawn.shorter else {})}


def _show_points(name: str, points: list[dict[str, object]], drawn: Drawn) -> None:
    show(f"{name}:")
    show(f"percent right among {drawn.number} strings of each length with counts from -2 to 2")
    rows = [
        {key: 100 * value if isinstance(value, float) else value for key, value in point.items() if key != "strings"}
        for point in (points if drawn.shorter else points[-1:])
    ]
    show_rows(rows)


def _unit_json(unit: "CountingUnit") -> dict[str, object]:
    numbers = {name: float(getattr(unit, name)[0]) for name in ("slope", "intercept", "r_squared")}
    return {"unit": f"{unit.part} {unit.unit}", **numbers}


def _name(cell: str, units: int) -> str:
    return f"{cell} with {units} {'unit' if units == 1 else 'units'}"


def _accuracy_json(found: ExactAccuracy) -> dict[str, object]:
    classes = {
        str(name): {
            "strings": size,
            "correct": found.correct[name],
            "accuracy": found.correct[name] / size if size else None,
        }
        for name, size in found.strings.items()
    }
    return {
        "length": found.length,
        "strings": found.total,
        "correct": found.total_correct,
        "accuracy": float(found.accuracy),
        "balanced_accuracy": float(found.balanced_accuracy),
        "classes": classes,
    }


def _show_accuracy(found: ExactAccuracy, task: Task, *, in_classes: bool) -> None:
    share, balanced = (f"{100 * float(part):.6g} %" for part in (found.accuracy, found.balanced_accuracy))
    if not in_classes:
        show(f"length {found.length}: {found.total_correct:,} of {found.total:,} are right, {share}")
        return
    show(f"{share} of the strings of length {found.length} are right, {balanced} with classes balanced.")
    classes = {task.in_words(name): (found.correct[name], size) for name, size in found.strings.items()}
    for name, (correct, size) in {"all": (found.total_correct, found.total), **classes}.items():
        show(f"{name:13} {correct:,} of {size:,}")
