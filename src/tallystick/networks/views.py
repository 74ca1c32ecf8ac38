"""What a notebook shows of a network: its parts, and its answers along a string."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallystick.cells import Stack
from tallystick.display import Chart, Token, View
from tallystick.errors import BadInput
from tallystick.languages.counter_machine import String
from tallystick.networks.readout import COUNT
from tallystick.networks.steps import THRESHOLD
from tallystick.numbers import Number

if TYPE_CHECKING:
    from tallystick.languages.tasks import Task
    from tallystick.networks.network import Network

_FEW_WEIGHTS = 12
_MOST_EXACT_UNITS = 8
_HALF = Fraction(1, 2)


class Prefix(NamedTuple):
    """What a network answers after a prefix, whether that is right, None where nothing is asked, and its outputs."""

    found: str
    wanted: str | None
    right: bool | None
    outputs: tuple[float, ...]


def plain_numbers(network: "Network") -> str:
    """Return the arithmetic in which a network is shown in real numbers: rationals, where it has them and they take no time."""
    is_small = network.cell.units <= _MOST_EXACT_UNITS and network.readout.decision != THRESHOLD
    return "rational" if is_small and network.cell.shows_rationals else "float64"


def prefixes(network: "Network", string: String) -> list[Prefix]:
    """Return what a network answers after each token of a string, run in the numbers that its weights are."""
    tokens, found = tuple(string), list[Prefix]()
    by_state = network.readout.steps is None and not network.cell.is_padded
    states = network.trace(tokens)[1:] if by_state else []
    for length in range(1, len(tokens) + 1):
        prefix = tokens[:length]
        if by_state:
            state = states[length - 1]
            said = network.class_of_state(state)
        else:
            state, said = network.trace(prefix)[-1], network.class_of(prefix)
        wanted = network.right_class(prefix)
        outputs = tuple(_double(output) for output in network.outputs_of_state(state))
        found.append(Prefix(str(said), wanted, _is_right(network, said, wanted), outputs))
    return found


def _is_right(network: "Network", said: str, wanted: str | None) -> bool | None:
    if wanted is None:
        return None
    if network.readout.decision == COUNT:
        return abs(Fraction(said) - Fraction(wanted)) < _HALF
    return said == wanted


def _double(value: Number) -> float:
    """Return a number as a double, infinite where it is beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def tokens_along(string: String, along: Sequence[Prefix], task: "Task") -> list[Token]:
    """Return a string whose tokens say what is answered after each."""
    return [
        Token(token, one.right, f"says {task.in_words(one.found)}" + _wanted(one, task))
        for token, one in zip(string, along, strict=True)
    ]


def _wanted(one: Prefix, task: "Task") -> str:
    return "" if one.wanted is None or one.right else f", should say {task.in_words(one.wanted)}"


def chart_along(along: Sequence[Prefix], names: Sequence[str]) -> Chart:
    """Return the outputs along a string."""
    lines = {name: [one.outputs[place] for one in along] for place, name in enumerate(names)}
    guide = 0.0 if len(names) == 1 else None
    label = "output" if len(names) == 1 else "outputs"
    right = [one.right for one in along]
    return Chart(list(range(1, len(along) + 1)), lines, "tokens read", label, right=right, guide=guide)


def output_names(network: "Network") -> list[str]:
    """Return what each output stands for."""
    outputs, steps = len(network.readout.bias), network.readout.steps
    if steps is not None:
        return list(steps.outputs)
    task = network.task
    return [task.in_words(name) for name in task.classes] if outputs == len(task.classes) else ["output"] * outputs


def describe_cell(network: "Network") -> str:
    """Return the cells of a network in words."""
    layers = network.cell.layers if isinstance(network.cell, Stack) else (network.cell,)
    return " above ".join(
        f"{layer.name} cell of {layer.units} unit{'' if layer.units == 1 else 's'}" for layer in reversed(layers)
    )


def view_of_network(network: "Network") -> View:
    """Return what is shown of a network."""
    values: list[Any] = []

    def note(value: Number, name: str = "") -> Number:
        del name
        values.append(value)
        return value

    network.map_weights(note)
    task = network.task
    facts = {
        "cell": describe_cell(network),
        "answer": network.readout.decision,
        "task": f"{task.name}: {task.answers_in_words}",
        "weights": ", ".join(map(str, values)) if len(values) <= _FEW_WEIGHTS else f"{len(values):,} numbers",
    }
    sizes = {np.size(value) for value in values}
    if sizes - {1}:  # one network of arrays, which is many networks
        facts["weights"] = f"{len(values):,} arrays, one entry for each of {max(sizes):,} networks"
        return View("Networks", facts=facts)
    string = task.sample()
    try:
        along = prefixes(network.in_arithmetic(plain_numbers(network)), string)
    except BadInput:  # weights that no double holds
        return View("Network", facts=facts)
    stepwise = network.readout.steps is not None and network.readout.decision != THRESHOLD
    tokens = [] if stepwise and all(one.right is None for one in along) else tokens_along(string, along, task)
    return View(
        "Network", (), facts, tokens, "what it says along a string: ", chart_along(along, output_names(network))
    )
