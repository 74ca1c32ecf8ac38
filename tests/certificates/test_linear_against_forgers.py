"""Forged certificates of affine networks are refused, with a digest that fits and a genuine one held in between."""

import json
import random
from collections import Counter

import pytest
from affine_cases import KINDS, some_case
from affine_forgers import FORGERS, Source, break_the_digest, is_false, sealed

from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.checker import check

QUICK, LONG = 24, 60
"""Forgeries that each forger makes."""


def sources(names):
    """Genuine certificates of every kind, question and outcome; networks that fail at once leave little to lie about."""
    found = [
        Source.of(some_case(f"forged {name}", kind, asked=(None, "zero", "count")[(place + index) % 3]), lengths)
        for place, kind in enumerate(KINDS)
        for index, (name, lengths) in enumerate(zip(names, 3 * list(Lengths), strict=False))
    ]
    found += [Source.of(some_case(f"fading {seed}", "fading_factors", 3, "binary"), "all") for seed in range(8)]
    return [source for source in found if source.verdict.horizon != 0]


def genuine(source):
    return check(json.dumps(source.content))


def forgeries(forger, found, generator, most):
    """So many certificates of a forger that are lies, each with its source."""
    made = 0
    for _ in range(60 * most):
        source = generator.choice(found)
        forged = forger(source, generator)
        if forged is None:
            continue
        content, right = forged
        if content == source.content or (right is not None and not is_false(content, right)):
            continue
        yield source, content if forger is break_the_digest else sealed(content)
        made += 1
        if made == most:
            return


@pytest.fixture(scope="module")
def certificates():
    found = sources(range(2))
    assert {source.verdict.outcome for source in found} == set(Outcome)
    return found


@pytest.fixture(scope="module")
def many_certificates():
    return sources("abcdef")


def refuse_all(forger, found, most):
    generator, answers = random.Random(forger.__name__), Counter()
    for source, content in forgeries(forger, found, generator, most):
        answer = check(json.dumps(content))
        assert answer.valid is False, (answer, content)
        answers[answer.reason] += 1
        if sum(answers.values()) % 8 == 1:
            assert genuine(source).valid, source.content
    assert sum(answers.values()) == most, answers


@pytest.mark.parametrize("forger", FORGERS)
def test_forged_certificates_are_refused(forger, certificates):
    refuse_all(forger, certificates, QUICK)


@pytest.mark.long
@pytest.mark.parametrize("forger", FORGERS)
def test_many_forged_certificates_are_refused(forger, many_certificates):
    refuse_all(forger, many_certificates, LONG)
