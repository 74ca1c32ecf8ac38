"""GRUs and LSTMs for the tests: counters made by hand, the same with noise, random and trained ones; every string by NumPy.

The trained ones lie in `trained_networks.json`: two seeds of each cell, one and two units, two methods. `train_networks.py`
trains them.
"""

import json
import math
from pathlib import Path

import numpy as np

from tallystick.cells import CELLS, GatedCell, GruCell, LstmCell
from tallystick.certificates.verdict import Outcome
from tallystick.networks import Network, Readout

VECTOR_CELLS = {name: kind for name, kind in CELLS.items() if issubclass(kind, GatedCell)}
TRAINED = Path(__file__).with_name("trained_networks.json")


def nested(array):
    return tuple(map(nested, array)) if isinstance(array, list) else array


def counting_lstm(saturation, units=1):
    """Gates f and i near 1, g near ±1: c is nearly the count. Positive where c is above one half; more units are copies."""
    inputs = (
        ((saturation, saturation),) * 2 * units + ((saturation, -saturation),) * units + ((saturation,) * 2,) * units
    )
    rows = 4 * units
    cell = LstmCell(inputs, ((0.0,) * units,) * rows, (0.0,) * rows, (0.0,) * rows)
    return Network(cell, Readout(((1.0,) * units,), (-units * math.tanh(0.5),)))


def counting_gru(keep, units=1):
    """A gate z = `keep` at every token and n near ±1: h' = z·h ± (1 − z), a linear unit that forgets slowly; more are copies."""
    z = math.log(keep / (1 - keep))
    inputs = ((0.0, 0.0),) * units + ((z, z),) * units + ((20.0, -20.0),) * units
    rows = 3 * units
    cell = GruCell(inputs, ((0.0,) * units,) * rows, (0.0,) * rows, (0.0,) * rows)
    return Network(cell, Readout(((1.0,) * units,), (-units * (1 - keep) / 2,)))


def ternary(model):
    """The same cell with three outputs: −h, a constant, and h, so that zero lies between two thresholds."""
    ((weight, *more),) = model.readout.weight
    (bias,) = model.readout.bias
    rows = ((-weight, *(-w for w in more)), (0.0,) * (1 + len(more)), (weight, *more))
    return Network(model.cell, Readout(rows, (bias, 0.0, bias)))


def with_noise(model, size, seed):
    """Every weight of the cell moved at random."""
    generator = np.random.default_rng(seed)
    return Network(model.cell.map_weights(lambda value, _: value + size * generator.normal()), model.readout)


def random_model(kind, units, outputs, seed):
    generator = np.random.default_rng(seed)
    cell = kind(*(nested(generator.normal(size=shape).tolist()) for shape in kind.shapes(units).values()))
    weight, bias = generator.normal(size=(outputs, units)), generator.normal(size=outputs)
    return Network(cell, Readout(nested(weight.tolist()), tuple(bias.tolist())))


def squashed(x):
    return 1 / (1 + np.exp(-x))


def every_state(model, longest):
    """Yield for each length h and c of every string (a row a string, in the order of the tokens) and the counts."""
    cell = model.cell
    W, U, b_x, b_h = (
        np.array(part, float)
        for part in (cell.input_weight, cell.recurrent_weight, cell.input_bias, cell.recurrent_bias)
    )
    h = c = np.zeros((1, cell.units))
    counts = np.zeros(1, int)
    for _ in range(longest):
        from_hidden = np.split(h @ U.T + b_h, cell.gates, axis=1)
        new = [_stepped(cell, np.split(W[:, token] + b_x, cell.gates), from_hidden, h, c) for token in (0, 1)]
        h, c = (np.stack(parts, axis=1).reshape(-1, cell.units) for parts in zip(*new, strict=True))
        counts = np.stack([counts + 1, counts - 1], axis=1).reshape(-1)
        yield h, c, counts


def _stepped(cell, from_token, from_hidden, h, c):
    if isinstance(cell, GruCell):
        r, z = (squashed(x + y) for x, y in zip(from_token[:2], from_hidden[:2], strict=True))
        return (1 - z) * np.tanh(from_token[2] + r * from_hidden[2]) + z * h, c
    i, f, g, o = (x + y for x, y in zip(from_token, from_hidden, strict=True))
    c = squashed(f) * c + squashed(i) * np.tanh(g)
    return squashed(o) * np.tanh(c), c


