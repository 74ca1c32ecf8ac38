"""What commands do with GRUs and LSTMs, one network or a run of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from tallystick.cli.output import cell_text, rows_table, show, show_json
from tallystick.models import GatedModel
from tallystick.models.gated_json import gated_name

if TYPE_CHECKING:
    from tallystick.experiments.gated_measures import CountingUnit, Curve
    from tallystick.training.gated.setting import GatedSetting

# JAX, polars and matplotlib take a second to load, so each function imports them when it is called.
# ruff: noqa: PLC0415


@dataclass(frozen=True)
class Drawn:
    """Strings that are drawn: of which length, whether of shorter ones, too, how many of each, and from which seed."""

    length: int = 10_000
    shorter: bool = False
    number: int = 100
    seed: int = 0


def is_gated_run(path: Path) -> bool:
    """Say whether a folder is a run of GRUs or LSTMs."""
    from tallystick.experiments.gated_evaluation import is_gated_run as is_one

    return is_one(path)


def train_gated(
    setting: "GatedSetting",
    seeds: int,
    seed: int,
    out: Path,
    *,
    cluster: str | None,
    resume: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Train a run of GRUs or LSTMs and show what became of them."""
    from tallystick.cli.progress import watched
    from tallystick.experiments.cluster import workers_named
    from tallystick.experiments.gated_rows import summary_of
    from tallystick.experiments.gated_runs import run_gated_training
    from tallystick.experiments.run_directory import RunDirectory

    with workers_named(cluster) as workers, watched({setting.cell: seeds}) as report:
        rows = run_gated_training(
            setting,
            seeds,
            seed,
            RunDirectory(out),
            progress=lambda done: report(setting.cell, done),
            workers=workers,
            resume=resume,
            force=force,
        )
    _show_facts(summary_of(rows), "networks", as_json=as_json)


def evaluate_gated_run(path: Path, strings: Path, *, as_json: bool) -> None:
    """Test a run's networks on a file of strings."""
    from tallystick.experiments.gated_evaluation import evaluate_gated_run as evaluated

    _show_facts(evaluated(path, strings), "accuracy", as_json=as_json)


def certify_gated_run(path: Path, lengths: str, limit: int | None, *, as_json: bool) -> None:
    """Say up to which length a run's networks are proved right on all strings."""
    from tallystick.experiments.gated_evaluation import horizons_of_gated_run

    _show_facts(horizons_of_gated_run(path, lengths, limit), "horizons", as_json=as_json)


def accuracy_of_gated_run(path: Path, drawn: Drawn, figure: Path | None, *, as_json: bool) -> None:
    """Show how a run's networks do on drawn strings, length by length."""
    from tallystick.experiments.evaluation import spread
    from tallystick.experiments.gated_evaluation import read_gated_run
    from tallystick.experiments.gated_rows import described

    networks = read_gated_run(path).networks
    setting, size = described(networks.setting), len(networks.accuracy_train)
    name = f"{_named(networks.setting.cell, networks.setting.units)}, {setting['method']}"
    curve = _curve(networks.networks(), drawn, figure, name)
    points = [
        {"length": length, "strings": curve.strings, **spread("accuracy", shares / 100)}
        for length, shares in zip(curve.lengths, curve.accuracy, strict=True)
    ]
    if as_json:
        show_json({"run": str(path), **setting, "models": size, **_points_json(points, drawn)})
    else:
        _show_points(f"{size} networks, each {name}", points, drawn)


def accuracy_of_gated_model(path: Path, model: GatedModel, drawn: Drawn, figure: Path | None, *, as_json: bool) -> None:
    """Show how one network does on drawn strings, length by length, where it first fails, and how its units follow the count."""
    from tallystick.experiments.gated_measures import border_strings, counting_units, earliest_failures, uniform_strings
    from tallystick.experiments.gated_rows import LONG, SHORT, STRINGS

    name, model = _named(gated_name(model), model.cell.units), model.in_arithmetic("float64")
    curve = _curve(model, drawn, figure, name)
    points: list[dict[str, object]] = [
        {"length": n, "strings": curve.strings, "correct": round(share * curve.strings / 100), "accuracy": share / 100}
        for n, share in zip(curve.lengths, curve.accuracy[:, 0].tolist(), strict=True)
    ]
    failed = int(earliest_failures(model, border_strings(LONG, STRINGS, drawn.seed))[0])
    units = counting_units(model, uniform_strings(SHORT, STRINGS, drawn.seed))
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


def _curve(networks: GatedModel, drawn: Drawn, figure: Path | None, name: str) -> "Curve":
    """Run networks on drawn strings, and draw how they do where that is asked for."""
    from tallystick.experiments.gated_measures import curve_to

    shorter = drawn.shorter or figure is not None
    curve = curve_to(networks, drawn.length, shorter=shorter, strings=drawn.number, seed=drawn.seed)
    if figure is not None:
        from tallystick.reports.figure_long_accuracy import write_long_accuracy_figure

        write_long_accuracy_figure(curve, name, figure)
    return curve


def _points_json(points: list[dict[str, object]], drawn: Drawn) -> dict[str, object]:
    return {"sampled": True, "seed": drawn.seed, **points[-1], **({"curve": points} if drawn.shorter else {})}


def _show_points(name: str, points: list[dict[str, object]], drawn: Drawn) -> None:
    show(f"{name}: right among {drawn.number} strings of each length with counts from -2 to 2, in percent")
    rows = [
        {key: 100 * value if isinstance(value, float) else value for key, value in point.items() if key != "strings"}
        for point in (points if drawn.shorter else points[-1:])
    ]
    show(rows_table(rows))


def _unit_json(unit: "CountingUnit") -> dict[str, object]:
    numbers = {name: float(getattr(unit, name)[0]) for name in ("slope", "intercept", "r_squared")}
    return {"unit": f"{unit.part} {unit.unit}", **numbers}


def _named(cell: str, units: int) -> str:
    return f"{cell} with {units} {'unit' if units == 1 else 'units'}"


def _show_facts(found: dict[str, object], name: str, *, as_json: bool) -> None:
    """Show what was found of a run's one setting, a line each: there is too much of it for one."""
    if as_json:
        show_json({name: [found]})
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for key, value in found.items():
        table.add_row(key.replace("_", " "), cell_text(value))
    show(table)
