"""A run of linear networks with several units: the leading eigenvalue that each readout sees, against how long it is right."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT, VectorCell
from tallystick.certificates.linear.ensemble import has_linear_horizons
from tallystick.certificates.verdict import UNLIMITED
from tallystick.files import write_bytes
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.networks import Network
from tallystick.reports import drawing
from tallystick.runs.directory import CONFIG, RunDirectory
from tallystick.runs.evaluation import ensembles_of_run
from tallystick.runs.rows import certify_many
from tallystick.training.ensemble import Ensemble

FILES = tuple(f"eigenvalues.{form}" for form in drawing.FORMATS)

_SEEN = 1e-3
"""The share of the largest weight from which on an eigenvalue is seen."""

_DOT, _PROVED = "#0072B2", "#D55E00"
_PANEL, _FOOT = 2.4, 0.45  # inches
_ACROSS = 3
_TICKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10**4, 10**5, 10**6, 10**7, 10**8)


class Leading(NamedTuple):
    """The networks of a setting, one entry each.

    Attributes:
        setting: the setting in words.
        sizes: the size of the largest eigenvalue that the readout sees; for a network with a matrix for each token, the root
            of that of their product.
        horizons: up to which length all strings are right.
    """

    setting: str
    sizes: NDArray[np.float64]
    horizons: NDArray[np.int64]

    def as_record(self) -> dict[str, object]:
        """Return what a table says of them."""
        proved = self.horizons == UNLIMITED
        middle = int(np.sort(self.horizons)[(len(self.horizons) - 1) // 2])
        return {
            "setting": self.setting,
            "models": len(self.sizes),
            "eigenvalue_median": float(np.median(self.sizes)),
            "eigenvalue_low": float(np.quantile(self.sizes, 0.1)),
            "eigenvalue_high": float(np.quantile(self.sizes, 0.9)),
            "horizon_median": "unlimited" if middle == UNLIMITED else middle,
            "horizon_best": "unlimited" if proved.any() else int(self.horizons.max()),
            "proved": int(proved.sum()),
        }


def write_eigenvalues(directory: Path) -> list[Leading]:
    """Draw the leading eigenvalues of a run's networks into its directory, and return them setting by setting."""
    found = list(leading_of_run(RunDirectory(directory)))
    for name, content in drawing.files("eigenvalues", lambda: draw_eigenvalues(found)).items():
        write_bytes(content, directory / name)
    return found


def is_linear_run(directory: Path) -> bool:
    """Say whether a folder holds a training run of linear networks with several units."""
    run = RunDirectory(directory)
    if not run.has(CONFIG) or run.config().get("command") != "train":
        return False
    return issubclass(run.cell, VectorCell) and has_linear_horizons(run.cell)


def leading_of_run(directory: RunDirectory) -> Iterator[Leading]:
    """Go through the settings of a run of linear networks."""
    for described, ensemble in ensembles_of_run(directory):
        network, certified = ensemble.networks(), certify_many(ensemble)
        known = certified.networks
        words = [f"{network.cell.name}, {network.cell.units} units", *_words(described)]
        yield Leading(", ".join(words), leading_sizes(network, ensemble)[known], certified.horizons.all[known])


def _words(described: dict[str, object]) -> list[str]:
    bias = "with bias" if described["bias"] else "no bias"
    return [str(described["task"]), bias, str(described["method"]), f"training length {described['train_length']}"]


@np.errstate(all="ignore")
def leading_sizes(network: Network, ensemble: Ensemble) -> NDArray[np.float64]:
    """Return the size of the largest eigenvalue that each readout sees, of networks whose weights are arrays."""
    count = len(ensemble.accuracy_train)
    (opening, a), (closing, b) = (_map(network, token, count) for token in (OPEN, CLOSE))
    rows = np.stack([_stacked(row, count) for row in network.readout.weight], axis=1)
    if len(network.readout.bias) > 1:  # what tells classes apart is the difference of their outputs
        rows = rows - rows[:, :1]
    values, vectors = np.linalg.eig(closing @ opening)
    try:
        weights = np.abs(rows @ vectors).max(axis=1) * np.abs(np.linalg.solve(vectors, (a - b)[:, :, None]))[:, :, 0]
    except np.linalg.LinAlgError:  # an eigenvector is a multiple of another: every eigenvalue is taken to be seen
        weights = np.ones(values.shape)
    seen = weights >= _SEEN * weights.max(axis=1, keepdims=True)
    return np.sqrt(np.where(seen, np.abs(values), 0).max(axis=1))


def _map(network: Network, token: str, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the matrix and the step of a token, one of each per network, from the cell's own step."""
    units = network.cell.units
    states = [tuple(np.full(count, float(place == one)) for place in range(units)) for one in range(-1, units)]
    step, *columns = (_stacked(network.cell.step(state, ONE_HOT[token]), count) for state in states)
    return np.stack([column - step for column in columns], axis=2), step


def _stacked(numbers: Any, count: int) -> NDArray[np.float64]:  # noqa: ANN401 -- numbers or arrays, one per unit
    """Return one row per network of numbers that may be the same for all."""
    return np.stack([np.broadcast_to(np.asarray(number, np.float64), (count,)) for number in numbers], axis=1)


def draw_eigenvalues(found: list[Leading]) -> Figure:
    """Draw a panel for each setting."""
    across = min(_ACROSS, len(found))
    lines = -(-len(found) // across)
    width = drawing.WIDTH * max(across, 2) / _ACROSS
    figure = Figure(figsize=(width, _PANEL * lines + _FOOT), layout="constrained")
    panels = figure.subplots(lines, across, squeeze=False).flat
    for one, axes in zip(found, panels, strict=False):
        _draw_setting(axes, one)
    for axes in list(panels):
        axes.set_axis_off()
    drawing.footnote(
        figure,
        "Each dot is a trained network: the size of the largest eigenvalue that its readout\n"
        "sees, and the length up to which it is right on all strings. Dashed: 1, which\n"
        "every network that is right for ever sees. Orange triangles: proved for all lengths.",
    )
    return figure


def _draw_setting(axes: Axes, one: Leading) -> None:
    proved = one.horizons == UNLIMITED
    reached = one.horizons[~proved]
    # Horizons are whole numbers: spread within half a step, so that equal ones do not hide each other.
    spread = np.random.default_rng(0).uniform(-0.3, 0.3, len(reached))
    top = 2.0 * max(10, int(reached.max(initial=0)))
    axes.plot(one.sizes[~proved], reached + spread, ".", color=_DOT, markersize=2.5, alpha=0.5)
    axes.plot(one.sizes[proved], np.full(proved.sum(), top), "v", color=_PROVED, markersize=4)
    axes.axvline(1, color=drawing.CONDITION_COLOUR, linewidth=0.8, linestyle=(0, (5, 2)))
    axes.set_yscale("symlog", linthresh=1, linscale=0.3)
    axes.set_ylim(-0.5, 1.4 * top)
    ticks = [number for number in _TICKS if number <= top]
    axes.set_yticks(ticks, [f"{number:,}" for number in ticks])
    axes.set_title(one.setting, wrap=True)
    axes.set_xlabel("size of the leading eigenvalue", labelpad=1)
    axes.set_ylabel("right to length", labelpad=1)
