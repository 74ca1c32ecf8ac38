"""What a run keeps of its rows: all of them, their summary alone, or a sample beside the summary."""

from dataclasses import dataclass

import polars as pl

from tallystick.errors import BadInput, check_whole, is_count
from tallystick.runs.jobs import MOST_SEEDS

MOST_SUMMED_UP = 1_000_000_000
"""So many seeds a run may have that does not keep all rows."""

SAMPLE = 100_000
"""Rows in a sample, unless another number is asked for."""

KINDS = ("all", "summary", "sample")


@dataclass(frozen=True)
class Keep:
    """What is kept.

    Attributes:
        kind: `all`, `summary` or `sample`.
        size: the rows in a sample.
    """

    kind: str = "all"
    size: int = 0

    @classmethod
    def read(cls, text: str) -> "Keep":
        """Read all, summary, sample or sample:N.

        >>> Keep.read("sample:500")
        Keep(kind='sample', size=500)
        """
        kind, colon, digits = text.partition(":")
        if kind not in KINDS or (colon and (kind != "sample" or not is_count(digits))):
            raise BadInput(f"keep: {text!r} is not one of all, summary, sample and sample:N")
        if kind != "sample":
            return cls(kind)
        size = int(digits) if colon else SAMPLE
        check_whole(size, "keep: the sample's size", least=1, most=MOST_SEEDS)
        return cls(kind, size)

    def __str__(self) -> str:
        """As it is read."""
        return f"sample:{self.size}" if self.kind == "sample" else self.kind

    @property
    def rows(self) -> bool:
        """Whether there are rows at the end."""
        return self.kind != "summary"

    @property
    def summary(self) -> bool:
        """Whether there are a summary and histograms at the end."""
        return self.kind != "all"

    def check_seeds(self, seeds: int) -> None:
        """Refuse more seeds than can be kept so."""
        if self.kind == "all" and seeds > MOST_SEEDS:
            raise BadInput(
                f"seeds: {seeds} is more than {MOST_SEEDS:,}, the most rows that are kept; "
                f"--keep summary and --keep sample take {MOST_SUMMED_UP:,}"
            )
        check_whole(seeds, "seeds", least=1, most=MOST_SUMMED_UP)

    def chosen(self, rows: pl.DataFrame, seeds: int) -> pl.DataFrame:
        """Return which of the rows are kept: of a sample of n out of `seeds`, those with seed·n mod seeds < n.

        These are n seeds at even distances. Every seed draws from a key of its own, so they are as good as any others.
        """
        if self.kind != "sample" or self.size >= seeds:
            return rows
        return rows.filter(pl.col("seed") * self.size % seeds < self.size)


ALL = Keep()
