"""Verdicts in words: the answer leads, and what is exact, unlimited or a lower bound can be told apart."""

import json
import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
from language_documents import SATURATING

import tallystick as ts
from tallystick.certificates.verdict import ARITHMETIC_NAMES, Failure, Lengths, Outcome, Verdict, runs_of
from tallystick.certificates.words import WIDTH, answer, describe, reason_beyond, trace_text
from tallystick.cli import main
from tallystick.languages.tasks import BINARY, READY_TASKS, TERNARY


def one_unit(a, b, u, decision="sign", bias=0):
    readout = ts.Readout.zero() if decision == "zero" else ts.Readout(((1,),), (bias,), decision)
    return ts.Network(ts.LinearCell(a, b, u), readout)


LEAKY = one_unit(1, -1, Fraction(9, 10), bias=Fraction(-1, 2))
COUNTER, SWAPPED = one_unit(1, -1, 1), one_unit(-1, 1, 1)


def with_answer(kind, tmp_path, **options):
    path = tmp_path / f"{kind}.json"
    answered = {**SATURATING["answer"], "kind": kind}
    if kind != "threshold":
        del answered["threshold"]
    path.write_text(json.dumps({**SATURATING, "answer": answered}))
    return ts.certify(ts.read_network(path), **options)


@pytest.mark.parametrize(
    ("network", "options", "expected"),
    [
        (COUNTER, {}, "Right on every string of every length."),
        (COUNTER, {"lengths": "even"}, "Right on every string of every even length."),
        (COUNTER, {"first": 3}, "Right on every string of every length from 3 on."),
        (
            LEAKY,
            {},
            "Right on every string up to length 4. "
            "Fails on `((())` (5 tokens): says 'not positive', should say 'positive'.",
        ),
        (
            LEAKY,
            {"lengths": "even"},
            "Right on every string of even length up to 4. "
            "Fails on `)))(((` (6 tokens): says 'positive', should say 'not positive'.",
        ),
        (
            LEAKY,
            {"first": 3},
            "Right on every string of lengths 3 to 4. "
            "Fails on `((())` (5 tokens): says 'not positive', should say 'positive'.",
        ),
        (SWAPPED, {}, "Fails already on `)` (1 token): says 'positive', should say 'not positive'."),
        (SWAPPED, {"first": 3}, "Fails already on `(((` (3 tokens): says 'not positive', should say 'positive'."),
        (
            one_unit(1, -1, Fraction(1, 2), "zero"),
            {},
            "Right on every string of length 1. Fails on `()` (2 tokens): rejects it, should accept it.",
        ),
        (
            one_unit(1, -1, Fraction(9, 10), "count"),
            {},
            "Right on every string up to length 3. Fails on `))))` (4 tokens): says more than -4, should say -4.",
        ),
        (
            COUNTER,
            {"arithmetic": "float32"},
            "In float32, right on every string up to at least length 16,777,216. Longer strings are open.",
        ),
        (
            COUNTER,
            {"arithmetic": "float32-fused"},
            "In float32 with fused multiply-add, right on every string up to at least length 16,777,216. "
            "Longer strings are open.",
        ),
    ],
)
def test_the_answer_leads(network, options, expected):
    verdict = ts.certify(network, **options)
    assert verdict.answer == expected
    assert " ".join(line.strip() for line in describe(verdict)).startswith(expected)


def test_an_order_of_operations_is_said():
    verdict = ts.certify(one_unit(1, -1, 0.5), arithmetic="float32-any-order")
    assert verdict.answer.startswith("In float32 with operations in any order, right on ")


def test_languages(tmp_path):
    accepted, *others = (with_answer(kind, tmp_path).answer for kind in ("threshold", "next", "support"))
    assert accepted == "Right on the empty string. Fails on `a` (1 token): accepts it, should reject it."
    assert others == [
        "Right on every string up to length 4, the empty one included. "
        "Fails after `aaabb` (5 tokens): expects the end next, should expect `b`.",
        "Fails already before the first token: expects the end next, should expect `a` or the end.",
    ]
    even = with_answer("next", tmp_path, lengths="even", first=0)
    assert even.answer.startswith("Right on every string of even length up to 6, the empty one included. Fails after ")


