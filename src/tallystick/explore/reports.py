"""What the report of a run knows: Table 2 beside the paper's numbers, and training paths."""

from functools import lru_cache
from pathlib import Path

from tallystick.explore.answers import as_float
from tallystick.explore.refusals import NotFound
from tallystick.explore.run import ExploredRun
from tallystick.reports import table
from tallystick.reports.reading import Run, by_setting, read_run
from tallystick.reports.table import Row

_FILES = ("replicates.parquet", "paths.parquet", "record.json")
_FOLLOWED = "fresh"
"""The edition whose first seeds are followed along training."""


def has_report(path: Path) -> bool:
    """Say whether a run has what a report needs; one that was only trained has not."""
    return all((path / name).is_file() for name in _FILES)


def table_of(run: ExploredRun) -> dict[str, object]:
    """Return Table 2, edition by edition."""
    found = _read(run.path)
    rows = _rows(run.path)
    return {
        "editions": [
            {
                "id": edition,
                "title": table.heading(found, edition),
                "legend": table.legend(found, rows, edition),
                "rows": [
                    {
                        "setting": run.setting_of(edition, setting),
                        "group": str(setting.group),
                        "train_length": setting.train_length,
                        "entries": {row.column: _entry(row) for row in entries},
                    }
                    for setting, entries in table.lines(rows, edition).items()
                ],
            }
            for edition in found.editions
        ]
    }


def paths_of(run: ExploredRun, names: str, limit: int) -> dict[str, object]:
    """Return the paths of the first seeds of some settings, so many in all that they can be drawn."""
    wanted = [networks.id for networks in run.chosen(names)]
    found: list[dict[str, object]] = []
    for setting, rows in by_setting(_read(run.path).paths).items():
        name = run.setting_of(_FOLLOWED, setting)
        if name in wanted:
            for (seed,), path in rows.sort("seed", "epoch").group_by("seed", maintain_order=True):
                columns = {"ratio": "ab_ratio", "recurrent_weight": "recurrent_weight"}
                values = {key: [as_float(value) for value in path[column]] for key, column in columns.items()}
                found.append({"setting": name, "seed": seed, **values})
    found.sort(key=lambda path: path["seed"])  # type: ignore[arg-type, return-value]  # so that a limit takes from every setting
    return {"paths": found[:limit]}


def _entry(row: Row) -> dict[str, object]:
    return {
        "avg": row.avg,
        "min": row.min,
        "max": row.max,
        "mean": row.ensemble_mean,
        "band": row.band,
        "inside": row.inside,
        "paper": row.printed._asdict(),
        "note": row.note,
    }


@lru_cache(maxsize=1)
def _read(path: Path) -> Run:
    if not has_report(path):
        raise NotFound("this run has no table: tallystick reproduce makes one that has")
    return read_run(path)


@lru_cache(maxsize=1)
def _rows(path: Path) -> list[Row]:
    return table.table_rows(_read(path))
