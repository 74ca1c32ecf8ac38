"""What the exact edition is made from: the authors' files, read where they lie, and the initial weights of their seeds."""

from csv import DictReader
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from tallystick.datasets.string_files import read_strings
from tallystick.errors import BadInput
from tallystick.languages.tasks import Task
from tallystick.numbers import exact

RUNS = 10
"""The paper's runs per setting; the seed is the run's number."""

_REPOSITORY_NAMES = {
    "binary": "CounterDataset{length}Tokens.txt",
    "ternary": "CounterDataset{length}TokensTernaryOversampledDataset.txt",
}


class InitialWeights(NamedTuple):
    """The weights that one run of the paper started from; a missing bias is an empty tuple."""

    inputs: tuple[float, float]
    recurrent: tuple[float]
    bias: tuple[float, ...]
    readout_weight: tuple[float, ...]
    readout_bias: tuple[float, ...]


def published_strings(directory: Path, task: Task, length: int) -> list[str]:
    """Read the authors' strings, from a checkout of their repository or a folder with `binary_8.txt` and the like."""
    names = [f"{task.name}_{length}.txt", _REPOSITORY_NAMES[task.name].format(length=length)]
    for name in names:
        if (directory / name).is_file():
            return read_strings(directory / name, task)
    raise BadInput(
        f"{directory}: holds neither {names[0]} nor {names[1]}, the authors' {task.name} strings of {length} tokens"
    )


def published_initial_weights(task: Task, *, bias: bool) -> list[InitialWeights]:
    """Return the ten sets of initial weights of a setting, in the order of the seeds 0 to 9."""
    table = files("tallystick.datasets").joinpath("initial_weights.csv").read_text()
    rows = [
        row for row in DictReader(table.splitlines()) if row["task"] == task.name and row["bias"] == str(bias).lower()
    ]
    return [_initial_weights(row) for row in sorted(rows, key=lambda row: int(row["seed"]))]


def _initial_weights(row: dict[str, str]) -> InitialWeights:
    def numbers(*fields: str) -> tuple[float, ...]:
        return tuple(float(exact(text, field)) for field in fields for text in row[field].split())

    open_weight, close_weight, recurrent = numbers("open_weight", "close_weight", "recurrent_weight")
    return InitialWeights(
        inputs=(open_weight, close_weight),
        recurrent=(recurrent,),
        bias=numbers("cell_bias"),
        readout_weight=numbers("readout_weight"),
        readout_bias=numbers("readout_bias"),
    )
