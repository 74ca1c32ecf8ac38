"""Why a certificate does not hold: every reason of the checker, word for word, and what just passes."""

import json
import re
from fractions import Fraction

import pytest
from forged import issued, sealed, with_example, with_model

from tallystick.cells import LinearCell, LstmCell, ReluCell, SelectiveCell, TanhCell
from tallystick.checker import Answer, check, check_file
from tallystick.checker.__main__ import main
from tallystick.checker.effort import Limit
from tallystick.checker.sorted_strings import sign
from tallystick.networks import Network, Readout

HALF = Fraction(1, 2)
BINARY = Readout.binary(1, -HALF)
PROVED = issued(Network(LinearCell(1, -1, 1), Readout.zero()))
EXACT = issued(Network(LinearCell(1, -1, 1), BINARY), "float32")
SEARCHED = issued(Network(SelectiveCell(1, -2, HALF, 2.03125), BINARY))
SORTED = issued(Network(LinearCell(1, -1, Fraction(9, 10)), BINARY))
EVEN = issued(Network(LinearCell(1, -1, 0.99), Readout.ternary((-1, 0.25, 1), (-HALF, 0, -HALF))), "float16", "even")
RELU = issued(Network(ReluCell(1, Fraction(-11, 10), 1), Readout.zero()))
TANH = issued(Network(TanhCell(0.125, -0.125, 1), Readout.binary(1, -0.0625)))
TANH32 = issued(Network(TanhCell(0.125, -0.125, 1), Readout.binary(1, -0.0625)), "float32")
LSTM = issued(
    Network(LstmCell(((1, 1), (4, 4), (4, -4), (4, 4)), ((0,),) * 4, (0,) * 4, (0,) * 4), Readout(((1,),), (0,))),
    limit=20,
)

FIELDS = "format model readout lengths arithmetic verdict horizon counterexample evidence digest"
MODEL_FIELDS = "cell open_step close_step recurrent_weight readout"
GATED_FIELDS = "cell input_weight recurrent_weight input_bias recurrent_bias readout"
METHODS = "theorem, search, sorted strings, exact depth"


def without(content, name):
    return {other: value for other, value in content.items() if other != name}


def bounded(content, horizon, **fields):
    """The same model with a bound in place of what was claimed."""
    return {**content, "verdict": "BOUNDED", "counterexample": None, "horizon": horizon, **fields}


def swapped(content):
    """The two classes of the counterexample, exchanged."""
    return {"class": content["counterexample"]["right_class"], "right_class": content["counterexample"]["class"]}


def runs(content, *pairs):
    return with_example(content, runs=[list(pair) for pair in pairs], trace=None)


THEOREM = {"method": "theorem"}
SEARCH = {"method": "search"}
PROOF = {"verdict": "PROVED", "horizon": "unlimited", "counterexample": None, "evidence": THEOREM}
TERNARY = {"kind": "ternary", "weight": [1, 2, 3], "bias": [0, 0, 0]}
LATE = {"kind": "binary", "weight": [1], "bias": ["-3/2"]}  # right on ")", wrong on "("
INVERSE = {"cell": "selective", "open_step": 1, "close_step": 2, "recurrent_weight": ["-1/2", -2]}
LATER = {"verdict": "REFUTED", "evidence": SEARCH, "horizon": 10_000}
EXAMPLE = {"runs": [["(", 1], [")", 10_000]], "class": "Pos", "right_class": "ZeroNeg", "trace": None}

