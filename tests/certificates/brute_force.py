"""Every string run one by one, in exact numbers or as executed: the oracle that the certificates are held against.

It shares nothing with the package but the classes that hold weights. Plain floating point is NumPy's own; a fused
multiply-add is done in whole numbers; tanh of a rational is taken from the decimal module, to sixty digits.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np

from tallystick.arithmetic import Fused
from tallystick.cells import ReluCell, SelectiveCell, TanhCell
from tallystick.models import Model
from tallystick.readouts import BinaryReadout, TernaryReadout, ZeroCheck

SMALL = [Fraction(n, d) for d in (1, 2, 3, 4) for n in range(-6, 7)]
NEAR_ONE = [Fraction(s) for s in ("1", "9/10", "11/10", "99/100", "101/100", "5/4", "3/4", "999/1000", "1001/1000")]


def some_weight(generator):
    """A recurrent weight: often one or near it, sometimes zero, negative or far off."""
    return generator.choice(
        [generator.choice(NEAR_ONE), generator.choice(SMALL), Fraction(1), Fraction(generator.uniform(0.5, 1.5))]
    )


def some_steps(generator):
    """Steps of opposite sign, nearly so, or of any kind."""
    a = generator.choice([generator.choice(SMALL), Fraction(generator.gauss(0, 1)), Fraction(1)])
    b = generator.choice([-a, -a, -a * generator.choice(NEAR_ONE), generator.choice(SMALL)])
    return a, b


def some_cell(kind, generator):
    a, b = some_steps(generator)
    if kind is SelectiveCell:
        P, Q = some_weight(generator), some_weight(generator)
        if P and generator.random() < 0.6:
            Q = 1 / P
        b = generator.choice([b, -Q * a, -Q * a])
        return SelectiveCell(a, b, P, Q)
    if kind is TanhCell:  # which counts best where it is nearly linear
        a, b = (step * generator.choice([1, Fraction(1, 8), Fraction(1, 64)]) for step in (a, b))
    return kind(a, b, some_weight(generator))


def some_readout(kind, cell, generator):
    """Thresholds that fall onto states of the cell half of the time."""
    if kind is ZeroCheck:
        return ZeroCheck()
    linear = cell if not isinstance(cell, TanhCell) else ReluCell(cell.open_step, cell.close_step, 1)
    states = [linear.final_state(string) for string in ("(", ")", "()", ")(", "((", "))")] + [Fraction(0)]
    at = generator.choice([*states, Fraction(0), cell.open_step / 2, Fraction(generator.gauss(0, 1))])
    if kind is BinaryReadout:
        v = generator.choice([1, 1, 2, -1, Fraction(generator.gauss(0, 1)), 0]) * (1 if cell.open_step > 0 else -1)
        return BinaryReadout(Fraction(v), Fraction(generator.choice([-v * at, 0, 0, -v * cell.open_step / 2])))
    if generator.random() < 0.5:
        # Lines that meet at two chosen places: negative | zero | positive.
        first, second = generator.choice([*states, -cell.open_step / 2]), generator.choice([at, cell.open_step / 2])
        slope = Fraction(1 if cell.open_step > 0 else -1)
        shift = generator.choice([0, 0, 1, Fraction(1, 3)])
        return TernaryReadout((shift - slope, shift, shift + slope), (slope * first, Fraction(0), -slope * second))
    weights, biases = ([generator.choice(SMALL) for _ in range(3)] for _ in range(2))
    return TernaryReadout(tuple(weights), tuple(biases))


def some_model(cell_kind, readout_kind, generator):
    cell = some_cell(cell_kind, generator)
    return Model(cell, some_readout(readout_kind, cell, generator))


# --- Every string of a length is a place in an array: its tokens are the place's binary digits, `(` as 0 and first token first.


def string_at(place, length):
    return "".join(")" if place >> (length - 1 - i) & 1 else "(" for i in range(length))


def place_of(string):
    return int("0" + string.replace("(", "0").replace(")", "1"), 2)


def strings(length):
    """Every string of a length, in the order of the arrays."""
    return ["".join(tokens) for tokens in product("()", repeat=length)]


def right_indices(model, length):
    """The right class of every string: κ = 0 for a ReLU cell's zero check, the sign of the count otherwise."""
    count = np.zeros(1, int)
    semi_dyck1 = isinstance(model.cell, ReluCell) and isinstance(model.readout, ZeroCheck)
    for _ in range(length):
        count = np.stack([count + 1, count - 1], axis=1).ravel()
        count = np.maximum(count, 0) if semi_dyck1 else count
    if isinstance(model.readout, ZeroCheck):
        return (count == 0).astype(int)
    return (count > 0).astype(int) if isinstance(model.readout, BinaryReadout) else np.sign(count) + 1


