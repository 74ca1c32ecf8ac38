"""The bins that values are counted in, fixed beforehand so that counts of any parts add up.

Horizons and accuracies are counted value by value. a/b and U are counted by how far they lie from −1 and 1, where the theorems
want them: a bin is at most 1/1024 of that distance wide, so that the models nearest to an exact counter, the rarest, are told
apart as well as any others, and one that is exactly there has a bin to itself.

A bin has a whole number for a key: the bits of a double, in the order of the doubles, without the last 42.
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from tallystick.runs.columns import Column

MANTISSA = 10
_CUT = 52 - MANTISSA
_ALL_BUT_SIGN = np.int64(2**63 - 1)


class Edges(NamedTuple):
    """A bin holds the values from the least up to the next; both are the same where it holds one value alone."""

    least: np.ndarray
    next: np.ndarray


def keys_of(column: Column, values: pl.Series) -> pl.Series:
    """Return the keys of the bins that values fall into; null for what is not a number.

    >>> keys_of(Column("horizon_all", pl.Int64), pl.Series([6, 16])).to_list()
    [6, 16]
    """
    if column.dtype != pl.Float64:
        return values.cast(pl.Int64)
    numbers = values.to_numpy().astype(np.float64)
    keys = _ordered(numbers) if column.centre is None else _ordered(numbers - column.centre) >> _CUT
    table = pl.DataFrame({"key": keys, "is_number": ~np.isnan(numbers)})
    return table.select(pl.when("is_number").then("key")).to_series()


def edges_of(column: Column, keys: np.ndarray) -> Edges:
    """Return the edges of bins.

    >>> weight = Column("recurrent_weight", pl.Float64, centre=1.0)
    >>> bin = keys_of(weight, pl.Series([1.25])).to_numpy()
    >>> [float(edge[0]) for edge in edges_of(weight, bin)]
    [1.25, 1.250244140625]
    """
    if column.centre is not None:
        with np.errstate(invalid="ignore"):  # beyond the infinities lie no numbers
            least, following = (column.centre + _double(key << _CUT) for key in (keys, keys + 1))
        return Edges(np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(following), np.inf, following))
    values = _double(keys) if column.dtype == pl.Float64 else keys.astype(np.float64)
    return Edges(values, values)


def _ordered(numbers: np.ndarray) -> np.ndarray:
    """Return whole numbers in the order of the doubles, negative ones for negative doubles; both zeros are 0."""
    bits = numbers.view(np.int64)
    return np.where(bits < 0, -(bits & _ALL_BUT_SIGN), bits)


def _double(ordered: np.ndarray) -> np.ndarray:
    return np.copysign(np.abs(ordered).view(np.float64), ordered)
