"""Compile the Coq files, print what each theorem rests on, and fail on anything but the axioms of Coq's real numbers.

Needs Debian's package coq, whose standard library is all that the proofs use, and no Python package.
"""

import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CATALOGUE = HERE.parent / "src" / "tallystick" / "theorems" / "coq.py"
LIBRARY = "Tallystick"

# What Coq's construction of the real numbers rests on, and theorems about real numbers with it. (It has a third axiom,
# sig_not_dec, for least upper bounds; nothing here takes one.)
AXIOMS_OF_THE_REALS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}

_MARK = "== "
_CLOSED = "Closed under the global context"
_COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
_GAP = re.compile(r"\b(Admitted|admit|give_up|Axiom|Axioms|Parameter|Parameters|Conjecture|Unset Guard Checking)\b")


class Refused(Exception):
    """The proofs are not what they should be; the message says why, in one line."""


def files(directory: Path) -> list[Path]:
    """Return the Coq files in the order of `_CoqProject`, which must name them all."""
    listed = [line for line in (directory / "_CoqProject").read_text().split() if line.endswith(".v")]
    if set(listed) != {path.name for path in directory.glob("*.v")}:
        raise Refused("_CoqProject does not list just the .v files that are there")
    return [directory / name for name in listed]


def theorems(path: Path) -> dict[str, int]:
    """Return the theorems of a file, each with its line."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    return {found[1]: number for number, line in lines if (found := re.match(r"Theorem (\w+)", line))}


def compile_file(path: Path, library: Path | None = None) -> str:
    """Compile one file and return what Coq printed; what it needs is compiled in the library, its own folder if none is named."""
    coqc = shutil.which("coqc")
    if coqc is None:
        raise Refused("coqc is not installed; Debian has it in the package coq (apt-get install coq)")
    command = [coqc, "-q", "-R", str(library or "."), LIBRARY, path.name]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"{path.name} does not compile: {' '.join(done.stderr.split())}")
    return done.stdout


def assumptions(directory: Path, names: list[str]) -> dict[str, set[str]]:
    """Return the axioms that each theorem, named as File.theorem, rests on, as Coq itself prints them."""
    marks = "".join(
        f'Goal True. idtac "{_MARK}{name}". Abort.\nPrint Assumptions {LIBRARY}.{name}.\n' for name in names
    )
    needed = "".join(f"Require {LIBRARY}.{name}.\n" for name in sorted({name.split(".")[0] for name in names}))
    with tempfile.TemporaryDirectory() as scratch:
        question = Path(scratch) / "PrintAssumptions.v"
        question.write_text(needed + marks)
        printed = compile_file(question, library=directory)
    return dict(map(_axioms, printed.split(_MARK)[1:]))


def _axioms(printed: str) -> tuple[str, set[str]]:
    """Read one theorem's answer: an axiom starts a line, its type is indented."""
    name, *lines = printed.splitlines()
    return name, {line.split()[0] for line in lines if line[:1].strip() and line not in ("Axioms:", _CLOSED)}


def check(directory: Path) -> list[str]:
    """Compile everything; return a line for each theorem, or refuse."""
    places: dict[str, str] = {}
    for path in files(directory):
        if gap := _GAP.search(_COMMENT.sub("", path.read_text(encoding="utf-8"))):
            raise Refused(f"{path.name} has an {gap[0]}: every theorem is to be proved")
        compile_file(path)
        places |= {f"{path.stem}.{name}": f"proofs/{path.name}:{line} {name}" for name, line in theorems(path).items()}
    rests_on = assumptions(directory, list(places))
    for name, axioms in rests_on.items():
        if foreign := axioms - AXIOMS_OF_THE_REALS:
            raise Refused(f"{name} rests on {', '.join(sorted(foreign))}, which is no axiom of the reals")
    printed = {places[name]: axioms for name, axioms in rests_on.items()}
    listed = {str(theorem) for theorem in runpy.run_path(str(CATALOGUE))["ALL_COQ_THEOREMS"]}
    if different := listed ^ set(printed):
        raise Refused(f"{CATALOGUE.name} and the proofs differ in {', '.join(sorted(different))}")
    return [f"{place}: {', '.join(sorted(axioms)) or 'no axiom'}" for place, axioms in printed.items()]


def main() -> None:
    """Check the files beside this one."""
    try:
        lines = check(HERE)
    except Refused as refused:
        sys.exit(f"proofs: {refused}")
    sys.stdout.write("\n".join([*lines, f"{len(lines)} theorems, no axiom but those of the real numbers", ""]))


if __name__ == "__main__":
    main()
