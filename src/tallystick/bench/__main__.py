"""`python -m tallystick.bench`: the same as `tallystick bench`, without the libraries that the whole command line needs."""

import argparse
import sys
from pathlib import Path

from tallystick.bench.command import Request, run
from tallystick.bench.suites import SUITES
from tallystick.errors import BadInput
from tallystick.training.devices import DEVICES


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser("python -m tallystick.bench", description="Measure speed and memory.")
    parser.add_argument("--suite", default=Request.suite, help=", ".join(SUITES))
    parser.add_argument("--device", default=Request.device, help=", ".join(DEVICES))
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON, too")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw them: .png, .pdf or .svg")
    parser.add_argument("--force", action="store_true", help="overwrite what is there")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON object")
    try:
        sys.stdout.write(run(Request(**vars(parser.parse_args()))) + "\n")
    except BadInput as error:
        sys.exit(_failed(str(error)))


def _failed(message: str) -> int:
    sys.stderr.write(f"tallystick: {message}\n")
    return 2


if __name__ == "__main__":
    main()
