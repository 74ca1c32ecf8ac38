"""The command that checks a certificate, without any of the code that wrote it."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from tallystick.checker import MINUTES, Answer, ProgressLine, Unreadable, answer_file
from tallystick.cli import show, show_json
from tallystick.cli.options import Json
from tallystick.errors import BadInput, printable
from tallystick.theorems.proven import check_proven

_MOST_MINUTES = 10**6


def check(
    path: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A file that tallystick certify wrote.")],
    minutes: Annotated[
        float,
        typer.Option(metavar="M", help="How many minutes the check may take; one that would take longer is not begun."),
    ] = MINUTES,
    proven: Annotated[
        bool, typer.Option("--proven", help="Use the checker that is proved in Coq; make proofs builds it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify a certificate with an independent checker.

    The checker shares no code with certify. The exit status is 0 if the certificate holds, 1 if it does not, and 3 if that is too
    costly to decide here, or not covered by --proven.

    Example: tallystick check certificate.json --minutes 60
    """
    if not 0 <= minutes <= _MOST_MINUTES:
        raise BadInput(f"minutes: {minutes} is not between 0 and {_MOST_MINUTES:,}")
    answer = check_proven(path, minutes) if proven else _python_answer(path, minutes)
    if as_json:
        found = {"answer": answer.word, "valid": answer.valid, "reason": answer.reason}
        show_json({"certificate": str(path), **({"proven": True} if proven else {}), **found})
    else:
        show(f"{printable(str(path))}: {printable(str(answer))}")
    raise typer.Exit(answer.status)


def _python_answer(path: Path, minutes: float) -> Answer:
    progress = ProgressLine()
    try:
        return answer_file(path, Fraction(minutes), progress)
    except Unreadable as error:
        raise BadInput(f"{path}: {error}") from None
    finally:
        progress.clear()
