"""How far a reader has to walk: the files and functions of the package that one command enters, and its hops between rooms.

    python -m benchmarks.walks [--files]

Each command runs on a tiny input in a process of its own. Counted are the calls of functions in src, in every thread of that
process; what runs while a module is imported is left out. A hop is a call from one top-level folder into another, counted once
for each pair of functions.
"""

import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = str(ROOT / "src" / "tallystick") + "/"

WALKS = {
    "certify": ["certify", str(ROOT / "examples" / "leaky.json")],
    "train": ["train", "--task", "binary", "--train-length", "4", "--seeds", "2", "--out", "run"],
    "reproduce": ["reproduce", "--runs", "1", "--seeds", "1", "--out", "reproduction"],
}
"""The walks of the design, by name."""


class Walk:
    """Counts calls as a profiling function of `sys.setprofile`."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.hops: set[tuple[str, str]] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """See one event."""
        if event != "call" or not (file := frame.f_code.co_filename).startswith(_PACKAGE) or _is_importing(frame):
            return
        self.functions.add((file.removeprefix(_PACKAGE), frame.f_code.co_qualname))
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(_PACKAGE):
            caller = caller.f_back
        if caller is not None and _room(caller.f_code.co_filename) != _room(file):
            self.hops.add((caller.f_code.co_qualname, frame.f_code.co_qualname))


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(_PACKAGE):
            return True
        frame = frame.f_back
    return False


def _room(file: str) -> str:
    return file.removeprefix(_PACKAGE).split("/")[0]


def count_calls(arguments: list[str]) -> Walk:
    """Run a command of the package in this process and count its calls."""
    from tallystick.cli import main  # noqa: PLC0415 -- importing is not part of the walk

    walk = Walk()
    threading.setprofile(walk)
    sys.setprofile(walk)
    try:
        main(arguments)
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return walk


def report(arguments: list[str]) -> None:
    """Count the calls of a command and write them down as JSON, in the file `walk.json`."""
    walk = count_calls(arguments)
    files = sorted({file for file, _ in walk.functions})
    Path("walk.json").write_text(json.dumps({"files": files, "functions": len(walk.functions), "hops": len(walk.hops)}))


def main() -> None:
    """Print a row per walk; with `--files` also the files of each."""
    sys.stdout.write("| walk | files entered | functions | hops between rooms |\n| --- | --- | --- | --- |\n")
    for name, arguments in WALKS.items():
        with tempfile.TemporaryDirectory() as scratch:
            code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from benchmarks import walks; walks.report({arguments!r})"
            subprocess.run([sys.executable, "-c", code], cwd=scratch, check=True, capture_output=True)
            found = json.loads(Path(scratch, "walk.json").read_text())
        sys.stdout.write(f"| {name} | {len(found['files'])} | {found['functions']} | {found['hops']} |\n")
        if "--files" in sys.argv:
            sys.stdout.write("".join(f"  {file}\n" for file in found["files"]))


if __name__ == "__main__":
    main()
