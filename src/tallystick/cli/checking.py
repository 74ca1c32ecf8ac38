"""The command that checks a certificate, without any of the code that wrote it."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from tallystick.checker import MINUTES, Answer, ProgressLine, Unreadable, answer_file
from tallystick.cli.output import Json, show, show_json
from tallystick.errors import BadInput, printable
from tallystick.theorems.proven import check_proven

_MOST_MINUTES = 10**6


def check(
    path: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A file that tallystick certify wrote.")],
    minutes: Annotated[
        float, typer.Option(help="How long the check may take; what would take longer is not begun.")
    ] = MINUTES,
    proven: Annotated[
        bool, typer.Option("--proven", help="Use the checker that Coq has proved, where make proofs has built it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify a certificate with a checker that shares no code with the certifier.

    Ends with 0 if it holds, with 1 if it does not, and with 3 if that is too costly to decide here, or with --proven not covered.

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
