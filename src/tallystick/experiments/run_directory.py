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
from tallystick.experiments.rows import SCHEMA, SORTED_BY
from tallystick.files import read_text, write_text, write_whole

CONFIG, MODELS, PARTS = "config.toml", "models.parquet", "parts"
COMMANDS = ("train", "reproduce")
OWN_FILES = (
    MODELS,
    "replicates.parquet",
    "paths.parquet",
    "record.json",
    "claims.json",
    "report.html",
    "table2.*",
    "figure1.*",
    "regions.*",
    "paths.*",
    "precision.*",
)
"""What a run and its report write into the folder, and all that --force may remove."""


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
        elif self._is_taken():
            self._require_own(force=force)
            self._clear()
        # The configuration first: a folder with parts but without it could be neither resumed nor started anew.
        self.path.mkdir(parents=True, exist_ok=True)
        write_text(tomli_w.dumps(dict(config)), self.path / CONFIG)
        (self.path / PARTS).mkdir(exist_ok=True)

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
        """Return the finished table, its columns checked."""
        path = self.path / MODELS
        rows = _read(path, "--force makes the run anew")
        for name, kind in SCHEMA.items():
            if name not in rows.columns:
                raise BadInput(f"{path}: column {name!r} is missing; the columns are {', '.join(SCHEMA)}")
            if rows.schema[name] != kind:
                raise BadInput(f"{path}: column {name!r} holds {rows.schema[name]}, where {kind} is expected")
        if rows.is_empty():
            raise BadInput(f"{path}: holds no model; at least one row is needed")
        return rows

    def drop_parts(self) -> None:
        """Remove the parts, once the whole table stands."""
        for part in (self.path / PARTS).iterdir():
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

    def _is_taken(self) -> bool:
        """Say whether something stands in the folder but what a run leaves that was killed before it began."""
        return self.path.exists() and any(not entry.name.endswith(".partial") for entry in self.path.iterdir())

    def _require_own(self, *, force: bool) -> None:
        if not force:
            raise BadInput(f"{self.path}: exists already; --resume goes on with it, --force starts it anew")
        if not (self.path / CONFIG).exists() or self.config().get("command") not in COMMANDS:
            raise BadInput(f"{self.path}: is not a run directory (no {CONFIG} of a run), so --force leaves it alone")

    def _clear(self) -> None:
        """Remove what runs and reports write, and nothing else; the configuration last, since it marks the folder."""
        for name in (
            f"{PARTS}/*.parquet",
            f"{PARTS}/.*.partial",
            "strings/[bct]*_*.txt",
            *OWN_FILES,
            ".*.partial",
            CONFIG,
        ):
            for entry in self.path.glob(name):
                entry.unlink()


def _read(path: Path, remedy: str) -> pl.DataFrame:
    if not path.is_file():
        raise BadInput(f"{path}: is missing; {remedy}")
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or ["not Parquet"])[0][:100]
        raise BadInput(f"{path}: damaged ({reason}); {remedy}") from None
