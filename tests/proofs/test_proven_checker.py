"""The proven checker: Coq refuses it once it is changed, and as a program it never contradicts the Python checker."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import proven_cases
import pytest
from compiled_copies import CHECK, PROOFS, compile_copy
from proven_cases import ACCEPTED, CONTRADICTED, REFUSED

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.cli import main
from tallystick.theorems import proven

compile_file, Refused = CHECK["compile_file"], CHECK["Refused"]

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")
needs_program = pytest.mark.skipif(not proven_cases.PROGRAM.is_file(), reason="make proofs has not built the program")


# --- Coq refuses a changed checker --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """A change of the checker that would let something false pass."""

    file: str
    old: str
    new: str

    def text(self) -> str:
        """The file with the change; that it is one is asserted."""
        text = (PROOFS / "checker" / self.file).read_text(encoding="utf-8")
        assert text.count(self.old) == 1, self.old
        return text.replace(self.old, self.new)


CHANGES = {
    "a box that touches zero is above it": Changed(
        "Boxes.v", "if strict c then (0 <? low b)%Z", "if strict c then (0 <=? low b)%Z"
    ),
    "a length is left out": Changed(
        "Search.v", "if (next mod stride l =? 0)%Z then", "if (next mod stride l =? 0)%Z && negb (next =? 7)%Z then"
    ),
    "odd lengths are looked at in the place of even ones": Changed(
        "Sorting.v", "if (tokens next mod stride which =? 0)%Z", "if (tokens next mod stride which =? 1)%Z"
    ),
    "an inequality between the halves is turned": Changed(
        "Halves.v",
        "| Root t _ => if 0 <=? t then (if even h",
        "| Root t _ => if t <=? 0 then (if even h",
    ),
    "a remainder is forgotten": Changed(
        "Rows.v",
        "off := quotient_up (off R * G) D + (if exact then 0 else 1)",
        "off := quotient_up (off R * G) D + (if exact then 0 else 0)",
    ),
    "errors are not added up": Changed("Sorting.v", "error := error k + off r * R;", "error := error k;"),
    "the greater of two paths": Changed(
        "Paths.v", "low_value := Z.min (low_after Open prev)", "low_value := Z.max (low_after Open prev)"
    ),
    "matrices need not commute": Changed(
        "Check.v", "commute a && tracks_suffice n t tracks", "true && tracks_suffice n t tracks"
    ),
    "the two tokens need not have one matrix": Changed(
        "Check.v", "same_matrix (M_open w) (M_close w) && tracks_suffice", "true && tracks_suffice"
    ),
    "a counter may fall": Changed("Counting.v", "| Gt => Qle_bool 0 slope end", "| Gt => true end"),
    "factors need not be inverse": Changed("Monotone.v", "Qeq_bool (p * q) 1 && Qeq_bool", "true && Qeq_bool"),
    "a power that need not shrink": Changed(
        "Tails.v", "negb (Qle_bool 1 (tail_size a E m))", "negb (Qle_bool 2 (tail_size a E m))"
    ),
    "a rest that need not vanish": Changed("Tails.v", "no_row (row_before E d) && Qeq_bool", "true && Qeq_bool"),
    "a box that a token may leave": Changed("Fading.v", "Qle_bool (q + size_of x) b", "Qle_bool q b"),
    "a row that was rounded is taken for exact": Changed("Fading.v", "(off (node_row e) =? 0)%Z &&", "true &&"),
    "two classes that both hold at a tie": Changed("Tracks.v", "(strict c || strict d)", "true"),
    "a failing string that is right": Changed("Runs.v", "negb (given =? right_class_of_runs t failing)", "true"),
    "a failing string of any length": Changed(
        "Runs.v", "(size_of_runs failing =? horizon + stride l)", "(0 <? size_of_runs failing)"
    ),
    "an inequality of the bisection is turned": Changed(
        "Bisection.v",
        "if Qle_bool 0 (w * (per Open - per Close)) then",
        "if Qle_bool (w * (per Open - per Close)) 0 then",
    ),
    "the first lengths are left out of a range": Changed(
        "Bisection.v", "let i := (1 - r)%Z in", "let i := (2 - r)%Z in"
    ),
    "odd lengths are left out": Changed("Bisection.v", "AllLengths => [0; 1]%Z", "AllLengths => [0%Z]"),
    "two lengths at the end of a halved range": Changed("Powers.v", "((k - i <=? 1) ||", "((k - i <=? 2) ||"),
    "the third number is not looked at": Changed("Powers.v", "(0 <=? low (blend_box q x y))", "true"),
    "a power is rounded down above": Changed(
        "Powers.v",
        "high := - (- (if (0 <=? high b)%Z then high p * high b else Z.max 0 (low p) * high b)%Z / Zpos S);",
        "high := (if (0 <=? high b)%Z then high p * high b else Z.max 0 (low p) * high b)%Z / Zpos S;",
    ),
    "a string beside the decisive one": Changed("FewStrings.v", "if rises then Nowhere else Near (r - 1)", "Nowhere"),
    "the two tokens need not have one factor": Changed(
        "Bisection.v", "Qeq_bool (weight_after c Close) (weight_after c Open) &&", "true &&"
    ),
    "a run moves the state the wrong way": Changed("LongStrings.v", "(point S (- f))", "(point S f)"),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    """A copy of the checker's files, compiled as they stand."""
    needed = {f"checker/{path.name}" for path in (PROOFS / "checker").glob("*.v")}
    return compile_copy(tmp_path_factory.mktemp("proven") / "proofs", needed)


