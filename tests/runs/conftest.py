"""Makes what the tests of this folder share importable by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
