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
from tallystick.certificates.certify import certify
from tallystick.certificates.running.libraries import Build
from tallystick.certificates.running.library_arrays import load_library
from tallystick.certificates.running.string_blocks import all_rows
from tallystick.networks import Network, Readout
from tallystick.numbers import float_format, standard_floats
from tallystick.numbers.any_order import span_between
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
KINDS = (*LAYERS, *SCALARS, "stack", "counter", "layer counter")
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


def layer_counter(generator):
    """A layer without gates near a counter of the count, with more units beside it that forget."""
    units, noise = int(generator.integers(1, 5)), generator.choice((0.0, 1e-3, 0.02))
    W = noise * generator.normal(size=(units, 2))
    U = np.diag(np.concatenate([[1.0], generator.uniform(-0.5, 0.5, units - 1)])) + noise * generator.normal(
        size=(units, units)
    )
    W[0] += (1, -1)
    biases = noise * generator.normal(size=(2, units))
    return LinearLayer(*(nested(np.asarray(part, np.float32).tolist()) for part in (W, U, *biases)))


def random_network(kind, generator):
    if kind == "layer counter":
        cell = layer_counter(generator)
        row = (1.0, *generator.normal(size=cell.units - 1) * 0.05)
        readouts = (
            Readout((row,), (-0.5,)),
            Readout((tuple(-w for w in row), (0.0,) * cell.units, row), (-0.5, 0.0, -0.5)),
        )
        return Network(cell, readouts[int(generator.integers(0, 2))])
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
    if kind == "counter" and generator.random() < 0.8:  # one that is right for a while
        bias = -float(np.tanh(0.5)) * cell.units
        ones = (1.0,) * cell.units
        rows = (
            ((ones,), (bias,))
            if outputs == 1
            else ((tuple(-w for w in ones), (0.0,) * cell.units, ones), (bias, 0.0, bias))
        )
        return Network(cell, Readout(*rows))
    V, c = _weights((outputs, cell.units), 1.0, generator), _weights((outputs,), 1.0, generator)
    return Network(cell, Readout(V, c))


@standard_floats()
def enclosure(network, arithmetic, rows):
    """Return the bounds of what the readout sees and of the outputs after each token: pairs (low, high), as `along` has them."""
    executions = Executions.of(network, arithmetic + "-any-order")
    state = map_states(lambda box: _repeat(box, len(rows)), executions.initial_state)
    found = [], []
    for place in range(rows.shape[1]):
        states = [executions.step(state, token) for token in executions.inputs.values()]
        state = map_states(lambda *boxes, place=place: _choose(rows[:, place], boxes), *states)
        shown = executions.recurrence.hidden(map_states(lambda box: span_between(box, executions.form), state))
        found[0].append(_ends([one.box for one in shown], len(rows)))
        found[1].append(_ends(executions.outputs(state), len(rows)))
    return [tuple(np.stack(ends, 1) for ends in zip(*part, strict=True)) for part in found]


def leaving(bounds, computed, rows):
    """Return where numbers that a library computed leave their bounds, or None."""
    for name, (low, high), numbers in zip(("unit", "output"), bounds, computed, strict=True):
        # A box that is not a number promises nothing.
        out = ~((low <= numbers) & (numbers <= high) | np.isnan(low) | np.isnan(high))
        if out.any():
            row, place, unit = (int(axis[0]) for axis in np.nonzero(out))
            ends = [float(end[row, place, unit]) for end in (low, high)]
            number = float(numbers[row, place, unit])
            return f"{name} {unit} after {rows[row, : place + 1].tolist()} is {number!r}, outside {ends}"
    return None


def _ends(boxes, strings):
    """Return the lower and the upper bounds, one row per string and one column per box."""
    return tuple(np.stack([np.broadcast_to(getattr(box, end), strings) for box in boxes], 1) for end in ("low", "high"))


def _repeat(box, strings):
    return Box(np.full(strings, box.low), np.full(strings, box.high))


