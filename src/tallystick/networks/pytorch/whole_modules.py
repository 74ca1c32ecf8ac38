"""A whole PyTorch module as a network: found by tracing, built exactly, and compared with the module's own forward.

The module is run on a few strings, encoded as declared, with the strings along the first axis or along the second. The run in
which all that depends on the strings is understood (`tracing`) gives the signals, and these the layers and the readout
(`signals`). What leaves the class as it is at the very end is left out of the network: a sigmoid, or tanh, which
leaves the sign; of several outputs these and softmax, which leave the greatest.
"""

import sys

import numpy as np

from tallystick.cells import ScalarCell
from tallystick.errors import BadInput
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks.declaration import Declaration
from tallystick.networks.network import MOST_UNITS, Network
from tallystick.networks.pytorch.labels import Torch
from tallystick.networks.pytorch.layers import ON_TOP, layers_of, recurrence
from tallystick.networks.pytorch.signals import Column, Unreadable
from tallystick.networks.pytorch.tracing import Answer, Failed, Trace, double_copy
from tallystick.networks.pytorch.verification import compare
from tallystick.networks.pytorch.ways import Way, ways
from tallystick.networks.readout import Readout

_LENGTH, _LONG = 4, 100
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
    trace, way = _first_trace(module, declaration)
    answer = _answer(trace.answers, declaration)
    network, on_top = _network(trace, answer, way, declaration)
    compare(module, network, way, answer.place, on_top)
    _check_long_strings(module, network, way, answer.place, declaration)
    return network


def _check_long_strings(module: Torch, network: Network, way: Way, place: int, declaration: Declaration) -> None:
    """Refuse a module that is another network on long strings, such as one that reads a window of the last tokens."""
    strings = np.zeros((min(way.batch, 2), _LONG), np.int64)
    try:
        trace = Trace(way.reading(strings)).run(module)
        alike = _network(trace, trace.answer(place), way, declaration)[0] == network
    except (Failed, Unreadable):
        alike = False
    if not alike:
        raise Unreadable(f"module: on strings of {_LONG} tokens it does something else than on short ones")


def _network(seen: Trace, answer: Answer, way: Way, declaration: Declaration) -> tuple[Network, list[str]]:
    """Return the network that a run shows, and what the module does on top of it."""
    task, (columns, on_top) = declaration.task, _without_top(answer.columns)
    sums, tokens = seen.labels.sums, seen.labels.signals.tokens
    rows = sums.rows(np.eye(len(columns)), np.zeros((len(columns), 0)), columns)
    top, layers, weight, bias = layers_of(columns[0][0], rows, sums, tokens)
    if top is tokens and not any(map(any, weight)):
        raise Unreadable("module: its answer is the same for every string")
    if not any(layer.is_recurrent for layer in layers):
        raise Unreadable("module: nothing in it goes from token to token, so its answer depends on the last one alone")
    if any(layer.cell.units > MOST_UNITS for layer in layers):
        raise Unreadable(f"module: has a layer of more than {MOST_UNITS} units")
    first, last = (tuple(map(way.names.index, found)) for found in (declaration.first, declaration.last))
    network = Network(recurrence(layers, first, last), Readout(weight, bias), task)
    if task.machine != BB_COUNTER and not isinstance(network.cell, ScalarCell):
        raise Unreadable(f"task: {task.name!r} is decided for cells of one unit without gates, not for this module")
    return network, on_top


# --- How the module is run ----------------------------------------------------------------------------------------------------


def _first_trace(module: Torch, declaration: Declaration) -> tuple[Trace, Way]:
    """Run the module in every way that the declaration allows; return the first run that is understood."""
    failures: list[tuple[Way, Failed]] = []
    refusals: list[tuple[int, Unreadable]] = []
    for way in ways(module, declaration):
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
        features = [feature for one, shift, feature in columns if one is signal and not shift]
        whole = len(features) == len(columns) and sorted(features) == list(range(signal.size))
        each = signal.weight.shape == (signal.size,) * 2 and (signal.weight == np.eye(signal.size)).all()
        if signal.operation not in ON_TOP or signal.start is not None or not whole or not each:
            return columns, on_top
        if signal.operation == "sigmoid" and signal.size == 1 and on_top:
            return columns, on_top  # its middle, 1/2, is the middle of nothing above it
        if "softmax" in signal.operation and signal.size == 1:
            raise BadInput(f"{signal.place}: the softmax of one output is always 1; use a sigmoid or several outputs")
        on_top.append(signal.operation)
        columns = tuple(signal.columns[feature] for feature in features)
