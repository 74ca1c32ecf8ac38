"""Networks of every kind for the libraries, at random: gates small, large and saturated; and where a library leaves an enclosure.

Shared by tests/pytorch/test_any_order.py, which tries some, and soak/executions.py, which tries a million strings.
"""

import numpy as np

from tallystick.cells import GruCell, LinearCell, LstmCell, ReluCell, SelectiveCell, Stack, TanhCell
from tallystick.cells.gru import NoResetGruCell, ResetBeforeGruCell
from tallystick.cells.lru import LruLayer
from tallystick.cells.selective import MatrixLayer, SelectiveLayer
from tallystick.cells.simple import LinearLayer, ReluLayer, TanhLayer
from tallystick.certificates.any_order.executions import Executions
from tallystick.certificates.running.libraries import Build
from tallystick.networks import Network, Readout
from tallystick.numbers import FORMATS, standard_floats
from tallystick.numbers.boxes import Box
from tallystick.numbers.values import map_states

LAYERS = {
    kind.__name__: kind
    for kind in (
        LstmCell,
        GruCell,
        ResetBeforeGruCell,
        NoResetGruCell,
        TanhLayer,
        ReluLayer,
        LinearLayer,
        SelectiveLayer,
        MatrixLayer,
        LruLayer,
    )
}
SCALARS = {kind.__name__: kind for kind in (LinearCell, SelectiveCell, ReluCell, TanhCell)}
KINDS = (*LAYERS, *SCALARS, "stack", "counter")
SCALES = (0.05, 0.5, 1.0, 3.0, 20.0, 60.0)
"""How large weights are: gates in their middle, at work, and saturated."""


def nested(array):
    return tuple(map(nested, array)) if isinstance(array, list) else array


def _weights(shape, scale, generator):
    """Normal numbers of a size; some of few digits, so that sums come out exact, and some 0."""
    drawn = generator.normal(size=shape) * scale
    way = generator.integers(0, 4)
    if way == 0:
        drawn = np.round(drawn)
    elif way == 1:
        drawn = drawn * (generator.random(shape) < 0.6)
    return nested(drawn.astype(np.float32).astype(float).tolist())


def _layer(kind, units, inputs, generator):
    scale = generator.choice(SCALES)
    drawn = [_weights(shape, scale, generator) for shape in kind.shapes(units, inputs).values()]
    if kind in (LinearLayer, ReluLayer, SelectiveLayer, MatrixLayer, LruLayer):  # states that stay small for a while
        recurrent = list(kind.shapes(units, inputs).values())[1]
        drawn[1] = _weights(recurrent, generator.choice((0.3, 1.0)) / max(1, units) ** 0.5, generator)
    return kind(*drawn)


def counter(generator):
    """An LSTM near a counter: saturated, or almost."""
    units, saturation = int(generator.integers(1, 4)), generator.choice((4.0, 9.0, 12.0, 20.0, 60.0))
    rows = np.concatenate([np.full((2 * units, 2), saturation), np.tile([saturation, -saturation], (units, 1))])
    rows = np.concatenate([rows, np.full((units, 2), saturation)])
    noise = generator.choice((0.0, 0.1, 1.0))
    recurrent, *biases = (noise * generator.normal(size=shape) for shape in ((4 * units, units), 4 * units, 4 * units))
    return LstmCell(*(nested(np.asarray(part, np.float32).tolist()) for part in (rows, recurrent, *biases)))


def random_network(kind, generator):
    units, outputs = int(generator.integers(1, 7)), int(generator.choice((1, 3)))
    if kind == "counter":
        cell = counter(generator)
    elif kind == "stack":
        width, middle = generator.integers(2, 4, 2)
        below, above = (LAYERS[name] for name in generator.choice([name for name in LAYERS if name != "LruLayer"], 2))
        cell = Stack(
            (_layer(below, int(middle), int(width), generator), _layer(above, units, int(middle), generator)),
            _weights((2, int(width)), 1.0, generator),
        )
    elif kind in SCALARS:
        fields = len(SCALARS[kind].recurrent_fields())
        cell = SCALARS[kind](
            *_weights((2,), generator.choice(SCALES), generator),
            *_weights((fields,), generator.choice((0.5, 1)), generator),
        )
    else:
        cell = _layer(LAYERS[kind], units + units % 2 if kind == "LruLayer" else units, 2, generator)
    V, c = _weights((outputs, cell.units), 1.0, generator), _weights((outputs,), 1.0, generator)
    return Network(cell, Readout(V, c))


@standard_floats()
def leaving(network, library, arithmetic, rows):
    """Return where a library leaves the enclosure of strings, or None: the string, the token, the unit or output."""
    found = Build(network, library, FORMATS[arithmetic]).along(rows)
    return leaving_of(network, arithmetic, rows, *found)


@standard_floats()
def leaving_of(network, arithmetic, rows, hidden, outputs):
    """Return where numbers that were computed leave the enclosure of strings."""
    executions = Executions.of(network, arithmetic + "-any-order")
    state = map_states(lambda box: _repeat(box, len(rows)), executions.initial_state)
    for place in range(rows.shape[1]):
        states = [executions.step(state, token) for token in executions.inputs.values()]
        state = map_states(lambda *boxes, place=place: _choose(rows[:, place], boxes), *states)
        shown = executions.recurrence.hidden(executions._spans(state))
        for name, boxes, numbers in (
            ("unit", [one.box for one in shown], hidden),
            ("output", executions.outputs(state), outputs),
        ):
            for unit, box in enumerate(boxes):
                number = numbers[:, place, unit]
                # A box that is not a number promises nothing.
                out = ~((box.low <= number) & (number <= box.high) | np.isnan(box.low) | np.isnan(box.high))
                if np.any(out):
                    row = int(np.argmax(out))
                    ends = [float(np.broadcast_to(end, len(rows))[row]) for end in (box.low, box.high)]
                    return f"{name} {unit} after {rows[row, : place + 1].tolist()} is {float(number[row])!r}, outside {ends}"
    return None


def _repeat(box, strings):
    return Box(np.full(strings, box.low), np.full(strings, box.high))


def _choose(tokens, boxes):
    ends = ([np.broadcast_to(getattr(box, end), tokens.shape) for box in boxes] for end in ("low", "high"))
    return Box(*(np.choose(tokens, end) for end in ends))
