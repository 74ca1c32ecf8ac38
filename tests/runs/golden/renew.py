"""The golden models: what the paper's twelve settings begin with, learn from and come to, so that no change goes unnoticed.

    python tests/runs/golden/renew.py

writes `models.csv`, 24 networks of each setting with their weights before and after a few hundred steps of training and their
horizons, and `drawn.json`, digests of everything that is drawn: training sets in their order, test strings, initial weights.

They may be renewed when the protocol is changed on purpose. Then CHANGELOG.md says that rows of earlier versions are not those of
this one, and the version is raised, since a run is not resumed with another. They are not renewed because a library was
upgraded: what is drawn is the same with every library and machine, and trained weights are held to a tolerance that leaves
room for another order of rounding and for nothing else.
"""

import csv
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from tallystick.cells import CELLS, ScalarCell
from tallystick.datasets.strings import TEST_LENGTHS, long_suite, training_set
from tallystick.languages.tasks import TASKS, TERNARY
from tallystick.runs.jobs import TRAIN_LENGTHS, Generated, fresh_job, paper_grid
from tallystick.runs.measures import border_strings, uniform_strings
from tallystick.runs.rows import certify_many
from tallystick.studies.reproduce import RedrawnSuites
from tallystick.training.ensemble import Ensemble, train
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights, fresh_weights

FOLDER = Path(__file__).parent
MODELS, DRAWN = FOLDER / "models.csv", FOLDER / "drawn.json"
SEEDS = 24
EPOCHS = {2: 40, 4: 10, 8: 1}
"""Some 300 steps each: enough for every part of the protocol to show, too few for rounding to grow."""

FLOAT32 = np.dtype(np.float32)


class Golden(NamedTuple):
    """Networks of one setting: their weights before and after training, an entry a seed, and their horizons."""

    initial: Weights
    trained: Weights
    horizons: np.ndarray


def settings() -> list[Setting]:
    return [replace(setting, epochs=EPOCHS[setting.train_length]) for setting in paper_grid("float32")]


def made(setting: Setting, order: int = 0) -> Golden:
    """Train the networks of a setting as a run would; `order` decides that of the strings."""
    job = fresh_job("fresh", setting, SEEDS, Generated(order))
    initial = job.initial(np.arange(SEEDS))
    networks = train(setting, initial, job.strings, device="cpu")
    return Golden(initial, networks.weights, horizons(setting, networks.weights))


def horizons(setting: Setting, weights: Weights) -> np.ndarray:
    """Up to which length networks are right on all strings, and on those of even length; exact whatever the machine."""
    found = certify_many(Ensemble(setting, weights, np.zeros(SEEDS))).horizons
    return np.stack([found.all, found.even])


def drawn() -> dict[str, str]:
    """Digests of all that is drawn."""
    return {name: _digest(value) for name, value in _drawn()}


def _drawn() -> Iterator[tuple[str, object]]:
    scalar = {name: kind for name, kind in CELLS.items() if issubclass(kind, ScalarCell)}
    for task in TASKS.values():
        for seed in (0, 1):
            for length in TRAIN_LENGTHS:
                yield f"training set, {task.name}, length {length}, seed {seed}", training_set(task, length, seed)
            for length in TEST_LENGTHS:
                yield f"test strings, {task.name}, length {length}, seed {seed}", long_suite(task, length, seed)
        for name, kind in scalar.items():
            weights = fresh_weights(kind, task, np.arange(1000), bias=True, dtype=FLOAT32)
            yield f"initial weights, {name}, {task.name}", weights
    for name, kind in CELLS.items():
        if name not in scalar:
            weights = fresh_weights(kind, TERNARY, np.arange(200), bias=True, dtype=FLOAT32, units=2)
            yield f"initial weights, {name} with 2 units", weights
    yield "redrawn test strings", list(RedrawnSuites(3, seed=0).tokens.values())
    yield "strings at the border", border_strings(1000, 20, seed=0)
    yield "uniform strings", uniform_strings(50, 20, seed=0)


def _digest(value: object) -> str:
    leaves = jax.tree.leaves(value)
    content = b"".join(
        leaf.encode() if isinstance(leaf, str) else np.ascontiguousarray(leaf).tobytes() for leaf in leaves
    )
    return sha256(content).hexdigest()[:16]


def written(found: dict[Setting, Golden]) -> str:
    """Return the golden models as a table; a weight is written so that it is read as the same float32."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["task", "bias", "length", "seed", "initial", "trained", "horizon", "even_horizon"])
    for setting, golden in found.items():
        for seed in range(SEEDS):
            weights = [
                " ".join(np.format_float_scientific(array[seed], trim="-") for array in jax.tree.leaves(part))
                for part in golden[:2]
            ]
            table.writerow(
                [setting.task, setting.bias, setting.train_length, seed, *weights, *golden.horizons[:, seed]]
            )
    return text.getvalue()


def read(setting: Setting) -> Golden:
    """Return what stands in the table."""
    of_setting = (setting.task, str(setting.bias), str(setting.train_length))
    with MODELS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["task"], row["bias"], row["length"]) == of_setting]
    assert [int(row["seed"]) for row in rows] == list(range(SEEDS))
    initial, trained = (_weights(setting, [row[name] for row in rows]) for name in ("initial", "trained"))
    return Golden(
        initial, trained, np.array([[int(row[name]) for row in rows] for name in ("horizon", "even_horizon")])
    )


def _weights(setting: Setting, texts: list[str]) -> Weights:
    arrays = np.array([[float(number) for number in text.split()] for text in texts], np.float32).T
    empty = fresh_weights(setting.kind, setting.goal, np.arange(1), bias=setting.bias, dtype=setting.dtype)
    return jax.tree.unflatten(jax.tree.structure(empty), list(arrays))


def main() -> int:
    """Write both files."""
    MODELS.write_text(written({setting: made(setting) for setting in settings()}), encoding="utf-8")
    DRAWN.write_text(json.dumps(drawn(), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
