"""What an installation weighs and how soon it answers: size, packages, and the time of an import, a verdict and a check.

    python -m benchmarks.install [CHECKOUT][EXTRA,...] ...

Each argument is installed into an environment of its own in a temporary folder: `.` is the core of this checkout, `.[train]`
has an extra beside it, and `v1` or any other name of a commit is the package as it was then. The default is `. .[train]`. The
times are those of whole processes, the least of many; the environments take turns, so that one run compares them fairly. Needs
an index of packages.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
NETWORK = ROOT / "examples" / "leaky.json"
ROUNDS = 20
_MILLION, _THOUSAND = 10**6, 10**3


class Spent(NamedTuple):
    """What a process took, in seconds: by the clock, and of the processor."""

    clock: float
    processor: float


class Installation(NamedTuple):
    """An environment with the package in it."""

    name: str
    folder: Path

    @property
    def size(self) -> int:
        """How many bytes its packages take, without Python, pip and setuptools; what Python compiles is part of it."""
        kept = (path for path in self._packages.rglob("*") if path.is_file() and not path.is_symlink())
        tools = tuple(str(self._packages / name) for name in ("pip", "setuptools", "_distutils_hack", "pkg_resources"))
        return sum(path.stat().st_size for path in kept if not str(path).startswith(tools))

    @property
    def number(self) -> int:
        """How many packages it has, this one and pip's own left out."""
        names = {path.name.partition("-")[0].lower() for path in self._packages.glob("*.dist-info")}
        return len(names - {"pip", "setuptools", "tallystick"})

    @property
    def _packages(self) -> Path:
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def commands(self, certificate: Path) -> dict[str, list[str]]:
        """Return what is timed."""
        python, program = (str(self.folder / "bin" / name) for name in ("python", "tallystick"))
        return {
            "import": [python, "-c", "import tallystick"],
            "certify": [program, "certify", str(NETWORK)],
            "check": [program, "check", str(certificate)],
        }


def install(wanted: str, folder: Path) -> Installation:
    """Install a checkout or a commit with its extras."""
    source, extras = re.fullmatch(r"([^\[]+)(\[[\w,]+\])?", wanted).groups("")  # type: ignore[union-attr] -- or it is misspelt
    tree = ROOT
    if source != ".":
        tree = folder / "source"
        tree.mkdir(parents=True)
        packed = subprocess.run(["git", "archive", source], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(tree)], input=packed, check=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = str(folder / "venv" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", f"{tree}{extras}"], check=True)
    return Installation(wanted, folder / "venv")


def spend(command: list[str]) -> Spent:
    """Run a command to its end, its output dropped."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # it has been waited for
    return Spent(time.perf_counter() - start, usage.ru_utime + usage.ru_stime)


def least(commands: list[list[str]]) -> list[Spent]:
    """Run commands in turn, again and again; return the least that each has taken."""
    rounds = [[spend(command) for command in commands] for _ in range(ROUNDS)]
    return [Spent(*map(min, zip(*runs, strict=True))) for runs in zip(*rounds, strict=True)]


def main(*wanted: str) -> None:
    """Install each, and print a row of it."""
    with tempfile.TemporaryDirectory() as scratch:
        found = [install(name, Path(scratch, str(place))) for place, name in enumerate(wanted or (".", ".[train]"))]
        certificate = Path(scratch, "certificate.json")
        write = [str(found[0].folder / "bin" / "tallystick"), "certify", str(NETWORK), "--out", str(certificate)]
        subprocess.run(write, check=False, stdout=subprocess.DEVNULL)
        timed = [one.commands(certificate) for one in found]
        times = iter(least([command for commands in timed for command in commands.values()]))
        names = list(timed[0])
        print("| installed | packages | MB | " + " | ".join(f"{name}, ms (processor)" for name in names) + " |")
        print("| :-- | --: | --: |" + " --: |" * len(names))
        for one in found:
            spent = [next(times) for _ in names]
            shown = [f"{_THOUSAND * each.clock:.0f} ({_THOUSAND * each.processor:.0f})" for each in spent]
            print(f"| `{one.name}` | {one.number} | {one.size / _MILLION:.0f} | {' | '.join(shown)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
