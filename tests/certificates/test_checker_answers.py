"""Three answers: a certificate holds, does not hold, or is too costly to decide; what is begun ends within the limit."""

import itertools
import json
import os
import re
import subprocess
import sys
from fractions import Fraction

import pytest
from extreme_claims import extreme_claims
from forged import issued, sealed

from tallystick import checker
from tallystick.cells import LinearCell, LstmCell, ReluCell, TanhCell
from tallystick.checker import Answer, boxes, check, effort, reading, strings
from tallystick.checker.__main__ import main as run_checker
from tallystick.cli import main as run_tallystick
from tallystick.networks import Network, Readout

HALF = Fraction(1, 2)
COUNTER = issued(Network(LinearCell(1, -1, 1), Readout.binary(1, -HALF)))
LEAKY = issued(Network(LinearCell(1, -1, Fraction(9, 10)), Readout.binary(1, -HALF)))
FLOATS = issued(Network(LinearCell(1, -1, Fraction(9, 10)), Readout.binary(1, -HALF)), "float32", limit=20)
RELU = issued(Network(ReluCell(1, Fraction(-11, 10), 1), Readout.zero()))
TANH = issued(Network(TanhCell(0.125, -0.125, 1), Readout.binary(1, -0.0625)))
TANH64 = issued(Network(TanhCell(0.125, -0.125, 1), Readout.binary(1, -0.0625)), "float64")
LSTM = issued(
    Network(LstmCell(((4, 4), (4, 4), (4, -4), (4, 4)), ((0,),) * 4, (0,) * 4, (0,) * 4), Readout(((1,),), (-HALF,))),
    limit=12,
)


# --- What can be checked cheaply is -------------------------------------------------------------------------------------------


def test_horizons_beyond_two_to_the_1024_are_checked():
    content = issued(Network(LinearCell(1, -1, 1 - Fraction(1, 10**700)), Readout.binary(1, -HALF)))
    assert content["horizon"] > 2**1024
    answer = check(sealed(content))
    assert (answer.valid, answer.word, answer.status) == (True, "holds", 0)
    assert len(answer.reason) < 200
    for step in (-1, 1):
        further = {**content, "verdict": "BOUNDED", "counterexample": None, "horizon": content["horizon"] + step}
        assert check(sealed(further)).valid is (step < 0)


def test_an_exact_counter_is_checked_to_any_length():
    content = issued(Network(LinearCell(1, -1 - Fraction(1, 2**2000), 1), Readout.binary(1, -HALF)))
    assert content["horizon"] > 2**1024
    assert check(sealed(content)).valid is True
    example = {**content["counterexample"], "class": "Pos", "right_class": "ZeroNeg"}
    assert check(sealed({**content, "counterexample": example})).valid is False


# --- What is begun ends in time, and what is not begun says so ------------------------------------------------------------------


def clock(step):
    """A clock that goes on by the same time whenever it is looked at."""
    return itertools.count(0, step).__next__


@pytest.mark.parametrize(
    "content", [LEAKY, FLOATS, RELU, TANH, TANH64, LSTM], ids=lambda content: content["model"]["cell"]
)
def test_a_check_that_takes_longer_than_estimated_is_stopped(content, monkeypatch):
    """Neither true nor false, wherever the time runs out; with enough of it the claim holds."""
    monkeypatch.setattr(effort.Limit, "allow", lambda *_: None)
    answers = []
    for minutes in itertools.takewhile(lambda _: True not in answers, (2**power for power in range(20))):
        monkeypatch.setattr(effort, "monotonic_ns", clock(10**10))
        answer = check(sealed(content), minutes)
        answers.append(answer.valid)
        assert answer.valid or ("stopped at length" in answer.reason and "--minutes raises it" in answer.reason)
    assert set(answers) == {None, True}


