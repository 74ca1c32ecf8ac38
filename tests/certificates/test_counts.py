"""Networks that are asked for the count itself: verdicts are what every string says, and certificates are checked."""

import json
import random
from fractions import Fraction

import pytest
from linear_networks import KINDS, some_network

import tallystick as ts
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.failing_strings import extreme_failures
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.checker import check
from tallystick.errors import BadInput
from tallystick.networks import Readout, network_to_json, read_network

HALF = Fraction(1, 2)


def all_outputs(network, longest):
    """The output and the count of every string, length by length, in rationals."""
    exact = network.in_arithmetic("rational")
    strings = [(exact.cell.initial_state, 0)]
    for _ in range(longest):
        strings = [
            (exact.cell.step(state, token), count + change)
            for state, count in strings
            for token, change in ((ts.cells.ONE_HOT["("], 1), (ts.cells.ONE_HOT[")"], -1))
        ]
        yield [(exact.readout.outputs(exact.cell.hidden(state))[0], count) for state, count in strings]


def first_wrong_length(network, longest, stride):
    for length, found in enumerate(all_outputs(network, longest), start=1):
        if length % stride == 0 and any(abs(y - count) >= HALF for y, count in found):
            return length
    return None


def wrong_verdict(network, lengths, longest):
    verdict = certify(network, lengths, limit=longest)
    first = first_wrong_length(network, longest, Lengths(lengths).stride)
    if (verdict.failure.length if verdict.failure else None) != first:
        return f"length {first} is the first to fail"
    if verdict.failure:
        string, right = verdict.failure.string, int(verdict.failure.right)
        (y,) = network.in_arithmetic("rational").outputs(string)
        side = "less" if y < right else "more"
        if (
            verdict.failure.found != f"{side} than {right}"
            or abs(y - right) < HALF
            or string.count("(") * 2 - len(string) != right
        ):
            return "the string does not fail as it is said to"
    answer = check(json.dumps(certificate(verdict)))
    return None if answer.valid else str(answer)