REFUSALS = [
    # --- the form of the file
    ("unknown format", {**EXACT, "format": "tallystick certificate 2"}),
    ("an object is missing", []),
    (f"the fields are not {FIELDS}", without(EXACT, "evidence")),
    (f"the fields are not {FIELDS}", {**EXACT, "note": ""}),
    (f"the fields are not {MODEL_FIELDS}", with_model(EXACT, bias=0)),
    (f"the fields are not {GATED_FIELDS}", with_model(LSTM, bias=0)),
    ("the fields are not kind weight bias", with_model(EXACT, readout={"kind": "binary", "weight": [1]})),
    ("the fields are not kind", with_model(PROVED, readout={"kind": "zero", "weight": []})),
    ("the fields are not method", {**EXACT, "evidence": {}}),
    ("the fields are not method tanh_neighbours", {**TANH, "evidence": {"method": "enclosures"}}),
    ("the fields are not runs class right_class trace", {**SORTED, "counterexample": {}}),
    ("a list is missing", with_example(SORTED, runs="(")),
    ("a list is missing", with_model(SEARCHED, recurrent_weight=1)),
    ("a list has not 2 entries", with_model(SEARCHED, recurrent_weight=[1])),
    ("a list has not 2 entries", with_example(SORTED, runs=[["("]])),
    ("a list has not 3 entries", with_model(EVEN, readout={"kind": "ternary", "weight": [1], "bias": [0, 0, 0]})),
    ("a list has not 1 entries", with_model(EXACT, readout={"kind": "binary", "weight": [1], "bias": [0, 0]})),
    ("a number is neither whole nor p/q", with_model(EXACT, open_step="1.5")),
    ("a number is neither whole nor p/q", with_model(EXACT, close_step=True)),
    ("the fields are not cell start step hidden readout task", with_model(EXACT, cell="gru1")),
    ("a cell's name is not a text of 64 letters at most", with_model(EXACT, cell="x" * 65)),
    ("a model without a cell", {**EXACT, "model": without(EXACT["model"], "cell")}),
    (
        "the fields are not kind weight bias comparisons",
        with_model(EXACT, readout={"kind": "unary", "weight": [1], "bias": [0]}),
    ),
    ("the readout is not the model's", with_model(LSTM, readout={"kind": "zero", "weight": [[1]], "bias": [0]})),
    ("not one of all, even", {**EXACT, "lengths": "odd"}),
    (
        "not one of real, float16, float16-fused, bfloat16, bfloat16-fused, float32, float32-fused, float64, float64-fused, "
        "float16-any-order, bfloat16-any-order, float32-any-order, float64-any-order",
        {**EXACT, "arithmetic": "float8"},
    ),
    ("not one of PROVED, REFUTED, BOUNDED", {**EXACT, "verdict": "proved"}),
    (f"not one of {METHODS}", {**EXACT, "evidence": {"method": "trust me"}}),
    ("not one of enclosures", {**TANH, "evidence": {"method": "search", "tanh_neighbours": None}}),
    ("not one of gated boxes, lattice paths", {**LSTM, "evidence": SEARCH}),
    ("not one of (, )", with_example(SORTED, runs=[["[", 1]])),
    # --- parts that do not go together
    ("the readout is not the model's", {**EXACT, "readout": "zero"}),
    ("the readout is not the model's", {**LSTM, "readout": "ternary"}),
    ("what is proved has no horizon", {**PROVED, "horizon": 1}),
    ("the horizon is not a length", {**EXACT, "horizon": -1}),
    ("the horizon is not a length", {**EXACT, "horizon": "unlimited"}),
    ("the counter is not exact to this depth", {**EXACT, "horizon": 2**1024}),
    ("the horizon is not a counted length", {**EVEN, "horizon": EVEN["horizon"] + 1}),
    ("a counterexample goes with REFUTED alone", {**SORTED, "verdict": "BOUNDED"}),
    ("a counterexample goes with REFUTED alone", {**SORTED, "counterexample": None}),
    ("a cell of matrices is bounded, in real arithmetic only", {**LSTM, "arithmetic": "float32"}),
    (
        "a cell of matrices is bounded, in real arithmetic only",
        {**LSTM, "verdict": "PROVED", "horizon": "unlimited", "counterexample": None},
    ),
    (
        "not what may be assumed of tanh",
        {**TANH32, "evidence": {"method": "enclosures", "tanh_neighbours": 5}},
    ),
    ("not what may be assumed of tanh", {**TANH, "evidence": {"method": "enclosures", "tanh_neighbours": 4}}),
    ("a cell of matrices has not 1 to 64 units", with_model(LSTM, recurrent_weight=[[0]] * 3)),
    ("a cell of matrices has not 1 to 64 units", with_model(LSTM, recurrent_weight=[[0] * 65] * 260)),
    ("a list has not 64 entries", with_model(LSTM, recurrent_weight=[[0] * 64] * 256)),
    ("a list has not 4 entries", with_model(LSTM, input_bias=[0] * 5)),
    ("a list has not 4 entries", with_model(LSTM, recurrent_bias=[0] * 3)),
    ("a list has not 2 entries", with_model(LSTM, input_weight=[[0]] * 4)),
    ("a list has not 4 entries", with_model(LSTM, input_weight=[[0, 0]] * 5)),
    ("a list has not 1 entries", with_model(LSTM, readout={"kind": "binary", "weight": [[1], [1]], "bias": [0]})),
    ("a list has not 1 entries", with_model(LSTM, readout={"kind": "binary", "weight": [[1]], "bias": [0, 0]})),
    ("a list has not 1 entries", with_model(LSTM, recurrent_weight=[[0, 0]] * 4)),
    ("a run of no tokens", runs(SORTED, ("(", 0))),
    ("a run of no tokens", runs(SORTED, ("(", True))),
    ("a run that goes on", runs(SORTED, ("(", 1), ("(", 1))),
    ("no state of a tanh cell is an exact number", with_example(TANH, trace=[0])),
    ("no state of a lstm cell is an exact number", with_example(LSTM, trace=[0])),
    ("a theorem proves, and nothing else does", {**PROVED, "evidence": SEARCH}),
    ("a theorem proves, and nothing else does", {**EXACT, "evidence": THEOREM}),
    # --- theorems
    ("no theorem holds in floating point", {**PROVED, "arithmetic": "float32"}),
    ("the closing map does not invert the opening map", with_model(PROVED, recurrent_weight=2)),
    ("the closing map does not invert the opening map", with_model(PROVED, close_step=1)),
    ("the closing map does not invert the opening map", with_model(PROVED, open_step=0, close_step=0)),
    ("the closing map does not invert the opening map", with_model(PROVED, recurrent_weight=-1, close_step=1)),
    ("h is not monotone in the count", {**with_model(SEARCHED, **INVERSE), **PROOF}),
    ("the ReLU cell does not count", with_model(PROVED, cell="relu", open_step=-1, close_step=1)),
    ("the ReLU cell does not count", {**with_model(EXACT, cell="relu"), **PROOF, "arithmetic": "real"}),
    (
        "a string of length 1 gets another class",
        {**with_model(EXACT, open_step=-1, close_step=1), **PROOF, "arithmetic": "real"},
    ),
    ("a string of length 1 gets another class", {**with_model(EXACT, readout=LATE), **PROOF, "arithmetic": "real"}),
    # --- exact depth
    ("exact depth bounds a counter in floating point", {**EXACT, "arithmetic": "real"}),
    ("no exact counter", with_model(EXACT, close_step="-3/2")),
    ("no exact counter", with_model(EXACT, open_step=0, close_step=0)),
    ("no exact counter", with_model(EXACT, recurrent_weight=2)),
    ("no exact counter", with_model(EXACT, cell="relu")),
    ("two outputs may change places more than once", {**with_model(EXACT, readout=TERNARY), "readout": "ternary"}),
    ("the counter is not exact to this depth", {**EXACT, "horizon": 2**24 + 1}),
    ("the counter is not exact to this depth", with_model(EXACT, open_step=3, close_step=-3)),
    ("the counter is not exact to this depth", with_model(EXACT, open_step=2**127, close_step=-(2**127))),
    ("a string of length 1 gets another class", with_model(EXACT, open_step=-1, close_step=1)),
    ("a string of length 1 gets another class", with_model(EXACT, readout=LATE)),
    # --- searches
    ("a weight is too large for the format", with_model({**EXACT, "evidence": SEARCH}, open_step=2**128)),
    ("h overflows", bounded(with_model(EXACT, open_step=2**127), 2, evidence=SEARCH)),
    ("a string of length 2 fails", bounded(RELU, 10, model={**RELU["model"], "close_step": "-9/10"})),
    ("a string of length 1 fails", bounded(with_model(TANH, open_step="-1/8"), 1)),
    # --- sorted strings
    (
        "sorted strings decide only for a linear cell with U > 0 in real numbers",
        {**EXACT, "evidence": {"method": "sorted strings"}},
    ),
    (
        "sorted strings decide only for a linear cell with U > 0 in real numbers",
        bounded(with_model(SORTED, recurrent_weight=0), 1),
    ),
    (
        "sorted strings decide only for a linear cell with U > 0 in real numbers",
        bounded(PROVED, 1, evidence={"method": "sorted strings"}),
    ),
    ("a string of a length to 100 fails", bounded(SORTED, 100)),
    # --- counterexamples
    ("the counterexample does not follow the horizon", {**SORTED, "horizon": SORTED["horizon"] + 1}),
    ("the counterexample does not follow the horizon", {**LSTM, "horizon": LSTM["horizon"] + 1}),
    ("the counterexample does not fail", with_example(SORTED, **{"class": "Pos", "right_class": "Pos"})),
    ("the classes are not the string's", with_example(SORTED, trace=None, **swapped(SORTED))),
    ("the right class is not the string's", with_example(SEARCHED, **swapped(SEARCHED))),
    ("the right class is not the string's", with_example(LSTM, **swapped(LSTM))),
    ("the trace is not the string's", with_example(SEARCHED, trace=[0])),
    ("the trace is not the string's", with_example(SEARCHED, trace=[1, *SEARCHED["counterexample"]["trace"][1:]])),
    ("the trace is not the string's", with_example(SEARCHED, trace=[*SEARCHED["counterexample"]["trace"][:-1], 7])),
    ("a string of length 10001 gets another class", {**SEARCHED, **LATER, "counterexample": EXAMPLE}),
]


