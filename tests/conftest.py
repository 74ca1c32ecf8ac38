"""Makes `strings` importable by name, and keeps property tests repeatable."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# The same examples on every machine: a failure in CI is a failure at home.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
