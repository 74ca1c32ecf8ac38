"""What `accuracy` shows of networks with several units, one or a run of them: how they do on drawn strings."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.cells import CELLS, ScalarCell, VectorCell
from tallystick.cli.output import rows_table, show, show_json
from tallystick.errors import BadInput
from tallystick.networks import Network

if TYPE_CHECKING:
    from tallystick.runs.measures import CountingUnit, Curve

# JAX, polars and matplotlib take a second to load, so each function imports them when it is called.
# ruff: noqa: PLC0415


@dataclass(frozen=True)
class Drawn:
    """Strings that are drawn: of which length, whether of shorter ones too, how many of each, and from which seed."""

    length: int = 10_000
    shorter: bool = False
    number: int = 100
    seed: int = 0


def accuracy_of_run(path: Path, drawn: Drawn, figure: Path | None, *, as_json: bool) -> None:
    """Show how a run's networks do on drawn strings, length by length."""
    from tallystick.runs.evaluation import ensembles_of_run, spread
    from tallystick.runs.run_directory import RunDirectory

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


def accuracy_of_network(path: Path, network: Network, drawn: Drawn, figure: Path | None, *, as_json: bool) -> None:
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
    curve = curve_to(networks, drawn.length, shorter=shorter, strings=drawn.number, seed=drawn.seed)
    if figure is not None:
        from tallystick.reports.figure_accuracy import write_long_accuracy_figure

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


def _name(cell: str, units: int) -> str:
    return f"{cell} with {units} {'unit' if units == 1 else 'units'}"
