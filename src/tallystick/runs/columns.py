"""The columns of a run, each declared once: its name, its type, its title, how it is found and how it is counted.

Rows, histograms, summaries, reports and the explorer read these declarations.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tallystick.cells import AffineLayer, Cell, GatedCell, LinearLayer, ScalarCell, TanhLayer, VectorCell
from tallystick.certificates.one_unit.ensemble import has_theorem, meets_conditions

if TYPE_CHECKING:
    from tallystick.networks import Network
    from tallystick.runs.jobs import Job
    from tallystick.runs.measures import CountingUnit
    from tallystick.runs.rows import Certified
    from tallystick.training.ensemble import Ensemble

# The declarations are read where JAX is not needed; what finds the values loads it when it is called.
# ruff: noqa: PLC0415

LONG, LONGEST, SHORT = 1000, 10_000, 50
"""The lengths of the strings that cells with several units are tried on beside the paper's. First failures are looked for in
the long ones, and units are compared with the count along the short ones."""

STRINGS = 100
"""How many strings of each of these lengths."""

_NUMBERS = pl.List(pl.Float64)
_CLOSING = "close_recurrent_weight"


@dataclass(frozen=True)
class Trained:
    """The trained networks that rows are made of, and what several columns are found from."""

    job: "Job"
    seeds: np.ndarray
    ensemble: "Ensemble"

    @property
    def cell(self) -> ScalarCell:
        """The cells with one unit as one cell of arrays."""
        return self.ensemble.cell()

    @cached_property
    def horizons(self) -> "Certified":
        """The horizons."""
        from tallystick.runs.rows import certify_many

        return certify_many(self.ensemble)

    @cached_property
    def long_answers(self) -> tuple[np.ndarray, np.ndarray]:
        """Which long strings each network gets right, and the first failure in each."""
        return self.answers(LONG)

    def answers(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the same for strings of another length."""
        from tallystick.runs.measures import border_strings, judge

        right, failed = judge(self._tested, border_strings(length, STRINGS, self.job.seed), self.ensemble.device)
        return right[: len(self.seeds)], failed[: len(self.seeds)]

    @cached_property
    def units(self) -> "list[CountingUnit]":
        """How well each unit follows the count."""
        from tallystick.runs.measures import counting_units, uniform_strings

        found = counting_units(self._tested, uniform_strings(SHORT, STRINGS, self.job.seed), self.ensemble.device)
        return [unit.first(len(self.seeds)) for unit in found]

    @cached_property
    def _tested(self) -> "Network":
        """The networks, filled up to whole blocks with copies of the last: how many there are decides how sums are rounded."""
        from tallystick.training.engines import NARROWEST

        whole = np.arange(-(-len(self.seeds) // NARROWEST) * NARROWEST)
        filled = self.ensemble.weights.places(np.minimum(whole, len(self.seeds) - 1))
        return replace(self.ensemble, weights=filled).networks()

    @cached_property
    def best_unit(self) -> np.ndarray:
        """The place of the unit that counts best, one per network."""
        return np.stack([unit.r_squared for unit in self.units]).argmax(axis=0)


@dataclass(frozen=True)
class Column:
    """One column of a run's table.

    Attributes:
        name: in the table, in JSON and in the explorer's addresses.
        dtype: the type of its values, one of polars' types.
        find: from trained networks to the values; None for a column that tells settings apart.
        title: in words, for people.
        of: the kind of cell whose runs have it, or several kinds.
        centre: the value that its bins are finest around, for a column that is counted in bins.
        counted: whether it is counted, by its bins or value by value.
        explored: whether the explorer draws it.
        only_counted: whether it stays out of the rows.
    """

    name: str
    dtype: Any
    find: Callable[[Trained], object] | None = None
    title: str = ""
    of: type[Cell] | tuple[type[Cell], ...] = Cell
    centre: float | None = None
    counted: bool = False
    explored: bool = False
    only_counted: bool = False


def recurrent_columns(kind: type[ScalarCell]) -> list[str]:
    """Return the column of each recurrent weight of a cell, in the order of its fields."""
    names = kind.recurrent_fields()
    own = ["recurrent_weight", *(name if name == _CLOSING else "further_weights" for name in names[1:])]
    return own[: len(names)]


def _recurrent(trained: Trained, column: str) -> list[np.ndarray]:
    places = recurrent_columns(type(trained.cell))
    weights = zip(places, trained.cell.recurrent_weights, strict=True)
    return [np.asarray(weight, np.float64) for place, weight in weights if place == column]


def _one_recurrent(column: str) -> Callable[[Trained], object]:
    return lambda trained: next(iter(_recurrent(trained, column)), None)


def _ratio(trained: Trained) -> np.ndarray:
    a, b = (np.asarray(step, np.float64) for step in (trained.cell.open_step, trained.cell.close_step))
    with np.errstate(divide="ignore", invalid="ignore"):
        return a / b


def _step(name: str) -> Callable[[Trained], object]:
    return lambda trained: np.asarray(getattr(trained.cell, name), np.float64)


def _tensors(trained: Trained) -> pl.Series:
    weights = trained.ensemble.weights
    return lists([weights.inputs, weights.recurrent, *weights.bias], len(trained.seeds))


def _readout(name: str) -> Callable[[Trained], object]:
    return lambda trained: lists(_arrays(getattr(trained.ensemble.weights, name)), len(trained.seeds))


def _arrays(part: object) -> list[np.ndarray]:
    return list(part) if isinstance(part, tuple) else [np.asarray(part)]


def lists(arrays: Iterable[np.ndarray], size: int) -> pl.Series:
    """Return arrays, whose last axis is the network, as one list of numbers per network."""
    rows = [np.asarray(array, np.float64).reshape(-1, size) for array in arrays]
    table = np.concatenate(rows).T if rows else np.zeros((size, 0))
    return pl.Series(np.ascontiguousarray(table), dtype=pl.Array(pl.Float64, table.shape[1])).arr.to_list()


def _accuracy_train(trained: Trained) -> np.ndarray:
    return trained.ensemble.accuracy_train


def _accuracy(length: int) -> Callable[[Trained], object]:
    return lambda trained: trained.ensemble.accuracy(trained.job.tests[length])


def _horizon(place: int) -> Callable[[Trained], object]:
    """Find one of the arrays of horizons, null where a network has none."""
    return lambda trained: pl.Series(trained.horizons.horizons[place]).set(pl.Series(~trained.horizons.networks), None)


def _long_accuracy(trained: Trained) -> np.ndarray:
    return 100 * trained.long_answers[0].mean(axis=1)


def _longest_accuracy(trained: Trained) -> np.ndarray:
    return 100 * trained.answers(LONGEST)[0].mean(axis=1)


def _first_failure(trained: Trained) -> list[int | None]:
    from tallystick.runs.measures import earliest

    return [int(length) or None for length in earliest(trained.long_answers[1])]


def _counting_unit(trained: Trained) -> list[str]:
    return [f"{trained.units[place].part} {trained.units[place].unit}" for place in trained.best_unit]


def _of_best_unit(name: str) -> Callable[[Trained], object]:
    def find(trained: Trained) -> np.ndarray:
        values = np.stack([getattr(unit, name) for unit in trained.units])
        return values[trained.best_unit, np.arange(values.shape[1])]

    return find


def _meets_conditions(trained: Trained) -> object:
    return pl.Series(meets_conditions(trained.cell)) if has_theorem(trained.ensemble.setting.kind) else None


_scalar, _vector = partial(Column, of=ScalarCell), partial(Column, of=VectorCell)
_certified = partial(Column, of=(ScalarCell, LinearLayer, AffineLayer, GatedCell, TanhLayer))

COLUMNS: list[Column] = [
    Column("edition", pl.String),
    Column("cell", pl.String),
    _vector("units", pl.Int64),
    Column("task", pl.String),
    Column("bias", pl.Boolean),
    Column("train_length", pl.Int64, title="training length"),
    Column("method", pl.String),
    Column("precision", pl.String),
    Column("seed", pl.Int64, lambda trained: trained.seeds),
    _scalar("open_step", pl.Float64, _step("open_step"), "a"),
    _scalar("close_step", pl.Float64, _step("close_step"), "b"),
    _scalar("ab_ratio", pl.Float64, _ratio, "a/b", centre=-1.0, counted=True, explored=True),
    # U, or P of a selective cell, whose Q has a column of its own.
    _scalar(
        "recurrent_weight", pl.Float64, _one_recurrent("recurrent_weight"), "U", centre=1.0, counted=True, explored=True
    ),
    _scalar(_CLOSING, pl.Float64, _one_recurrent(_CLOSING), "Q", centre=1.0, counted=True),
    # Whatever recurrent weights a new cell has beyond these, in the order of its fields.
    _scalar(
        "further_weights", _NUMBERS, lambda trained: lists(_recurrent(trained, "further_weights"), len(trained.seeds))
    ),
    # All tensors of the cell, one after the other in the order of `Cell.shapes`; missing biases are left out.
    _vector("tensors", _NUMBERS, _tensors),
    Column("readout_weight", _NUMBERS, _readout("readout_weight")),
    Column("readout_bias", _NUMBERS, _readout("readout_bias")),
    Column(
        "accuracy_train",
        pl.Float64,
        lambda trained: trained.ensemble.accuracy_train,
        "accuracy in training",
        counted=True,
        explored=True,
    ),
    Column("accuracy_20", pl.Float64, _accuracy(20), "accuracy at 20 tokens", counted=True, explored=True),
    Column("accuracy_50", pl.Float64, _accuracy(50), "accuracy at 50 tokens", counted=True, explored=True),
    _vector(f"accuracy_{LONG}", pl.Float64, _long_accuracy, f"accuracy at {LONG} tokens", counted=True, explored=True),
    _vector(
        f"accuracy_{LONGEST}",
        pl.Float64,
        _longest_accuracy,
        f"accuracy at {LONGEST} tokens",
        counted=True,
        explored=True,
    ),
    # Null where no beginning of the strings fails.
    _vector("first_failure", pl.Int64, _first_failure, "first failure", explored=True),
    _vector("counting_unit", pl.String, _counting_unit, "unit that counts best"),
    _vector("counting_slope", pl.Float64, _of_best_unit("slope"), "slope of the unit that counts best", explored=True),
    _vector(
        "counting_r_squared", pl.Float64, _of_best_unit("r_squared"), "R² of the unit that counts best", explored=True
    ),
    # A horizon is in real arithmetic, exact or a lower bound, as its other column says; 9223372036854775807 is unlimited. Null
    # stands where there is none: a weight is not finite, or the cell is not one that can be certified with many others at once.
    _certified("horizon_all", pl.Int64, _horizon(0), "horizon", counted=True, explored=True),
    _certified("horizon_even", pl.Int64, _horizon(1), "horizon, even lengths", counted=True, explored=True),
    _certified("horizon_all_exact", pl.Boolean, _horizon(2), counted=True),
    _certified("horizon_even_exact", pl.Boolean, _horizon(3), counted=True),
    _scalar("meets_conditions", pl.Boolean, _meets_conditions, counted=True, only_counted=True),
]
"""Every column, in the order of a table. A float32 weight is stored as the double that it equals."""


def counted_columns() -> list[Column]:
    """Return the columns that are counted: those in bins first, then shares and numbers, then whole numbers and yes or no."""
    counted = [column for column in COLUMNS if column.counted]
    return sorted(counted, key=lambda column: (column.centre is None, column.dtype != pl.Float64))


def explored_columns(kind: type[Cell] | None = None) -> list[Column]:
    """Return the columns that the explorer draws, of the runs of a kind of cell or of any run."""
    return [column for column in (COLUMNS if kind is None else columns_of(kind)) if column.explored]


def columns_of(kind: type[Cell]) -> list[Column]:
    """Return the columns of the runs of a kind of cell."""
    return [column for column in COLUMNS if issubclass(kind, column.of)]


def schema_of(kind: type[Cell]) -> dict[str, Any]:
    """Return the names and types of the columns that its rows have."""
    return {column.name: column.dtype for column in columns_of(kind) if not column.only_counted}
