"""Makes `synthetic` importable by name, and one run directory that tests only read."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def run_directory(tmp_path_factory):
    from synthetic import write_run  # noqa: PLC0415 -- found through the path above

    return write_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """A run directory with its report written."""
    from synthetic import write_run  # noqa: PLC0415

    from tallystick.reports.report import write_report  # noqa: PLC0415

    directory = write_run(tmp_path_factory.mktemp("report"))
    write_report(directory)
    return directory
