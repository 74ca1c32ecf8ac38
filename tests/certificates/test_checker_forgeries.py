"""Ten thousand changed certificates, and none of them passes the check.

Six thousand have a character changed somewhere. Four thousand come from a forger, who knows how the digest is made: each
claims something that every string run one by one, or the certifier, says is false.
"""

import json
import random
from copy import deepcopy
from fractions import Fraction
from functools import lru_cache

import pytest
from brute_force import READOUTS, SCALAR_CELLS, classes, place_of, some_model

from tallystick.cells import LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import ARITHMETIC_NAMES, REAL, Lengths, Outcome, arithmetic_of
from tallystick.checker import check
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout
from tallystick.numbers import exact

CHANGED_TEXTS = 6000
SHORT, LIMIT = 6, 24
HALF, TENTH, LITTLE = Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000)
FAR_REACHING = [
    (Network(LinearCell(1, -1, 1 + Fraction(1, 2**40)), Readout.binary(1, -HALF)), REAL),
    (Network(LinearCell(1, -1 - Fraction(1, 2**40), 1), Readout.binary(1)), REAL),
    (Network(LinearCell(1, -1, 0.99), Readout.ternary((-1, 0, 1), (-HALF, 0, -HALF))), REAL),
    (Network(LinearCell(TENTH, -TENTH, 1), Readout.zero()), "float32"),
    (Network(LinearCell(TENTH, -TENTH, 1), Readout.binary(1, -TENTH / 2)), "float32-fused"),
    (Network(SelectiveCell(1, -2, HALF, 2), Readout.binary(1, -HALF)), REAL),
    (Network(ReluCell(1, Fraction(-11, 10), 1), Readout.zero()), REAL),
    (Network(TanhCell(LITTLE, -LITTLE, 1), Readout.binary(1, -LITTLE / 2)), REAL),
    (Network(TanhCell(LITTLE, -LITTLE, 1), Readout.ternary((-1, 0, 1), (-LITTLE / 2, 0, -LITTLE / 2))), "float64"),
    (Network(TanhCell(HALF, -HALF, 1), Readout.binary(1, -HALF / 2)), "bfloat16-fused"),
]


def true_certificates():
    """Certificates of every verdict and method, for every cell, readout and arithmetic."""
    models = list(FAR_REACHING)
    for cell in SCALAR_CELLS.values():
        for readout in READOUTS:
            for arithmetic in ARITHMETIC_NAMES:
                generator = random.Random(f"{cell}{readout}{arithmetic}")
                models.append((longest_lived(cell, readout, arithmetic, generator), arithmetic))
    return [
        certificate(certify(model, lengths, arithmetic, LIMIT)) for model, arithmetic in models for lengths in Lengths
    ]


def longest_lived(cell, readout, arithmetic, generator):
    """Of a few random models the one with the furthest horizon: there is more to lie about."""
    models = [some_model(cell, readout, generator) for _ in range(6)]
    return max(models, key=lambda model: certify(model, "all", arithmetic, LIMIT).horizon or 0)


@pytest.fixture(scope="module")
def sources():
    found = true_certificates()
    assert {content["verdict"] for content in found} == set(Outcome)
    assert {content["arithmetic"] for content in found} == set(ARITHMETIC_NAMES)
    assert {(content["model"]["cell"], content["readout"]) for content in found} == {
        (c, r) for c in SCALAR_CELLS for r in READOUTS
    }
    methods = {content["evidence"]["method"] for content in found}
    assert methods == {"theorem", "search", "sorted strings", "exact depth", "enclosures"}
    assert all(check(json.dumps(content)).valid for content in found)
    return found


# --- Changed texts ----------------------------------------------------------------------------------------------------------


def changed_text(text, generator):
    """One character replaced, left out, put in, or exchanged with the next."""
    place = generator.randrange(len(text) - 1)
    before, here, after = text[:place], text[place], text[place + 1 :]
    pool = "0123456789" * 3 + 'abcdefinrstuABCDEFGNOPRSTUVZ-/()[]{}",:. '
    return generator.choice(
        [
            before + generator.choice("0123456789" if here.isdigit() else pool) + after,
            before + after,
            before + generator.choice(pool) + here + after,
            before + after[0] + here + after[1:],
        ]
    )


def same_content(text, other):
    """Whether two texts hold the same, as after a space more; a text that is not JSON holds nothing."""
    try:
        return json.dumps(json.loads(text), sort_keys=True) == json.dumps(json.loads(other), sort_keys=True)
    except ValueError:
        return False


# A tenth of them each time, all of them among the long tests.
in_two_sizes = pytest.mark.parametrize("divisor", [10, pytest.param(1, marks=pytest.mark.long)])


