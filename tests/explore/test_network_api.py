"""What the explorer says of a network is what the library says of it."""

import json
import pickle
from fractions import Fraction
from itertools import product

import pytest

from tallystick import LinearCell, Network, SelectiveCell, TanhCell, certify
from tallystick.certificates.certificate import certificate
from tallystick.certificates.one_unit.exact_accuracy import accuracy_curve
from tallystick.certificates.one_unit.regions import slice_at
from tallystick.certificates.verdict import ARITHMETIC_NAMES, Lengths
from tallystick.certificates.words import answer, reason_beyond
from tallystick.checker import check_file
from tallystick.counting_conditions import conditions
from tallystick.errors import MissingExtra
from tallystick.explore.answers import bands, theorems
from tallystick.explore.choices import LINEAR_PRESETS, NETWORK_PRESETS, PRESETS, STRING_KINDS
from tallystick.explore.worker import Outcome, reply
from tallystick.files import Document
from tallystick.languages.brackets import BB, DYCK1
from tallystick.networks import Readout, network_from_json, network_to_json
from tallystick.numbers import exact
from tallystick.runs.columns import explored_columns
from tallystick.theorems.account import THEOREMS

LEAKY = {
    "cell": "linear",
    "open_step": 1,
    "close_step": -1,
    "recurrent_weight": "9/10",
    "readout": {"kind": "binary", "weight": [1], "bias": ["-1/2"]},
}
EXECUTED = {preset["name"]: {"network": preset["network"], "arithmetic": preset["arithmetic"]} for preset in PRESETS}


