"""Import is verified: what was read from a module is compared with the module's own forward on several hundred strings.

Both are computed in doubles. How much rounding may have grown is found by running the network a second time with weights that are
a little off: what that changes is allowed, many times over. A class that differs by more than rounding is never allowed.
"""

from collections.abc import Mapping

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

_EVERY = 7
"""To this length every string is compared, so that nothing a module looks for in a short string is missed."""

_DRAWN, _LONG = (8, 13, 12), 30
_COUNT = 64
"""How many strings are drawn of each of these lengths; of a module that reads one string at a time an eighth.

Several runs are of one size, so that what a module keeps from one to the next would fit.
"""

_TOLERANCE, _ROUNDING = 1e-9, 1e-14
"""How far outputs may be off, and how close to each other they may be for classes to differ, for outputs of up to 1."""

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
    # The first 2ⁿ rows begin with all strings of n tokens.
    every = np.arange(2**_EVERY)[:, None] >> np.arange(_EVERY) & 1
    drawn = generator.integers(0, len(ALPHABET), (_COUNT if way.batch > 1 else _COUNT // 8, max(_DRAWN)))
    long = generator.integers(0, len(ALPHABET), (min(way.batch, 2), _LONG))
    for strings, counts in (
        (every, {length: 2**length for length in range(1, _EVERY + 1)}),
        (drawn, dict.fromkeys(_DRAWN, len(drawn))),
        (long, {_LONG: len(long)}),
    ):
        right, off = (_read_outputs(network, strings, counts, off) for off in (0.0, _OFF))
        for length, count in counts.items():
            short = strings[:count, :length]
            runs = [short] if way.batch > 1 else short[:, None]
            found = np.concatenate([_outputs(module, way, place, some) for some in runs])
            _check_alike(short, found, _finish(right[length], on_top), _finish(off[length], on_top), on_top[:1])


def _check_alike(strings: Ints, found: Floats, right: Floats, off: Floats, last: list[str]) -> None:
    """Refuse outputs that are off by more than rounding, and classes that differ by more."""
    own, read = found, right
    if found.shape[1] == 1:  # beside the output stands what it is compared with, its middle
        middle = np.full_like(right, 0.5 if last == ["sigmoid"] else 0.0)
        found, right, off = (np.hstack([middle, one]) for one in (found, right, off))
    scale, rounding = np.abs(right).max(), _ALLOWED * np.abs(right - off)
    alike = (np.abs(found - right) <= _TOLERANCE * scale + rounding).all(axis=1)
    margins = right.max(axis=1) - np.take_along_axis(right, found.argmax(axis=1)[:, None], axis=1)[:, 0]
    wrong = ~alike | (margins > _ROUNDING * scale + 2 * rounding.max(axis=1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadInput(
            f"module: its forward gives {_shown(own[row])} for {_string(strings[row])!r}, but what was read from it gives "
            f"{_shown(read[row])}; it does more than a run shows"
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


def _read_outputs(network: Network, strings: Ints, counts: Mapping[int, int], off: float) -> dict[int, Floats]:
    """Return what was read, in doubles, for prefixes of strings: so many of each length, with weights that are a little off."""
    generator = np.random.default_rng(1)

    def weight(value: Number, _: str) -> float:
        return float(value) * (1 + off * generator.standard_normal())

    def everywhere(number: Number) -> Floats:
        return np.full(len(strings), float(number))

    doubles = network.map_weights(weight)
    state = map_states(everywhere, doubles.cell.initial_state)
    found: dict[int, Floats] = {}
    for length, closing in enumerate(strings.T, start=1):
        state = doubles.cell.step(state, Token(1.0 - closing, 1.0 * closing))
        if length in counts:
            outputs = doubles.readout.outputs(doubles.cell.hidden(state))
            found[length] = np.stack([np.broadcast_to(one, len(strings)) for one in outputs], axis=1)[: counts[length]]
    return found


def _finish(outputs: Floats, on_top: list[str]) -> Floats:
    """Do what the network leaves out, from the inside."""
    for name in reversed(on_top):
        if name == "tanh":
            outputs = np.tanh(outputs)
        elif name == "sigmoid":
            outputs = np.exp(-np.logaddexp(0, -outputs))  # small ones in all their digits
        else:
            shifted = outputs - outputs.max(axis=1, keepdims=True)
            logarithms = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
            outputs = logarithms if name == "log_softmax" else np.exp(logarithms)
    return outputs


def _shown(numbers: Floats) -> str:
    return ", ".join(f"{number:.6g}" for number in numbers)
