"""What the package and the docs say about the Coq files is what stands there. Needs no Coq."""

import json
import re
import runpy
from pathlib import Path

import pytest

from tallystick.cli import main
from tallystick.theorems.account import THEOREMS
from tallystick.theorems.coq import ALL_COQ_THEOREMS, COQ_ONLY, COQ_THEOREMS

ROOT = Path(__file__).parent.parent.parent
PROOFS = ROOT / "proofs"
CHECK = runpy.run_path(str(PROOFS / "check.py"))
THEORY = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"^`proofs/([\w/]+\.v)(?::(\d+))?`\n\n```coq\n(.*?)^```", THEORY, flags=re.DOTALL | re.MULTILINE)


def lines_of(file: str) -> list[str]:
    return (PROOFS / file).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("theorem", ALL_COQ_THEOREMS, ids=lambda theorem: theorem.name)
def test_each_theorem_stands_in_its_file_at_its_line(theorem):
    assert (ROOT / theorem.path).is_file()
    assert re.match(rf"Theorem {theorem.name}\b", lines_of(theorem.file)[theorem.line - 1])


def test_each_theorem_of_the_files_is_listed_once():
    found = [
        (path.relative_to(PROOFS).as_posix(), line, name)
        for path in CHECK["files"](PROOFS)
        for name, line in CHECK["theorems"](path).items()
    ]
    assert sorted(found) == sorted(map(tuple, ALL_COQ_THEOREMS))


def test_nothing_is_listed_as_the_solvers_and_as_coqs_alone():
    assert set(COQ_THEOREMS) <= set(THEOREMS)
    assert set(COQ_ONLY).isdisjoint(THEOREMS)


def output_of(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code or 0, *capsys.readouterr()


def test_prove_names_every_place_and_tells_coq_alone_apart(capsys):
    status, out, _ = output_of(capsys, "prove")
    assert status == 0
    solver, coq_alone = out.split("In Coq alone\n")
    assert "No step of these was put to the solver" in coq_alone
    for name, theorems in COQ_THEOREMS.items():
        assert all(f"Coq: proofs/{t.file}:{t.line} {t.name}\n" in solver for t in theorems), name
    for result in COQ_ONLY.values():
        assert result.title in coq_alone
        assert all(f"Coq: proofs/{t.file}:{t.line} {t.name}\n" in coq_alone for t in result.theorems)


def test_prove_as_json_names_every_place(capsys):
    result = json.loads(output_of(capsys, "prove", "--json")[1])
    places = {entry["name"]: entry["coq"] for entry in (*result["theorems"], *result["coq_only"])}
    assert list(places) == [*THEOREMS, *COQ_ONLY]
    named = {(place["file"], place["line"], place["theorem"]) for found in places.values() for place in found}
    assert named == {(theorem.path, theorem.line, theorem.name) for theorem in ALL_COQ_THEOREMS}
    # What Coq has alone carries no verdict of the solver's.
    assert all("proved" not in entry and "parts" not in entry for entry in result["coq_only"])
    assert json.loads(output_of(capsys, "prove", "relu", "--json")[1])["coq_only"] == []


def test_the_solver_is_not_asked_for_what_coq_has_alone(capsys):
    status, out, err = output_of(capsys, "prove", "extremes")
    assert (status, out) == (2, "")
    assert "'extremes' is proved in Coq alone, not by the solver: proofs/Extremes.v:" in err


def test_the_docs_quote_each_theorem_at_its_line():
    quoted = [(file, int(line), text.split()[1]) for file, line, text in QUOTED if line]
    assert sorted(quoted) == sorted(map(tuple, ALL_COQ_THEOREMS))
    for file, line, text in QUOTED:
        if line:
            statement = text.splitlines()
            first = int(line) - 1
            assert lines_of(file)[first : first + len(statement)] == statement
            assert lines_of(file)[first + len(statement)].startswith("Proof.")


def test_the_docs_quote_definitions_as_they_stand():
    pieces = [
        (file, piece.rstrip("\n"))
        for file, line, text in QUOTED
        if not line
        for piece in re.split(r"^(?=Definition|Fixpoint|Record)", text, flags=re.MULTILINE)
        if piece
    ]
    assert len(pieces) > 10
    for file, piece in pieces:
        assert f"\n{piece}\n" in (PROOFS / file).read_text(encoding="utf-8")


def test_the_docs_name_every_result_and_the_axioms():
    assert all(f"| `{name}` |" in THEORY for name in (*THEOREMS, *COQ_ONLY))
    assert all(f"`{axiom}`" in THEORY for axiom in CHECK["AXIOMS_OF_THE_REALS"])
    assert THEORY.count("```coq") == len(QUOTED)