@pytest.mark.parametrize("content", [FLOATS, RELU, TANH, TANH64, LSTM], ids=lambda content: content["model"]["cell"])
def test_nothing_is_begun_that_would_not_end(content, monkeypatch):
    """Every step of a machine or a cell comes after an estimate that allows it."""
    begun = []
    for machine in (strings.Exact, strings.Floating, strings.FloatTanh, strings.RealTanh):
        monkeypatch.setattr(machine, "image", lambda *_: begun.append(1))
    monkeypatch.setattr(boxes.BoxedNetwork, "step", lambda *_: begun.append(1))
    far = {**content, "verdict": "BOUNDED", "counterexample": None, "horizon": 10**6}
    answer = check(sealed(far))
    assert (answer.valid, answer.status, begun) == (None, 3, [])
    assert answer.reason.endswith("the limit is 5 minutes, and --minutes raises it")


def in_bits(content, bits):
    """The same claim with readout numbers of so many bits more, in the same ratios."""
    readout = content["model"]["readout"]
    numbers = {name: [f"{Fraction(x) * (2**bits + 1) / 2**bits}" for x in readout[name]] for name in ("weight", "bias")}
    return {**content, "model": {**content["model"], "readout": {**readout, **numbers}}}


def estimate(content, monkeypatch):
    """How long the check is estimated to take, in nanoseconds."""
    found = []
    with monkeypatch.context() as patch:
        patch.setattr(effort.Limit, "allow", lambda _, nanoseconds, __: found.append(nanoseconds))
        assert check(sealed(content)).valid
    return sum(found)


def test_estimates_count_the_digits_of_the_readout(monkeypatch):
    counter = {**COUNTER, "verdict": "BOUNDED", "horizon": 30, "evidence": {"method": "search"}}
    short, long = (estimate(in_bits(counter, bits), monkeypatch) for bits in (1, 14_000))
    assert long > 2 * short


def test_estimates_count_an_executed_tanh(monkeypatch):
    """A tanh in floating point takes about twenty operations more than the rest of a step."""
    linear = {**TANH64["model"], "cell": "linear"}
    without = {
        **TANH64,
        "model": linear,
        "evidence": {"method": "search"},
        "counterexample": None,
        "verdict": "BOUNDED",
    }
    horizon = min(4, TANH64["horizon"])
    with_tanh = {**TANH64, "verdict": "BOUNDED", "counterexample": None, "horizon": horizon}
    assert estimate(with_tanh, monkeypatch) > 2 * estimate({**without, "horizon": horizon}, monkeypatch)


@pytest.mark.parametrize("every", [41, pytest.param(7, marks=pytest.mark.long)])
def test_extreme_claims_end(every):
    """A hang would be seen; each is answered, and what is too costly names the way out or the reason."""
    words = set()
    for name, content in itertools.islice(extreme_claims(), 0, None, every):
        answer = check(sealed(content), Fraction(1, 120))
        words.add(answer.word)
        assert isinstance(answer, Answer), name
        assert len(answer.reason) < 200, name
        if answer.valid is None:
            assert any(
                text in answer.reason for text in ("--minutes raises it", "do not decide", "too many", "memory")
            ), (name, answer.reason)
    assert {"too costly"} < words


# --- Progress -------------------------------------------------------------------------------------------------------------------


def test_progress_is_told_from_two_seconds_on(monkeypatch):
    for step, most in ((10**6, 0), (10**9, 10**6)):
        told = []
        monkeypatch.setattr(effort, "monotonic_ns", clock(step))
        assert check(sealed(TANH), 10**6, told.append).valid
        assert (len(told) > 0) == (most > 0)
        assert len(told) <= most
    assert re.fullmatch(r"checking length \d of 7: \d+ s of at most 695 days", told[0])


