"""Whatever a file holds, it is read or refused in one line that names it; `soak/inputs.py` tries many more."""

import pytest
from good_files import make_good_files
from hypothesis import HealthCheck, given, settings
from readers import readers

EXAMPLES = 12
FEW = 3
"""Of what takes a report or a compiled network to read."""
NAMES = (
    *("strings", "authors' strings", "model, bytes", "model, values", "safetensors, bytes", "safetensors, header"),
    *("machine, bytes", "machine, values", "certificate, bytes", "certificate, values", "scheduler's file"),
    *("settings of a run", "rows of a run", "part of a run", "rows of a gated run", "histograms"),
    *("rows of a comparison", "models of a report", "replicates of a report", "paths of a report"),
    *("record of a report", "settings of a report"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_good_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def every_reader(folder):
    return {reader.name: reader for reader in readers(folder)}


def test_every_reader_is_tried(every_reader):
    assert sorted(every_reader) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_any_file_is_read_or_refused_in_one_line(name, folder, every_reader):
    reader = every_reader[name]

    examples = FEW if "report" in name or "rows" in name else EXAMPLES

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(reader.contents)
    def try_it(content):
        reader.try_on(folder, content)

    try_it()


def test_good_files_are_read(folder, every_reader):
    there = [reader for reader in every_reader.values() if (folder / reader.file).exists()]
    assert all(reader.try_on(folder, (folder / reader.file).read_bytes()) for reader in there)