@pytest.mark.parametrize(("reason", "content"), REFUSALS, ids=[reason[:40] for reason, _ in REFUSALS])
def test_what_does_not_hold_is_refused_with_its_reason(reason, content):
    text = sealed(content) if isinstance(content, dict) else json.dumps(content)
    assert check(text) == Answer(False, reason)


WAY_OUT = "the limit is 6 s, and --minutes raises it"
EVENLY = {"runs": [["(", 500_001], [")", 499_999]], "class": "ZeroNeg", "right_class": "Pos", "trace": None}
LONG = {"runs": [["(", 10**50], [")", 1], ["(", 1]], "class": "ZeroNeg", "right_class": "Pos", "trace": None}
COSTLY = [
    (f"length 100000 would take about .*; {WAY_OUT}", bounded(EXACT, 10**5, evidence=SEARCH)),
    (f"length about 2\\^2047 would take about .*; {WAY_OUT}", bounded(RELU, 2**2047)),
    (f"length 10000 would take about .*; {WAY_OUT}", bounded(TANH32, 10**4)),
    (f"length 10000 would take about .*; {WAY_OUT}", bounded(LSTM, 10**4)),
    (f"a string of length about .*; {WAY_OUT}", {**SEARCHED, "horizon": 10**50 + 1, "counterexample": LONG}),
    (f"a string of length 1000000 .*; {WAY_OUT}", {**LSTM, "horizon": 999_999, "counterexample": EVENLY}),
    ("the bounds on tanh do not decide", bounded(with_model(TANH, readout={"kind": "zero"}), 2, readout="zero")),
]