@pytest.mark.parametrize("terminal", [False, True])
def test_the_progress_line(terminal, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    line = effort.ProgressLine()
    line.clear()
    line("one")
    line("two")
    line.clear()
    assert capsys.readouterr() == ("", "\rone\x1b[K\rtwo\x1b[K\r\x1b[K" if terminal else "one\n")


# --- The two commands -----------------------------------------------------------------------------------------------------------


def ends(arguments, capsys):
    """The exit statuses of both commands, and what they print."""
    statuses = []
    with pytest.raises(SystemExit) as end:
        run_tallystick(["check", *arguments])
    statuses.append(end.value.code)
    printed = capsys.readouterr()
    statuses.append(run_checker(arguments))
    alone = capsys.readouterr()
    return statuses, printed, alone


FAR = {**RELU, "verdict": "BOUNDED", "counterexample": None, "horizon": 10**9}


@pytest.mark.parametrize(
    ("content", "status"), [(RELU, 0), ({**RELU, "horizon": 0}, 1), (FAR, 3)], ids=["holds", "does not", "too costly"]
)
def test_both_commands_end_with_the_answer(content, status, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_bytes(b"\xef\xbb\xbf" + sealed(content).encode())
    statuses, printed, alone = ends([str(path)], capsys)
    assert statuses == [status, status]
    assert printed.out == f"{path}: {alone.out}"
    assert (printed.err, alone.err) == ("", "")
    with pytest.raises(SystemExit):
        run_tallystick(["check", str(path), "--json"])
    found = json.loads(capsys.readouterr().out)
    answer = check(sealed(content))
    assert found == {"certificate": str(path), "answer": answer.word, "valid": answer.valid, "reason": answer.reason}
    assert alone.out == f"{answer}\n"


def test_minutes_raise_the_limit(tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_text(sealed(RELU))
    assert ends([str(path), "--minutes", "0"], capsys)[0] == [3, 3]
    assert ends([str(path), "--minutes", "0.5"], capsys)[0] == [0, 0]
    for minutes in ("nan", "-1", "inf", "x"):
        with pytest.raises(SystemExit, match="2"):
            run_tallystick(["check", str(path), "--minutes", minutes])
        with pytest.raises(SystemExit, match="2"):
            run_checker([str(path), "--minutes", minutes])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read: no such file or directory"),
        (b"\xff", "not UTF-8 text (byte 0)"),
        (b"", "line 1: not JSON: expecting value"),
        (b"{}\n{}", "line 2: not JSON: extra data"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" * 70 + b"]" * 70, "nested too deeply: at most 64 lists and objects inside each other are read"),
        (b'{"a": 1, "a": 1}', "a field stands twice in one object"),
        (b"[NaN]", "NaN is not a number"),
        (b"9" * 4301, "a number has too many digits"),
        (b" " * (2**24 + 1), "larger than 16 MiB, the most that is read"),
        (b'{"open_step": 1e999999999999999999999}', "a number is not exact"),
        (b"[]", "an object is missing"),
        (b'{"cell": "linear"}', f"the fields are not {' '.join(RELU)}"),
        (json.dumps({**RELU, "format": "tallystick certificate 2"}).encode(), "unknown format"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_a_certificate_is_bad_input_to_both_commands(content, reason, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    if content is not None:
        path.write_bytes(content)
    statuses, printed, alone = ends([str(path)], capsys)
    assert statuses == [2, 2]
    assert (printed.out, printed.err) == ("", f"tallystick: {path}: {reason}\n")
    assert (alone.out, alone.err) == ("", f"checker: {path}: {reason}\n")


def test_a_pipe_is_waited_for_but_not_for_ever(tmp_path, monkeypatch, capsys):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    monkeypatch.setattr(reading, "_PATIENCE", 0)
    assert run_checker([str(path)]) == 2
    assert "its end did not come within 0 s" in capsys.readouterr().err
    assert run_checker(["/dev/zero"]) == 2
    monkeypatch.undo()
    command = [sys.executable, "-c", f"open({str(path)!r}, 'w').write({sealed(RELU)!r})"]
    with subprocess.Popen(command):
        assert run_checker([str(path)]) == 0


def test_the_names_that_others_use():
    assert set(checker.__all__) >= {"Answer", "check", "check_file"}
    assert (Answer(True, "").status, Answer(False, "").status, Answer(None, "").status) == (0, 1, 3)
