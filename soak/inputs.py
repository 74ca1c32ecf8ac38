"""Whatever is read, it is taken or refused in one line: every reader and every command on damaged and absurd input.

    python soak/inputs.py [SECONDS]

Goes on for about so many seconds on two cores with the strategies of `tests/inputs`, the time shared evenly among readers
and commands, each time from other seeds. Paths are drawn with `*`, `[`, `~`, spaces, newlines and bytes that are not UTF-8:
what a command reads there, it must answer as it does under a plain name. Then commands are run on absurd files (a line of
10 GB, a header that claims 2^60 bytes, a device without an end) in processes of their own, whose memory and time are limited.
Ends with 1 if anything is answered with a traceback, in more than one line, not at all, otherwise than under a plain name, or
with too much memory.
"""

import atexit
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "inputs"))

from command_lines import Hangs, check, check_literal, command_lines, commands, prepared, run, without_long_work
from extremes import broken, extremes, measured
from good_files import make_good_files
from hypothesis import HealthCheck, Phase, given, seed, settings
from readers import Reader, readers

SETTINGS = settings(
    max_examples=50,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
Found = tuple[str, int, list[str]]
"""What was tried, how often, and what went wrong."""


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def attempt(name: str, seconds: float) -> Found:
    """Try one reader or one command for some time; what goes wrong is told once for each place."""
    warnings.simplefilter("error")
    wrong: dict[str, str] = {}
    contents, call, stubs = _strategy(name)
    tried = number = 0

    def attempted(content: object) -> None:
        nonlocal tried
        tried += 1
        try:
            call(content)
        except (Exception, Hangs) as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{name}: {type(error).__name__}: {error} at {Path(at.filename).name}:{at.lineno}"
            wrong.setdefault(f"{type(error)}{at.filename}{at.lineno}", f"{said[:500]} on {repr(content)[:500]}")

    with stubs:
        last = time.monotonic() + seconds
        while time.monotonic() < last:
            seed(number)(SETTINGS(given(contents)(attempted)))()
            number += 1
    return name, tried, list(wrong.values())


def _strategy(name: str):  # noqa: ANN202 -- a strategy, what tries an example, and stubs
    folder, known = _prepared()
    if name in known:
        return known[name].contents, lambda content: known[name].try_on(folder, content), nullcontext()
    command = name.removeprefix("tallystick ")
    return command_lines(command), lambda words: _try_command(words, folder), without_long_work()


def _try_command(words: list[str], folder: Path) -> None:
    ended = run(words, folder)
    check(words, ended)
    check_literal(words, ended, folder)


@cache
def _prepared() -> tuple[Path, dict[str, Reader]]:
    """Make good files, once in a process, gone when it ends."""
    place = tempfile.TemporaryDirectory()
    atexit.register(place.cleanup)
    folder = prepared(make_good_files(Path(place.name)))
    return folder, {reader.name: reader for reader in readers(folder)}


def tried_extremes() -> tuple[int, float, list[str]]:
    """Run commands on absurd files; return how many, the most memory in MiB, and what went wrong."""
    wrong: list[str] = []
    most = 0
    with tempfile.TemporaryDirectory() as place:
        folder = prepared(make_good_files(Path(place)))
        listed = extremes(folder)
        with ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(lambda extreme: measured(extreme.words, folder), listed))
        for extreme, found in zip(listed, ended, strict=True):
            most = max(most, found.memory)
            show(f"{extreme.name}: status {found.status}, {found.seconds:.1f} s, {found.memory / 2**20:,.0f} MiB")
            if (promise := broken(extreme, found)) is not None:
                wrong.append(promise)
    return len(listed), most / 2**20, wrong


def main(seconds: float = 150) -> int:
    """Try everything."""
    names = list(_prepared()[1])
    files = len(names)
    names += [f"tallystick {command}" for command in commands()]
    share = 2 * seconds / len(names)
    total, wrong = Counter[str](), []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for name, tried, found in pool.map(attempt, names, [share] * len(names)):
            total[name] = tried
            wrong += found
            show(f"{name}: {tried:,} inputs, {len(found)} wrong")
    absurd, most, found = tried_extremes()
    wrong += found
    for one in wrong:
        show(f"BROKEN {one}")
    read = sum(total[name] for name in names[:files])
    show(
        f"inputs: {read:,} files through {files} readers and {sum(total.values()) - read:,} command lines of "
        f"{len(names) - files} commands, {absurd} absurd files (at most {most:,.0f} MiB), "
        f"{len(wrong)} tracebacks, hangs or refusals of more than one line"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
