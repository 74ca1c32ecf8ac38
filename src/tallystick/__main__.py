"""The program `tallystick`, which is `python -m tallystick` too: the command line."""

import gc
import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line. Ctrl-C ends it in one line from the first moment, also while its modules are imported."""
    signal.signal(signal.SIGINT, _end)
    from tallystick.cli import main as run  # noqa: PLC0415 -- takes a while, during which Ctrl-C may come

    try:
        run()
    finally:
        gc.freeze()  # else Python searches all that was loaded for garbage, just before the system takes everything back


def _end(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"tallystick: interrupted\n")
    os._exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
