"""The run directory: what was asked for, the rows as they come in parts, and the whole table once all parts are there.

A part is one file, written whole or not at all, named after its job and its first seed. A run that was killed is resumed by
doing the parts that are missing; since a part's rows follow from its name and the configuration alone, the end is the same.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import tomli_w

from tallystick.errors import BadInput
from tallystick.experiments.rows import SORTED_BY
from tallystick.files import read_text, write_text, write_whole

CONFIG, MODELS, PARTS = "config.toml", "models.parquet", "parts"


class RunDirectory:
    """A folder that holds one run."""

    def __init__(self, path: Path) -> None:
        """Stand for the folder; nothing is touched yet."""
        self.path = path

    def start(self, config: Mapping[str, object], *, resume: bool = False, force: bool = False) -> None:
        """Begin a run, or go on with one of the same configuration."""
        if self.path.exists() and not self.path.is_dir():
            raise BadInput(f"{self.path}: is a file; a run needs a folder")
        if (self.path / CONFIG).exists() and resume:
            self._check_same(config)
        elif self.path.exists() and any(self.path.iterdir()):
            self._require_own(force=force)
            self._clear()
        (self.path / PARTS).mkdir(parents=True, exist_ok=True)
        write_text(tomli_w.dumps(dict(config)), self.path / CONFIG)

    def has_part(self, name: str) -> bool:
        """Say whether a part is done; one that cannot be read is named, and nothing else is touched."""
        path = self._part(name)
        if not path.exists():
            return False
        _read(path, "delete it and go on with --resume")
        return True

    def write_part(self, name: str, rows: pl.DataFrame) -> None:
        """Store a part's rows."""
        self.write_table(rows, f"{PARTS}/{name}.parquet")

    def write_table(self, rows: pl.DataFrame, name: str) -> None:
        """Write a Parquet file whole or not at all."""
        write_whole(self.path / name, lambda temporary: rows.write_parquet(temporary, statistics=False))

    def gather(self, names: list[str]) -> pl.DataFrame:
        """Put the parts together into models.parquet, and let go of them."""
        rows = pl.concat([_read(self._part(name), "delete it and go on with --resume") for name in names]).sort(
            SORTED_BY
        )
        self.write_table(rows, MODELS)
        return rows

    def models(self) -> pl.DataFrame:
        """Return the finished table."""
        return _read(self.path / MODELS, "run again with --resume")

    def drop_parts(self) -> None:
        """Remove the parts, once the whole table stands."""
        for part in (self.path / PARTS).glob("*"):
            part.unlink()
        (self.path / PARTS).rmdir()

    def config(self) -> dict[str, object]:
        """Return what was asked for."""
        try:
            return tomllib.loads(read_text(self.path / CONFIG))
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"{self.path / CONFIG}: not TOML: {error}") from None

    def is_finished(self) -> bool:
        """Say whether the whole table stands."""
        return (self.path / MODELS).exists()

    def _part(self, name: str) -> Path:
        return self.path / PARTS / f"{name}.parquet"

    def _check_same(self, config: Mapping[str, object]) -> None:
        found = self.config()
        for key in sorted({*found, *config}):
            if found.get(key) != config.get(key):
                raise BadInput(
                    f"{self.path / CONFIG}: {key} is {found.get(key)!r} there and {config.get(key)!r} now; "
                    "resume with the same options, or choose another folder"
                )

    def _require_own(self, *, force: bool) -> None:
        if not force:
            raise BadInput(f"{self.path}: exists already; --resume goes on with it, --force starts it anew")
        if not (self.path / CONFIG).exists():
            raise BadInput(f"{self.path}: is not a run directory ({CONFIG} is missing), so --force leaves it alone")

    def _clear(self) -> None:
        for folder in (self.path / PARTS, self.path / "strings", self.path):
            for entry in folder.glob("*"):
                if entry.is_file():
                    entry.unlink()


def _read(path: Path, remedy: str) -> pl.DataFrame:
    if not path.is_file():
        raise BadInput(f"{path}: is missing; {remedy}")
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0][:100]
        raise BadInput(f"{path}: damaged ({reason}); {remedy}") from None
