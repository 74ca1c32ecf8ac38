"""Makes `brute_force` and its neighbours, and the gated `networks`, importable by name."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "gated")]
