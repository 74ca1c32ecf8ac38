"""What the baselines of benchmarks/ are held to: the weights that this tool trains to."""

import numpy as np
import pytest

from benchmarks.baselines import baseline
from tallystick.datasets.paper import training_set
from tallystick.datasets.strings import encode
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
    return np.stack([*weights.inputs, *weights.recurrent, *weights.readout_weight])


def case(length, precision):
    """Return what a baseline is given (initial weights, opening brackets, closing ones, targets) and what it is to end at."""
    strings = training_set(BINARY, length, seed=0)
    setting = Setting("binary", bias=False, train_length=length, precision=precision, epochs=EPOCHS)
    initial = fresh_weights(setting.kind, BINARY, np.arange(SEEDS), bias=False, dtype=setting.dtype)
    lessons = [part.astype(setting.dtype) for part in (*encode(strings), BINARY.targets(strings)[:, 0])]
    return [stacked(initial), *lessons], stacked(train(setting, initial, strings).weights)