@needs_coq
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_coq_refuses_a_changed_checker(change, compiled, tmp_path):
    directory = tmp_path / "proofs"
    shutil.copytree(compiled, directory)
    path = directory / "checker" / change.file
    path.write_text(change.text(), encoding="utf-8")
    with pytest.raises(Refused, match="does not compile") as refused:
        compile_file(path, directory)
    # Coq stops in a proof, and neither before it nor for a slip of the pen.
    failed = int(re.search(rf'"\./{change.file}", line (\d+)', str(refused.value))[1])
    before = "\n".join(change.text().splitlines()[:failed])
    last = re.findall(r"^(Lemma|Theorem|Definition|Fixpoint|Record|Inductive)\b", before, flags=re.MULTILINE)[-1]
    assert last in ("Lemma", "Theorem")
    assert "Syntax error" not in str(refused.value)


@needs_coq
def test_soundness_rests_on_no_axiom(compiled):
    assert CHECK["assumptions"](compiled, ["checker.Check.check_sound"]) == {"checker.Check.check_sound": set()}


def status_of(*arguments: object) -> int:
    """The exit status of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


# --- The program ----------------------------------------------------------------------------------------------------------------


@needs_program
@pytest.mark.parametrize("made", ["certificate", "forgery"])
@pytest.mark.parametrize("kind", proven_cases.KINDS)
def test_both_checkers_agree(kind, made):
    make = getattr(proven_cases.KINDS[kind], made)
    contents = [content for seed in range(100) if (content := make(seed)) is not None]
    compared = proven_cases.compare(contents)
    assert [found.told for found in compared if found.outcome == CONTRADICTED] == []
    decided = {found.outcome for found in compared if not found.is_open}
    assert decided == ({ACCEPTED} if made == "certificate" else {ACCEPTED, REFUSED})
    assert sum(found.is_open for found in compared) < len(contents) // 5


@pytest.mark.parametrize("kind", [name for name in proven_cases.KINDS if name != "affine"])  # whose forgers have tests
def test_every_forger_tells_lies(kind):
    forge = proven_cases.KINDS[kind].forge
    for forger in proven_cases.KINDS[kind].forgers:
        assert any(forge(seed, forger) is not None for seed in range(500)), forger.__name__


NOT_CERTIFICATES = (
    "",
    "[]",
    "{}",
    '{"a": 1, "a": 1}',
    "[1.5]",
    "[1e9]",
    "[NaN]",
    "[01]",
    '["\x01"]',
    '["\\x"]',
    "[" * 100 + "]" * 100,
    "[1] 2",
    "[" + "1" * 5000 + "]",
    "\ufeff\ufeff[]",
    '{"format": "tallystick certificate 2"}',
)


@needs_program
@pytest.mark.parametrize("text", NOT_CERTIFICATES)
def test_bad_input_is_bad_for_both(text, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_text(text, encoding="utf-8")
    for options in ([], ["--proven"]):
        assert status_of("check", path, *options) == 2
        assert "Traceback" not in capsys.readouterr().err


@needs_program
def test_a_digest_is_that_of_the_text_as_python_spells_it(tmp_path, capsys):
    content = proven_cases.KINDS["unit"].certificate(0)
    content["model"]["task"] = {
        "name": 'é\u007f\n\U0001f600\ud800\\"/',
        "machine": "bb",
        "classes": ["a", "b"],
        "right": ["a", "a", "b"],
    }
    content["model"]["readout"] = {"kind": "binary", "weight": [1], "bias": [0]}
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(proven_cases.sealed({**content, "readout": "binary"})))
    status_of("check", path, "--proven")
    assert "the digest does not fit" not in capsys.readouterr().out
    path.write_text(json.dumps({**content, "readout": "binary"}))
    status_of("check", path, "--proven")
    assert "the digest does not fit" in capsys.readouterr().out


# --- The command --------------------------------------------------------------------------------------------------------------


def write(tmp_path, network, **options) -> Path:
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate(certify(network, **options))))
    return path


@needs_program
def test_the_command_says_in_words_what_was_verified(tmp_path, capsys):
    path = write(tmp_path, ts.Network(ts.LinearCell(1, -1, 0.999), ts.Readout.binary(1, -0.5)))
    assert status_of("check", path, "--proven") == 0
    printed = capsys.readouterr().out
    assert "holds: REFUTED: every string of 1 to 44 tokens gets its right class" in printed
    assert "(^23 )^22 of 45 tokens gets ZeroNeg instead of Pos" in printed
    assert status_of("check", path, "--proven", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["answer"], found["valid"], found["proven"]) == ("holds", True, True)


@needs_program
@pytest.mark.parametrize("further", [0, 2])
def test_a_linear_unit_is_decided_however_long_its_horizon_is(further, tmp_path, capsys):
    cell = ts.LinearCell(1, -1, 1 - Fraction(1, 10**18))
    path = write(tmp_path, ts.Network(cell, ts.Readout.binary(1, -0.5)), limit=10**10)
    content = json.loads(path.read_text())
    assert content["horizon"] == 1_414_213_562
    claimed = {"verdict": "BOUNDED", "horizon": content["horizon"] + further, "counterexample": None}
    path.write_text(json.dumps(proven_cases.sealed({**content, **claimed}) if further else content))
    assert status_of("check", path, "--proven") == (1 if further else 0)
    assert ("does not hold: " if further else "holds: REFUTED: ") in capsys.readouterr().out


@needs_program
def test_what_is_not_covered_is_not_decided(tmp_path, capsys):
    path = write(tmp_path, ts.Network(ts.TanhCell(1, -1, 1), ts.Readout.binary(1, -0.5)), limit=4, arithmetic="float32")
    assert status_of("check", path, "--proven", "--json") == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["answer"], found["valid"]) == ("not covered", None)


@needs_program
def test_the_count_in_floating_point_is_not_covered(tmp_path, capsys):
    layer = ts.SelectiveLayer(((1, -1), (0.5, 0.5)), ((0.5, 0.5), (0.25, 1)), (0, 0))
    path = write(tmp_path, ts.Network(layer, ts.Readout(((1, 1),), (0,), "count")), limit=4)
    path.write_text(json.dumps(proven_cases.sealed({**json.loads(path.read_text()), "arithmetic": "float32"})))
    assert status_of("check", path, "--proven") == 3
    assert "not covered: " in capsys.readouterr().out


@needs_program
def test_the_count_is_decided_by_boxes(tmp_path, capsys):
    path = write(tmp_path, ts.Network(ts.ReluCell(1, -1, 1), ts.Readout(((1,),), (0,), "count")), limit=4)
    assert json.loads(path.read_text())["evidence"] == {"method": "boxes"}
    assert status_of("check", path, "--proven") == 0
    assert "holds: REFUTED: " in capsys.readouterr().out


@needs_program
def test_a_forged_certificate_does_not_hold(tmp_path, capsys):
    path = write(tmp_path, ts.Network(ts.LinearCell(1, -1, 0.999), ts.Readout.binary(1, -0.5)))
    content = json.loads(path.read_text())
    path.write_text(json.dumps(proven_cases.sealed({**content, "horizon": 43})))
    assert status_of("check", path, "--proven") == 1
    assert "does not hold" in capsys.readouterr().out


def test_without_the_program_one_line_says_how_to_build_it(tmp_path, capsys, monkeypatch):
    path = write(tmp_path, ts.Network(ts.LinearCell(1, -1, 1), ts.Readout.binary(1, -0.5)))
    monkeypatch.setattr(proven, "_CHECKOUT", tmp_path / "nowhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert status_of("check", path, "--proven") == 2
    message = capsys.readouterr().err
    assert "make proofs" in message
    assert "libzarith-ocaml-dev" in message
    assert message.count("\n") == 1


def test_a_program_that_dies_gives_no_answer(tmp_path, monkeypatch):
    program = tmp_path / "proven-checker"
    program.write_text("#!/bin/sh\necho broken >&2\nexit 0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = proven.check_proven(tmp_path / "certificate.json", 1)
    assert (answer.valid, answer.status) == (None, 3)
    assert "broken" in answer.reason


@needs_program
def test_the_program_stops_at_its_limit(tmp_path):
    layer = ts.LinearLayer(((1, -1), (0.5, 0.25)), ((1 - 1e-9, 0), (0, 0.5)), (0, 0), (0, 0))
    path = write(tmp_path, ts.Network(layer, ts.Readout(((1, 0.01),), (-0.5,))), limit=2000)
    command = [proven_cases.PROGRAM, "--minutes", "0", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.partition(":")[0]) == (3, "too costly")