def mistakes(model, longest, margin=1e-9):
    """For each length: whether some string is wrong beyond rounding, and whether some string's class hangs on rounding."""
    for h, _, counts in every_state(model, longest):
        outputs = h @ np.array(model.readout.weight, float).T + np.array(model.readout.bias, float)
        if outputs.shape[1] == 1:
            outputs = np.hstack([np.zeros_like(outputs), outputs])
            right = (counts > 0).astype(int)
        else:
            right = np.sign(counts) + 1
        best, second = np.sort(outputs, axis=1)[:, :-3:-1].T
        of_right = np.take_along_axis(outputs, right[:, None], 1)[:, 0]
        np.put_along_axis(outputs, right[:, None], -np.inf, 1)
        ahead = of_right - outputs.max(axis=1)
        yield bool((ahead < -margin).any()), bool((best - second <= margin).any())


@np.errstate(all="ignore")
def wrong_verdict(verdict, longest, margin=1e-9):
    """What is wrong with a verdict, as far as every string to a length tells, or None.

    Every string to length 14 has a box of its own, so that nothing as short as that may be left open.
    """
    model, lengths = verdict.model, verdict.lengths
    wrong = dict(enumerate(mistakes(model, longest, margin), start=1))
    first = next((length for length in lengths.upto(longest) if wrong[length][0]), None)
    if first is not None and first <= verdict.horizon:
        return f"a string of length {first} fails, unseen"
    for failure in filter(None, (verdict.failure, verdict.known_failure)):
        if not _may_get(model, failure.string, failure.found, margin):
            return "the string gets another class"
        if not failure.found != failure.right == model.right_class(failure.string):
            return "the string does not fail"
        if failure.length <= longest and not any(wrong[failure.length]):
            return "no string of its length fails"
    close = any(within for length, (_, within) in wrong.items() if first is None or length <= first)
    if first is None or close or (verdict.outcome, verdict.horizon) == (Outcome.REFUTED, first - lengths.stride):
        return None
    return f"length {first} fails, and is left open"


def _may_get(model, string, name, margin):
    """Whether a string gets a class in float64, as far as that tells."""
    executed = model.in_arithmetic("float64")
    outputs = executed.outputs(string)
    outputs = outputs if len(outputs) > 1 else [0.0, *outputs]
    return outputs[executed.task.classes.index(name)] >= max(outputs) - margin


def trained_models():
    """Networks as training leaves them: binary, with bias, to length 8, a hundred epochs, float32."""
    return {name: _of_lists(**network) for name, network in json.loads(TRAINED.read_text()).items()}


def _of_lists(cell, weights, readout):
    return Network(VECTOR_CELLS[cell](*map(nested, weights)), Readout(*map(nested, readout)))


MODELS = {
    **{f"counting LSTM {w}": counting_lstm(w) for w in (2.0, 3.0, 4.0, 9.0)},
    **{f"counting GRU {keep}": counting_gru(keep) for keep in (0.6, 0.9, 0.97)},
    "two equal units": counting_lstm(4.0, units=2),
    "ternary LSTM": ternary(counting_lstm(5.0)),
    "ternary GRU": ternary(counting_gru(0.95)),
    **{f"noisy LSTM {seed}": with_noise(counting_lstm(4.0, units=2), 0.15, seed) for seed in range(3)},
    **{f"noisy GRU {seed}": with_noise(ternary(counting_gru(0.9)), 0.05, seed) for seed in range(3)},
    **{f"noisy LSTM of one unit {seed}": with_noise(counting_lstm(4.5), 0.1, seed) for seed in range(3)},
    **{f"noisy GRU of two units {seed}": with_noise(counting_gru(0.97, units=2), 0.01, seed) for seed in range(3)},
    **{
        f"random {name} {units} {outputs}": random_model(kind, units, outputs, seed=units)
        for name, kind in VECTOR_CELLS.items()
        for units in (1, 2, 3)
        for outputs in (1, 3)
    },
    **trained_models(),
}
