"""A run directory as a report needs it, every file checked before anything is drawn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl

from tallystick.cells import LinearCell
from tallystick.errors import BadInput, printable
from tallystick.files import LARGEST_SETTINGS, parse_settings, read_document, read_text
from tallystick.reports.paper import COLUMNS, EDITIONS, PAPER_RUNS, SETTINGS, TASKS, TRAIN_LENGTHS, PaperSetting
from tallystick.runs.columns import Column, columns_of
from tallystick.runs.parquet_files import read_or_refuse, read_table
from tallystick.runs.resuming import refuse_unfinished

Values = np.ndarray[tuple[int], np.dtype[np.float64]]

_ANEW = "tallystick reproduce --force makes the run anew"
_REPRODUCE = "reproduce"
_SETTING_TYPES: dict[str, type[pl.DataType]] = {"task": pl.String, "bias": pl.Boolean, "train_length": pl.Int64}
_NEEDED = ("edition", *_SETTING_TYPES, "method", "precision", "seed", "open_step", "close_step")
_INDICATORS = ("ab_ratio", "recurrent_weight")
_ACCURACIES = tuple(f"accuracy_{column}" for column in COLUMNS)
_REPLICATE_TYPES: dict[str, type[pl.DataType]] = {
    "edition": pl.String,
    "kind": pl.String,
    **_SETTING_TYPES,
    "column": pl.String,
    "replicate": pl.Int64,
    "average": pl.Float64,
}
_PATH_TYPES: dict[str, type[pl.DataType]] = {
    **_SETTING_TYPES,
    "seed": pl.Int64,
    "epoch": pl.Int64,
    "ab_ratio": pl.Float64,
    "recurrent_weight": pl.Float64,
}
_CHOICES: dict[str, tuple[object, ...]] = {
    "task": TASKS,
    "train_length": TRAIN_LENGTHS,
    "edition": tuple(EDITIONS),
    "column": COLUMNS,
    "kind": ("sampling", "rounding"),
}
_PERCENTAGES = (*_ACCURACIES, "average")
_PERCENTAGE_SLACK = 1e-3  # a mean taken in float32 may come out as 100.00001


@dataclass(frozen=True)
class Run:
    """The content of a run directory: trained models, replicated averages, training paths, and how they were made."""

    directory: Path
    models: pl.DataFrame
    replicates: pl.DataFrame
    paths: pl.DataFrame
    config: str
    record: Mapping[str, object]

    @property
    def editions(self) -> list[str]:
        """The editions that have models, nearest to the paper first."""
        present = set(self.models["edition"].unique().to_list())
        return [edition for edition in EDITIONS if edition in present]

    @property
    def main_edition(self) -> str:
        """The edition the figures and the claims are drawn from: the fresh one where it is there."""
        return "fresh" if "fresh" in self.editions else self.editions[0]

    def precision(self, edition: str) -> str:
        """The arithmetic one edition was trained in; several are joined."""
        return " and ".join(map(printable, self.models.filter(edition=edition)["precision"].unique().sort()))

    def of_edition(self, edition: str) -> dict[PaperSetting, pl.DataFrame]:
        """Return one edition's models by setting, in the paper's order, seeds in theirs."""
        return self._by_edition.get(edition, {})

    @cached_property
    def _by_edition(self) -> dict[str, dict[PaperSetting, pl.DataFrame]]:
        """The models by edition and setting, sorted once for the table, the claims, the figures and the page."""
        return {edition: by_setting(self.models.filter(edition=edition).sort("seed")) for edition in self.editions}

    def averages(self, edition: str) -> dict[PaperSetting, pl.DataFrame]:
        """Return one edition's ten-run averages over redrawn seeds and test strings, by setting, where they were drawn.

        One test suite favours its own strings however many seeds it is put to; each replicate has a suite of its own.
        """
        drawn = self.replicates.filter(edition=edition, kind="sampling")
        wide = drawn.pivot(
            on="column", index=[*PaperSetting._fields, "replicate"], values="average", aggregate_function="first"
        )
        columns = {column: f"accuracy_{column}" for column in COLUMNS if column in wide.columns}
        return by_setting(wide.rename(columns).drop_nulls()) if len(columns) == len(COLUMNS) else {}

    @property
    def runs(self) -> int:
        """How many runs stand behind each printed average: the paper's ten, unless the run was asked for others."""
        asked = parse_settings(self.config, "config.toml").get("runs", PAPER_RUNS)
        return asked if isinstance(asked, int) and asked > 0 else PAPER_RUNS


def model_columns() -> list[Column]:
    """Return the columns that are read of a run's table: those that tell its networks apart, and those that are explored."""
    return [column for column in columns_of(LinearCell) if column.name in _NEEDED or column.explored]


def further_columns(run: Run) -> list[Column]:
    """Return the explored columns that the paper knows nothing of and that the run has values in, horizons apart."""
    known = (*_NEEDED, *_INDICATORS, *_ACCURACIES, "horizon_all", "horizon_even")
    return [column for column in model_columns() if column.name not in known and run.models[column.name].count()]