@in_two_sizes
def test_changed_texts_fail(sources, divisor):
    number = CHANGED_TEXTS // divisor
    generator, seen = random.Random(1), set()
    texts = [json.dumps(content) for content in sources]
    while len(seen) < number:
        text = generator.choice(texts)
        changed = changed_text(text, generator)
        if changed not in seen and not same_content(text, changed):
            seen.add(changed)
            assert not check(changed).valid, changed
    assert len(seen) == number


# --- Forged claims: what is false is told by running the strings, or by the certifier ----------------------------------------


def model_of(content):
    cell, readout = content["model"], content["model"]["readout"]
    recurrent = cell["recurrent_weight"]
    weights = map(Fraction, recurrent if isinstance(recurrent, list) else [recurrent])
    lines = [tuple(map(Fraction, readout[name])) for name in ("weight", "bias") if name in readout]
    lines = [values if readout["kind"] == "ternary" else values[0] for values in lines]
    made = SCALAR_CELLS[cell["cell"]](Fraction(cell["open_step"]), Fraction(cell["close_step"]), *weights)
    return Network(made, getattr(Readout, readout["kind"])(*lines))


@lru_cache(maxsize=256)
def outcomes(model, arithmetic):
    """What every short string gets, and what it should get."""
    return classes(model.in_arithmetic(arithmetic_of(arithmetic)), SHORT)


@lru_cache(maxsize=256)
def verdict_on(model, arithmetic, lengths):
    return certify(model, lengths, arithmetic, LIMIT)


def right_lengths(model, content):
    """The horizon, and whether the next counted length is known to fail: by every string, else by the certifier."""
    stride = Lengths(content["lengths"]).stride
    for length, (found, right) in outcomes(model, content["arithmetic"]).items():
        if length % stride == 0 and (found != right).any():
            return length - stride, True
    verdict = verdict_on(model, content["arithmetic"], content["lengths"])
    return verdict.horizon, verdict.outcome is Outcome.REFUTED


def is_false(content):
    """Whether a claim is known to be false; one that cannot be told is no forgery."""
    try:
        model = model_of(content)
        model.in_arithmetic(arithmetic_of(content["arithmetic"]))
    except BadInput:  # such as a weight too large for the format
        return False
    if content["readout"] != model.readout.kind:
        return True
    horizon, fails = right_lengths(model, content)
    claimed = content["horizon"]
    if content["verdict"] == "PROVED":
        return fails
    if content["verdict"] == "BOUNDED":
        return fails and claimed > horizon
    length = sum(size for _, size in content["counterexample"]["runs"])
    if length != claimed + Lengths(content["lengths"]).stride or (fails and claimed != horizon):
        return True
    beyond = horizon is None or horizon >= length
    return beyond or lies_about_string(model, content["arithmetic"], content["counterexample"], length)


def lies_about_string(model, arithmetic, example, length):
    if length > SHORT:
        return False
    string = "".join(token * size for token, size in example["runs"])
    names = [str(name) for name in model.task.classes]
    found, right = (names[int(indices[place_of(string)])] for indices in outcomes(model, arithmetic)[length])
    if (example["class"], example["right_class"]) != (found, right):
        return True
    if example["trace"] is None or isinstance(model.cell, TanhCell):  # whose states are no exact numbers
        return example["trace"] is not None
    trace = model.in_arithmetic(arithmetic_of(arithmetic)).cell.trace(string)
    return [Fraction(state) for state in example["trace"]] != [exact(h) for h in trace]


def with_weight_changed(content, generator):
    """A weight moved by one in its last place, or by more."""
    forged = deepcopy(content)
    model = forged["model"]
    holders = [(model, name) for name in ("open_step", "close_step", "recurrent_weight")]
    holders += [(model["readout"], name) for name in ("weight", "bias") if name in model["readout"]]
    holder, name = generator.choice(holders)
    value = holder[name]
    if isinstance(value, list):
        holder, name = value, generator.randrange(len(value))
    old = Fraction(holder[name])
    last_place = Fraction(1, old.denominator) if old.denominator > 1 else Fraction(2) ** generator.choice([0, -23, -52])
    factor = generator.choice([2, -1, HALF, Fraction(9, 10)])
    holder[name] = str(generator.choice([old + last_place, old - last_place, old * factor]).limit_denominator(10**40))
    holder[name] = holder[name] if "/" in holder[name] else int(holder[name])
    return forged


def with_horizon_changed(content, generator):
    if content["verdict"] == "PROVED":
        return None
    stride = Lengths(content["lengths"]).stride
    return {**content, "horizon": max(0, content["horizon"] + stride * generator.choice([-2, -1, 1, 2, 3, 10, 10**6]))}


def with_verdict_changed(content, generator):
    if content["verdict"] == "PROVED":
        return None
    proved = {"verdict": "PROVED", "horizon": "unlimited", "counterexample": None}
    reach = content["horizon"] + Lengths(content["lengths"]).stride * generator.choice([1, 2, 5])
    bounded = {"verdict": "BOUNDED", "horizon": reach, "counterexample": None}
    method = generator.choice(
        [content["evidence"], {"method": "theorem"}, {"method": "search"}, {"method": "sorted strings"}]
    )
    return {**content, **generator.choice([proved, bounded]), "evidence": method}