@pytest.mark.parametrize(("reason", "content"), COSTLY, ids=[reason[:40] for reason, _ in COSTLY])
def test_what_is_too_costly_is_neither_true_nor_false(reason, content):
    answer = check(sealed(content), minutes=Fraction(1, 10))
    assert answer.valid is None
    assert re.fullmatch(reason, answer.reason), answer.reason
    assert (answer.word, answer.status) == ("too costly", 3)
    assert str(answer) == f"too costly to decide here: {answer.reason}"


def test_what_holds_is_said_in_words():
    proved = "PROVED: the theorem's conditions hold, and every counted string to length 2 is right"
    assert check(sealed(PROVED)) == Answer(True, proved)
    assert check(sealed(EXACT)) == Answer(True, "BOUNDED: every counted length to 16777216 is right")
    for content in (SEARCHED, SORTED, EVEN, RELU, TANH, LSTM):
        expected = f"REFUTED: every counted length to {content['horizon']} is right, the next one fails"
        assert check(sealed(content)) == Answer(True, expected)


def test_a_certificate_has_sixteen_mebibytes_at_most():
    text, most = sealed(EXACT), 2**24
    assert check(text + " " * (most - len(text))).valid
    assert check(text + " " * (most + 1 - len(text))) == Answer(False, "larger than 16 MiB, the most that is read")


