"""The run directory: what was asked for, the rows as they come in parts, and the whole table once all parts are there.

A part is a file of rows, one of their counts, or both, each written whole or not at all and named after its job and its first
seed. A run that was killed is resumed by doing the parts that are missing; since a part's rows follow from its name and the
configuration alone, the end is the same. The whole table is put together, and read again, some rows at a time: there may be
more of them than memory.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import polars as pl
import tomli_w

from tallystick.errors import BadInput
from tallystick.experiments.rows import SCHEMA
from tallystick.files import read_text, write_text, write_whole

Result = TypeVar("Result")

CONFIG, MODELS, PARTS = "config.toml", "models.parquet", "parts"
HISTOGRAMS, SUMMARY = "histograms.parquet", "summary.json"
COMMANDS = ("train", "reproduce", "sweep")
OWN_FILES = (
    MODELS,
    HISTOGRAMS,
    SUMMARY,
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
    "sweep.*",
)
"""What a run and its report write into the folder, and all that --force may remove."""

ROWS_AT_A_TIME = 2**18


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
        """Say whether a part's file is done; one that cannot be read is named, and nothing else is touched."""
        path = self.part(name)
        if not path.exists():
            return False
        _read(path, _DELETE, pl.read_parquet)
        return True

    def part(self, name: str) -> Path:
        """Return where a part's file lies."""
        return self.path / PARTS / f"{name}.parquet"

    def write_part(self, name: str, rows: pl.DataFrame) -> None:
        """Store a part's rows."""
        self.write_table(rows, f"{PARTS}/{name}.parquet")

    def store_part(self, name: str, content: bytes) -> None:
        """Store a part that was made into a Parquet file elsewhere."""
        write_whole(self.part(name), lambda temporary: temporary.write_bytes(content))

    def write_table(self, rows: pl.DataFrame, name: str) -> None:
        """Write a Parquet file whole or not at all."""
        write_whole(self.path / name, lambda temporary: rows.write_parquet(temporary, statistics=False))

    def gather(self, names: list[str]) -> None:
        """Put the parts' rows together into models.parquet, in the order of the names, a few parts in memory at a time."""
        parts = [self.part(name) for name in names]

        def sink(temporary: Path) -> None:
            pl.scan_parquet(parts).sink_parquet(temporary, statistics=False, row_group_size=ROWS_AT_A_TIME)

        try:
            write_whole(self.path / MODELS, sink)
        except _UNREADABLE as error:
            for part in parts:  # is it one of them?
                _read(part, _DELETE, pl.read_parquet)
            raise BadInput(f"{self.path / MODELS}: cannot be written ({_reason(error)})") from None

    def rows(self) -> pl.LazyFrame:
        """Return the finished table, its columns checked, to be read some rows or columns at a time."""
        path = self.path / MODELS
        if not path.exists() and (self.path / SUMMARY).exists():
            raise BadInput(f"{self.path}: kept the summary of its models alone, as it was asked to; no model is there")
        schema = _read(path, _ANEW, pl.read_parquet_schema)
        for name, kind in SCHEMA.items():
            if name not in schema:
                raise BadInput(f"{path}: column {name!r} is missing; the columns are {', '.join(SCHEMA)}")
            if schema[name] != kind:
                raise BadInput(f"{path}: column {name!r} holds {schema[name]}, where {kind} is expected")
        return pl.scan_parquet(path)

    def collected(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Return what was asked of the finished table; where the table cannot be read, it is named."""
        return _read(self.path / MODELS, _ANEW, lambda _: rows.collect(engine="streaming"))

    def chunks(self) -> Iterator[pl.DataFrame]:
        """Go through the finished table, so many rows at a time that memory stays small."""
        rows = self.rows()
        size = self.collected(rows.select(pl.len())).item()
        if not size:
            raise BadInput(f"{self.path / MODELS}: holds no model; at least one row is needed")
        for start in range(0, size, ROWS_AT_A_TIME):
            yield self.collected(rows.slice(start, ROWS_AT_A_TIME))

    def histograms(self) -> pl.DataFrame:
        """Return how many models have which values, of a run that keeps a summary."""
        return _read(self.path / HISTOGRAMS, _ANEW, pl.read_parquet)

    def models(self) -> pl.DataFrame:
        """Return the whole finished table, its columns checked."""
        return pl.concat(self.chunks())

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

    def has(self, name: str) -> bool:
        """Say whether a file stands in the folder."""
        return (self.path / name).exists()

    def is_finished(self) -> bool:
        """Say whether the whole table stands."""
        return self.has(MODELS)

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


_DELETE, _ANEW = "delete it and go on with --resume", "--force makes the run anew"
_UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def _read(path: Path, remedy: str, read: Callable[[Path], Result]) -> Result:
    if not path.is_file():
        raise BadInput(f"{path}: is missing; {remedy}")
    try:
        return read(path)
    except _UNREADABLE as error:
        raise BadInput(f"{path}: damaged ({_reason(error)}); {remedy}") from None


def _reason(error: BaseException) -> str:
    return (str(error).splitlines() or ["not Parquet"])[0][:100]
