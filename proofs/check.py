"""Compile the Coq files, print what each theorem rests on, and fail on anything but the axioms of Coq's real numbers.

Then build the checker that Coq has proved (`checker/`) as a program, `checker/build/proven-checker`. Needs Debian's packages coq,
libcoq-flocq, libcoq-mathcomp-algebra, libzarith-ocaml-dev and ocaml-findlib, and no Python package.
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
CHECKER = HERE / "checker"
PROGRAM = CHECKER / "build" / "proven-checker"

# The modules of the program in the order in which they need each other; Coq writes the first one.
MODULES = (
    *("checker", "answers", "json", "sha256", "models", "executions", "gated_models"),
    *("certificates", "spans", "plans", "execution_checks", "gated_checks", "main"),
)

# What Coq's construction of the real numbers rests on, and theorems about real numbers with it. (It has a third axiom,
# sig_not_dec, for least upper bounds; nothing here takes one.)
AXIOMS_OF_THE_REALS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}

# What the program's answer rests on is to rest on nothing.
WITHOUT_AXIOMS = {"checker.Check.check_sound", "checker.FloatCheck.check_float_sound"}

# Two more: the third one of the reals, and that every statement is true or false. Flocq takes them, and so do the exponential
# function and the mean value theorem. Answers about gated networks rest on them. That the checker's floating point is Flocq's
# does so too, but no answer rests on that.
MORE_AXIOMS = {"ClassicalDedekindReals.sig_not_dec", "Classical_Prop.classic"}
WITH_MORE_AXIOMS = {
    "checker.FloatIeee.floats_are_ieee",
    "checker.FloatIeee.outputs_are_ieee",
    "checker.GatedCheck.check_gated_sound",
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
    there = {path.relative_to(directory).as_posix() for path in directory.rglob("*.v")} - {"checker/Extract.v"}
    if set(listed) != there:
        raise Refused("_CoqProject does not list just the .v files that are there")
    return [directory / name for name in listed]


def theorems(path: Path) -> dict[str, int]:
    """Return the theorems of a file, each with its line."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    return {found[1]: number for number, line in lines if (found := re.match(r"Theorem (\w+)", line))}


def tool(name: str, package: str) -> str:
    """Return the path of a command."""
    found = shutil.which(name)
    if found is None:
        raise Refused(f"{name} is not installed; Debian has it in the package {package} (apt-get install {package})")
    return found


def compile_file(path: Path, library: Path | None = None) -> str:
    """Compile one file and return what Coq printed; what it needs is compiled in the library, its own folder if none is named."""
    command = [tool("coqc", "coq"), "-q", "-R", str(library or "."), LIBRARY, path.name]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"{path.name} does not compile: {' '.join(done.stderr.split())}")
    return done.stdout


def build_program(directory: Path) -> Path:
    """Extract the checker, compile it with its parser to a native program, and return where that is."""
    build = directory / "build"
    build.mkdir(exist_ok=True)
    extract = [tool("coqc", "coq"), "-q", "-R", "../..", LIBRARY, "-o", "Extract.vo", "../Extract.v"]
    _run(extract, build, "the checker cannot be extracted")
    for path in (directory / "program").glob("*.ml"):
        shutil.copy(path, build)
    sources = ["checker.mli", *(f"{name}.ml" for name in MODULES)]
    # With GMP and the C library in it, the program also runs where they are missing.
    zarith = ["-package", "zarith,unix", "-linkpkg", "-ccopt", "-static"]
    options = ["-w", "-a", "-inline", "100", "-o", PROGRAM.name]
    ocamlfind = tool("ocamlfind", "ocaml-findlib")
    if subprocess.run([ocamlfind, "query", "zarith"], capture_output=True, check=False).returncode:
        raise Refused("zarith is not installed; Debian has it in the package libzarith-ocaml-dev")
    _run([ocamlfind, "ocamlopt", *zarith, *options, *sources], build, "the program does not compile")
    return build / PROGRAM.name


def _run(command: list[str], directory: Path, otherwise: str) -> None:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"{otherwise}: {' '.join((done.stdout + done.stderr).split())}")


def assumptions(directory: Path, names: list[str]) -> dict[str, set[str]]:
    """Return the axioms that each theorem, named as File.theorem, rests on, as Coq itself prints them."""
    marks = "".join(
        f'Goal True. idtac "{_MARK}{name}". Abort.\nPrint Assumptions {LIBRARY}.{name}.\n' for name in names
    )
    needed = "".join(f"Require {LIBRARY}.{name}.\n" for name in sorted({name.rpartition(".")[0] for name in names}))
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
        compile_file(path, directory)
        module = path.relative_to(directory).with_suffix("").as_posix()
        places |= {
            f"{module.replace('/', '.')}.{name}": f"proofs/{module}.v:{line} {name}"
            for name, line in theorems(path).items()
        }
    rests_on = assumptions(directory, list(places))
    for name, axioms in rests_on.items():
        if foreign := axioms - AXIOMS_OF_THE_REALS - (MORE_AXIOMS if name in WITH_MORE_AXIOMS else set()):
            raise Refused(f"{name} rests on {', '.join(sorted(foreign))}, which is no axiom of the reals")
        if name in WITHOUT_AXIOMS and axioms:
            raise Refused(f"{name} rests on {', '.join(sorted(axioms))}, and is to rest on no axiom")
    printed = {places[name]: axioms for name, axioms in rests_on.items()}
    listed = {str(theorem) for theorem in runpy.run_path(str(CATALOGUE))["ALL_COQ_THEOREMS"]}
    if different := listed ^ set(printed):
        raise Refused(f"{CATALOGUE.name} and the proofs differ in {', '.join(sorted(different))}")
    return [f"{place}: {', '.join(sorted(axioms)) or 'no axiom'}" for place, axioms in printed.items()]


def main() -> None:
    """Check the files beside this one."""
    try:
        lines = check(HERE)
        program = build_program(CHECKER)
    except Refused as refused:
        sys.exit(f"proofs: {refused}")
    lines.append(f"{len(lines)} theorems, no axiom but those of the real numbers and the excluded middle")
    lines.append(f"the proven checker is built: {program.relative_to(HERE.parent)}")
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
