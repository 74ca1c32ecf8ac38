"""A run directory as training writes it, and a server over it that tests only read."""

import subprocess
import sys
from pathlib import Path

import httpx
import polars as pl
import pytest

for folder in ("explore", "reports"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))


@pytest.fixture
def without(monkeypatch):
    """A function that makes a library be missed when a package of ours is imported anew; afterwards all is as before."""

    def missed(library, package):
        parent, _, name = package.rpartition(".")
        # The import that fails gives the parent another package under this name.
        monkeypatch.setattr(sys.modules[parent], name, sys.modules[package])
        for loaded in [loaded for loaded in sys.modules if loaded.startswith((package, library))]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, library, None)

    return missed


def _as_trained(rows):
    """Fill in the columns that a report does not read."""
    from tallystick.cells import LinearCell  # noqa: PLC0415
    from tallystick.runs.columns import schema_of  # noqa: PLC0415 -- JAX, for the tests that need a run

    ternary = pl.col("task") == "ternary"
    rows = rows.with_columns(
        cell=pl.lit("linear"),
        close_recurrent_weight=pl.lit(None, pl.Float64),
        further_weights=pl.lit([], pl.List(pl.Float64)),
        horizon_all_exact=pl.lit(True),
        horizon_even_exact=pl.lit(True),
        readout_weight=pl.when(ternary).then(pl.lit([-1.0, 0.0, 1.0])).otherwise(pl.lit([1.0])),
        readout_bias=pl.when(ternary)
        .then(pl.lit([-0.25, 0.0, -0.25]))
        .when(pl.col("bias"))
        .then(pl.lit([0.0]))
        .otherwise(pl.lit([], pl.List(pl.Float64))),
    )
    return rows.select(pl.col(name).cast(kind) for name, kind in schema_of(LinearCell).items())


@pytest.fixture(scope="session")
def run_directory(tmp_path_factory):
    from synthetic import write_run  # noqa: PLC0415 -- found through the path above

    directory = write_run(tmp_path_factory.mktemp("run"))
    table = directory / "models.parquet"
    _as_trained(pl.read_parquet(table)).write_parquet(table)
    return directory


@pytest.fixture(scope="session")
def address(run_directory):
    from serving import served  # noqa: PLC0415

    from tallystick.explore.app import application  # noqa: PLC0415

    with served(application(run_directory)) as found:
        yield found


@pytest.fixture(scope="session")
def client(address):
    with httpx.Client(base_url=address, timeout=60) as found:
        yield found


@pytest.fixture
def explorer():
    """A function that starts the command as a program of its own; gives the process and its address."""
    started = []

    def start(*command):
        program = [*command, sys.executable, "-m", "tallystick", "explore", "--port", "0"]
        process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process, process.stdout.readline().split()[0]

    yield start
    for process in started:
        process.kill()
        process.communicate()
