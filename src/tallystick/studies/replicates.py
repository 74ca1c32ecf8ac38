"""How far a ten-run average can move by chance: other seeds and test strings, or nothing but rounding."""

from collections.abc import Iterator
from zlib import crc32

import jax
import numpy as np
import polars as pl

from tallystick.datasets.paper import SUITE_SIZE, TEST_LENGTHS, draw_suites, suite_places
from tallystick.runs.jobs import Job
from tallystick.runs.rows import ensemble_of
from tallystick.training.devices import devices_named
from tallystick.training.ensemble import precision_context, right_answers, train
from tallystick.training.weights import Weights, nudge_weights

SCHEMA = {
    "edition": pl.String,
    "kind": pl.String,
    "task": pl.String,
    "bias": pl.Boolean,
    "train_length": pl.Int64,
    "column": pl.String,
    "replicate": pl.Int64,
    "average": pl.Float64,
}
SUITES_AT_ONCE = 50
_SUITES, _CHOICE = 1, 2
"""Names of random streams, so that none is drawn from twice."""


class RedrawnSuites:
    """Many redrawn test suites of each length, the same for every setting."""

    def __init__(self, number: int, seed: int) -> None:
        """Draw the suites."""
        generator = np.random.default_rng([seed, _SUITES, number])
        self.number = number
        self.tokens = {n: draw_suites(n, number, generator).reshape(number, SUITE_SIZE, n) for n in TEST_LENGTHS}


def sampling_replicates(job: Job, rows: pl.DataFrame, suites: RedrawnSuites, runs: int, seed: int) -> pl.DataFrame:
    """Return ten-run averages of the setting, each with its own ten seeds of the ensemble and its own test strings."""
    # Every setting has draws of its own: sharing them would make all averages of a table lean the same way.
    generator = np.random.default_rng([seed, _CHOICE, crc32(job.name.encode())])
    chosen = generator.integers(len(rows), size=(suites.number, runs))
    averages = {"train": rows["accuracy_train"].to_numpy()[chosen].mean(axis=1)}
    weights = ensemble_of(rows, job.setting).weights.places(chosen)
    for length in TEST_LENGTHS:
        averages[str(length)] = _suite_averages(job, weights, suites.tokens[length], generator)
    return _table(job, "sampling", averages)


def rounding_replicates(job: Job, runs: int, size: float, replicates: int, seed: int) -> pl.DataFrame:
    """Return ten-run averages of the same runs, their initial weights nudged by a relative `size`: what rounding decides."""
    start = job.initial(np.arange(runs))
    nudges = [nudge_weights(start, size, seed=seed * 1_000_003 + replicate) for replicate in range(replicates)]
    initial = jax.tree.map(lambda *arrays: np.concatenate(arrays), *nudges)
    ensemble = train(job.setting, initial, job.strings, workers=1, device=job.device)
    columns = {
        "train": ensemble.accuracy_train,
        **{str(n): ensemble.accuracy(strings) for n, strings in job.tests.items()},
    }
    averages = {column: values.reshape(replicates, runs).mean(axis=1) for column, values in columns.items()}
    return _table(job, "rounding", averages)


def _suite_averages(job: Job, weights: Weights, tokens: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Score each replicate's runs on its own suite, a few suites at a time."""
    task = job.setting.scored_as
    places = np.stack([suite_places(task, generator) for _ in range(len(tokens))])
    right = np.concatenate(list(_right(job, weights, tokens)))
    return 100 * np.take_along_axis(right, places[:, None, :], axis=2).mean(axis=(1, 2))


def _right(job: Job, weights: Weights, tokens: np.ndarray) -> Iterator[np.ndarray]:
    setting = job.setting
    for start in range(0, len(tokens), SUITES_AT_ONCE):
        part = slice(start, start + SUITES_AT_ONCE)
        # Tokens first, then suite, run, string: the scan runs over the first axis, the rest is one array of states.
        opening = np.moveaxis(tokens[part], -1, 0)[:, :, None, :]
        counts = 2 * tokens[part].sum(axis=-1) - tokens.shape[-1]
        with devices_named(job.device).using(), precision_context(setting.precision):
            yield np.asarray(
                right_answers(
                    weights.places(part),
                    opening.astype(setting.dtype),
                    (~opening).astype(setting.dtype),
                    setting.scored_as.targets_of_counts(counts)[:, None].astype(setting.dtype),
                    kind=setting.kind,
                    task=setting.scored_as,
                )
            )


def _table(job: Job, kind: str, averages: dict[str, np.ndarray]) -> pl.DataFrame:
    setting = job.setting
    parts = [
        pl.DataFrame(
            {
                "edition": [job.edition] * len(values),
                "kind": [kind] * len(values),
                "task": [setting.task] * len(values),
                "bias": [setting.bias] * len(values),
                "train_length": [setting.train_length] * len(values),
                "column": [column] * len(values),
                "replicate": np.arange(len(values)),
                "average": values,
            },
            schema=SCHEMA,
        )
        for column, values in averages.items()
    ]
    return pl.concat(parts)
