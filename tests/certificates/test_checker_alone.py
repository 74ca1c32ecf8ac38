"""The checker by itself: it needs nothing but Python, and refuses whatever is no certificate, at once."""

import ast
import json
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from tallystick import checker
from tallystick.cells import LinearCell, TanhCell
from tallystick.certificates.certificate import certificate, digest, write_certificate
from tallystick.certificates.certify import certify
from tallystick.checker import Answer, check, check_file
from tallystick.networks import Network, Readout, network_to_json

FOLDER = Path(checker.__file__).parent
HALF = Fraction(1, 2)
COUNTER = Network(LinearCell(1, -1, 1), Readout.binary(1, -HALF))


def sealed(content):
    rest = {name: value for name, value in content.items() if name != "digest"}
    return json.dumps({**rest, "digest": digest(rest)})


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_module_imports_only_the_standard_library_and_its_neighbours(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            within = node.level == 1 and (FOLDER / f"{node.module}.py").exists()
            assert within or (node.level == 0 and node.module.split(".")[0] in sys.stdlib_module_names)


def test_no_module_uses_hardware_floats():
    rationals = ("sorted_strings", "zero_check")  # which divide fractions alone
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
            assert not (isinstance(node, ast.Name) and node.id in ("float", "struct"))
            assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)) or path.stem in rationals


def run_copy(folder, *arguments):
    """Run a copy of the folder, without site-packages and with nothing of the project on the path."""
    command = [sys.executable, "-S", "-E", "-m", "checker", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("model", "arithmetic", "verdict"),
    [
        (Network(LinearCell(1.25, -1.5, 1.01), Readout.binary(0.75, -0.1)), "real", "REFUTED"),
        (Network(TanhCell(HALF, -HALF, 1), Readout.binary(1, -HALF / 2)), "bfloat16-fused", "BOUNDED"),
    ],
)
def test_a_copy_runs_alone(tmp_path, model, arithmetic, verdict):
    shutil.copytree(FOLDER, tmp_path / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "certificate.json"
    write_certificate(certify(model, arithmetic=arithmetic), path)
    held = run_copy(tmp_path, path)
    assert (held.returncode, held.stderr) == (0, "")
    assert held.stdout.startswith(f"holds: {verdict}: every counted length to")
    path.write_text(path.read_text().replace(verdict, "PROVED"))
    failed = run_copy(tmp_path, path)
    assert (failed.returncode, failed.stderr) == (1, "")
    assert failed.stdout == "does not hold: the digest does not fit the content\n"
    assert run_copy(tmp_path, tmp_path / "nothing.json").returncode == 2
    assert run_copy(tmp_path).returncode == 2


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name, reason in (("nothing", "cannot be read"), ("bytes", "not UTF-8 text (byte 0)"), (".", "cannot be read")):
        answer = check_file(tmp_path / name)
        assert answer.valid is False
        assert answer.reason.startswith(reason)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "1",
        "null",
        '"\\ud800"',
        '{"format": 1, "format": 1}',
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"model": NaN}',
        "{" * 5,
        "9" * 10**6,
        " " * (2**24 + 1),
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_certificate_is_refused(text):
    answer = check(text)
    assert isinstance(answer, Answer)
    assert not answer.valid


BOUNDED = certificate(certify(COUNTER, arithmetic="float32"))
REFUTED = certificate(certify(Network(LinearCell(1, -1, 0.5), Readout.zero())))


def with_model(content, **fields):
    return {**content, "model": {**content["model"], **fields}}


def wrong_numbers():
    for number in (
        "1e999999999",
        "1/0",
        "0x10",
        1.5,
        "1" * 5000,
        "1/" + "3" * 5000,
        True,
        None,
        [1],
        {},
        "٣/4",
        "1/2\n",
    ):
        yield with_model(BOUNDED, open_step=number)
        yield with_model(BOUNDED, readout={"kind": "binary", "weight": [number], "bias": [0]})


def wrong_types():
    for wrong in (0.5, "", [], {}, [[]], {"method": []}, True, [["(", 10**30]], 10**4000):
        for content in (BOUNDED, REFUTED):
            yield from ({**content, field: wrong} for field in set(content) - {"digest"})
            yield from (
                with_model(content, **{field: wrong}) for field in content["model"] if wrong not in (1, 10**4000)
            )
        example = REFUTED["counterexample"]
        yield from ({**REFUTED, "counterexample": {**example, field: wrong}} for field in example)


def too_long():
    """Claims that would fill the memory or take hours, each with a model that nothing simple refutes."""
    huge = {"recurrent_weight": f"{10**3000 + 1}/{10**3000}", "close_step": "-2/3"}
    flat = {"readout": {"kind": "binary", "weight": [0], "bias": [0]}}
    for method in ("search", "sorted strings", "exact depth"):
        for arithmetic in ("real", "float16", "float64-fused"):
            for horizon in (10**4, 10**9, 10**300, 10**4200):
                claim = {**BOUNDED, "horizon": horizon, "arithmetic": arithmetic, "evidence": {"method": method}}
                yield from (
                    with_model(claim, **fields) for fields in (huge, flat, {"cell": "relu", "close_step": "-2/3"})
                )
    yield {**BOUNDED, "horizon": 10**5, "evidence": {"method": "search"}}
    still = {"cell": "tanh", "open_step": 0, "close_step": 0}
    for arithmetic, allowed in (("real", None), ("float64", 4)):
        evidence = {"method": "enclosures", "tanh_neighbours": allowed}
        yield with_model({**BOUNDED, "arithmetic": arithmetic, "evidence": evidence, "horizon": 10**6}, **still)


@pytest.mark.parametrize("hostile", [wrong_numbers, wrong_types, too_long])
def test_hostile_certificates_are_refused_quickly(hostile):
    assert check(sealed(BOUNDED)).valid
    assert check(sealed(REFUTED)).valid
    for content in hostile():
        text = sealed(content)
        answer = check(text, minutes=Fraction(1, 600))
        assert answer.valid is False or (hostile is too_long and answer.valid is None), text[:300]
        assert len(answer.reason) < 200


def test_many_states_are_refused():
    """A zero check in floating point whose groups straddle zero: every length would have its states listed."""
    content = certificate(certify(Network(LinearCell(1, -1, 0.5), Readout.zero()), arithmetic="float64"))
    model = {**content["model"], "open_step": "3/7", "close_step": "-5/11", "recurrent_weight": "19/20"}
    forged = {**content, "model": model, "verdict": "BOUNDED", "counterexample": None, "horizon": 60}
    assert not check(sealed(forged)).valid


def test_a_tanh_near_zero_may_have_either_sign():
    """Four neighbours of the least positive number lie on both sides of 0, so `()` may end below it."""
    least, step = Fraction(1, 2**149), Fraction(1, 2**140)
    model = Network(TanhCell(-step, 2 * step + 10 * least, 2), Readout.binary(-1, 0))
    evidence = {"method": "enclosures", "tanh_neighbours": 4}
    fields = {"model": network_to_json(model), "arithmetic": "float32", "evidence": evidence}
    assert check(sealed({**BOUNDED, **fields, "horizon": 1})).valid
    assert not check(sealed({**BOUNDED, **fields, "horizon": 2})).valid