def counting(network, generator):
    """A network's first row as its one output, with some bias: near the count itself, so that early strings are right."""
    readout = network.readout
    row = max(readout.weight, key=lambda row: sum(map(abs, row)))
    if sum(row) < 0:
        row = tuple(-x for x in row)
    return ts.Network(network.cell, Readout((row,), (Fraction(generator.randint(-4, 4), 8),), "count"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_verdict_is_what_every_string_says(kind):
    for seed in range(16):
        generator = random.Random(f"count {kind} {seed}")
        network = counting(
            some_network(generator, kind, 1 + seed % 3 + (kind != "anything"), start=seed % 3 == 0), generator
        )
        assert wrong_verdict(network, "even" if seed % 4 == 1 else "all", 7) is None, (seed, network)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_verdicts_are_what_every_string_says(kind):
    for seed in range(15):
        generator = random.Random(f"count {kind} {seed} long")
        network = counting(
            some_network(generator, kind, 1 + seed % 5 + (kind != "anything"), start=seed % 2 == 0), generator
        )
        assert wrong_verdict(network, "even" if seed % 4 == 1 else "all", 11 if seed % 10 == 0 else 8) is None, (
            seed,
            network,
        )


def nearly_counting(excess, bias):
    layer = ts.LinearLayer(((1, -1), (Fraction(excess) / 2, 0)), ((1, 0), (0, HALF)), (0, 0), (0, 0))
    return ts.Network(layer, Readout(((1, 1),), (Fraction(bias),), "count"))


@pytest.mark.parametrize(
    ("excess", "bias", "outcome"),
    [
        (0, "49/100", "PROVED"),
        (0, "1/2", "REFUTED"),
        (0, "-1/2", "REFUTED"),
        ("1/2", "-1/4", "PROVED"),
        ("9/10", "-45/100", "PROVED"),
        ("11/10", "-1/2", "REFUTED"),
        ("11/10", "-49/100", "REFUTED"),
        ("1/2", 0, "BOUNDED"),
    ],
)
def test_what_is_less_than_a_half_off_for_ever_is_proved(excess, bias, outcome):
    """The output is n − m + bias and something from 0 to `excess`; what comes as near to 1/2 as one likes stays open."""
    verdict = certify(nearly_counting(excess, bias))
    assert verdict.outcome == outcome
    assert check(json.dumps(certificate(verdict))).valid


CELLS = {
    "linear": ts.LinearCell(Fraction(9, 10), -1, 1),
    "selective": ts.SelectiveCell(1, -1, 1, Fraction(9, 10)),
    "relu": ts.ReluCell(1, -1, 1),
    "tanh": ts.TanhCell(1, -1, 1),
    "layer": ts.ReluLayer(((1, -1), (-1, 1)), ((1, -1), (-1, 1)), (0, 0), (0, 0)),
}


@pytest.mark.parametrize("name", CELLS)
def test_every_cell_may_be_asked(name):
    cell = CELLS[name]
    network = ts.Network(cell, Readout(((1,) if cell.units == 1 else (1, -1),), (0,), "count"))
    verdict = certify(network, limit=8)
    first = first_wrong_length(network, 8, 1) if cell.is_rational else 2  # tanh 1 is near 1, and no tanh near 2
    assert (verdict.failure.length if verdict.failure else None) == first
    assert check(json.dumps(certificate(verdict))).valid


def test_it_is_decided_in_real_arithmetic_alone():
    with pytest.raises(BadInput, match="arithmetic: 'float32' is not for the task count"):
        certify(nearly_counting(0, 0), arithmetic="float32")


# --- Files ----------------------------------------------------------------------------------------------------------------------


def test_a_file_says_that_it_answers_the_count(tmp_path):
    for network in (nearly_counting("1/2", "-1/4"), ts.Network(CELLS["linear"], Readout(((2,),), (0,), "count"))):
        for path in (tmp_path / "network.json", tmp_path / "network.safetensors"):
            if path.suffix == ".json" or network.cell.units > 1:
                ts.write_network(network, path)
                assert read_network(path) == network.in_arithmetic("rational")


def test_whoever_asks_for_the_count_gets_it_of_one_output_and_no_other(tmp_path):
    path = tmp_path / "network.json"
    sign = ts.Network(ts.LinearCell(1, -1, 1), Readout.binary(2, 0))
    ts.write_network(sign, path)
    assert read_network(path, task="count").readout == Readout(((2,),), (0,), "count")
    assert certify(sign).outcome is Outcome.PROVED
    assert certify(read_network(path, task="count")).failure.string in ("(", ")")
    for readout, task, message in (
        (Readout.ternary((-1, 0, 1)), "count", "task: 'count' asks for a number and has no classes"),
        (Readout.zero(), "count", "task: 'count' does not go with the zero readout"),
        (Readout(((1,),), (0,), "count"), "binary", "task: 'binary' does not go with the count readout"),
    ):
        ts.write_network(ts.Network(sign.cell, readout), path)
        with pytest.raises(BadInput, match=message):
            read_network(path, task=task)


# --- Forgeries ----------------------------------------------------------------------------------------------------------------


def forged(content, **changes):
    content = {**content, **changes}
    content.pop("digest")
    return check(json.dumps({**content, "digest": digest(content)}))


def test_forged_claims_are_refused():
    for network in (ts.Network(CELLS["linear"], Readout(((1,),), (0,), "count")), nearly_counting("11/10", "-49/100")):
        content = certificate(certify(network))
        horizon, example = content["horizon"], content["counterexample"]
        assert forged(content).valid
        swapped = example["class"].replace("less", "MORE").replace("more", "less").replace("MORE", "more")
        for changes in (
            {"horizon": horizon + 1},
            {"horizon": horizon - 1},
            {"verdict": "BOUNDED", "counterexample": None, "horizon": horizon + 1},
            {
                "verdict": "PROVED",
                "counterexample": None,
                "horizon": "unlimited",
                "evidence": {"method": "sorting", "tail": None},
            },
            {"counterexample": {**example, "class": swapped}},
            {"counterexample": {**example, "class": example["right_class"]}},
            {"counterexample": {**example, "right_class": str(int(example["right_class"]) + 1)}},
            {
                "counterexample": {
                    **example,
                    "runs": [["(", horizon + 1]] if example["runs"][0][0] == ")" else [[")", horizon + 1]],
                }
            },
            {"arithmetic": "float32"},
            {"readout": "binary"},
            {"evidence": {"method": "search"}},
            {"model": {**content["model"], "task": {"name": "c", "machine": "semidyck1", "classes": [], "right": []}}},
        ):
            assert forged(content, **changes).valid is False, changes


def test_a_forged_tail_is_refused():
    content = certificate(certify(nearly_counting("1/2", "-1/4")))
    tail = content["evidence"]["tail"]
    assert forged(content).valid
    other = [[entry if entry != 1 else 0 for entry in row] for row in tail["limit"]]
    for wrong in (None, {**tail, "start": 1}, {**tail, "limit": other}):
        assert forged(content, evidence={"method": "sorting", "tail": wrong}).valid is False
    model = network_to_json(nearly_counting("11/10", "-49/100"))
    assert forged(content, model=model).valid is False


def test_the_counts_that_are_right_are_counted():
    network = ts.Network(ts.LinearCell(1, -1, HALF), Readout(((1,),), (0,), "count"))
    *_, longest = all_outputs(network, 4)
    right = sum(abs(y - count) < HALF for y, count in longest)
    assert 0 < sum(ts.exact_accuracy(network, 4).correct.values()) == right < len(longest)


def test_what_is_for_classes_alone_refuses_the_count():
    with pytest.raises(BadInput, match="task: 'count' asks for a number, and this is for networks that give a class"):
        extreme_failures(ts.Network(CELLS["linear"], Readout(((1,),), (0,), "count")), 4)