def with_example_changed(content, **fields):
    return {**content, "counterexample": {**content["counterexample"], **fields}}


def with_class_changed(content, generator):
    if content["counterexample"] is None:
        return None
    names = [str(name) for name in model_of(content).task.classes]
    return with_example_changed(content, **{"class": generator.choice(names), "right_class": generator.choice(names)})


def with_runs_changed(content, generator):
    if content["counterexample"] is None:
        return None
    runs = deepcopy(content["counterexample"]["runs"])
    if generator.random() < HALF and len(runs) > 1:  # the same length still
        runs[0][1], runs[1][1] = runs[0][1] + 1, runs[1][1] - 1
    elif generator.random() < HALF:
        runs = [[")" if token == "(" else "(", size] for token, size in runs]
    else:
        runs[generator.randrange(len(runs))][1] += generator.choice([-1, 1, 2])
    return with_example_changed(content, runs=[run for run in runs if run[1] > 0])


def with_trace_changed(content, generator):
    if content["counterexample"] is None or not content["counterexample"]["trace"]:
        return None
    trace = list(content["counterexample"]["trace"])
    place = generator.randrange(len(trace))
    moved = Fraction(trace[place]) + generator.choice([1, -1, Fraction(1, 2**60), Fraction(1, 3)])
    trace[place] = moved.numerator if moved.denominator == 1 else str(moved)
    return with_example_changed(content, trace=trace)


def with_method_changed(content, generator):
    """A method that cannot have led here: it decides other models, or other verdicts."""
    cell, real, verdict = content["model"]["cell"], content["arithmetic"] == REAL, content["verdict"]
    wrong = [
        ({"method": "enclosures", "tanh_neighbours": None if real else 4}, cell != "tanh"),
        ({"method": "theorem"}, verdict != "PROVED"),
        ({"method": "search"}, verdict == "PROVED" or cell == "tanh"),
        ({"method": "sorted strings"}, not real or cell != "linear" or content["readout"] == "zero"),
        ({"method": "exact depth"}, real or cell == "tanh"),
        ({"method": "enclosures", "tanh_neighbours": generator.choice([0, 1, 4, 5, True, None])}, cell == "tanh"),
    ]
    return {**content, "evidence": generator.choice([evidence for evidence, cannot in wrong if cannot])}


def with_arithmetic_changed(content, generator):
    return {**content, "arithmetic": generator.choice(ARITHMETIC_NAMES)}


def with_lengths_changed(content, _):
    return {**content, "lengths": "even" if content["lengths"] == "all" else "all"}


def with_cell_changed(content, generator):
    cell = generator.choice(list(SCALAR_CELLS))
    recurrent = content["model"]["recurrent_weight"]
    first = recurrent[0] if isinstance(recurrent, list) else recurrent
    recurrent = [first, generator.choice([first, 1, 2, "1/2"])] if cell == "selective" else first
    return {**content, "model": {**content["model"], "cell": cell, "recurrent_weight": recurrent}}


def with_readout_changed(content, generator):
    readouts = {
        "zero": {"kind": "zero"},
        "binary": {"kind": "binary", "weight": [1], "bias": [generator.choice([0, "-1/2"])]},
        "ternary": {"kind": "ternary", "weight": [-1, 0, 1], "bias": ["-1/2", 0, "-1/2"]},
    }
    kind = generator.choice(list(readouts))
    named = generator.choice([kind, content["readout"]])
    return {**content, "readout": named, "model": {**content["model"], "readout": readouts[kind]}}


FORGERS = {
    with_weight_changed: 1000,
    with_horizon_changed: 500,
    with_verdict_changed: 400,
    with_class_changed: 400,
    with_runs_changed: 400,
    with_trace_changed: 400,
    with_method_changed: 300,
    with_arithmetic_changed: 150,
    with_lengths_changed: 100,
    with_cell_changed: 200,
    with_readout_changed: 150,
}


def sealed(content):
    """The certificate with a digest that fits."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    return json.dumps({**rest, "digest": digest(rest)})


@pytest.mark.parametrize(("forger", "number"), FORGERS.items(), ids=lambda value: getattr(value, "__name__", ""))
@in_two_sizes
def test_forged_claims_fail(sources, forger, number, divisor):
    number //= divisor
    generator, texts = random.Random(forger.__name__), set()
    while len(texts) < number:
        source = generator.choice(sources)
        forged = forger(source, generator)
        text = forged and sealed(forged)
        if text is None or text in texts or text == sealed(source):
            continue
        if forger is with_method_changed or is_false(forged):
            texts.add(text)
            assert not check(text).valid, text
    assert len(texts) == number


def test_they_are_ten_thousand():
    assert CHANGED_TEXTS + sum(FORGERS.values()) == 10_000