def test_the_text_is_read_strictly():
    text = sealed(EXACT)
    assert check('{"format": 1, "format": 1}') == Answer(False, "a field stands twice in one object")
    assert check(text.replace("BOUNDED", "REFUTED")) == Answer(False, "the digest does not fit the content")
    for number in ("0.5", "1e3"):
        assert check(f'{{"horizon": {number}}}') == Answer(False, "a number is not exact")
    for number in ("NaN", "-Infinity"):
        assert check(f'{{"horizon": {number}}}') == Answer(False, f"{number} is not a number")
    assert check("9" * 4301) == Answer(False, "a number has too many digits")
    assert check("-" + "9" * 4300) == Answer(False, "an object is missing")
    for form in ("{0}/7", "-{0}/7", "7/{0}"):
        for digits, reason in ((4300, "no exact counter"), (4301, "a number is neither whole nor p/q")):
            assert check(sealed(with_model(EXACT, close_step=form.format("9" * digits)))).reason == reason


def test_what_is_malformed_is_named_in_short():
    assert check("").reason == "line 1: not JSON: expecting value"
    assert check("[" * 100_000).reason == "nested too deeply"
    assert check("[" * 66 + "]" * 66).reason.startswith("nested too deeply: at most 64 ")
    assert check("[" * 65 + "]" * 65).reason == "an object is missing"
    long = check(json.dumps({"x" * 1000: 1})).reason
    assert long == f"the fields are not {FIELDS}"
    unknown = check(sealed(with_example(SORTED, **{"class": "x" * 1000}))).reason
    assert unknown.startswith("malformed: ValueError(")
    assert len(unknown) <= 200


def test_a_sum_of_powers_near_to_zero_has_its_sign():
    """The sum is (1 − U)·(1 − U³), about 3·2^−40000."""
    U = 1 - Fraction(1, 2**20_000)
    terms = [(1, 0), (-1, 1), (-1, 3), (1, 4)]
    assert sign(terms, U, Limit()) == 1
    assert sign([(-c, e) for c, e in terms], U, Limit()) == -1
    assert sign([*terms, *((-c, e) for c, e in terms)], U, Limit()) == 0


def test_the_command(tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_text(sealed(EXACT), encoding="utf-8")
    assert main([str(path)]) == 0
    assert capsys.readouterr() == ("holds: BOUNDED: every counted length to 16777216 is right\n", "")
    path.write_text(sealed({**EXACT, "horizon": -1}), encoding="utf-8")
    assert main([str(path)]) == 1
    assert capsys.readouterr().out == "does not hold: the horizon is not a length\n"
    for arguments in ([], ["one", "two"], [str(path), "--minutes", "1e9"], [str(path), "--minutes", "-1"]):
        with pytest.raises(SystemExit, match="2"):
            main(arguments)
        assert capsys.readouterr().err.startswith("usage: checker ")
    missing = check_file(tmp_path / "nothing.json")
    assert missing == Answer(False, "cannot be read: no such file or directory")


def test_a_file_is_read_as_utf_8(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_bytes(json.dumps({"é": 1}, ensure_ascii=False).encode())
    assert check_file(path).reason == f"the fields are not {FIELDS}"
    path.write_bytes(b"\xff")
    assert check_file(path).reason == "not UTF-8 text (byte 0)"
