"""The paper's five claims about trained models, each put to the run's own models.

a/b is a ratio whose denominator may come near zero, so over many seeds its mean is carried by a handful of models;
where the paper speaks of a mean, the mean without the outer 5 % on either side decides, and mean and median stand beside it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from tallystick.reports import findings
from tallystick.reports.findings import RULE, Conclusion, Finding, above, below, judge, not_above, reason
from tallystick.reports.paper import GROUPS, TASKS, Group
from tallystick.reports.reading import Run, Values, finite, values

CLOSE = 1e-3
VISIBLE = 0.05
_SEED = 20230502  # any number: the same data must give the same intervals


class Evidence(NamedTuple):
    """What a setting has to show: its models, and ten-run averages over redrawn test strings, where the run has them."""

    models: pl.DataFrame
    averages: pl.DataFrame | None


ByLength = Mapping[int, Evidence]
Examine = Callable[[ByLength, np.random.Generator], Iterator[Finding]]


@dataclass(frozen=True)
class Claim:
    """One claim: its words, the tasks it speaks of, and how its findings are drawn from one group of models."""

    number: int
    text: str
    tasks: tuple[str, ...]
    examine: Examine
    decides: str


@dataclass(frozen=True)
class Account:
    """A claim as one edition answers it."""

    claim: Claim
    edition: str
    findings: Mapping[Group, tuple[Finding, ...]]

    @property
    def everything(self) -> list[Finding]:
        """All findings, each named with its group."""
        return [
            replace(finding, name=f"{group}, {finding.name}")
            for group, found in self.findings.items()
            for finding in found
        ]

    @property
    def verdict(self) -> Conclusion:
        """The verdict over all groups."""
        return judge(self.everything)

    @property
    def reason(self) -> str:
        """The reason in one sentence."""
        return reason(self.everything)


def _meet_conditions(models: ByLength, _: np.random.Generator) -> Iterator[Finding]:
    for length, (table, _averages) in models.items():
        a, b, U = (values(table, name) for name in ("open_step", "close_step", "recurrent_weight"))
        exactly = int(((a == -b) & (b != 0) & (U == 1)).sum())
        close = int(((np.abs(values(table, "ab_ratio") + 1) <= CLOSE) & (np.abs(U - 1) <= CLOSE)).sum())
        cells = len(table)
        name = f"length {length}: share with a/b = −1 and U = 1"
        yield Finding(f"length {length}: cells", cells)
        yield below(f"{name} exactly", exactly / cells, findings.wilson(exactly, cells), 0.5)
        yield Finding(f"{name} within {CLOSE:g}", close / cells, findings.wilson(close, cells))


def _approach_conditions(models: ByLength, generator: np.random.Generator) -> Iterator[Finding]:
    for column, target, letters in (("ab_ratio", -1, "|a/b + 1|"), ("recurrent_weight", 1, "|U − 1|")):
        distances = {
            length: np.abs(finite(values(table, column)) - target) for length, (table, _averages) in models.items()
        }
        resampled = {length: findings.resampled_medians(found, generator) for length, found in distances.items()}
        for length, found in distances.items():
            median = float(np.median(found))
            yield Finding(f"length {length}: median {letters}", median, findings.interval(resampled[length]))
        for short, long in pairwise(distances):
            fall = float(np.median(distances[short]) - np.median(distances[long]))
            found = findings.interval(resampled[short] - resampled[long])
            yield above(f"length {short} to {long}: fall of median {letters}", fall, found, 0)


def _means(length: int, ratios: Values) -> Iterator[Finding]:
    """Report what does not decide: the mean, which a few models carry, and the median."""
    yield Finding(f"length {length}: mean a/b", float(ratios.mean()))
    yield Finding(f"length {length}: median a/b", float(np.median(ratios)))


def _mean_above_and_falling(models: ByLength, generator: np.random.Generator) -> Iterator[Finding]:
    ratios = {length: finite(values(table, "ab_ratio")) for length, (table, _averages) in models.items()}
    means = {length: findings.trimmed_mean(found) for length, found in ratios.items()}
    resampled = {length: findings.resampled_trimmed_means(found, generator) for length, found in ratios.items()}
    for length, found in ratios.items():
        yield from _means(length, found)
        interval = findings.interval(resampled[length])
        yield above(f"length {length}: trimmed mean a/b", means[length], interval, -1)
    for short, long in pairwise(ratios):
        interval = findings.interval(resampled[short] - resampled[long])
        name = f"length {short} to {long}: fall of trimmed mean a/b"
        yield above(name, means[short] - means[long], interval, 0)


def _mean_not_above(models: ByLength, generator: np.random.Generator) -> Iterator[Finding]:
    for length, (table, _averages) in models.items():
        ratios = finite(values(table, "ab_ratio"))
        yield from _means(length, ratios)
        mean = findings.trimmed_mean(ratios)
        low, high = findings.interval(findings.resampled_trimmed_means(ratios, generator))
        yield not_above(f"length {length}: trimmed mean a/b", mean, (low, high), -1)
        yield below(f"length {length}: its excess over −1", mean + 1, (low + 1, high + 1), VISIBLE)


def _accuracy_falls_and_rises(models: ByLength, generator: np.random.Generator) -> Iterator[Finding]:
    for length, evidence in models.items():
        mean, resampled = _resampled_mean(
            evidence, lambda table: values(table, "accuracy_20") - values(table, "accuracy_50"), generator
        )
        yield above(f"length {length}: fall from 20 to 50 tokens", mean, findings.interval(resampled), 0)
    for tokens in (20, 50):
        accuracies = {
            length: _resampled_mean(
                evidence, lambda table, tokens=tokens: values(table, f"accuracy_{tokens}"), generator
            )
            for length, evidence in models.items()
        }
        for length, (mean, resampled) in accuracies.items():
            yield Finding(f"length {length}: mean accuracy at {tokens} tokens", mean, findings.interval(resampled))
        for short, long in pairwise(accuracies):
            (low, low_resampled), (high, high_resampled) = accuracies[short], accuracies[long]
            found = findings.interval(high_resampled - low_resampled)
            yield above(f"length {short} to {long}: rise at {tokens} tokens", high - low, found, 0)


def _resampled_mean(
    evidence: Evidence, number: Callable[[pl.DataFrame], Values], generator: np.random.Generator
) -> tuple[float, Values]:
    """Return a mean over seeds and test strings, and how it moves when both are drawn again.

    A replicate has test strings of its own but takes its seeds from the models at hand, so the replicates alone would
    hide how few those are: the models' own spread is added to theirs.
    """
    of_models = number(evidence.models)
    if evidence.averages is None:
        return float(of_models.mean()), findings.resampled_means(of_models, generator)
    of_replicates = number(evidence.averages)
    seeds = findings.resampled_means(of_models, generator) - of_models.mean()
    return float(of_replicates.mean()), findings.resampled_means(of_replicates, generator) + seeds


_TRIMMED = (
    "the mean of a/b without its lowest and highest 5 %, because a/b has heavy tails (b may come near 0) and its plain mean "
    "is carried by a handful of models"
)
CLAIMS = (
    Claim(
        1,
        "The trained models do not meet the two conditions a/b = −1 and U = 1.",
        TASKS,
        _meet_conditions,
        "whether the share of models that meet both conditions exactly lies below one half: the paper says 'generally'",
    ),
    Claim(
        2,
        "They approach the conditions as the training length grows.",
        TASKS,
        _approach_conditions,
        "whether the medians of |a/b + 1| and |U − 1| fall from each training length to the next",
    ),
    Claim(
        3,
        "Binary: the mean of a/b lies above −1, less so for longer strings.",
        ("binary",),
        _mean_above_and_falling,
        _TRIMMED,
    ),
    Claim(
        4,
        "Ternary: the mean of a/b does not lie above −1.",
        ("ternary",),
        _mean_not_above,
        f"{_TRIMMED}; two statements a length, since many seeds resolve what no histogram shows: not above −1 at all, "
        f"and not by {VISIBLE:g} or more",
    ),
    Claim(
        5,
        "Accuracy falls from 20 to 50 tokens and rises with the training length.",
        TASKS,
        _accuracy_falls_and_rises,
        "the mean accuracy at 20 and at 50 tokens and from each training length to the next, over seeds and, where the run "
        "has redrawn them, over test strings",
    ),
)


def accounts(run: Run, edition: str) -> list[Account]:
    """Put the five claims to one edition; groups it does not hold are left out."""
    groups = _by_group(run, edition)
    return [
        Account(
            claim,
            edition,
            {group: _findings(claim, group, found) for group, found in groups.items() if group.task in claim.tasks},
        )
        for claim in CLAIMS
    ]


def _by_group(run: Run, edition: str) -> dict[Group, ByLength]:
    """Gather the settings of each group, its training lengths ascending."""
    averages = run.averages(edition)
    found: dict[Group, dict[int, Evidence]] = {}
    for setting, models in run.of_edition(edition).items():
        found.setdefault(setting.group, {})[setting.train_length] = Evidence(models, averages.get(setting))
    return {group: found[group] for group in GROUPS if group in found}


def _findings(claim: Claim, group: Group, models: ByLength) -> tuple[Finding, ...]:
    """Draw the findings of one group, each with random numbers of its own, so that no group moves another's."""
    generator = np.random.default_rng([_SEED, claim.number, GROUPS.index(group)])
    return tuple(claim.examine(models, generator))


def as_json(by_edition: Mapping[str, list[Account]], main: str) -> dict[str, object]:
    """Return the claims as plain data: the main edition's account of each, the other editions' inside it."""
    others = [edition for edition in by_edition if edition != main]
    return {
        "confidence": 0.95,
        "rule": RULE,
        "claims": [
            {
                "number": account.claim.number,
                "claim": account.claim.text,
                "decided_by": account.claim.decides,
                **_account_json(account),
                "other_editions": [_account_json(by_edition[other][place]) for other in others],
            }
            for place, account in enumerate(by_edition[main])
        ],
    }


def _account_json(account: Account) -> dict[str, object]:
    return {
        "edition": account.edition,
        "verdict": account.verdict,
        "reason": account.reason,
        "statistic": {str(g): {f.name: f.value for f in found} for g, found in account.findings.items()},
        "interval": {
            str(g): {f.name: list(f.interval) for f in found if f.interval} for g, found in account.findings.items()
        },
        "by_group": {
            str(g): {"verdict": judge(found), "reason": reason(found)} for g, found in account.findings.items()
        },
    }