def test_a_program_that_was_run():
    verdict = ts.certify(lambda strings: [len(string) % 2 for string in strings], task="binary", upto=4)
    assert verdict.answer == "As run here, fails already on `)` (1 token): says 'positive', should say 'not positive'."
    right = ts.certify(lambda strings: [s.count("(") - s.count(")") for s in strings], task="binary", upto=4)
    assert right.answer == "As run here, right on every string up to at least length 4. Longer strings are open."


def bounded(horizon, known=None, lengths=Lengths.ALL, first=1):
    failure = None if known is None else Failure(runs_of(known), "ZeroNeg", "Pos")
    return Verdict(LEAKY, lengths, "real", Outcome.BOUNDED, horizon, None, "boxes", "so it is", failure, first)


SAYS = "says 'not positive', should say 'positive'."


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (bounded(7), "Right on every string up to at least length 7. Longer strings are open."),
        (bounded(1), "Right on every string of length 1, at least. Longer strings are open."),
        (bounded(0), "Open: no length could be decided."),
        (bounded(8, first=3), "Right on every string of lengths 3 to at least 8. Longer strings are open."),
        (
            bounded(8, first=3, lengths=Lengths.EVEN),
            "Right on every string of even length from 4 to at least 8. Longer strings are open.",
        ),
        (
            bounded(2, "((((()"),
            f"Right on every string up to at least length 2. Fails on `((((()` (6 tokens): {SAYS} "
            "The lengths 3 to 5 are open.",
        ),
        (
            bounded(2, "(((("),
            f"Right on every string up to at least length 2. Fails on `((((` (4 tokens): {SAYS} Length 3 is open.",
        ),
        (bounded(0, "((", Lengths.ALL), f"Fails on `((` (2 tokens): {SAYS} Length 1 is open."),
        (
            bounded(2, "(" * 5000 + ")" * 4000, Lengths.EVEN),
            f"Right on every string of length 2, at least. Fails on `(^5000 )^4000` (9,000 tokens): {SAYS} "
            "The even lengths 4 to 8,998 are open.",
        ),
    ],
)
def test_a_bound_says_what_is_open(verdict, expected):
    assert verdict.answer == expected


def test_a_string_of_many_runs_is_cut():
    (fails,) = (line for line in answer(bounded(2, "()" * 10**5)) if line.startswith("Fails"))
    assert " …" in fails
    assert "(200,000 tokens)" in fails
    assert len(fails) < 3 * WIDTH


def test_the_formal_part_follows_and_a_reason_that_repeats_the_answer_is_left_out():
    verdict = ts.certify(LEAKY)
    assert describe(verdict)[2:] == [
        "REFUTED, horizon 4, all lengths, real arithmetic",
        "h along it: 0, 1, 1.9, 2.71, 1.439, 0.2951",
    ]
    assert "Why: the cell counts exactly, and every string of length 1 and 2 is right" in describe(ts.certify(COUNTER))
    assert describe(ts.certify(COUNTER, arithmetic="float32"))[2].startswith("BOUNDED, horizon at least 16777216, all")


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("a string of length 5 gets ZeroNeg instead of Pos; no shorter one of even length fails", ""),
        ("a string of length 5 gets ZeroNeg instead of Pos; no shorter counted one fails: by a, b", "by a, b"),
        ("a string of length 5 is followed by ZeroNeg instead of Pos; no shorter one fails (3 prefixes)", "3 prefixes"),
        ("a string of length 5 gets ZeroNeg instead of Pos; no shorter one fails; in float32", "holds in float32"),
        ("a string of length 5 gets ZeroNeg instead of Pos, run alone; all are right", "all are right"),
        (
            "9 states: a string of length 5 gets ZeroNeg instead of Pos, run alone, and no shorter one fails; x",
            "9 states; x",
        ),
        ("something else", "something else"),
    ],
)
def test_what_a_reason_adds_is_kept(reason, expected):
    assert reason_beyond(replace(ts.certify(LEAKY), reason=reason)) == expected


