"""Makes `synthetic` of the tests of reports importable by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "reports"))