def ask(client, path, **question):
    answer = client.post(f"/api/{path}", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


def model_of(network):
    return network_from_json(Document(network, "network"))


def test_the_names_in_the_description_are_the_librarys(client):
    found = client.get("/openapi.json").json()
    asked = found["components"]["schemas"]
    assert asked["TraceQuestion"]["properties"]["arithmetic"]["enum"] == list(ARITHMETIC_NAMES)
    assert asked["CertificateQuestion"]["properties"]["lengths"]["enum"] == list(Lengths)
    assert asked["StringQuestion"]["properties"]["kind"]["enum"] == list(STRING_KINDS)
    parameters = found["paths"]["/api/run/histogram"]["get"]["parameters"]
    (column,) = [parameter["schema"] for parameter in parameters if parameter["name"] == "column"]
    assert column["enum"] == [column.name for column in explored_columns()]


def test_choices_are_the_librarys_in_writing(client):
    found = client.get("/api/choices").json()
    steps = {cell["name"]: cell["steps"] for cell in found["cells"]}
    assert steps["linear"] == ["U·h + a", "U·h + b"]
    assert steps["selective"] == ["P·h + a", "Q·h + b"]
    assert steps["relu"] == ["max(0, U·h + a)", "max(0, U·h + b)"]
    assert steps["tanh"] == ["tanh(U·h + a)", "tanh(U·h + b)"]
    assert [weight["letter"] for cell in found["cells"][:2] for weight in cell["weights"]] == [*"abU", *"abPQ"]
    assert [weight["doing"] for weight in found["cells"][1]["weights"]][2:] == [
        "the factor on h at (",
        "the factor on h at )",
    ]
    assert [readout["title"] for readout in found["readouts"][:3]] == [
        "zero check: h = 0",
        "binary: v·h + c > 0",
        "ternary: the largest of three",
    ]
    assert [one["formula"] for readout in found["readouts"][:3] for one in readout["classes"]] == [
        "otherwise",
        "h = 0",
        "v·h + c ≤ 0",
        "v·h + c > 0",
        "y_negative ≥ y_zero and y_negative ≥ y_positive",
        "y_zero > y_negative and y_zero ≥ y_positive",
        "y_positive > y_negative and y_positive > y_zero",
    ]
    assert [one["name"] for one in found["arithmetics"]] == list(ARITHMETIC_NAMES)
    assert [one["name"] for one in found["strings"]] == list(STRING_KINDS)


def test_presets(client):
    found = client.get("/api/presets").json()
    assert found == list(PRESETS)
    assert len({preset["name"] for preset in found}) == len(found)


@pytest.mark.parametrize("question", EXECUTED.values(), ids=EXECUTED)
def test_a_verdict_is_the_certifiers(client, question):
    model, found = model_of(question["network"]), ask(client, "verdict", **question)
    for lengths in ("all", "even"):
        verdict, said = certify(model, lengths, question["arithmetic"]), found[lengths]
        assert (said["outcome"], said["horizon"], said["answer"]) == (verdict.outcome, verdict.horizon, answer(verdict))
        assert said["reason"] == reason_beyond(verdict)
        assert said["failing_string"] == (verdict.failure.string if verdict.failure else None)
        assert said["horizon_text"] == ("unlimited" if verdict.horizon is None else str(verdict.horizon))
        if verdict.failure:
            assert "".join(token * int(size) for token, size in said["failing_runs"]) == verdict.failure.string
            classes = said["failing_class"], said["right_class"]
            assert classes == (verdict.failure.found, verdict.failure.right)


def test_presets_show_what_they_say(client):
    outcome = {name: ask(client, "verdict", **question)["all"]["outcome"] for name, question in EXECUTED.items()}
    proved = {name for name, found in outcome.items() if found == "PROVED"}
    assert proved == {"exact", "exact-binary", "selective", "relu"}
    assert "REFUTED" in (outcome["float32"], outcome["leaky"])
    in_real_numbers = ask(client, "verdict", network=EXECUTED["float32"]["network"])
    assert in_real_numbers["all"]["outcome"] == "PROVED"


@pytest.mark.parametrize("name", ["leaky", "selective", "relu", "tanh"])
def test_indicators_are_the_conditions_of_the_theorem(client, name):
    network = EXECUTED[name]["network"]
    found = ask(client, "verdict", network=network)["indicators"]
    wanted = [] if name == "tanh" else conditions(model_of(network).cell)
    assert [(one["formula"], one["holds"], one["finding"]) for one in found] == [one[:3] for one in wanted]
    for one, condition in zip(found, wanted, strict=True):
        assert Fraction(one["exact"]) == condition.value
        assert one["distance"] == (None if condition.distance is None else float(condition.distance))


def test_indicators_are_of_the_weights_as_executed(client):
    network = {**LEAKY, "recurrent_weight": "1.00000001"}
    held = [
        ask(client, "verdict", network=network, arithmetic=name)["indicators"][1]["holds"]
        for name in ("real", "float32")
    ]
    assert held == [False, True]


@pytest.mark.parametrize("question", EXECUTED.values(), ids=EXECUTED)
def test_a_trace_has_the_state_count_and_class_of_every_prefix(client, question):
    arithmetic, string = question["arithmetic"], "(()))(("
    found = ask(client, "trace", **question, string=string)
    model = model_of(question["network"])
    shown = "float64" if isinstance(model.cell, TanhCell) and arithmetic == "real" else arithmetic
    model = model.in_arithmetic("rational" if shown == "real" else shown)
    prefixes = [string[:length] for length in range(len(string) + 1)]
    assert found["arithmetic"] == shown
    assert found["states"] == [float(model.cell.final_state(prefix)) for prefix in prefixes]
    words = model.task.in_words
    assert found["classes"] == [words(model.class_of(prefix)) for prefix in prefixes]
    assert found["expected"] == [words(model.right_class(prefix)) for prefix in prefixes]
    assert found["right"] == [model.class_of(prefix) == model.right_class(prefix) for prefix in prefixes]
    assert [Fraction(text) for text in found["exact"]] == [exact(model.cell.final_state(prefix)) for prefix in prefixes]


def test_a_failing_string_fails_in_its_trace(client):
    for lengths in ("all", "even"):
        string = ask(client, "verdict", network=LEAKY)[lengths]["failing_string"]
        right = ask(client, "trace", network=LEAKY, string=string)["right"]
        assert not right[-1]
        counted = right[1:-1] if lengths == "all" else right[2:-1:2]
        assert all(counted)


def test_a_state_that_no_float_holds_is_no_number(client):
    wild = {**LEAKY, "recurrent_weight": 1_000_000}
    found = ask(client, "trace", network=wild, string="(" * 100)
    assert found["states"][-1] is None
    assert found["classes"][-1] == "positive"
    overflowing = ask(client, "trace", network=wild, string="(" * 100, arithmetic="float32")
    assert overflowing["states"][-1] is None


def test_a_long_trace_is_not_written_exactly(client):
    found = ask(client, "trace", network={**LEAKY, "recurrent_weight": 0.9000000357627869}, string="()" * 1000)
    assert len(found["states"]) == 2001
    assert found["exact"] is None


@pytest.mark.parametrize(
    "readout",
    [
        Readout.binary(Fraction(2), Fraction(-1)),
        Readout.binary(Fraction(-2), Fraction(1)),
        Readout.binary(Fraction(0), Fraction(1)),
        Readout.ternary((Fraction(-1), Fraction(0), Fraction(1)), (Fraction(-1), Fraction(0), Fraction(-1))),
        Readout.ternary((Fraction(0), Fraction(0), Fraction(1)), (Fraction(0), Fraction(-1), Fraction(-1))),
        Readout.zero(),
    ],
)
def test_bands_are_where_the_classes_lie(readout):
    network = Network(LinearCell(1, -1, 1), readout)
    found = {band["class"]: (band["low"], band["high"]) for band in bands(network)}
    for h in (Fraction(n, 8) for n in range(-40, 41)):
        name = network.task.in_words(network.class_of_state(h))
        if readout.kind == "zero" and h:
            assert name not in found
            continue
        low, high = found[name]
        assert low is None or low <= h
        assert high is None or h <= high


@pytest.mark.parametrize("arithmetic", ["real", "float32"])
@pytest.mark.parametrize("cell", [LinearCell(1, -1, 0.5), SelectiveCell(1, -1, 0.5, 1.5)])
def test_accuracy_is_the_exact_curve(client, arithmetic, cell):
    model = Network(cell, Readout.binary(1, -0.25))
    found = ask(client, "accuracy", network=network_to_json(model), arithmetic=arithmetic, longest=8)
    wanted = accuracy_curve(model, 8, arithmetic)
    assert found["lengths"] == [one.length for one in wanted]
    assert found["all"] == [100 * float(one.accuracy) for one in wanted]
    assert [Fraction(text) for text in found["total"]] == [one.accuracy for one in wanted]
    assert found["note"] is None


def test_a_curve_that_cannot_be_counted_further_ends_there(client):
    network = network_to_json(Network(SelectiveCell(1, -1, Fraction(1, 3), Fraction(3, 7)), Readout.binary(1, 0)))
    found = ask(client, "accuracy", network=network, longest=40)
    assert 8 <= len(found["lengths"]) < 40
    assert "length" in found["note"]


@pytest.mark.parametrize("lengths", ["all", "even"])
def test_a_certificate_is_the_one_that_certify_writes_and_holds(client, tmp_path, lengths):
    found = ask(client, "certificate", network=LEAKY, lengths=lengths)
    assert found == json.loads(json.dumps(certificate(certify(model_of(LEAKY), lengths))))
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(found))
    assert check_file(path).valid


