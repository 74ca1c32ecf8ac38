"""Makes `strings` and `benchmarks` importable by name, keeps property tests repeatable, and draws figures small."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tallystick.reports import drawing

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

# The same examples on every machine: a failure in CI is a failure at home.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True, scope="session")
def _small_figures():
    """What is tested of a figure does not hang on its resolution, and full-size ones take a minute in all."""
    before = drawing.STYLE["savefig.dpi"]
    drawing.STYLE["savefig.dpi"] = 60
    yield
    drawing.STYLE["savefig.dpi"] = before
