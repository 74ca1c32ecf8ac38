"""The command: prints the answer, and ends with 0 (holds), 1 (does not hold), 2 (bad input) or 3 (too costly to decide here)."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from fractions import Fraction
from re import fullmatch

from .checking import answer_file
from .effort import MINUTES, ProgressLine
from .reading import Unreadable


def main(arguments: list[str]) -> int:
    """Check the certificate in a file."""
    parser = ArgumentParser("checker", description="Does this certificate hold?")
    parser.add_argument("certificate", help="a file that tallystick certify wrote")
    parser.add_argument(
        "--minutes", type=_minutes, default=MINUTES, help=f"how long it may take; the default is {MINUTES}"
    )
    options = parser.parse_args(arguments)
    progress = ProgressLine()
    try:
        answer = answer_file(options.certificate, options.minutes, progress)
    except Unreadable as error:
        sys.stderr.write(f"checker: {options.certificate}: {error}\n")
        return 2
    finally:
        progress.clear()
    sys.stdout.write(f"{answer}\n")
    return answer.status


def _minutes(text: str) -> Fraction:
    if not fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise ArgumentTypeError(f"{text!r} is not a number of minutes, such as 60 or 0.5")
    return Fraction(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
