"""What the baselines of benchmarks/ are held to: the weights that this tool trains to."""

import numpy as np
import pytest

from benchmarks.baselines import baseline
from benchmarks.gpu_cells import initial, mapped_case
from tallystick.datasets.strings import encode, training_set
from tallystick.languages.tasks import BINARY
from tallystick.training.ensemble import train
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

SEEDS, EPOCHS = 16, 3


def loaded(name):
    """Import a baseline as the suite does; skip where its library is missing."""
    module = baseline(name)
    if isinstance(module, str):
        pytest.skip(module)
    return module


def stacked(weights):
    return np.stack([row for part in weights for row in part])


def case(length, precision, task="binary", *, bias=False):
    """Return what a baseline is given (initial weights, opening brackets, closing ones, targets) and what it is to end at."""
    setting = Setting(task, bias=bias, train_length=length, precision=precision, epochs=EPOCHS)
    strings = training_set(setting.goal, length, seed=0)
    initial = fresh_weights(setting.kind, setting.goal, np.arange(SEEDS), bias=bias, dtype=setting.dtype)
    answers = setting.answers(strings)
    targets = answers if setting.goal.outputs > 1 else answers[:, 0]
    lessons = [part.astype(setting.dtype) for part in (*encode(strings), targets)]
    return [stacked(initial), *lessons], stacked(train(setting, initial, strings).weights)


EVERY_KIND = [(task, bias) for task in ("binary", "ternary") for bias in (False, True)]


def vector_case(cell, units, *, bias):
    """Return the same for cells with several units: networks, strings and targets, and the input weights to end at."""
    setting = Setting("binary", bias, 4, cell=cell, units=units, precision="float64", epochs=EPOCHS)
    ended = train(setting, initial(setting, 5), training_set(BINARY, 4, seed=0), device="cpu", engine="scan")
    return mapped_case(setting, 5), np.moveaxis(ended.weights.inputs, -1, 0)
