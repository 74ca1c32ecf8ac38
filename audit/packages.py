"""The wheel and the source archive: do they hold what they should and nothing else, and are they the same whoever builds them?

    python audit/packages.py [FOLDER]

Builds both twice, from copies of the tracked files in two folders, with other permissions and other times, and with files lying
about that must not be packed; the two must be equal byte for byte. Leaves them in FOLDER. Ends with 1 if a promise is broken.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = "src/"
PACKED = ("py.typed", "explore/page/index.html", "explore/page/app.js", "reports/page_template.html")
"""Files that are no Python and that users would miss at once."""

LYING_ABOUT = (
    ".env", ".venv/bin/python", "dist/old.whl", "notes.txt", "out/run/models.parquet", "src/notes.txt",
    "src/tallystick/__pycache__/cli.cpython-311.pyc", "tests/.pytest_cache/README.md",
)  # fmt: skip
"""What may be found in a folder that is worked in."""

BUILDS = ({"umask": 0o022, "time": 1_600_000_000}, {"umask": 0o077, "time": 1_700_000_000})
EPOCH = "1580601600"
"""The time that stands in the archives: any would do, if it is always the same."""


def tracked() -> list[str]:
    """Return the files that belong to the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def build(names: list[str], folder: Path, umask: int, time: int) -> dict[str, bytes]:
    """Build from a copy in `folder`; return the archives by name."""
    before = os.umask(umask)
    try:
        for name in names:
            copy = folder / "copy" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy)
            copy.chmod((0o777 if (ROOT / name).stat().st_mode & 0o100 else 0o666) & ~umask)
            os.utime(copy, (time, time))
        for name in LYING_ABOUT:
            junk = folder / "copy" / name
            junk.parent.mkdir(parents=True, exist_ok=True)
            junk.write_text("not to be packed")
        command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder / "built")]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
        subprocess.run(command, cwd=folder / "copy", env=environment, check=True, capture_output=True)
    finally:
        os.umask(before)
    return {path.name: path.read_bytes() for path in sorted((folder / "built").iterdir())}


def expected_in_wheel(names: list[str], stem: str) -> set[str]:
    """Return what the wheel should hold: the package, and what an installer reads."""
    information = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    package = {name.removeprefix(SOURCES) for name in names if name.startswith(SOURCES)}
    return package | {f"{stem}.dist-info/{name}" for name in information}


def expected_in_archive(names: list[str], stem: str) -> set[str]:
    """Return what the source archive should hold: the project."""
    return {f"{stem}/{name}" for name in (*names, "PKG-INFO")}


def broken_promises(names: list[str], first: dict[str, bytes], second: dict[str, bytes], folder: Path) -> Iterator[str]:
    """Name what is not as it should be."""
    archive, wheel = (next(name for name in first if name.endswith(end)) for end in (".tar.gz", ".whl"))
    stem = archive.removesuffix(".tar.gz")
    for name in first.keys() | second.keys():
        if first.get(name) != second.get(name):
            yield f"{name} is not the same when it is built again"
    with tarfile.open(folder / archive) as opened:
        packed = {member.name for member in opened.getmembers() if not member.isdir()}
        yield from differences(archive, packed, expected_in_archive(names, stem))
    with zipfile.ZipFile(folder / wheel) as opened:
        packed = set(opened.namelist())
        yield from differences(wheel, packed, expected_in_wheel(names, stem))
    yield from (f"{wheel} lacks {name}" for name in PACKED if f"tallystick/{name}" not in packed)


def differences(archive: str, packed: set[str], expected: set[str]) -> Iterator[str]:
    """Name what is missing and what is too much."""
    yield from (f"{archive} lacks {name}" for name in sorted(expected - packed))
    yield from (f"{archive} should not hold {name}" for name in sorted(packed - expected))


def main(folder: str = "dist") -> int:
    """Build twice, compare and look inside."""
    names = tracked()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory(prefix="another-") as other:
        first, second = (build(names, Path(place), **how) for place, how in zip((one, other), BUILDS, strict=True))
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in first.items():
        (Path(folder) / name).write_bytes(content)
    broken = list(broken_promises(names, first, second, Path(folder)))
    for promise in broken:
        print(f"  BROKEN: {promise}")
    sizes = ", ".join(f"{name} {len(content):,} bytes" for name, content in first.items())
    print(f"packages: {sizes}; built twice, {len(broken)} differences from what they should be")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