def test_numbers_are_read_exactly_and_given_back(client):
    network = b'"cell": "linear", "open_step": 0.1, "close_step": "0x1p-2", "recurrent_weight": "1/3"'
    content = b'{"network": {%s, "readout": {"kind": "zero"}}}' % network
    answer = client.post("/api/model", content=content, headers={"content-type": "application/json"}).json()
    assert (answer["open_step"], answer["close_step"], answer["recurrent_weight"]) == ("1/10", "1/4", "1/3")
    assert ask(client, "model", network=answer) == answer


@pytest.mark.parametrize(
    ("network", "complaint"),
    [
        ({**LEAKY, "cell": "gru"}, "network: "),
        ({**LEAKY, "cell": "cubic"}, 'cell: "cubic" is not one of'),
        ({**LEAKY, "open_step": "1/0"}, "open_step: '1/0' divides by zero"),
        ({**LEAKY, "open_step": True}, "open_step: True is not a number"),
        ({**LEAKY, "recurrent_weight": 1e308}, "recurrent_weight: larger in size than 1,000,000"),
        ({**LEAKY, "recurrent_weight": "1e-2000"}, "recurrent_weight: needs more than"),
        ({**LEAKY, "cell": "selective", "recurrent_weight": ["1", "1e9"]}, "recurrent_weight[1]: larger"),
        ({**LEAKY, "readout": {"kind": "binary", "weight": ["1e9"]}}, "readout: weight[0]: larger"),
        ({**LEAKY, "readout": {"kind": "binary", "weight": [1], "bias": ["x"]}}, "readout: bias[0]: 'x' is not"),
        ({**LEAKY, "extra": 1}, "unknown field 'extra'"),
        ([], "[] is not a JSON object"),
        (None, "null is not a JSON object"),
    ],
)
def test_a_network_that_is_none_is_named_in_one_line(client, network, complaint):
    answer = client.post("/api/verdict", json={"network": network})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(complaint.removeprefix("network: "))
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        ({"network": LEAKY, "arithmetic": "float128", "string": ""}, "arithmetic: "),
        ({"network": LEAKY, "string": "(x"}, "string: unknown token 'x' at position 2"),
        ({"network": LEAKY, "string": "(" * 2001}, "string: "),
        ({"network": LEAKY, "string": 7}, "string: "),
        ({"network": LEAKY}, "string: "),
        ({"string": "("}, "network: "),
        ({"network": LEAKY, "string": "(", "more": 1}, "more: "),
        ({"network": {**LEAKY, "open_step": 70_000}, "arithmetic": "float16", "string": "("}, "open_step: "),
        ([], "request: "),
    ],
)
def test_a_question_that_is_none_is_named_in_one_line(client, question, complaint):
    answer = client.post("/api/trace", json=question)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(complaint)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"NaN", b'{"network": NaN}', b"\xff", b'{"network": 1, "network": 2}', b"[" * 60_000, b"9" * 60_000],
)
@pytest.mark.parametrize("path", ["verdict", "string"])
def test_what_is_no_json_is_refused_in_one_line(client, content, path):
    answer = client.post(f"/api/{path}", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["error"]


@pytest.mark.parametrize("longest", [0, 41, 10**9, -1, 1.5, "8", None])
def test_lengths_beyond_the_bounds_are_refused(client, longest):
    answer = client.post("/api/accuracy", json={"network": LEAKY, "longest": longest})
    assert (answer.status_code, answer.json()["error"].split(":")[0]) == (422, "longest")


def test_strings(client):
    for kind, length in product(STRING_KINDS, (0, 2, 10, 2000)):
        string = ask(client, "string", kind=kind, length=length, seed=3)["string"]
        assert len(string) == length
        assert string == ask(client, "string", kind=kind, length=length, seed=3)["string"]
        if kind != "uniform":
            assert BB.contains(string)
        if kind in ("dyck1", "nested", "zigzag"):
            assert DYCK1.contains(string)
    seeds = {ask(client, "string", kind="uniform", length=40, seed=seed)["string"] for seed in range(5)}
    assert len(seeds) == 5
    refused = client.post("/api/string", json={"kind": "balanced", "length": 7})
    assert refused.status_code == 422


@pytest.mark.parametrize("lengths", ["all", "even"])
def test_regions_are_bounded_by_their_slices(client, lengths):
    found = client.get("/api/regions", params={"longest": "2,4,16", "lengths": lengths}).json()["regions"]
    assert [region["length"] for region in found] == [2, 4, 16]
    for region in found:
        (polygon,) = region["polygons"]
        half = len(polygon) // 2
        for (left, low), (right, high) in list(zip(polygon[:half], reversed(polygon[half:]), strict=True))[::10]:
            assert low == high
            inside = slice_at(low, region["length"], lengths)
            middle = 1 / ((left + right) / 2)
            assert middle in inside
            assert 1 / (left - 1e-9) not in inside
            assert right > -1e-9 or 1 / (right + 1e-9) not in inside


@pytest.mark.parametrize(
    "query",
    [
        "longest=1",
        "longest=129",
        "longest=x",
        "longest=",
        "longest=3&lengths=even",
        "lengths=odd",
        "longest=2,2,2,2,2,2,2,2,2,2,2,2,2",
    ],
)
def test_regions_that_there_are_none_of_are_refused(client, query):
    assert client.get(f"/api/regions?{query}").status_code == 422


def test_the_proof_is_the_provers(client):
    found = client.get("/api/theorem").json()
    assert [one["name"] for one in found["theorems"]] == list(THEOREMS)
    assert all(one["proved"] for one in found["theorems"])
    steps = found["theorems"][0]["parts"][0]["steps"]
    assert [step["string"] for step in steps] == ["(", ")", "()", "((", "(())", "()()"]
    assert all(step["verdict"] == "PROVED" for step in steps)
    assert {coq["theorem"] for coq in found["theorems"][0]["coq"]} >= {"theorem_1"}
    assert client.get("/api/theorem").json() == found


def test_without_the_solver_its_extra_is_named(without):
    without("z3", "tallystick.theorems")
    assert pickle.loads(reply(theorems, ())) == (Outcome.REFUSED, str(MissingExtra("z3")))


LINEAR = {preset["name"]: preset["network"] for preset in LINEAR_PRESETS}


@pytest.mark.parametrize("network", LINEAR.values(), ids=LINEAR)
def test_a_linear_network_is_decided_and_drawn(client, network):
    model, found = model_of(network), ask(client, "linear", network=network)
    described = ask(client, "network", network=network)
    assert (described["cell"], described["units"], described["task"]) == ("linear", model.cell.units, "binary")
    assert described["has_picture"]
    for lengths in described["lengths"]:
        verdict, said = certify(model, lengths), ask(client, "judgement", network=network, lengths=lengths)
        assert (said["outcome"], said["horizon"], said["answer"]) == (verdict.outcome, verdict.horizon, answer(verdict))
    (output,) = found["outputs"]
    assert len(output["added"]) == len(output["least_above"]) == len(output["greatest_below"])
    for length in (1, 2, 3, 4):
        strings = ["".join(tokens) for tokens in product("()", repeat=length)]
        above = [float(model.outputs(string)[0]) for string in strings if model.right_class(string) == "Pos"]
        assert output["least_above"][length - 1] == pytest.approx(min(above))
    failing = found["failing_length"]
    margins = zip(output["least_above"], output["greatest_below"], strict=True)
    wrong = [
        length
        for length, (least, greatest) in enumerate(margins, start=1)
        if (least is not None and least <= 0) or (greatest is not None and greatest > 0)
    ]
    assert wrong[:1] == ([] if failing is None else [failing])


def test_linear_presets_show_what_they_say(client):
    assert client.get("/api/network-presets").json() == list(NETWORK_PRESETS)
    found = {name: ask(client, "linear", network=network) for name, network in LINEAR.items()}
    outcomes = {name: ask(client, "judgement", network=network)["outcome"] for name, network in LINEAR.items()}
    right = {name for name, outcome in outcomes.items() if outcome == "PROVED"}
    assert right == {"right-without-counting", "counter"}
    lstm, language = (ask(client, "judgement", network=preset["network"]) for preset in NETWORK_PRESETS[-2:])
    assert (lstm["failing_length"], language["outcome"]) == (11, "REFUTED")
    (surprise,), (counter,) = (found[name]["outputs"] for name in ("right-without-counting", "counter"))
    assert (surprise["deviation"], surprise["room"], surprise["limit_text"]) == (pytest.approx(0.8), 1, "2")
    assert (counter["deviation"], [one["seen"] for one in counter["eigenvalues"]]) == (0, [True, False])
    assert found["too-much"]["failing_length"] == 9


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ({**LEAKY, "cell": "relu"}, "cell: a relu network is not linear; tallystick certify takes any"),
        ({**LEAKY, "open_step": 10**7}, "open_step: larger in size than 1,000,000"),
        ({**LEAKY, "readout": {"kind": "zero"}}, "has no such picture"),
        ({**LEAKY, "cell": "selective", "recurrent_weight": [2, "1/2"]}, "cell: a matrix for each token is not drawn"),
        ({"cell": "linear"}, "field 'open_step' is missing"),
        (
            {
                "cell": "linear",
                "input_weight": [[1, -1]] * 17,
                "recurrent_weight": [[0] * 17] * 17,
                "readout": {"kind": "binary", "weight": [[1] * 17]},
            },
            "cell: 17 units; the most that are drawn are 16",
        ),
    ],
)
def test_what_is_not_drawn_is_refused(client, network, message):
    answer = client.post("/api/linear", json={"network": network})
    assert answer.status_code == 422
    assert message in answer.json()["error"]