def _choose(tokens, boxes):
    ends = ([np.broadcast_to(getattr(box, end), tokens.shape) for box in boxes] for end in ("low", "high"))
    return Box(*(np.choose(tokens, end) for end in ends))


def concatenated(network, rows):
    """Run an LSTM or a layer without gates in PyTorch float32 as many write it: [x, h] times one matrix, with one bias."""
    torch = load_library("torch")
    cell, readout = network.cell, network.readout
    W, U, b_x, b_h = (torch.tensor(part, dtype=torch.float32) for part in cell.tensors().values())
    V, c = (torch.tensor(part, dtype=torch.float32) for part in (readout.weight, readout.bias))
    both, bias = torch.cat([W, U], 1).T.contiguous(), b_x + b_h
    hidden = memory = torch.zeros(len(rows), cell.units)
    shown, tokens = [], torch.nn.functional.one_hot(torch.from_numpy(rows), 2).float()
    for place in range(rows.shape[1]):
        found = torch.cat([tokens[:, place], hidden], 1) @ both + bias
        if isinstance(cell, LstmCell):
            i, f, g, o = found.chunk(4, 1)
            memory = torch.addcmul(torch.sigmoid(f) * memory, torch.sigmoid(i), torch.tanh(g))
            hidden = torch.sigmoid(o) * torch.tanh(memory)
        else:
            hidden = {TanhLayer: torch.tanh, ReluLayer: torch.relu, LinearLayer: lambda x: x}[type(cell)](found)
        shown.append(hidden)
    shown = torch.stack(shown, 1)
    return shown.double().numpy(), (shown @ V.T + c).double().numpy()


def leaving_any(network, arithmetic, rows, libraries):
    """Return where any library leaves the enclosure, batched and one string at a time, with its name; or None."""
    bounds = enclosure(network, arithmetic, rows)
    for library in libraries:
        build = Build(network, library, float_format(arithmetic))
        found = leaving(bounds, build.along(rows), rows)
        if found is None and library == "torch":
            alone = [build.along(row[None]) for row in rows[:2]]
            of_alone = [tuple(end[:2] for end in ends) for ends in bounds]
            found = leaving(of_alone, [np.concatenate(part) for part in zip(*alone, strict=True)], rows[:2])
            if found is None and arithmetic == "float32" and isinstance(network.cell, CONCATENATED):
                found = leaving(bounds, concatenated(network, rows), rows)
        if found is not None:
            return f"{library}: {found}"
    return None


CONCATENATED = (LstmCell, TanhLayer, ReluLayer, LinearLayer)
"""The cells that `concatenated` runs."""


def contradiction(network, library="torch", longest=12, arithmetic="float32"):
    """Return how every string to a length, run in a format, contradicts the verdict that holds in any order; or None."""
    verdict = certify(network, arithmetic=f"{arithmetic}-any-order", limit=longest)
    rows = all_rows(2, longest)
    _, outputs = Build(network, library, float_format(arithmetic)).along(rows)
    task = network.task
    for place in range(longest):
        found = outputs[:, place].argmax(1) if outputs.shape[2] > 1 else (outputs[:, place, 0] > 0) * 1
        counts = np.cumsum(1 - 2 * rows[:, : place + 1], axis=1)[:, -1]
        wrong = (
            found
            != np.array([task.index_of_count(int(count)) for count in range(-longest, longest + 1)])[counts + longest]
        )
        if place < (verdict.horizon or 0) and wrong.any():
            return f"horizon {verdict.horizon}, but {rows[int(wrong.argmax()), : place + 1].tolist()} fails"
        for failure in filter(None, (verdict.failure, verdict.known_failure)):
            if failure.length == place + 1:
                tokens = np.array(["()".index(token) for token in failure.string])
                row = int(np.flatnonzero((rows[:, : place + 1] == tokens).all(1))[0])
                if not wrong[row] or task.classes[found[row]] != failure.found:
                    return f"{failure.string} is said to fail, and gets {task.classes[found[row]]}"
    return None
