"""The licences of everything this package rests on: listed, and checked against those that go with Apache-2.0.

    python audit/licences.py [FILE]

Reads what the installed packages say of themselves, and writes a table to FILE. Ends with 1 if a licence is not on the list, or
not known. What an extra needs that is not installed here is named, and not judged.
"""

import re
import sys
from collections import Counter
from importlib.metadata import distribution
from pathlib import Path

from dependencies import DEVELOPMENT, dependencies

ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "ISC", "MIT", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib",
}  # fmt: skip
"""Permissive: may be used by, and shipped with, a work under Apache-2.0."""

ALLOWED_BESIDE = {"MPL-2.0", "LGPL-3.0-or-later"}
"""Copyleft of a file or a library of its own: installed beside this package and never copied into it, it asks nothing of it."""

SAID_IN_THE_FILE = {"axe-playwright-python": "MIT", "cvc5": "BSD-3-Clause AND LGPL-3.0-or-later"}
"""Those whose metadata do not say it: as their licence files have it."""

SPDX = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Words of older metadata, and what they are called now."""

UNKNOWN = "unknown"
_LONGEST_NAME = 60
"""Longer ones are a licence's text."""


def licence(name: str) -> str:
    """Return a package's licence: as an expression where it has one, else from the classifiers or the older field."""
    metadata = distribution(name).metadata
    short = metadata.get("License") or ""
    classified = [
        found.rpartition(" :: ")[2] for found in metadata.get_all("Classifier") or [] if "License ::" in found
    ]
    said = metadata.get("License-Expression") or (
        short if len(short) <= _LONGEST_NAME and short not in ("", "UNKNOWN") else " AND ".join(classified)
    )
    return SPDX.get(said, said) or SAID_IN_THE_FILE.get(name, UNKNOWN)


def is_allowed(expression: str) -> bool:
    """Say whether every licence that is named in an expression is on the list.

    >>> is_allowed("MIT AND (Apache-2.0 OR BSD-3-Clause)"), is_allowed("MIT AND GPL-3.0-only"), is_allowed("unknown")
    (True, False, False)
    """
    named = re.split(r"\s+(?:AND|OR)\s+", re.sub(r"[()]", " ", expression))
    return all(name.strip() in ALLOWED | ALLOWED_BESIDE for name in named)


def table(rows: list[tuple[str, str, str, str]]) -> str:
    """Write rows as Markdown."""
    head = ("package", "version", "licence", "needed by")
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows)) + "\n"


def main(file: str | None = None) -> int:
    """List, write and judge."""
    needed = dependencies()
    rows = [(name, distribution(name).version, licence(name), ", ".join(by)) for name, by in needed.needed_by.items()]
    if file:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(table(rows), encoding="utf-8")
    refused = [row for row in rows if not is_allowed(row[2])]
    for name, version, found, by in refused:
        print(f"  REFUSED: {name} {version}, needed by {by}: licence {found}")
    for name, by in needed.missing.items():
        print(f"  not installed, so not looked at: {name}, needed by {', '.join(by)}")
    for part, chosen in {"to run": False, "to develop": True}.items():
        counted = Counter(row[2] for row in rows if (row[3] == DEVELOPMENT) is chosen)
        print(f"  {part}: " + ", ".join(f"{count} {name}" for name, count in sorted(counted.items())))
    print(f"licences: {len(rows)} packages, {len(refused)} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