@pytest.mark.parametrize("arithmetic", ["real", "float32-any-order"])
@pytest.mark.parametrize("units", [1, 2, 7, 40])
def test_a_trace_fits_into_a_terminal(units, arithmetic):
    eye = tuple(tuple(Fraction(99, 100) * (i == j) for j in range(units)) for i in range(units))
    cell = ts.LinearLayer(
        tuple((Fraction(1, 7), Fraction(-1, 7)) for _ in range(units)), eye, (0,) * units, (0,) * units
    )
    verdict = ts.certify(
        ts.Network(cell, ts.Readout(((1,) * units,), (Fraction(-units, 14),), "sign")), arithmetic=arithmetic
    )
    text = trace_text(verdict)
    assert verdict.failure.length > 9
    assert text.startswith("h along it: ")
    assert "…" in text
    assert len(text) <= WIDTH
    assert all(len(line) <= WIDTH for line in describe(verdict))


def test_a_class_is_called_what_its_task_calls_it():
    assert [BINARY.in_words(name) for name in ("ZeroNeg", "Pos")] == ["not positive", "positive"]
    assert [TERNARY.in_words(name) for name in ("Neg", "Zero", "Pos")] == ["negative", "zero", "positive"]
    assert READY_TASKS["dyck1-prefix"].in_words("incomplete") == "incomplete"
    other = BINARY.in_order(["Pos", "ZeroNeg"])
    assert other.in_words("ZeroNeg") == pickle.loads(pickle.dumps(other)).in_words("ZeroNeg") == "not positive"


def test_an_added_task_brings_its_own_words():
    machine = ts.READY_MACHINES["bb"]
    classes = {"even": {("q", (0,))}, "odd": {("q", (1,))}}
    task = ts.task_of_machine(machine, "balance", classes, words={"even": "in balance", "odd": "out of balance"})
    assert pickle.loads(pickle.dumps(task)).words == task.words
    assert task == ts.task_of_machine(machine, "balance", classes)  # words are no part of what is asked
    verdict = ts.certify(lambda strings: [[1, 0] for _ in strings], task=task, classes=["odd", "even"], upto=3)
    assert verdict.answer.endswith("Fails on `()` (2 tokens): says 'out of balance', should say 'in balance'.")
    plain = replace(
        verdict,
        model=replace(verdict.model, declaration=replace(verdict.model.declaration, task=replace(task, words={}))),
    )
    assert plain.answer.endswith("says 'odd', should say 'even'.")


def test_what_a_file_calls_its_classes_cannot_reach_a_terminal():
    machine = ts.READY_MACHINES["bb"]
    task = ts.task_of_machine(machine, "x", {"no\x1b[2J": {("q", (0,))}, "yes\n": {("q", (1,))}})
    verdict = ts.certify(lambda strings: [[1, 0] for _ in strings], task=task, classes=["yes\n", "no\x1b[2J"], upto=3)
    assert verdict.answer.isprintable()


def test_the_commands_say_it(tmp_path, capsys):
    path = tmp_path / "network.json"
    ts.write_network(LEAKY, path)

    def said(*arguments):
        with pytest.raises(SystemExit):
            main([*arguments])
        return capsys.readouterr().out

    assert said("certify", str(path)).splitlines() == describe(ts.certify(LEAKY))
    found = json.loads(said("certify", str(path), "--json"))
    assert found["answer"] == ts.certify(LEAKY).answer
    assert (found["class"], found["right_class"]) == ("ZeroNeg", "Pos")
    assert "((())  extreme: says 'not positive', should say 'positive'\n" in said(
        "failures", str(path), "--length", "5"
    )


@pytest.mark.parametrize("arithmetic", ARITHMETIC_NAMES)
def test_every_arithmetic_has_words(arithmetic):
    first = ts.certify(one_unit(1, -1, 0.5), arithmetic=arithmetic).answer
    assert first.startswith("Right on" if arithmetic == "real" else f"In {arithmetic.removesuffix('-fused')}")


def test_published_networks_are_answered_in_words(tmp_path, capsys):
    ts.write_network(LEAKY, tmp_path / "leaky.json")
    with pytest.raises(SystemExit):
        main(["published", str(tmp_path)])
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert lines[0] == "leaky"
    for options in ({}, {"arithmetic": "float32"}, {"lengths": "even"}):
        assert ts.certify(LEAKY, **options).answer in " ".join(shown.split())
    assert all(len(line) <= WIDTH for line in lines)
