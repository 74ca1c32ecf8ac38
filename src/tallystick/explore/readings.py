"""A string read token by token: the units, the memory and the gates of a layer, what a network says and what is right."""

from functools import partial
from typing import Any, cast

from typing_extensions import TypedDict  # pydantic cannot read those of typing before Python 3.12

from tallystick.cells import Cell, GatedCell, Recurrence, Stack
from tallystick.cells.cell import inputs_of
from tallystick.cells.stack import Reading as Read
from tallystick.errors import BadInput, check_tokens
from tallystick.explore.answers import as_float
from tallystick.languages.tasks import MembershipClass
from tallystick.networks import Network
from tallystick.networks.steps import THRESHOLD, said_places
from tallystick.numbers import standard_floats
from tallystick.numbers.values import Vector

LONGEST_READING = 600
"""Tokens of a string that is read here. With 64 units, memory and gates, an answer has a quarter of a million numbers."""

EXACT, ROUNDED = "rational", "float64"
_EXACT_WORK = 10**7
"""Exact states grow with the string: so many matrix entries times the square of the length take about a second."""

_GATE_DIGITS = 4
_GATES = {
    "r": "reset",
    "z": "keep",
    "n": "new",
    "i": "input",
    "f": "forget",
    "g": "new",
    "o": "output",
}


class Gate(TypedDict):
    """One gate: its letter, its name, the least and greatest value it can have, and its values at each token, unit by unit."""

    letter: str
    name: str
    low: int
    high: int
    values: list[list[float | None]]


class Layer(TypedDict):
    """One layer of a network."""

    cell: str
    units: int
    has_memory: bool
    gates: list[str]


class Reading(TypedDict):
    """A string read token by token; every list but those of gates begins before the first token.

    `units` has what the layer shows after each token and `memory` an LSTM's c, null for other cells. `says` is what the network
    answers after each prefix and `right` what it should; null where every answer is right. `arithmetic` is `rational` where the
    states are exact, else `float64`.
    """

    tokens: list[str]
    arithmetic: str
    layer: int
    units: list[list[float | None]]
    memory: list[list[float | None]] | None
    gates: list[Gate]
    says: list[str]
    right: list[str | None]


def layers_of(recurrence: Recurrence) -> tuple[Cell, ...]:
    """Return the layers of a network, the lowest first."""
    return recurrence.layers if isinstance(recurrence, Stack) else (cast("Cell", recurrence),)


def layer_record(cell: Cell) -> Layer:
    """Return a layer as plain values."""
    gates = list(cell.gate_names) if isinstance(cell, GatedCell) else []
    return {
        "cell": cell.name,
        "units": cell.units,
        "has_memory": isinstance(cell, GatedCell) and cell.has_memory,
        "gates": gates,
    }


def reading(network: Network, tokens: tuple[str, ...], layer: int | None = None) -> Reading:
    """Return a layer along a string, the uppermost if none is named, what the network says and what is right."""
    check_tokens(tokens, network.alphabet)
    layers = layers_of(network.cell)
    place = len(layers) - 1 if layer is None else layer
    if not 0 <= place < len(layers):
        raise BadInput(f"layer: {place + 1} is not one of the {len(layers)} layers")
    is_exact = network.cell.shows_rationals and network.cell.matrix_entries * len(tokens) ** 2 <= _EXACT_WORK
    executed = network.in_arithmetic(EXACT if is_exact else ROUNDED)
    with standard_floats():
        states = executed.trace(tokens)
        seen = [_shown(executed.cell, place, state) for state in states]
        memory = [_memory(executed.cell, place, state) for state in states]
        gates = _gates_along(executed, place, tokens, states)
        says = _answers_along(executed, tokens, states)
    return {
        "tokens": list(tokens),
        "arithmetic": EXACT if is_exact else ROUNDED,
        "layer": place,
        "units": [[as_float(value) for value in values] for values in seen],
        "memory": [[as_float(value) for value in values] for values in memory] if any(memory) else None,
        "gates": gates,
        "says": [network.task.in_words(answer) for answer in says],
        "right": [
            None if answer is None else network.task.in_words(answer) for answer in _right_along(network, tokens)
        ],
    }


def _state_of(recurrence: Recurrence, place: int, state: Any) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
    return state[place] if isinstance(recurrence, Stack) else state


def _shown(recurrence: Recurrence, place: int, state: Any) -> Vector:  # noqa: ANN401
    """Return what a layer shows: of the uppermost, what the readout sees."""
    layers = layers_of(recurrence)
    if place == len(layers) - 1:
        return recurrence.hidden(state)
    return layers[place].hidden(_state_of(recurrence, place, state))


def _memory(recurrence: Recurrence, place: int, state: Any) -> Vector:  # noqa: ANN401
    own = _state_of(recurrence, place, state)
    return own.memory if isinstance(layers_of(recurrence)[place], GatedCell) else ()


def _gates_along(network: Network, place: int, tokens: tuple[str, ...], states: list[Any]) -> list[Gate]:
    """Return the gates of a layer at each token: they look at what it reads and at its state before."""
    cell, layers = network.cell, layers_of(network.cell)
    gated = layers[place]
    if not isinstance(gated, GatedCell):
        return []
    inputs = inputs_of(network.alphabet)
    found: list[list[list[float | None]]] = []
    for token, before, after in zip(tokens, states, states[1:], strict=False):
        if place:
            read = Read(layers[place - 1].hidden(after[place - 1]))
        elif isinstance(cell, Stack):
            read = Read(cell.tokens[network.alphabet.index(token)])
        else:
            read = inputs[token]
        values = gated.gate_values(_state_of(cell, place, before), read)
        found.append([[_rounded(as_float(value)) for value in gate] for gate in values])
    return [
        {
            "letter": letter,
            "name": _GATES[letter],
            "low": -1 if letter in "gn" else 0,
            "high": 1,
            "values": [step[index] for step in found],
        }
        for index, letter in enumerate(gated.gate_names)
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _GATE_DIGITS)


def _right_along(network: Network, tokens: tuple[str, ...]) -> list[str | None]:
    """Return what is right before the first token and after each."""
    configuration = network.task.machine.start
    configurations = [configuration, *(step.after for step in network.task.machine.run(tokens))]
    answers = [network.right_answer(configuration) for configuration in configurations]
    return [None if answer is None else str(network.name_of(answer)) for answer in answers]


def _answers_along(network: Network, tokens: tuple[str, ...], states: list[Any]) -> list[str]:
    """Return what a network says after each prefix."""
    steps, alphabet = network.readout.steps, network.alphabet
    if steps is None:
        padded = network.cell.padded_to if isinstance(network.cell, Stack) else 0
        return [
            str(network.class_of(tokens[:length]) if length < padded else network.class_of_state(state))
            for length, state in enumerate(states)
        ]
    said = partial(said_places, network.readout.decision, steps, alphabet)
    named = [said(network.outputs_of_state(state)) for state in states]
    if network.readout.decision != THRESHOLD:
        return [steps.names(places, alphabet) for places in named]
    found: list[str] = []
    is_followed = True
    for place, places in enumerate(named):
        accepted = is_followed and len(alphabet) in places
        found.append(str(MembershipClass.ACCEPTED if accepted else MembershipClass.REJECTED))
        is_followed = is_followed and place < len(tokens) and alphabet.index(tokens[place]) in places
    return found
