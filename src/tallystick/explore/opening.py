"""From a run directory to networks held in memory, and from a row back to a model. Loads JAX."""

from pathlib import Path

import polars as pl

from tallystick.cells import VectorCell
from tallystick.errors import BadInput
from tallystick.explore.run import ExploredRun, Networks
from tallystick.networks import Network
from tallystick.reports.paper import EDITIONS
from tallystick.runs.directory import CONFIG, RunDirectory
from tallystick.runs.jobs import DESCRIBED_BY, VARIED
from tallystick.runs.rows import ensemble_of
from tallystick.training.setting import Setting

MOST_NETWORKS = 20_000_000


def open_run(path: Path) -> ExploredRun:
    """Read a run directory; raise `BadInput` naming the file that is missing or not what it should be."""
    if not (path / CONFIG).is_file():
        raise BadInput(f"{path}: not a run directory; tallystick reproduce --out {path} makes one")
    directory = RunDirectory(path)
    if issubclass(directory.cell, VectorCell):
        raise BadInput(f"{path}: a run of GRUs or LSTMs; the explorer shows cells without gates")
    rows = directory.rows()
    size = directory.collect(rows.select(pl.len())).item()
    if not 0 < size <= MOST_NETWORKS:
        raise BadInput(f"{path}: {size:,} networks; the explorer shows 1 to {MOST_NETWORKS:,}")
    columns = rows.collect_schema().names()
    names = ["edition", *DESCRIBED_BY, *(name for name in VARIED if name in columns)]
    parts = directory.models().partition_by(names, as_dict=True, maintain_order=True)
    found = [Networks.of(dict(zip(names, values, strict=True)), part) for values, part in parts.items()]
    return ExploredRun(path, {networks.id: networks for networks in sorted(found, key=_as_in_the_paper)})


def _as_in_the_paper(networks: Networks) -> tuple[object, ...]:
    """Sort as the paper's table does: editions nearest to it first, without bias first."""
    described, editions = networks.described, list(EDITIONS)
    edition = str(described["edition"])
    place = editions.index(edition) if edition in editions else len(editions)
    return place, described["bias"], described["task"], described["train_length"]


def model_of(networks: Networks, seed: int) -> Network:
    """Return one network as a model, its weights as they were trained."""
    setting = Setting(**{name: value for name, value in networks.described.items() if name != "edition"})  # type: ignore[arg-type]
    return ensemble_of(networks.row(seed), setting).network(0)
