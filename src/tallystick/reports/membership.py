"""How many trained networks lie in the regions R_N: right on all strings up to length N, beside their sampled accuracy."""

from typing import NamedTuple

import polars as pl

from tallystick.certificates.verdict import Lengths
from tallystick.reports.reading import Run
from tallystick.reports.settings import Group

GROUP = Group("binary", bias=False)
"""The only networks that are points of the plane (a/b, U): any other has a bias somewhere, which is a third coordinate."""

LONG_TEST = 50


class Members(NamedTuple):
    """The networks of one training length: how many there are, their sampled accuracy, and how many are in each R_N."""

    train_length: int
    networks: int
    sampled_accuracy: float
    inside: dict[Lengths, dict[int, int]]


def networks(run: Run) -> dict[int, pl.DataFrame]:
    """Return the networks without bias of the main edition by training length, where their horizons were worked out."""
    found = {setting: models for setting, models in run.of_edition(run.main_edition).items() if setting.group == GROUP}
    decided = {setting.train_length: models.drop_nulls("horizon_all") for setting, models in found.items()}
    return {length: models for length, models in decided.items() if len(models)}


def in_plane(models: pl.DataFrame) -> pl.DataFrame:
    """Leave out the networks with v·a ≤ 0 among regions that they are not in: none of their lengths is right.

    With a/b < 0, v·a > 0 makes both strings of length 1 right. So the horizon tells the sign.
    """
    return models.filter(~((pl.col("ab_ratio") < 0) & (pl.col("recurrent_weight") > 0) & (pl.col("horizon_all") == 0)))


def members(run: Run, regions: tuple[int, ...]) -> list[Members]:
    """Count the networks in each R_N, by their exact horizons, for every training length."""
    return [
        Members(
            train_length=length,
            networks=len(models),
            sampled_accuracy=float(models[f"accuracy_{LONG_TEST}"].mean()),  # type: ignore[arg-type]  # never empty
            inside={
                lengths: {longest: int((models[f"horizon_{lengths}"] >= longest).sum()) for longest in regions}
                for lengths in Lengths
            },
        )
        for length, models in networks(run).items()
    ]
