"""Import is verified: what was read from a module is compared with the module's own forward on some hundred random strings.

Both are computed in doubles. In longer strings rounding may have grown, so the network is run a second time with weights that are
a little off, and what that changes is allowed.
"""

import numpy as np

from tallystick.cells import Token
from tallystick.errors import BadInput
from tallystick.languages.brackets import ALPHABET
from tallystick.networks.network import Network
from tallystick.networks.pytorch.labels import Ints, Torch
from tallystick.networks.pytorch.signals import Floats, Unreadable
from tallystick.networks.pytorch.tracing import Failed, Trace
from tallystick.networks.pytorch.ways import Way
from tallystick.numbers import Number
from tallystick.numbers.values import map_states

_SHORT = {1: 2, 2: 4, 3: 8, 5: 32, 8: 64, 13: 64, 12: 64}
"""How many strings of each length are compared, 238 in all; of a module that reads one string at a time an eighth.

Several runs are of one size, so that what a module keeps from one to the next would fit.
"""

_LONG = 30
_TOLERANCE = 1e-6
_OFF, _ALLOWED = 1e-14, 1e3
"""How far weights are off in the second run, and how often what that changes is allowed."""


def compare(module: Torch, network: Network, way: Way, place: int, on_top: list[str]) -> None:
    """Refuse what was read where the module answers otherwise on one of many strings.

    Args:
        module: in doubles.
        network: what was read from it.
        way: how it reads strings.
        place: which of the tensors that it returns is the answer.
        on_top: what it does to its outputs and the network does not, the last first.
    """
    generator = np.random.default_rng(0)
    strings = generator.integers(0, len(ALPHABET), (max(_SHORT.values()), max(_SHORT)))
    expected = _short_outputs(network, strings)
    for length, count in _SHORT.items():
        rows = np.arange(count if way.batch > 1 else (count + 7) // 8)
        for some in [rows] if way.batch > 1 else rows[:, None]:
            right = _finish(expected[length][some], on_top)
            _check_alike(strings[some, :length], _outputs(module, way, place, strings[some, :length]), right, 0)
    strings = generator.integers(0, len(ALPHABET), (min(way.batch, 2), _LONG))
    right, other = (_finish(_long_outputs(network, strings, off), on_top) for off in (0.0, _OFF))
    _check_alike(strings, _outputs(module, way, place, strings), right, _ALLOWED * np.abs(right - other))


def _check_alike(strings: Ints, found: Floats, right: Floats, allowed: Floats | int) -> None:
    wrong = ~(np.abs(found - right) <= _TOLERANCE * (1 + np.abs(right).max()) + allowed).all(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadInput(
            f"module: its forward gives {_shown(found[row])} for {_string(strings[row])!r}, but what was read from it gives "
            f"{_shown(right[row])}; it does more than a run shows"
        )


def _outputs(module: Torch, way: Way, place: int, strings: Ints) -> Floats:
    """Return the module's own outputs for strings of one length."""
    trace = Trace(way.reading(strings))
    try:
        return trace.run(module).answer(place).values
    except Failed as error:
        raise BadInput(f"module: its forward fails on {_string(strings[0])!r}: {error}") from None
    except Unreadable as error:
        raise BadInput(
            f"module: on {_string(strings[0])!r} it does something else than on other strings ({error.reason}), which may come "
            "of what it keeps between calls"
        ) from None


def _string(tokens: Ints) -> str:
    return "".join(ALPHABET[token] for token in map(int, tokens))


def _short_outputs(network: Network, strings: Ints) -> dict[int, Floats]:
    """Return the outputs of the network in doubles for prefixes of strings, by their length."""
    doubles = network.in_arithmetic("float64")

    def everywhere(number: Number) -> Floats:
        return np.full(len(strings), float(number))

    state = map_states(everywhere, doubles.cell.initial_state)
    found: dict[int, Floats] = {}
    for length, closing in enumerate(strings.T, start=1):
        state = doubles.cell.step(state, Token(1.0 - closing, 1.0 * closing))
        if length in _SHORT:
            outputs = doubles.readout.outputs(doubles.cell.hidden(state))
            found[length] = np.stack([np.broadcast_to(one, len(strings)) for one in outputs], axis=1)
    return found


def _long_outputs(network: Network, strings: Ints, off: float) -> Floats:
    """Return the same for a few long strings, with weights that are a little off."""

    def weight(value: Number, _: str) -> float:
        return float(value) * (1 + off)

    doubles = network.map_weights(weight)
    return np.array([doubles.outputs(_string(string)) for string in strings], np.float64)


def _finish(outputs: Floats, on_top: list[str]) -> Floats:
    """Do what the network leaves out, from the inside."""
    for name in reversed(on_top):
        if name == "tanh":
            outputs = np.tanh(outputs)
        elif name == "sigmoid":
            outputs = (1 + np.tanh(outputs / 2)) / 2
        else:
            shifted = outputs - outputs.max(axis=1, keepdims=True)
            logarithms = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
            outputs = logarithms if name == "log_softmax" else np.exp(logarithms)
    return outputs


def _shown(numbers: Floats) -> str:
    return ", ".join(f"{number:.6g}" for number in numbers)
