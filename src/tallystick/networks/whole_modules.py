"""A whole PyTorch module as a network: found by tracing, built exactly, and compared with the module's own forward.

The module is run on a few strings, encoded as declared, with the strings along the first axis or along the second. The run in
which all that depends on the strings is understood (`networks.tracing`) gives the signals, and these the layers and the readout
(`networks.signals`). A sigmoid, softmax or tanh at the very end leaves the class as it is, and is left out of the network.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.cells import ScalarCell, Token
from tallystick.errors import BadInput
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks.declaration import Declaration, Encoding, one_hot
from tallystick.networks.labels import Ints, Torch
from tallystick.networks.layers import layers_below, read_by, recurrence
from tallystick.networks.network import MOST_UNITS, Network
from tallystick.networks.readout import Readout
from tallystick.networks.signals import Column, Floats, Unreadable
from tallystick.networks.tracing import Answer, Failed, Reading, Trace, double_copy
from tallystick.numbers import Number
from tallystick.numbers.values import map_states

_BATCH, _LENGTH = 3, 4
_COMPARED = {1: 2, 2: 4, 3: 8, 5: 32, 8: 64, 13: 64, 12: 64}
"""How many strings of each length are compared, 238 in all; of a module that reads one string at a time an eighth.

Several runs are of one size, so that what a module keeps from one to the next would fit.
"""

_TOLERANCE = 1e-6
_ON_TOP = ("sigmoid", "softmax", "log_softmax", "tanh")
"""What leaves the sign of a single output about its middle, or the greatest of several, as it is."""


def network_of_module(module: Torch, declaration: Declaration) -> Network:
    """Return the network that a module is.

    Raises:
        Unreadable: the module does what is not read, such as attention; the message names the first such step.
        BadInput: the module cannot be run as declared, or answers otherwise than what was read from it.
    """
    task = declaration.task
    if task.alphabet != ALPHABET or not task.is_by_sign:
        raise Unreadable(f"task: {task.name!r} is not decided by the count of ( and ), so a module is run, not read")
    copy = double_copy(module)
    torch: Torch = sys.modules["torch"]
    # Around all runs and not each of them, so that what is drawn at random differs and does not pass for a constant.
    with torch.random.fork_rng(devices=[]):
        return _read(copy, declaration)


def _read(module: Torch, declaration: Declaration) -> Network:
    task = declaration.task
    seen, way = _first_trace(module, declaration)
    answer = _answer(seen.answers, declaration)
    columns, on_top = _without_top(answer.columns)
    sums, tokens = seen.labels.sums, seen.labels.signals.tokens
    rows = sums.rows(np.eye(len(columns)), np.zeros((len(columns), 0)), columns)
    top, weight, bias = read_by(columns[0][0], rows, tokens)
    layers = layers_below(top, sums, tokens)
    if not any(layer.is_recurrent for layer in layers):
        raise Unreadable("module: nothing in it goes from token to token, so its answer depends on the last one alone")
    if any(layer.cell.units > MOST_UNITS for layer in layers):
        raise Unreadable(f"module: has a layer of more than {MOST_UNITS} units")
    first, last = (tuple(map(way.names.index, found)) for found in (declaration.first, declaration.last))
    network = Network(recurrence(layers, first, last), Readout(weight, bias), task)
    if task.machine != BB_COUNTER and not isinstance(network.cell, ScalarCell):
        raise Unreadable(f"task: {task.name!r} is decided for cells of one unit without gates, not for this module")
    _compare(module, network, way, answer.place, on_top)
    return network


# --- How the module is run ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """A way to hand strings to a module.

    Attributes:
        names: what each token is declared as: those of the alphabet, then what is read before and after every string.
        numbers: the same as one column per token: its vector, or its index.
        as_index: whether the module reads indices, and not vectors.
        batch_axis: where the strings lie; None where the module reads one string alone.
        batch: how many strings it is run on at once.
        before: how many tokens stand before every string.
        after: how many stand after it.
    """

    names: tuple[Encoding, ...]
    numbers: Floats
    as_index: bool
    batch_axis: int | None
    batch: int
    before: tuple[int, ...]
    after: tuple[int, ...]

    def reading(self, strings: Ints) -> Reading:
        """Return strings, one row of tokens each, as the module reads them."""
        ends = [np.tile(np.array(one, np.int64), (len(strings), 1)) for one in (self.before, self.after)]
        tokens = np.concatenate([ends[0], strings, ends[1]], axis=1)
        return Reading(tokens, self.numbers, self.as_index, self.batch_axis)

    def __str__(self) -> str:
        """Say how the module is run."""
        shape = {0: "strings × tokens", 1: "tokens × strings", None: "tokens of one string"}[self.batch_axis]
        return f"{'indices' if self.as_index else f'vectors of {len(self.numbers)} numbers'}, {shape}"


def _first_trace(module: Torch, declaration: Declaration) -> tuple[Trace, Way]:
    """Run the module in every way that the declaration allows; return the first run that is understood."""
    failures: list[tuple[Way, Failed]] = []
    refusals: list[tuple[int, Unreadable]] = []
    for way in _ways(module, declaration):
        if way.batch == 1 and refusals:
            break  # the module runs on several strings, so it is not one for a single string
        strings = np.add.outer(np.arange(way.batch), np.arange(_LENGTH)) % len(ALPHABET)
        strings[:, 1:] ^= np.arange(way.batch)[:, None] // len(ALPHABET)
        trace = Trace(way.reading(strings))
        try:
            trace.run(module)
        except Failed as error:
            failures.append((way, error))
        except Unreadable as error:
            refusals.append((trace.seen, error))
        else:
            if trace.answers:
                return trace, way
            refusals.append((trace.seen, Unreadable("module: what it returns is not an answer for each string")))
    if refusals:
        raise max(refusals, key=lambda one: one[0])[1]  # the run that came furthest
    way, error = failures[0]
    raise BadInput(f"module: forward fails on {way}: {error}; say tokens= as it reads them")


def _ways(module: Torch, declaration: Declaration) -> Iterator[Way]:
    names = tuple(dict.fromkeys((*declaration.tokens.values(), *declaration.first, *declaration.last)))
    names = (*declaration.tokens.values(), *(one for one in names if one not in declaration.tokens.values()))
    forms = [(as_index, numbers) for as_index, numbers in _forms(module, names)]
    ends = [tuple(map(names.index, found)) for found in (declaration.first, declaration.last)]
    for axis, batch in ((0, _BATCH), (1, _BATCH), (0, 1), (1, 1), (None, 1)):
        for as_index, numbers in forms:
            yield Way(names, numbers, as_index, axis, batch, *ends)


def _forms(module: Torch, names: tuple[Encoding, ...]) -> Iterator[tuple[bool, Floats]]:
    """Go through what tokens may be read as: vectors where these are declared, else indices, or one-hot vectors."""
    if isinstance(names[0], tuple):
        yield False, _columns(names)
        return
    indices = [one for one in names if isinstance(one, int)]
    yield True, np.array([indices], np.float64)
    least = max(indices) + 1
    sizes = {int(getattr(inner, "input_size", getattr(inner, "in_features", 0))) for inner in module.modules()}
    for size in sorted({least, *(size for size in sizes if size > least)}):
        yield False, _columns(tuple(one_hot(index, size) for index in indices))


def _columns(vectors: tuple[Any, ...]) -> Floats:
    found = np.array([[float(number) for number in vector] for vector in vectors]).T
    if any(number != float(number) for vector in vectors for number in vector):
        raise BadInput("tokens: a vector has a number that is not a double, so the module cannot be run on it")
    return np.ascontiguousarray(found)


# --- Which of what is returned is the answer ----------------------------------------------------------------------------------


def _answer(found: list[Answer], declaration: Declaration) -> Answer:
    """Return the one tensor that can be the answer; beside others, a state that is handed out is not one."""
    classes = len(declaration.task.classes)
    fitting = [one for one in found if len(one.columns) == classes or (len(one.columns) == 1 and classes == 2)]  # noqa: PLR2004
    heads = [one for one in fitting if not all(signal.start is not None for signal, _, _ in one.columns)] or fitting
    different = len({one.columns for one in heads})
    if different > 1:
        raise BadInput(
            f"module: returns {different} different tensors of {len(heads[0].columns)} outputs that could be the answer; let "
            "forward return one of them"
        )
    answer = (heads or found)[0]
    declaration.check_outputs(len(answer.columns))
    return answer


def _without_top(columns: tuple[Column, ...]) -> tuple[tuple[Column, ...], list[str]]:
    """Take away what leaves the class as it is; return what is below it, and what it was."""
    on_top: list[str] = []
    while True:
        signal = columns[0][0]
        whole = columns == tuple((signal, 0, feature) for feature in range(signal.size))
        each = signal.weight.shape == (signal.size,) * 2 and (signal.weight == np.eye(signal.size)).all()
        if signal.operation not in _ON_TOP or signal.start is not None or not whole or not each:
            return columns, on_top
        if "softmax" in signal.operation and signal.size == 1:
            raise BadInput(f"{signal.place}: the softmax of one output is always 1; use a sigmoid or several outputs")
        on_top.append(signal.operation)
        columns = signal.columns


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


# --- The comparison -----------------------------------------------------------------------------------------------------------


def _compare(module: Torch, network: Network, way: Way, place: int, on_top: list[str]) -> None:
    """Refuse what was read where the module's own forward answers otherwise on one of many random strings."""
    generator = np.random.default_rng(0)
    strings = generator.integers(0, len(ALPHABET), (max(_COMPARED.values()), max(_COMPARED)))
    expected = _prefix_outputs(network, strings)
    for length, count in _COMPARED.items():
        alone = way.batch == 1
        chosen = strings[: (count + 7) // 8 if alone else count, :length]
        for rows in np.split(np.arange(len(chosen)), len(chosen)) if alone else [np.arange(len(chosen))]:
            found = _outputs(module, way, place, chosen[rows])
            right = _finish(expected[length][rows], on_top)
            scale = 1 + np.abs(right).max()
            wrong = ~(np.abs(found - right) <= _TOLERANCE * scale).all(axis=1)
            if wrong.any():
                row = int(np.argmax(wrong))
                raise BadInput(
                    f"module: its forward gives {_shown(found[row])} for {_string(chosen[rows][row])!r}, but what was read from "
                    f"it gives {_shown(right[row])}; it does more than a run shows"
                )


def _outputs(module: Torch, way: Way, place: int, strings: Ints) -> Floats:
    """Return the module's own outputs for strings of one length."""
    try:
        answers = Trace(way.reading(strings)).run(module).answers
    except Failed as error:
        raise BadInput(f"module: its forward fails on {_string(strings[0])!r}: {error}") from None
    except Unreadable as error:
        different = f"module: on {_string(strings[0])!r} it does something else than before"
        raise BadInput(f"{different}, which may come of what it keeps between calls: {error.reason}") from None
    found = next((answer.values for answer in answers if answer.place == place), None)
    if found is None:
        raise BadInput(f"module: for {_string(strings[0])!r} it returns something else than for other strings")
    return found


def _string(tokens: Ints) -> str:
    return "".join(ALPHABET[token] for token in map(int, tokens))


def _prefix_outputs(network: Network, strings: Ints) -> dict[int, Floats]:
    """Return the outputs of the network in doubles for all prefixes of strings, by their length."""
    doubles = network.in_arithmetic("float64")

    def everywhere(number: Number) -> Floats:
        return np.full(len(strings), float(number))

    state = map_states(everywhere, doubles.cell.initial_state)
    found: dict[int, Floats] = {}
    for length, closing in enumerate(strings.T, start=1):
        state = doubles.cell.step(state, Token(1.0 - closing, 1.0 * closing))
        if length in _COMPARED:
            outputs = doubles.readout.outputs(doubles.cell.hidden(state))
            found[length] = np.stack([np.broadcast_to(one, len(strings)) for one in outputs], axis=1)
    return found


def _shown(numbers: Floats) -> str:
    return ", ".join(f"{number:.6g}" for number in numbers)
