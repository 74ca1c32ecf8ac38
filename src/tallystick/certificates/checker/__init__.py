"""Does this certificate hold? A separate checker, on the standard library alone.

It shares no code with the certifier and can be copied out of the project: it reads the file, runs the counterexample and
goes through all shorter lengths by itself, in whole numbers only. Each function needs from mathematics what is said at it.

    python -m checker CERTIFICATE.json
"""

from .checking import check, check_file
from .finding import Finding

__all__ = ["Finding", "check", "check_file"]
