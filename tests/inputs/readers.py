"""Every reader of files, with what a file of its kind may hold instead: a reader is tried by being listed here."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
from damage import damaged_bytes, damaged_json, damaged_table, damaged_tensors
from hypothesis import strategies as st

from tallystick.cells import ScalarCell
from tallystick.checker import check, check_file
from tallystick.datasets.strings import published_strings, read_strings
from tallystick.errors import BadInput
from tallystick.explore.run import open_run
from tallystick.files import parse_document, read_text
from tallystick.languages.machine_files import read_machine
from tallystick.languages.tasks import TASKS
from tallystick.networks import network_to_json, read_network
from tallystick.reports import claims, table_formats
from tallystick.reports.reading import read_run
from tallystick.reports.report import page
from tallystick.reports.table import table_rows
from tallystick.runs.cluster import _address_in
from tallystick.runs.directory import RunDirectory
from tallystick.runs.evaluation import (
    ensembles_of_run,
    evaluate_run,
    horizons_of_run,
    indicators_of_run,
    measures_of_run,
)
from tallystick.runs.resuming import KeptResults
from tallystick.studies.compare import KEPT, Comparison, Spread, default_settings, kept_rows

LONGEST_LINE = 1000


class Reader(NamedTuple):
    """A way of reading a file.

    Attributes:
        name: what is read.
        file: where the file lies in the folder of good files.
        contents: what it may hold instead.
        read: reads it, given its path; raises `BadInput` or nothing.
        beside: another file that is read with it, and named where the two do not go together.
    """

    name: str
    file: str
    contents: st.SearchStrategy[bytes]
    read: Callable[[Path], object]
    beside: str | None = None

    def try_on(self, folder: Path, content: bytes) -> bool:
        """Put a file there and read it; say whether it was taken. A refusal is one line that names the file."""
        path = folder / self.file
        before = path.read_bytes() if path.exists() else None
        path.write_bytes(content)
        try:
            self.read(path)
        except BadInput as refusal:
            message = str(refusal)
            assert 0 < len(message) <= LONGEST_LINE
            assert message.isprintable(), message
            assert any(name in message for name in (path.name, path.parent.name, self.beside) if name), message
            return False
        finally:  # others read it, too
            path.unlink() if before is None else path.write_bytes(before)
        return True


def readers(folder: Path) -> list[Reader]:
    """List the readers; `folder` holds good files of each kind."""
    texts = {name: (folder / name).read_bytes() for name in ("strings.txt", "run/config.toml", "machine.json")}
    models = [path.read_bytes() for path in sorted(folder.glob("*.json")) if path.stem in _MODELS]
    tensors = [path.read_bytes() for path in sorted(folder.glob("*.safetensors"))]
    certificates = [path.read_bytes() for path in sorted(folder.glob("*.certificate.json"))]
    toml = [texts["run/config.toml"], b"units = 1\n", b'a = [1, {b = "x"}]\n[t.u]\nd = 1979-05-27\n']
    rows = _kept_rows(folder)
    return [
        Reader("strings", "damaged.txt", damaged_bytes([texts["strings.txt"], b"(" * 400]), _strings),
        Reader("authors' strings", "authors/ternary_8.txt", damaged_bytes([b"((((,Pos\n", b"()()"]), _authors),
        Reader("model, bytes", "damaged.json", damaged_bytes(models), _model),
        Reader("model, values", "damaged.json", damaged_json(_parsed(models)), _model),
        Reader("safetensors, bytes", "damaged.safetensors", damaged_bytes(tensors), _model),
        Reader("safetensors, header", "damaged.safetensors", damaged_tensors(tensors), _model),
        Reader("machine, bytes", "damaged.json", damaged_bytes([texts["machine.json"]]), read_machine),
        Reader("machine, values", "damaged.json", damaged_json(_parsed([texts["machine.json"]])), read_machine),
        Reader("certificate, bytes", "damaged.json", damaged_bytes(certificates), _certificate),
        Reader("certificate, values", "damaged.json", damaged_json(_parsed(certificates)), _certificate),
        Reader("scheduler's file", "damaged.json", damaged_json([{"address": "tcp://x:1"}]), _address_in),
        Reader("settings of a run", "run/config.toml", damaged_bytes(toml), _settings),
        Reader("rows of a run", "run/models.parquet", damaged_table(_tables(folder, "run")), _run, "strings.txt"),
        Reader("part of a run", "run/parts/damaged.parquet", damaged_table(_tables(folder, "run")), _part),
        Reader(
            "rows of a run of GRUs",
            "grus/models.parquet",
            damaged_table(_tables(folder, "grus")),
            _grus,
            "strings.txt",
        ),
        Reader("histograms", "summed/histograms.parquet", damaged_table(_tables(folder, "summed")), _summed),
        Reader("rows of a comparison", KEPT, damaged_json(_parsed([rows])), _comparison),
        *(
            Reader(f"{name} of a report", f"reproduction/{name}.parquet", damaged_table([found]), _report)
            for name in ("models", "replicates", "paths")
            for found in [pl.read_parquet(folder / "reproduction" / f"{name}.parquet")]
        ),
        Reader("record of a report", "reproduction/record.json", damaged_json([{"seed": 0, "versions": {}}]), _report),
        Reader("settings of a report", "reproduction/config.toml", damaged_bytes([b"runs = 10\n"]), _report),
    ]


_MODELS = ("linear", "ternary", "selective", "relu", "tanh", "gru", "lstm")


def _parsed(contents: list[bytes]) -> list[object]:
    return [json.loads(content) for content in contents]


def _tables(folder: Path, run: str) -> list[pl.DataFrame]:
    (folder / run / "parts").mkdir(exist_ok=True)
    return [pl.read_parquet(path) for path in sorted((folder / run).glob("*.parquet"))]


def _strings(path: Path) -> None:
    read_strings(path, *TASKS.values())


def _authors(path: Path) -> None:
    published_strings(path.parent, TASKS["ternary"], 8)


def _model(path: Path) -> None:
    network_to_json(read_network(path))


def _certificate(path: Path) -> None:
    """The checker answers whatever it is given; the command refuses first what is no JSON."""
    check_file(path)
    text = read_text(path)
    parse_document(text, str(path))
    assert len(check(text).reason.splitlines()) == 1


def _settings(path: Path) -> None:
    directory = RunDirectory(path.parent)
    directory.config()
    if issubclass(directory.cell, ScalarCell):
        indicators_of_run(directory)


def _run(path: Path) -> None:
    directory = RunDirectory(path.parent)
    horizons_of_run(directory)
    indicators_of_run(directory)
    evaluate_run(directory, path.parent.parent / "strings.txt")
    assert all(networks.title for networks in open_run(path.parent).settings.values())


def _part(path: Path) -> None:
    RunDirectory(path.parent.parent).has_part(path.stem)


def _grus(path: Path) -> None:
    directory = RunDirectory(path.parent)
    for _, networks in ensembles_of_run(directory):
        networks.networks()
    measures_of_run(directory)
    evaluate_run(directory, path.parent.parent / "strings.txt")


def _summed(path: Path) -> None:
    directory = RunDirectory(path.parent)
    horizons_of_run(directory)
    indicators_of_run(directory)


def _report(path: Path) -> None:
    """Everything but the pictures."""
    run = read_run(path.parent)
    rows = table_rows(run)
    accounts = {edition: claims.accounts(run, edition) for edition in run.editions}
    table_formats.as_csv(rows), table_formats.as_markdown(run, rows), table_formats.as_latex(run, rows)
    claims.as_json(accounts, run.main_edition)
    page(run, rows, accounts, {})


def _compared(folder: Path) -> KeptResults[Comparison]:
    return kept_rows(folder, [(setting, 10) for setting in default_settings()], 0, "cpu")


def _kept_rows(folder: Path) -> bytes:
    spread = Spread(1.0, 2.0, 3.0, float("inf"))
    row = Comparison(default_settings()[0], 10, None, 0.5, spread, spread, 10, 1.0, 90.0, 80.0, 0.0)
    _compared(folder).add(0, row)
    return (folder / KEPT).read_bytes()


def _comparison(path: Path) -> None:
    _compared(path.parent).begin(resume=True, force=False)
