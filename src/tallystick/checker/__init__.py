"""Does this certificate hold? A separate checker, on the standard library alone.

It shares no code with the certifier and can be copied out of the project: it reads the file, runs the counterexample and
goes through all shorter lengths by itself, in whole numbers only. Each function needs from mathematics what is said at it.
There are three answers: it holds, it does not, or that is too costly to decide here.

    python -m checker CERTIFICATE.json [--minutes M]
"""

from .answers import Answer
from .checking import answer_file, check, check_file
from .effort import MINUTES, ProgressLine
from .reading import Unreadable

__all__ = ["MINUTES", "Answer", "ProgressLine", "Unreadable", "answer_file", "check", "check_file"]
