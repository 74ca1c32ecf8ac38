"""The proven checker is compared on the certificates and forgeries of the tests of the Python one."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "certificates"))