def read_run(directory: Path) -> Run:
    """Read a run directory; raise `BadInput` naming the file that is missing, damaged or not what it should be."""
    if not directory.is_dir():
        raise BadInput(f"{directory}: not a run directory; tallystick reproduce --out {directory} makes one")
    config = _config(directory / "config.toml")
    made_by = parse_settings(config, "config.toml").get("command", _REPRODUCE)
    if made_by != _REPRODUCE:
        raise BadInput(f"{directory}: a run of tallystick {made_by}; a report is of what tallystick reproduce has made")
    types = {column.name: column.dtype for column in model_columns()}
    required = (*_NEEDED, *_INDICATORS, *_ACCURACIES)
    models = _table(directory / "models.parquet", types, optional=[name for name in types if name not in required])
    if models.is_empty():
        raise BadInput(f"{directory / 'models.parquet'}: holds no model; at least one row is needed")
    _no_seed_twice(models, directory / "models.parquet")
    _something_finite(models, directory / "models.parquet")
    return Run(
        directory=directory,
        models=models,
        replicates=_table(directory / "replicates.parquet", _REPLICATE_TYPES),
        paths=_table(directory / "paths.parquet", _PATH_TYPES),
        config=config,
        record=_record(directory / "record.json"),
    )


def by_setting(table: pl.DataFrame) -> dict[PaperSetting, pl.DataFrame]:
    """Split a table by setting, in the paper's order; settings without rows are left out."""
    parts = table.partition_by("task", "bias", "train_length", as_dict=True)
    found = {PaperSetting(*cast("tuple[str, bool, int]", key)): part for key, part in parts.items()}
    return {setting: found[setting] for setting in SETTINGS if setting in found}


def values(table: pl.DataFrame, column: str) -> Values:
    """Return a column as an array of floats, with NaN where there is no value."""
    return table[column].fill_null(float("nan")).to_numpy()


def finite(numbers: Values) -> Values:
    """Return the numbers without NaN and infinities."""
    return numbers[np.isfinite(numbers)]


def _table(path: Path, types: Mapping[str, type[pl.DataType]], optional: Iterable[str] = ()) -> pl.DataFrame:
    """Read the named columns of a Parquet file and check what stands in them.

    Some are not worked out for every cell and task, and not at all by earlier runs: an optional column may be absent.
    """
    refuse_unfinished(path.parent, path.name)
    found = read_or_refuse(path, _ANEW, read_table)
    absent = [name for name in optional if name not in found.columns]
    found = found.with_columns(pl.lit(None, types[name]).alias(name) for name in absent)
    missing = [name for name in types if name not in found.columns]
    if missing:
        raise BadInput(f"{path}: column {missing[0]!r} is missing; the columns are {', '.join(types)}")
    for name, kind in types.items():
        found = _with_type(found, name, kind, path)
    # A ratio a/b does not exist where b = 0, and a diverged weight is not finite; both are counted, not refused.
    may_be_empty = {"open_step", "close_step", *_INDICATORS, *optional}
    for name in types:
        _check_column(found, name, path, may_be_empty=name in may_be_empty)
    return found.select(list(types))


def _with_type(table: pl.DataFrame, name: str, kind: type[pl.DataType], path: Path) -> pl.DataFrame:
    if isinstance(table.schema[name], kind):
        return table
    try:
        if table.schema[name].is_numeric() != kind().is_numeric():
            raise pl.exceptions.InvalidOperationError
        return table.with_columns(pl.col(name).cast(kind))
    except pl.exceptions.PolarsError:
        raise BadInput(f"{path}: column {name!r} holds {table.schema[name]}, not {kind.__name__}") from None


def _check_column(table: pl.DataFrame, name: str, path: Path, *, may_be_empty: bool) -> None:
    column = table[name]
    if not may_be_empty and column.null_count():
        raise BadInput(f"{path}: column {name!r} has {column.null_count()} empty values; every row needs one")
    if name in _CHOICES:
        _refuse_others(path, name, column.unique().sort().to_list(), _CHOICES[name])
    if name in _PERCENTAGES:
        outside = column.filter(~column.is_between(-_PERCENTAGE_SLACK, 100 + _PERCENTAGE_SLACK))
        _refuse_others(path, name, outside.head(1).to_list(), ("a percentage from 0 to 100",))


def _refuse_others(path: Path, name: str, found: Iterable[object], allowed: tuple[object, ...]) -> None:
    for value in found:
        if value not in allowed:
            choices = ", ".join(map(str, allowed))
            raise BadInput(f"{path}: column {name!r}: {value!r} is not {'one of ' * (len(allowed) > 1)}{choices}")


def _no_seed_twice(models: pl.DataFrame, path: Path) -> None:
    key = ["edition", "task", "bias", "train_length", "seed"]
    twice = models.filter(models.select(key).is_duplicated()).sort(key)
    if not twice.is_empty():
        edition, task, bias, length, seed = twice.select(key).row(0)
        where = f"edition {edition}, {PaperSetting(task, bias, length)}"
        raise BadInput(f"{path}: seed {seed} of {where} stands more than once; a model has one row")


def _something_finite(models: pl.DataFrame, path: Path) -> None:
    """Refuse a setting without one model that has the indicators: there is nothing to say of it."""
    for edition in models["edition"].unique().sort():
        for setting, table in by_setting(models.filter(edition=edition)).items():
            for name in _INDICATORS:
                if not len(finite(values(table, name))):
                    where = f"column {name!r} of edition {edition}, {setting}"
                    raise BadInput(f"{path}: {where} holds no finite number; at least one model must have it")


def _config(path: Path) -> str:
    if not path.is_file():
        raise BadInput(f"{path}: missing; tallystick reproduce writes it")
    text = read_text(path, LARGEST_SETTINGS)
    parse_settings(text, str(path))
    return text


def _record(path: Path) -> Mapping[str, object]:
    refuse_unfinished(path.parent, path.name)
    document = read_document(path)
    if not isinstance(document.value, dict):
        document.refuse("a JSON object")
    return cast("dict[str, object]", document.value)