def states(cell, longest):
    """Go through the lengths from 0; the final state of every string, each one step from a shorter one."""
    number = cell.open_step
    h = np.array([number * 0], object if isinstance(number, Fraction) else None)
    yield h
    weights = [cell.recurrent_weight] * 2 if not isinstance(cell, SelectiveCell) else _both_weights(cell)
    for _ in range(longest):
        images = [_line(w, h, c) for w, c in zip(weights, (cell.open_step, cell.close_step), strict=True)]
        h = _squashed(cell, np.stack(images, axis=1).ravel())
        yield h


def found_indices(readout, h):
    """The class that each state gets, from the definition of the readout."""
    if isinstance(readout, ZeroCheck):
        return (h == 0).astype(int)
    if isinstance(readout, BinaryReadout):
        return (_line(readout.weight, h, readout.bias) > 0).astype(int)
    outputs = [_line(v, h, c) for v, c in zip(readout.weight, readout.bias, strict=True)]
    best, index = outputs[0], np.zeros(len(h), int)
    for place, output in enumerate(outputs[1:], start=1):
        better = (output > best).astype(bool)
        best, index = np.where(better, output, best), np.where(better, place, index)
    return index


def classes(model, longest):
    """For each length from 1, the class that each string gets and the right one."""
    with np.errstate(all="ignore"):
        found = [found_indices(model.readout, h) for h in states(model.cell, longest)]
    return {length: (found[length], right_indices(model, length)) for length in range(1, longest + 1)}


def failing_strings(model, longest):
    """Every failing string to a length, shortest first."""
    return [
        string_at(place, length)
        for length, (found, right) in classes(model, longest).items()
        for place in np.flatnonzero(found != right).tolist()
    ]


def _both_weights(cell):
    return [cell.open_recurrent_weight, cell.close_recurrent_weight]


def _line(w, h, c):
    """w·h + c: each operation as NumPy rounds it, fused in whole numbers, or exact."""
    if isinstance(w, Fused):
        return _fused_line(w, np.asarray(h, float), Fraction(float(c)))
    with localcontext(prec=60):
        if isinstance(h[0], Decimal):
            w, c = (_decimal(x) for x in (w, c))
        return w * h + c


_bit_length = np.frompyfunc(int.bit_length, 1, 1)


def _fused_line(w, h, c):
    """One rounding, in whole multiples of the format's least number: to its digits, a tie to even, no finer than that."""
    digits, least = w.form.digits, w.form.least_exponent
    scale = Fraction(2) ** -least
    finite = np.isfinite(h)
    total = int(Fraction(float(w)) * scale) * _whole(np.where(finite, h, 0), least) + (int(c * scale) << -least)
    size = abs(total)
    drop = np.maximum(_bit_length(size) - digits, -least)
    kept = size >> drop
    rest, half = size - (kept << drop), 1 << (drop - 1)
    kept = kept + ((rest > half) | ((rest == half) & (kept % 2 == 1))).astype(bool)
    with np.errstate(over="ignore"):
        found = np.ldexp(kept.astype(float), (drop + 2 * least).astype(int)) * np.where(total < 0, -1, 1)
        return np.where(finite, found, h * float(w) + float(c)).astype(w.form.kind)


def _whole(h, least):
    """Floats as whole multiples of 2^least."""
    part, power = np.frexp(h)
    digits, shift = (part * 2.0**53).astype(np.int64).astype(object), power - 53 - least
    up, down = np.maximum(shift, 0).astype(object), np.maximum(-shift, 0).astype(object)
    return (digits << up) >> down


def _squashed(cell, x):
    if isinstance(cell, ReluCell):
        return np.maximum(x, x[0] * 0)
    if not isinstance(cell, TanhCell):
        return x
    return np.array([_tanh(value) for value in x], object) if x.dtype == object else np.tanh(x)


def _decimal(x):
    x = Fraction(x)
    with localcontext(prec=60):
        return Decimal(x.numerator) / Decimal(x.denominator)


def _tanh(x):
    """Tanh to sixty digits; near zero no digit cancels."""
    x = _decimal(x) if isinstance(x, Fraction) else x
    with localcontext(prec=120):
        grown = (2 * x).exp()
        found = (grown - 1) / (grown + 1)
    with localcontext(prec=60):
        return +found
