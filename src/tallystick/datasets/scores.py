"""One model on a file of strings, in the model's own arithmetic."""

from pathlib import Path

import numpy as np

from tallystick.datasets.string_files import read_strings
from tallystick.datasets.tasks import BINARY, TERNARY
from tallystick.models import GatedModel, Model

_TASKS = {"binary": (BINARY,), "ternary": (TERNARY,), "zero": (BINARY, TERNARY)}


def score(model: Model | GatedModel, path: Path) -> dict[str, int | float]:
    """Return how many strings of the file the model puts into the right class of its readout.

    Labels, where there are any, are checked for the readout's task; the zero check takes them of either.
    """
    strings = read_strings(path, *_TASKS[model.readout.kind])
    with np.errstate(over="ignore", invalid="ignore"):  # a state that overflows is wrong, and no more need be said
        right = sum(model.class_of(string) == model.right_class(string) for string in strings)
    return {"strings": len(strings), "right": right, "accuracy": 100 * right / len(strings)}
