"""Measurements: each suite gives rows of figures, taken side by side in one run.

They need no more than training does: `python -m tallystick.bench` runs where typer, rich and polars are missing.
"""

from tallystick.bench.command import Request, run
from tallystick.bench.suites import SUITES, Suite

__all__ = ["SUITES", "Request", "Suite", "run"]
