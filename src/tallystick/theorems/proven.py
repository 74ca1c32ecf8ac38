"""The checker that Coq has proved, as a program beside this package: found, run, and its answer read.

`make proofs` in the source repository extracts it from `proofs/checker/` and builds it; the package does not carry it. This
module trusts it to say what it verified: the exit status is the answer, and its one line is the reason.
"""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tallystick.errors import BadInput

PROGRAM = "proven-checker"
_CHECKOUT = Path(__file__).parents[3] / "proofs" / "checker" / "build" / PROGRAM
_STATUSES = {0: True, 1: False, 3: None}
_BAD_INPUT = 2
_GRACE = 60
"""Seconds that the program may take beyond its own limit."""


class ProvenAnswer(NamedTuple):
    """What the proven checker says of a certificate.

    Attributes:
        valid: True if it holds, False if it does not, None if the checker does not cover it or would take too long.
        word: the answer in words: holds, does not hold, not covered or too costly.
        reason: what was verified, or why not.
        status: the exit status of a command that gives this answer.
    """

    valid: bool | None
    word: str
    reason: str
    status: int

    def __str__(self) -> str:
        """Return the answer as a command prints it."""
        return f"{self.word}: {self.reason}"


def find_program() -> Path:
    """Return where the program is: on the path, or built in this checkout."""
    found = shutil.which(PROGRAM)
    if found is not None:
        return Path(found)
    if _CHECKOUT.is_file():
        return _CHECKOUT
    raise BadInput(
        "--proven: the proven checker is not built; `make proofs` in a checkout builds it (needs Debian's packages coq, "
        "libcoq-flocq, libcoq-mathcomp-algebra, libzarith-ocaml-dev and ocaml-findlib), or put proven-checker on the path"
    )


def check_proven(path: Path, minutes: float) -> ProvenAnswer:
    """Let the proven checker verify the certificate in a file."""
    program = find_program()
    # A path that begins with a dash would be read as an option.
    command = [str(program), "--minutes", str(minutes), str(path.absolute())]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60 * minutes + _GRACE)
    except subprocess.TimeoutExpired:
        return ProvenAnswer(None, "too costly", "the proven checker did not end in time; --minutes raises the limit", 3)
    except OSError as error:
        raise BadInput(f"--proven: {program} cannot be run: {error.strerror}") from None
    word, _, reason = done.stdout.strip().partition(": ")
    if done.returncode == _BAD_INPUT:
        raise BadInput(f"{path}: {reason}")
    if done.returncode not in _STATUSES or not reason:
        why = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return ProvenAnswer(None, "too costly", f"the proven checker ended without an answer: {why}", 3)
    return ProvenAnswer(_STATUSES[done.returncode], word, reason, done.returncode)
