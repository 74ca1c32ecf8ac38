"""The run directory: what was asked for, the rows as they come in parts, and the whole table once all parts are there.

A part is a file of rows, one of their counts, or both, each written whole or not at all and named after its job and its first
seed. A run that was killed is resumed by doing the parts that are missing; since a part's rows follow from its name and the
configuration alone, the end is the same. The whole table is put together, and read again, some rows at a time: there may be
more of them than memory. Only one process at a time writes into the folder.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
import tomli_w

from tallystick.cells import KINDS, Cell, LinearCell
from tallystick.display import Chart, Shown, View
from tallystick.errors import BadInput, NotWritten
from tallystick.files import (
    PARTIAL,
    keep_names,
    naming,
    read_settings,
    refuse_no_folder,
    remove_partial,
    write_bytes,
    write_text,
    write_whole,
)
from tallystick.runs.columns import schema_of
from tallystick.runs.parquet_files import (
    UNREADABLE,
    as_parquet,
    literal,
    read_or_refuse,
    read_schema,
    read_table,
    reason,
    scan,
    sink,
)
from tallystick.runs.resuming import CONFIG, LOCK, at_work_in, refuse_unfinished
from tallystick.runs.rows import check_rows

MODELS, PARTS = "models.parquet", "parts"
HISTOGRAMS, SUMMARY, RECORD = "histograms.parquet", "summary.json", "record.json"
STRINGS = "strings"
COMMANDS = ("train", "reproduce", "sweep")
RUN_FILES = (MODELS, HISTOGRAMS, SUMMARY, "replicates.parquet", "paths.parquet", RECORD)
OWN_FILES = (
    *RUN_FILES,
    "claims.json",
    "report.html",
    "table2.*",
    "figure1.*",
    "regions.*",
    "paths.*",
    "precision.*",
    "eigenvalues.*",
    "sweep.*",
)
"""What a run and its report write into the folder, and all that --force may remove."""

ROWS_AT_A_TIME = 2**18
_SHOWN_HORIZON = 50
"""Horizons beyond this one are drawn together."""


class RunDirectory(Shown):
    """A folder that holds one run."""

    def __init__(self, path: Path) -> None:
        """Stand for the folder; nothing is touched yet."""
        self.path = path

    def __repr__(self) -> str:
        return f"RunDirectory({str(self.path)!r})"

    def view(self) -> View:
        """Return what a notebook shows: what was asked for, and how many networks are right up to which length."""
        config = self.config()
        asked = ("cell", "task", "train_length", "method", "seeds", "seed")
        facts = {name.replace("_", " "): str(config[name]) for name in asked if name in config}
        view = View(f"Run {self.path}: {config.get('command', 'not named')}", (), facts)
        if not self.has(MODELS):
            return replace(view, facts={**facts, "networks": "no rows yet, or their summary alone"})
        horizons = self.collect(self.rows().select("horizon_all"))["horizon_all"].drop_nulls()
        counts = horizons.clip(upper_bound=_SHOWN_HORIZON).value_counts().sort("horizon_all")
        facts["networks"] = f"{len(horizons):,}"
        chart = Chart(
            counts["horizon_all"].cast(pl.Float64).to_list(),
            {"networks": counts["count"].cast(pl.Float64).to_list()},
            f"horizon (all lengths); the last is {_SHOWN_HORIZON} or more",
            "networks",
            kind="bars",
        )
        return replace(view, facts=facts, chart=chart)

    @contextmanager
    def begin(self, config: Mapping[str, object], *, resume: bool = False, force: bool = False) -> Iterator[None]:
        """Begin a run, or go on with one of the same configuration, and keep other processes out until the end of the block."""
        # Refuses a folder that is not a run's before a lock is put into it.
        self._goes_on(config, resume=resume, force=force)
        with naming(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with at_work_in(self.path):
            self.start(config, resume=resume, force=force)
            yield

    def start(self, config: Mapping[str, object], *, resume: bool = False, force: bool = False) -> None:
        """Begin a run, or go on with one of the same configuration; `begin` does so under a lock."""
        if not self._goes_on(config, resume=resume, force=force):
            self._clear()
        remove_partial(self.path, CONFIG, *OWN_FILES)
        for folder in (PARTS, STRINGS):
            remove_partial(self.path / folder, "*")
        # The configuration first: a folder with parts but without it could be neither resumed nor started anew.
        self.path.mkdir(parents=True, exist_ok=True)
        write_text(tomli_w.dumps(dict(config)), self.path / CONFIG)
        self.make_folder(PARTS)

    def make_folder(self, name: str) -> Path:
        """Make a folder of the run's, unless it is there, and return where it lies."""
        folder = self.path / name
        with naming(folder):
            folder.mkdir(exist_ok=True)
        return folder

    def has_part(self, name: str, seeds: pl.Series | None = None) -> bool:
        """Say whether a part's file is done; one that cannot be read or has other seeds is named, and nothing else is touched."""
        path = self.part(name)
        if not path.exists():
            return False
        rows = read_or_refuse(path, _DELETE, read_table)
        if seeds is not None and ("seed" not in rows or not rows["seed"].equals(seeds)):
            raise BadInput(f"{path}: its rows are not those of the seeds that it is named after; {_DELETE}")
        return True

    def part(self, name: str) -> Path:
        """Return where a part's file lies."""
        return self.path / PARTS / f"{name}.parquet"

    def store_part(self, name: str, content: bytes) -> None:
        """Store a part that was made into a Parquet file elsewhere."""
        write_bytes(content, self.part(name))

    def write_table(self, rows: pl.DataFrame, name: str) -> None:
        """Write a Parquet file whole or not at all."""
        write_bytes(as_parquet(rows), self.path / name)

    def gather(self, names: list[str]) -> None:
        """Put the parts' rows together into models.parquet, in the order of the names, a few parts in memory at a time."""
        parts = [self.part(name) for name in names]

        def fill(temporary: Path) -> None:
            try:
                sink(scan(*parts), temporary, ROWS_AT_A_TIME)
            except UNREADABLE:
                _refuse_full(temporary)
                raise

        try:
            write_whole(self.path / MODELS, fill)
        except (*UNREADABLE, NotWritten) as error:
            for part in parts:  # is it one of them?
                schema = read_or_refuse(part, _DELETE, read_table).schema
                if not schema_of(self.cell).items() <= schema.items():
                    raise BadInput(f"{part}: not of these columns; {_DELETE}") from None
            if isinstance(error, NotWritten):
                raise
            raise NotWritten(f"{self.path / MODELS}: cannot be written: {reason(error)}") from None

    def rows(self) -> pl.LazyFrame:
        """Return the finished table, its columns checked, to be read some rows or columns at a time."""
        path = self.path / MODELS
        if not path.exists() and (self.path / SUMMARY).exists():
            raise BadInput(f"{self.path}: kept the summary of its models alone, as it was asked to; no model is there")
        refuse_unfinished(self.path, MODELS)
        schema = read_or_refuse(path, _ANEW, read_schema)
        for name, kind in schema_of(self.cell).items():
            if name not in schema:
                raise BadInput(f"{path}: column {name!r} is missing, which rows of this version have; {_ANEW}")
            if schema[name] != kind:
                raise BadInput(f"{path}: column {name!r} holds {schema[name]}, where {kind} is expected")
        return scan(path)

    def collect(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Return what was asked of the finished table; where the table cannot be read, it is named."""
        return read_or_refuse(self.path / MODELS, _ANEW, lambda _: rows.collect(engine="streaming"), again=True)

    def chunks(self) -> Iterator[pl.DataFrame]:
        """Go through the finished table, so many rows at a time that memory stays small."""
        rows = self.rows()
        size = self.collect(rows.select(pl.len())).item()
        if not size:
            raise BadInput(f"{self.path / MODELS}: holds no model; at least one row is needed")
        for start in range(0, size, ROWS_AT_A_TIME):
            some = self.collect(rows.slice(start, ROWS_AT_A_TIME))
            with self.naming_table():
                check_rows(some)
            yield some

    @contextmanager
    def naming_table(self, name: str = MODELS) -> Iterator[None]:
        """Name the table that a complaint is about."""
        try:
            yield
        except BadInput as error:
            raise BadInput(f"{self.path / name}: {error}; {_ANEW}") from None

    def is_summed_up(self) -> bool:
        """Say whether the run was asked to keep a summary, with or without some of its rows."""
        return self.config().get("keep", "all") != "all"

    def histograms(self) -> pl.DataFrame:
        """Return how many models have which values, of a run that keeps a summary."""
        refuse_unfinished(self.path, HISTOGRAMS)
        return read_or_refuse(self.path / HISTOGRAMS, _ANEW, read_table)

    def models(self) -> pl.DataFrame:
        """Return the whole finished table, its columns checked."""
        return pl.concat(self.chunks())

    def drop_parts(self) -> None:
        """Remove the parts, once the whole table stands, whatever becomes of the machine."""
        keep_names(self.path)
        with naming(self.path / PARTS):
            for part in (self.path / PARTS).iterdir():
                part.unlink()
            (self.path / PARTS).rmdir()

    def config(self) -> dict[str, object]:
        """Return what was asked for."""
        refuse_unfinished(self.path, CONFIG)
        return read_settings(self.path / CONFIG)

    @property
    def cell(self) -> type[Cell]:
        """The kind of cell whose networks the run has; a folder that does not say it has the paper's."""
        if not self.has(CONFIG):
            return LinearCell
        config = self.config()
        units = config.get("units", 1)
        return KINDS[isinstance(units, int) and units > 1].get(str(config.get("cell")), LinearCell)

    def has(self, name: str) -> bool:
        """Say whether a file stands in the folder."""
        return (self.path / name).exists()

    def stands(self, *names: str) -> bool:
        """Say whether finished files stand in the folder; a table that cannot be read is named."""
        if not all(self.has(name) for name in names):
            return False
        for name in names:
            if name.endswith(".parquet"):
                read_or_refuse(self.path / name, _DELETE, read_schema)
        return True

    def _goes_on(self, config: Mapping[str, object], *, resume: bool, force: bool) -> bool:
        """Say whether there is a run to go on with; refuse a folder that is taken, unless its run is to be started anew."""
        literal(self.path)  # refuses before anything is done
        refuse_no_folder(self.path, "a run needs")
        if self.has(CONFIG) and resume:
            self._check_same(config)
            return True
        if self._is_taken():
            self._require_own(force=force)
        return False

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
        return self.path.exists() and any(
            entry.name != LOCK and not entry.name.endswith(PARTIAL) for entry in self.path.iterdir()
        )

    def _require_own(self, *, force: bool) -> None:
        if not self.has(CONFIG) or self.config().get("command") not in COMMANDS:
            raise BadInput(
                f"{self.path}: is not a run directory (no {CONFIG} of a run), so it is left alone; choose another folder"
            )
        if not force:
            raise BadInput(f"{self.path}: exists already; --resume goes on with it, --force starts it anew")

    def _clear(self) -> None:
        """Remove what runs and reports write, and nothing else; the configuration marks the folder until it is replaced."""
        for pattern in (f"{PARTS}/*.parquet", f"{STRINGS}/[bct]*_*.txt", *OWN_FILES):
            for entry in self.path.glob(pattern):
                with naming(entry):
                    entry.unlink()


_DELETE, _ANEW = "delete it and go on with --resume", "--force makes the run anew"
_A_LITTLE = 2**20


def _refuse_full(file: Path) -> None:
    """Have the system say that the disk is full, if that is why a file came to nothing: polars has many names for it."""
    with file.open("ab", buffering=0) as end:
        end.write(bytes(_A_LITTLE))
