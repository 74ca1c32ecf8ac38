"""Verdicts in any order, against the verdict on one execution: the network's own step in NumPy's floats."""

import random

import numpy as np
import pytest
from language_networks import RATIONAL, SQUASHED, random_network, stepwise_network, wrong_of
from published_cases import network_of

from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Outcome
from tallystick.networks.steps import NEXT, SUPPORT, THRESHOLD

LIMIT = 5


def contradiction(network, form, steps=False):
    """Return the verdict on all executions where it is not true of this one, else None."""
    with np.errstate(all="ignore"):
        every = certify(network, limit=LIMIT, arithmetic=f"{form}-any-order")
        if steps:
            one = certify(network, limit=LIMIT, arithmetic=form)
            wrong = None if one.horizon is None or one.outcome is not Outcome.REFUTED else one.horizon + 1
        else:
            executed = network.in_arithmetic(form)
            wrong = next((n for n in range(every.first, LIMIT + 1) if wrong_of(executed, n)), None)
    if every.outcome is Outcome.REFUTED:
        return None if every.failure.length == wrong else every
    return None if wrong is None or wrong > (LIMIT if every.horizon is None else every.horizon) else every


@pytest.mark.parametrize("form", ["float16", "bfloat16", "float32", "float64"])
def test_one_execution_never_contradicts_what_holds_for_all(form):
    draws = random.Random(f"any order {form}")
    decided = 0
    for _ in range(12):
        network = random_network(draws, (*RATIONAL, *SQUASHED))
        assert contradiction(network, form) is None
        decided += certify(network, limit=LIMIT, arithmetic=f"{form}-any-order").outcome is Outcome.REFUTED
    assert decided > 2


@pytest.mark.parametrize("decision", [NEXT, SUPPORT, THRESHOLD])
def test_the_same_where_networks_answer_after_every_token(decision):
    draws = random.Random(f"any order {decision}")
    for _ in range(6):
        network = stepwise_network(
            draws, draws.choice((*RATIONAL, *SQUASHED)), decision, draws.choice(("anbn", "anbncn"))
        )
        for form in ("bfloat16", "float32"):
            assert contradiction(network, form, steps=True) is None


def test_a_published_network_fails_in_every_library_at_one_string():
    verdict = certify(network_of("elnaggar_20epochs"), "even", "float32-any-order")
    assert (verdict.outcome, verdict.horizon, verdict.failure.length) == (Outcome.REFUTED, 12, 14)
