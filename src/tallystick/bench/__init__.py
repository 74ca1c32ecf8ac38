"""Measurements: each suite gives rows of figures, taken side by side in one run.

The suites of training run where JAX, optax and jaxtyping are all there is: `python -m tallystick.bench`.
"""

from tallystick.bench.command import Request, run
from tallystick.bench.suites import SUITES, Suite

__all__ = ["SUITES", "Request", "Suite", "run"]
