"""Makes what the tests of this folder share importable by name, and the cases of the tests of the Python checker."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "certificates")]
