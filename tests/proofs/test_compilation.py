"""The Coq proofs compile as they stand, and not once a hypothesis is weakened: only what is needed for that is compiled.

`make proofs` compiles all files and looks at what every theorem rests on.
"""

import re
import runpy
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

PROOFS = Path(__file__).parent.parent.parent / "proofs"
CHECK = runpy.run_path(str(PROOFS / "check.py"))
compile_file, check, Refused = CHECK["compile_file"], CHECK["check"], CHECK["Refused"]

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")


@dataclass(frozen=True)
class Falsified:
    """A theorem made false by a small change, with a Coq script that refutes what it says then."""

    file: str
    theorem: str
    old: str
    new: str
    refutation: str

    def split(self) -> tuple[str, str, str]:
        """The file before the statement, the statement, and its proof with all that follows."""
        text = (PROOFS / self.file).read_text(encoding="utf-8")
        found = re.search(rf"^Theorem {self.theorem} :.*?\.$", text, flags=re.DOTALL | re.MULTILINE)
        assert found is not None
        return text[: found.start()], found[0], text[found.end() :]

    def statement(self) -> str:
        """The statement as changed; that it did change is asserted."""
        _, true, _ = self.split()
        assert true.count(self.old) == 1
        false = true.replace(self.old, self.new)
        assert false != true
        return false


FALSIFIED = {
    "a ≠ 0 dropped": Falsified(
        "Selective.v",
        "selective_cells",
        old=" /\\ a <> 0",
        new="",
        refutation="""
            assert (accepts_exactly (selective 0 0 1 1) BB) as accepts by (apply claim; repeat split; lra).
            apply selective_cells in accepts. now destruct accepts as (_ & _ & not_zero & _).""",
    ),
    "P ≠ −1 dropped": Falsified(
        "Selective.v",
        "selective_cells",
        old=" /\\ P <> -1",
        new="",
        refutation="""
            assert (accepts_exactly (selective 1 1 (-1) (-1)) BB) as accepts by (apply claim; repeat split; lra).
            apply selective_cells in accepts. now destruct accepts as (_ & _ & _ & not_minus_one).""",
    ),
    "a strict threshold": Falsified(
        "AllLengths.v",
        "all_lengths",
        old="0 <= theta < a",
        new="0 < theta < a",
        refutation="""
            assert (0 <= 0 < 1) as between by lra.
            pose proof (proj1 (claim 1 (Ropp 1) 1 0) (fun s _ => exact_counter_is_right 1 0 s between)). lra.""",
    ),
}

each_falsified = pytest.mark.parametrize("falsified", FALSIFIED.values(), ids=FALSIFIED)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    """A copy of the proofs in which the files to be falsified, and what they need, compile as they stand."""
    directory = tmp_path_factory.mktemp("proofs") / "copy"
    shutil.copytree(
        PROOFS, directory, ignore=lambda _, names: [n for n in names if not n.endswith((".v", "_CoqProject"))]
    )
    for name in ("Brackets", "Theorem1", "Selective", "AllLengths"):
        compile_file(directory / f"{name}.v")
    return directory


@needs_coq
@each_falsified
def test_a_weakened_hypothesis_breaks_its_theorem(falsified, compiled, tmp_path):
    directory = tmp_path / "falsified"
    shutil.copytree(compiled, directory)
    before, _, after = falsified.split()
    path = directory / falsified.file
    path.write_text(before + falsified.statement() + after, encoding="utf-8")
    with pytest.raises(Refused, match="does not compile") as refused:
        compile_file(path)
    # Coq stops in the proof of the changed theorem, not before and not for a slip of the pen in its statement.
    failed = int(re.search(rf'"\./{falsified.file}", line (\d+)', str(refused.value))[1])
    first = (before + falsified.statement()).count("\n") + 1
    assert first < failed <= first + after[: after.index("Qed.")].count("\n")
    assert "Syntax error" not in str(refused.value)


@needs_coq
@each_falsified
def test_what_is_left_is_false_and_not_only_unproved(falsified, compiled):
    claim = falsified.statement().partition(" : ")[2].removesuffix(".")
    path = compiled / f"Refutation{list(FALSIFIED.values()).index(falsified)}.v"
    path.write_text(
        f"From Tallystick Require Import Brackets {falsified.file.removesuffix('.v')}.\n"
        f"Goal ~ ({claim}).\nProof. intros claim. {falsified.refutation}\nQed.\n"
    )
    compile_file(path)


def library(directory: Path, text: str) -> Path:
    """A library of one file."""
    (directory / "_CoqProject").write_text("Only.v\n")
    (directory / "Only.v").write_text(text)
    return directory


@needs_coq
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Theorem gap : 1 = 2. Proof. Admitted.\n", "Only.v has an Admitted"),
        ("Axiom no : False.\nTheorem gap : 1 = 2. Proof. destruct no. Qed.\n", "Only.v has an Axiom"),
        # Outside a section a variable is an axiom by another name; Coq's own answer shows it.
        ("Variable no : False.\nTheorem gap : 1 = 2. Proof. destruct no. Qed.\n", "Only.gap rests on .*no"),
        ("Theorem other : 1 = 1. Proof. reflexivity. Qed.\n", "coq.py and the proofs differ in .*Only.v:1 other"),
        ("Theorem gap : 1 = 2. Proof. reflexivity. Qed.\n", "Only.v does not compile"),
    ],
    ids=["admitted", "axiom", "variable", "not listed", "wrong"],
)
def test_the_build_refuses(text, message, tmp_path):
    with pytest.raises(Refused, match=message):
        check(library(tmp_path, text))


def test_the_build_refuses_a_file_that_the_project_does_not_list(tmp_path):
    (library(tmp_path, "") / "Other.v").write_text("")
    with pytest.raises(Refused, match="_CoqProject does not list"):
        check(tmp_path)


def test_without_coq_the_build_names_the_package(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Refused, match="Debian has it in the package coq") as refused:
        check(library(tmp_path, ""))
    assert "\n" not in str(refused.value)
