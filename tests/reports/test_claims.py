import dataclasses
import json

import numpy as np
import pytest
from synthetic import replicates, write_run

from tallystick.reports import claims
from tallystick.reports.findings import (
    Conclusion,
    Finding,
    Standing,
    above,
    below,
    judge,
    not_above,
    reason,
    resampled_means,
    resampled_medians,
    resampled_trimmed_means,
    trimmed_mean,
    wilson,
)
from tallystick.reports.paper import Group
from tallystick.reports.reading import read_run

BINARY = Group("binary", bias=False)


def verdicts(directory, change=None, seeds=60):
    run = read_run(write_run(directory, ("fresh",), seeds, change))
    run = dataclasses.replace(run, replicates=run.replicates.clear())
    return {account.claim.number: account for account in claims.accounts(run, "fresh")}


def test_models_that_do_as_the_paper_says_support_every_claim(tmp_path):
    assert {number: account.verdict for number, account in verdicts(tmp_path).items()} == dict.fromkeys(
        range(1, 6), Conclusion.SUPPORTED
    )


def test_models_that_count_exactly_refute_the_first_claim(tmp_path):
    def count(_, columns):
        ones = np.ones_like(columns["ab_ratio"])
        return {"ab_ratio": -ones, "recurrent_weight": ones}

    found = verdicts(tmp_path, count)
    assert found[1].verdict == Conclusion.REFUTED
    assert found[2].verdict == Conclusion.REFUTED  # nothing is left to approach
    assert found[3].verdict == Conclusion.REFUTED
    assert found[4].verdict == Conclusion.SUPPORTED
    shares = {finding.name: finding.value for finding in found[1].findings[BINARY]}
    assert shares["length 2: share with a/b = −1 and U = 1 exactly"] == 1


def test_moving_away_with_length_refutes_the_second_and_third_claims(tmp_path):
    def away(setting, columns):
        far = setting.train_length * np.linspace(0.9, 1.1, len(columns["ab_ratio"]))
        return {"ab_ratio": -1 - far, "recurrent_weight": 1 + far}

    found = verdicts(tmp_path, away)
    assert found[1].verdict == Conclusion.SUPPORTED
    assert found[2].verdict == Conclusion.REFUTED
    assert found[3].verdict == Conclusion.REFUTED


def test_ternary_means_far_above_refute_the_fourth_claim_and_slightly_above_leave_it_mixed(tmp_path):
    def lifted(by):
        def change(_, columns):
            return {"ab_ratio": -1 + by + 0.001 * np.linspace(-1, 1, len(columns["ab_ratio"]))}

        return change

    assert verdicts(tmp_path / "far", lifted(0.3))[4].verdict == Conclusion.REFUTED
    slightly = verdicts(tmp_path / "near", lifted(0.01))[4]
    assert slightly.verdict == Conclusion.MIXED
    assert slightly.reason.startswith("6 of 12 statements hold; 6 fail (ternary without bias, length 2: trimmed mean")


def test_perfect_accuracy_everywhere_refutes_the_fifth_claim(tmp_path):
    def perfect(_, columns):
        return {name: np.full_like(columns[name], 100.0) for name in ("accuracy_20", "accuracy_50")}

    assert verdicts(tmp_path, perfect)[5].verdict == Conclusion.REFUTED


def test_accuracy_is_judged_over_redrawn_strings_where_the_run_has_them(tmp_path):
    run = read_run(write_run(tmp_path, ("fresh",)))
    rising = replicates("fresh", "sampling", lambda setting, column: 60 + (column == "50") + setting.train_length, 1.0)
    account = claims.accounts(dataclasses.replace(run, replicates=rising), "fresh")[4]
    found = {finding.name: finding.value for finding in account.findings[BINARY]}
    assert found["length 8: fall from 20 to 50 tokens"] == pytest.approx(-1)
    assert found["length 8: mean accuracy at 20 tokens"] == pytest.approx(68)
    assert account.verdict == Conclusion.MIXED


def test_one_wild_ratio_moves_the_mean_but_not_the_verdict(tmp_path):
    def wild(_, columns):
        ratios = columns["ab_ratio"].copy()
        ratios[0], ratios[1] = -1e6, np.inf
        return {"ab_ratio": ratios}

    found = verdicts(tmp_path, wild, seeds=400)[3]
    assert found.verdict == Conclusion.SUPPORTED
    means = {finding.name: finding.value for finding in found.findings[BINARY]}
    assert means["length 2: mean a/b"] < -1e3
    assert -0.5 < means["length 2: trimmed mean a/b"] < -0.3


def test_claims_json_gives_each_claim_its_statistic_interval_verdict_and_reason(report):
    document = json.loads((report / "claims.json").read_text())
    assert [claim["number"] for claim in document["claims"]] == [1, 2, 3, 4, 5]
    for claim in document["claims"]:
        assert claim["edition"] == "fresh"
        assert [other["edition"] for other in claim["other_editions"]] == ["exact", "float64"]
        for account in (claim, *claim["other_editions"]):
            assert account["verdict"] in ("supported", "refuted", "mixed")
            assert account["reason"].endswith(".")
            for group, numbers in account["interval"].items():
                for name, (low, high) in numbers.items():
                    assert low <= account["statistic"][group][name] <= high


def test_findings_are_weighed_by_the_rule():
    hold, fail = above("x", 2, (1, 3), 0), above("x", -2, (-3, -1), 0)
    undecided, number = above("x", 0, (-1, 1), 0), Finding("n", 7)
    assert judge([hold, number]) is Conclusion.SUPPORTED
    assert judge([hold, fail]) is Conclusion.MIXED
    assert judge([hold, undecided]) is Conclusion.MIXED
    assert judge([fail, undecided, number]) is Conclusion.REFUTED
    assert "1 fails (x = −2 [−3, −1]); 1 stays open" in reason([hold, fail, undecided])
    assert below("x", 0, (0, 0), 0).standing is Standing.FAILS
    assert not_above("x", 0, (-1, 1), 0).standing is Standing.OPEN
    assert not_above("x", 0, (-1, 0), 0).standing is Standing.HOLDS
    assert judge([number]) is Conclusion.UNTESTED


@pytest.mark.parametrize(("hits", "cells"), [(0, 10), (3, 10), (10, 10), (50, 1000)])
def test_wilson_solves_its_quadratic(hits, cells):
    low, high = wilson(hits, cells)
    share = hits / cells
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert (share - end) ** 2 == pytest.approx(1.959963984540054**2 * end * (1 - end) / cells)


def test_resampling_agrees_with_plain_bootstrap():
    generator = np.random.default_rng(3)
    numbers = generator.standard_normal(101)
    plain = numbers[generator.integers(101, size=(4000, 101))]
    for shortcut, statistic in (
        (resampled_medians, lambda x: np.median(x, axis=1)),
        (resampled_means, lambda x: x.mean(axis=1)),
        (resampled_trimmed_means, lambda x: np.array([trimmed_mean(row) for row in x])),
    ):
        found, expected = shortcut(numbers, generator), statistic(plain)
        assert found.mean() == pytest.approx(expected.mean(), abs=0.02)
        assert found.std() == pytest.approx(expected.std(), rel=0.12)
