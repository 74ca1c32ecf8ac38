"""Whole networks as PyTorch users bring them: each verdict is that of the module itself, run on every string."""

import pytest
from pytorch import brought
from pytorch.brought import torch

import tallystick as ts

TRAINED, MORE, LONGEST = 120, 14, 12


def network_of(name, seed, steps):
    torch.manual_seed(seed)
    kind = brought.FIFTEEN[name]
    network = kind.make().double()
    return kind, brought.train(kind, network, steps, seed) if steps else network.eval()


def verdict_on(kind, network):
    longest = {"upto": 6 if len(kind.alphabet) > 2 else 9} if kind.run else {"limit": 40}
    threshold = {"threshold": 0} if kind.run and not kind.classes else {}
    return ts.certify(network, **kind.declared(), **longest, **threshold)


def check_against_the_module(verdict, kind, network, longest):
    """Compare a verdict with a run of the module on every string up to a length."""
    for length in range(1, longest + 1):
        wrong = brought.failing_strings(kind, network, length)
        if wrong:
            assert verdict.horizon < length, f"{wrong[0]} fails, but the horizon is {verdict.horizon}"
        if verdict.failure is not None and length == verdict.failure.length:
            assert verdict.failure.string in wrong
            return


@pytest.mark.parametrize("name", brought.FIFTEEN)
def test_each_of_fifteen_networks_gets_the_verdict_of_its_own_run(name):
    torch.set_num_threads(1)
    kind, network = network_of(name, seed=1, steps=0 if len(brought.FIFTEEN[name].alphabet) > 2 else TRAINED)
    verdict = verdict_on(kind, network)
    assert verdict.method == "exhaustive run" if kind.run else verdict.arithmetic == "real"
    check_against_the_module(verdict, kind, network, 6 if len(kind.alphabet) > 2 else 10)


@pytest.mark.long
@pytest.mark.parametrize("name", brought.FIFTEEN)
def test_verdicts_agree_with_the_modules_on_every_string_to_length_twelve(name):
    torch.set_num_threads(1)
    for seed in range(MORE):
        steps = 0 if seed % 2 or len(brought.FIFTEEN[name].alphabet) > 2 else TRAINED
        kind, network = network_of(name, seed, steps)
        verdict = verdict_on(kind, network)
        check_against_the_module(verdict, kind, network, 7 if len(kind.alphabet) > 2 else LONGEST)


@pytest.mark.parametrize("name", ["LSTM(2, 4)", "Embedding, LSTM(16), two logits", "LSTMCell in a loop"])
def test_reading_and_running_a_module_agree(name):
    torch.set_num_threads(1)
    kind, network = network_of(name, seed=3, steps=TRAINED)
    read = ts.certify(network, **kind.declared(), limit=9)
    run = ts.certify(network, **kind.declared(), upto=9, **({} if kind.classes else {"threshold": kind.threshold}))
    assert (read.horizon, read.outcome) == (run.horizon, run.outcome)
    assert read.failure is None or len(read.failure.string) == len(run.failure.string)
