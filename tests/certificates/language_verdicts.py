"""What is wrong with the verdict on a network that is asked about a language, every string to a length having been run."""

import json
import random
import time
from dataclasses import replace

from language_cases import some_network
from language_oracle import OPEN, Oracle

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.verdict import Outcome
from tallystick.checker import check
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.networks import network_from_json

LONGEST = {2: 10, 3: 7, 4: 5}
"""How long strings are that are all run, by the number of tokens."""

_BOXES = "gated boxes"
_WALKS, _WALKED = 12, 24


def counted(length, lengths, first):
    """Whether a length counts."""
    return length >= first and (lengths == "all" or length % 2 == 0)


def failing_lengths(oracle, lengths, first, longest):
    """The first counted length with a string that is certainly wrong, and the first with an open one, each up to a length."""
    opened = None
    for length, (wrong, unsure) in enumerate(oracle.lengths(longest)):
        if not counted(length, lengths, first):
            continue
        if unsure and opened is None:
            opened = length
        if wrong:
            return length, opened
    return None, opened


def wrong_walk(oracle, lengths, first, seed):
    """A longer string that is certainly wrong, among a few drawn ones that stay alive while they can, or None."""
    draw, language = random.Random(seed), oracle.language
    for _ in range(_WALKS):
        string, length = [], draw.randint(8, _WALKED)
        for _ in range(length):
            live = [token for token in language.alphabet if language.begins([*string, token])]
            string.append(draw.choice(live or language.alphabet))
        if counted(len(string), lengths, first):
            said, right = oracle.judged(string)
            if said is not OPEN and said != right:
                return string
    return None


def disagreement(document, lengths="all", first=None, seed=0, longest=None):
    """What is wrong with the verdict on a network, or None, and what it was; the times of finding and checking it."""
    oracle = Oracle(document)
    network = network_from_json(Document(json.loads(json.dumps(document)), "network.json"))
    longest = longest or LONGEST[len(oracle.language.alphabet)]
    asked_from = first
    if first is None:
        stepwise = oracle.kind in ("threshold", "next", "support")
        asked_from = 0 if stepwise or "empty" in document else 1
    started = time.perf_counter()
    verdict = ts.certify(network, lengths, limit=longest, first=first)
    found_in = time.perf_counter() - started
    about = f"{verdict.method}, {verdict.outcome} {verdict.horizon}"
    wrong = _wrong_verdict(oracle, verdict, lengths, asked_from, longest, seed)
    if wrong:
        return wrong, about, (found_in, 0.0)
    started = time.perf_counter()
    wrong = _wrong_certificate(verdict)
    return wrong, about, (found_in, time.perf_counter() - started)


def _wrong_verdict(oracle, verdict, lengths, first, longest, seed):
    failing, opened = failing_lengths(oracle, lengths, first, longest)
    last = max((length for length in range(longest + 1) if counted(length, lengths, first)), default=-1)
    if verdict.first != first:
        return f"the first length is {verdict.first}, not {first}"
    if (
        verdict.method == _BOXES and verdict.outcome is Outcome.BOUNDED
    ):  # groups of strings, of which more is not promised
        opened = 0
    if failing is not None:
        return _missed(verdict, failing, opened) or _wrong_failure(oracle, verdict, lengths, first)
    if verdict.failure is not None and verdict.failure.length <= longest and opened is None:
        return f"REFUTED at {verdict.failure.length}, but every string is right up to {longest}"
    if verdict.outcome is Outcome.BOUNDED and opened is None and verdict.horizon < last:
        return f"left open at {verdict.horizon} of {last}: {verdict.reason}"
    string = wrong_walk(oracle, lengths, first, seed) if verdict.outcome is Outcome.PROVED else None
    return _wrong_failure(oracle, verdict, lengths, first) if string is None else f"PROVED, but {string} is wrong"


def _missed(verdict, failing, opened):
    """What is wrong with a verdict on a network that certainly fails at a length."""
    if verdict.horizon is None or verdict.horizon >= failing:
        return f"{verdict.outcome} to {verdict.horizon}, but length {failing} fails"
    if verdict.failure is None and (opened is None or opened > failing):
        return f"left open at {verdict.horizon}, but length {failing} fails for certain: {verdict.reason}"
    if verdict.failure is not None and verdict.failure.length > failing:
        return f"REFUTED at {verdict.failure.length}, but length {failing} fails"
    return None


def _wrong_failure(oracle, verdict, lengths, first):
    failure = verdict.failure
    if failure is None:
        return None
    if not counted(failure.length, lengths, first):
        return f"{failure.tokens} has a length that does not count"
    said, right = oracle.judged(failure.tokens)
    if said is not OPEN and said == right:
        return f"{failure.tokens} is right"
    if right != failure.right or said not in (OPEN, failure.found):
        return f"{failure.tokens}: {failure.found}, right {failure.right}; but it is {said}, right {right}"
    return None


def _wrong_certificate(verdict):
    """What is wrong with the certificate of a verdict: it must hold, and one that claims a length that fails must not."""
    try:
        written = certificate(verdict)
    except BadInput as error:
        return f"no certificate: {error}"
    answer = check(json.dumps(written))
    if not answer.valid:
        return f"the check answers: {answer.reason}"
    if verdict.failure is None:
        return None
    for claim in (
        replace(verdict, outcome=Outcome.BOUNDED, horizon=verdict.failure.length, failure=None),
        replace(verdict, outcome=Outcome.PROVED, horizon=None, failure=None),
    ):
        try:
            forged = certificate(claim)
        except (BadInput, ValueError, ArithmeticError, AssertionError):
            continue
        if check(json.dumps(forged)).valid:
            return f"the check believes {claim.outcome} to {claim.horizon}"
    return None


def disagreement_of(cell, answer, seed):
    """Return what is wrong with the verdict on one case, what it was, and the times of finding and checking it."""
    document, lengths, first = some_network(seed, cell, answer)
    try:
        return disagreement(document, lengths, first, seed)
    except Exception as error:  # whatever is raised is a finding
        return f"{type(error).__name__}: {error}", "raised", (0.0, 0.0)
