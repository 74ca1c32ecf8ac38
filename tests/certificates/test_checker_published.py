"""Certificates of published networks, found, checked and altered; skipped where their weights are not at hand."""

import json
import sys
from copy import deepcopy
from fractions import Fraction
from pathlib import Path

import pytest
from forged import sealed

from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.checker import check

sys.path.insert(0, str(Path(__file__).parents[1]))
from published_cases import network_of


def further(content, by=1):
    return {**content, "verdict": "BOUNDED", "counterexample": None, "horizon": content["horizon"] + by}


def test_a_gru_that_accepts_abb():
    content = certificate(certify(network_of("weiss_anbn_gru")))
    assert content["counterexample"]["runs"] == [["a", 1], ["b", 2]]
    assert check(json.dumps(content)).valid
    assert check(sealed(further(content))).valid is False
    for runs in ([["a", 2], ["b", 1]], [["b", 3]], [["a", 1], ["b", 1], ["a", 1]]):
        example = {**content["counterexample"], "runs": runs}
        assert check(sealed({**content, "counterexample": example})).valid is False
    # The end of `abb` has p = 0.9999992: across that, the string is rejected as it should be.
    forged = deepcopy(content)
    forged["model"]["readout"]["threshold"] = str(1 - Fraction(1, 10**7))
    assert check(sealed(forged)).valid is False


@pytest.mark.parametrize(
    ("name", "horizon"), [("elnaggar_10epochs", 4), pytest.param("elnaggar_20epochs", 12, marks=pytest.mark.long)]
)
def test_an_lstm_for_prefixes_of_brackets(name, horizon):
    content = certificate(certify(network_of(name), "even"))
    assert content["horizon"] == horizon
    assert check(json.dumps(content)).valid
    assert check(sealed(further(content, 2))).valid is False
    assert check(sealed({**content, "lengths": "all"})).valid is False


def test_padding_is_part_of_what_is_certified():
    content = certificate(certify(network_of("elnaggar_10epochs", padded=True), "even"))
    assert check(json.dumps(content)).valid
    assert check(sealed(further(content, 2))).valid is False
    forged = deepcopy(content)
    forged["model"]["step"]["("] = content["model"]["padding"]["program"]
    assert check(sealed(forged)).valid is False


@pytest.mark.long
def test_an_lstm_that_is_right_to_171_tokens():
    content = certificate(certify(network_of("weiss_anbncn_lstm")))
    assert content["horizon"] == 171
    assert check(json.dumps(content)).valid
    assert check(sealed(further(content))).valid is False
