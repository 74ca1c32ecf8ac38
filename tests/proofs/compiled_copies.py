"""Copies of the Coq files, compiled as they stand, for tests to change. What `make proofs` has compiled is not compiled again."""

import runpy
import shutil
from collections.abc import Collection
from pathlib import Path

PROOFS = Path(__file__).parents[2] / "proofs"
CHECK = runpy.run_path(str(PROOFS / "check.py"))


def compile_copy(directory: Path, needed: Collection[str]) -> Path:
    """Copy the Coq files to a folder, compile those that are needed there, and return the folder.

    A file that `make proofs` compiled after the last change to it and to the files before it is taken as it was compiled then.
    """
    latest, is_fresh = 0.0, True
    for path in CHECK["files"](PROOFS):
        name = path.relative_to(PROOFS).as_posix()
        copy = directory / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
        if name not in needed:
            continue
        before = path.with_suffix(".vo")
        latest = max(latest, path.stat().st_mtime)
        is_fresh = is_fresh and before.is_file() and before.stat().st_mtime >= latest
        if is_fresh:
            latest = before.stat().st_mtime
            shutil.copy(before, copy.with_suffix(".vo"))
        else:
            CHECK["compile_file"](copy, directory)
    return directory
