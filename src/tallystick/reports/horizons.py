"""How far the networks can be trusted: the lengths up to which they are right on all strings, beside sampled accuracy."""

from typing import NamedTuple

from tallystick.certificates.ensemble import UNLIMITED
from tallystick.reports.reading import Run
from tallystick.reports.settings import Setting

TITLE = "Horizon"
LEGEND = (
    "Horizon: the length up to which a network is right on ALL strings, exactly, in the median and at the most over its seeds, "
    "when even lengths count and when all do."
)


class Horizon(NamedTuple):
    """The median and the greatest horizon of a setting's networks."""

    median: float
    greatest: int

    def __str__(self) -> str:
        return f"{_length(self.median)}, at most {_length(self.greatest)}"


def horizons_of(run: Run, edition: str, setting: Setting) -> dict[str, Horizon]:
    """Return the horizons of a setting for even and for all lengths; empty where none were worked out."""
    models = run.of_edition(edition)[setting]
    found = {name: models[f"horizon_{name}"].drop_nulls() for name in ("even", "all")}
    return {name: Horizon(column.median(), column.max()) for name, column in found.items() if len(column)}  # type: ignore[arg-type]


def horizon_lines(run: Run, edition: str, setting: Setting) -> list[str]:
    """Return a setting's horizons as a reader sees them, a line for even and one for all lengths."""
    return [f"{name} {horizon}" for name, horizon in horizons_of(run, edition, setting).items()]


def has_horizons(run: Run) -> bool:
    """Say whether the run worked any out."""
    return bool(run.models["horizon_even"].count())


def _length(value: float) -> str:
    return "unlimited" if value >= UNLIMITED else f"{value:g}"
