"""Every string run one by one, in exact numbers or as executed: the oracle that the certificates are held against.

It shares nothing with the package but the classes that hold weights. Plain floating point is NumPy's own; a fused
multiply-add is done in whole numbers; tanh of a rational is taken from the decimal module, to sixty digits or more.

A model has a number for each weight and its states lie in a row. A table of models has a column for each weight, and a row of
states for each model.
"""

from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from itertools import product
from math import lcm, log10

import numpy as np

from tallystick.cells import CELLS, ReluCell, ScalarCell, SelectiveCell, TanhCell
from tallystick.networks import Network, Readout
from tallystick.numbers import Fused

SCALAR_CELLS = {name: kind for name, kind in CELLS.items() if issubclass(kind, ScalarCell)}
READOUTS = ("zero", "binary", "ternary")
"""The kinds of networks that are run here."""

SMALL = [Fraction(n, d) for d in (1, 2, 3, 4) for n in range(-6, 7)]
DIGITS = 60
MOST_DIGITS = 400
"""Decimal digits of a tanh, and those beyond which it takes too long."""

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
    if kind == "zero":
        return Readout.zero()
    linear = cell if not isinstance(cell, TanhCell) else ReluCell(cell.open_step, cell.close_step, 1)
    states = [linear.final_state(string) for string in ("(", ")", "()", ")(", "((", "))")] + [Fraction(0)]
    at = generator.choice([*states, Fraction(0), cell.open_step / 2, Fraction(generator.gauss(0, 1))])
    if kind == "binary":
        v = generator.choice([1, 1, 2, -1, Fraction(generator.gauss(0, 1)), 0]) * (1 if cell.open_step > 0 else -1)
        return Readout.binary(Fraction(v), Fraction(generator.choice([-v * at, 0, 0, -v * cell.open_step / 2])))
    if generator.random() < 0.5:
        # Lines that meet at two chosen places: negative | zero | positive.
        first, second = generator.choice([*states, -cell.open_step / 2]), generator.choice([at, cell.open_step / 2])
        slope = Fraction(1 if cell.open_step > 0 else -1)
        shift = generator.choice([0, 0, 1, Fraction(1, 3)])
        return Readout.ternary((shift - slope, shift, shift + slope), (slope * first, Fraction(0), -slope * second))
    weights, biases = ([generator.choice(SMALL) for _ in range(3)] for _ in range(2))
    return Readout.ternary(tuple(weights), tuple(biases))


def some_model(cell_kind, readout_kind, generator):
    cell = some_cell(cell_kind, generator)
    return Network(cell, some_readout(readout_kind, cell, generator))


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
    semi_dyck1 = isinstance(model.cell, ReluCell) and model.readout.kind == "zero"
    for _ in range(length):
        count = np.stack([count + 1, count - 1], axis=1).ravel()
        count = np.maximum(count, 0) if semi_dyck1 else count
    if model.readout.kind == "zero":
        return (count == 0).astype(int)
    return (count > 0).astype(int) if model.readout.kind == "binary" else np.sign(count) + 1


def states(cell, longest, growth=None):
    """Go through the lengths from 0; the final state of every string, each one step from a shorter one.

    A growth D is what the steps are multiplied with from each length to the next, as `table_of` has it.
    """
    h = _empty_strings_state(cell.open_step)
    yield h
    weights, steps = recurrent_weights(cell), [cell.open_step, cell.close_step]
    for _ in range(longest):
        images = [_line(w, h, c) for w, c in zip(weights, steps, strict=True)]
        h = _squashed(cell, np.stack(images, axis=-1).reshape(*h.shape[:-1], -1))
        yield h
        steps = steps if growth is None else [step * growth for step in steps]


def _empty_strings_state(step):
    if isinstance(step, Fraction):
        return np.array([step * 0], object)
    return np.atleast_1d(np.asarray(step) * 0)


def final_state(cell, string):
    """The state after one string, in an array of one."""
    h = _empty_strings_state(cell.open_step)
    weights, steps = recurrent_weights(cell), (cell.open_step, cell.close_step)
    for token in string:
        place = "()".index(token)
        h = _squashed(cell, _line(weights[place], h, steps[place]))
    return h


def recurrent_weights(cell):
    """What `(` and what `)` multiplies the state with."""
    if isinstance(cell, SelectiveCell):
        return [cell.open_recurrent_weight, cell.close_recurrent_weight]
    return [cell.recurrent_weight] * 2


def found_indices(readout, h):
    """The class that each state gets, from the definition of the readout."""
    if readout.kind == "zero":
        return (h == 0).astype(int)
    outputs = [_line(v, h, c) for (v,), c in zip(readout.weight, readout.bias, strict=True)]
    if readout.kind == "binary":
        return (outputs[0] > 0).astype(int)
    best, index = outputs[0], np.zeros(h.shape, int)
    for place, output in enumerate(outputs[1:], start=1):
        better = (output > best).astype(bool)
        best, index = np.where(better, output, best), np.where(better, place, index)
    return index


def classes(model, longest):
    """For each length from 1, the class that each string gets and the right one."""
    with np.errstate(all="ignore"), localcontext(prec=digits_needed(model)):
        found = [found_indices(model.readout, h) for h in states(model.cell, longest)]
    return {length: (found[length], right_indices(model, length)) for length in range(1, longest + 1)}


def classes_of_many(models, longest):
    """The same for models of one kind in one arithmetic: the classes that they give have a row a model."""
    if _is_real_tanh(models[0]):  # each to as many digits as it needs
        each = [classes(model, longest) for model in models]
        return {length: (np.stack([one[length][0] for one in each]), right) for length, (_, right) in each[0].items()}
    table, growth = table_of(models)
    found, unit = {}, 1
    with np.errstate(all="ignore"):
        for length, h in enumerate(states(table.cell, longest, growth)):
            readout = table.readout if growth is None else _in_units(table.readout, unit)
            found[length] = found_indices(readout, h), right_indices(table, length)
            unit = unit if growth is None else unit * growth
    return {length: found[length] for length in range(1, longest + 1)}


def table_of(models):
    """Models as one whose weights are columns, and a column of what their steps grow by, or None.

    Rationals are made whole: with D a common denominator of a cell's weights, H_N = D^N·h_N is D·U times H_(N−1) and
    D^(N−1) times D·c, and v·h + c has the sign of v·H + c·D^N.
    """
    growth = None
    if isinstance(models[0].cell.open_step, Fraction):
        growth = _column([_denominator(vars(model.cell).values()) for model in models])
        models = [_whole(model, int(D)) for model, D in zip(models, growth.ravel(), strict=True)]
    cells, readouts = [model.cell for model in models], [model.readout for model in models]
    cell = type(cells[0])(*(_column([vars(cell)[name] for cell in cells]) for name in vars(cells[0])))
    return Network(cell, stacked_readout(readouts, _column)), growth


def stacked_readout(readouts, column):
    """Readouts of one kind as one, each of its weights a column of theirs."""
    if readouts[0].kind == "zero":
        return readouts[0]
    weight = tuple(
        (column([readout.weight[place][0] for readout in readouts]),) for place in range(len(readouts[0].bias))
    )
    bias = tuple(column([readout.bias[place] for readout in readouts]) for place in range(len(weight)))
    return Readout(weight, bias)


def _whole(model, D):
    cell, readout = model.cell.map_weights(lambda weight, _: int(weight * D)), model.readout
    E = _denominator(lines(readout))
    return Network(cell, readout.map_weights(lambda number, _: int(number * E)))


def _denominator(numbers):
    return lcm(*(Fraction(number).denominator for number in numbers))


def _in_units(readout, unit):
    """A readout for states in units: its biases are in units, too."""
    return readout.map_weights(lambda number, name: number * unit if name == "bias" else number)


def _column(numbers):
    first = numbers[0]
    if isinstance(first, Fused):
        return Fused(_column([number.value for number in numbers]), first.form)
    return np.array(numbers, object if isinstance(first, int) else np.asarray(first).dtype)[:, None]


def failing_strings(model, longest):
    """Every failing string to a length, shortest first."""
    return [
        string_at(place, length)
        for length, (found, right) in classes(model, longest).items()
        for place in np.flatnonzero(found != right).tolist()
    ]


def _line(w, h, c):
    """w·h + c: each operation as NumPy rounds it, fused in whole numbers, or exact."""
    if isinstance(w, Fused):
        return _fused_line(w, np.asarray(h, float), c)
    with _enough_digits():
        if isinstance(h.flat[0], Decimal):
            w, c = (_decimal(x) for x in (w, c))
        return w * h + c


_bit_length = np.frompyfunc(int.bit_length, 1, 1)


def _fused_line(w, h, c):
    """One rounding, in whole multiples of the format's least number: to its digits, a tie to even, no finer than that."""
    digits, least = w.form.digits, w.form.least_exponent
    factor, term, finite = *(np.atleast_1d(np.asarray(x, float)) for x in (w.value, c)), np.isfinite(h)
    total = _multiples(factor, least) * _multiples(np.where(finite, h, 0), least) + (_multiples(term, least) << -least)
    with np.errstate(over="ignore", invalid="ignore"):
        found = _as_doubles(total, 2 * least) if digits == 53 else _cut_off(total, digits, least)
        return np.where(finite, found, h * factor + term).astype(w.form.kind)


def _as_doubles(total, power):
    """Whole numbers times 2^power as the nearest doubles: Python divides whole numbers with a single rounding."""
    too_large = abs(total) >= (2**54 - 1) << (970 - power)
    nearest = (np.where(too_large, 0, total) / (1 << -power)).astype(float)
    return np.where(too_large.astype(bool), np.where(total > 0, np.inf, -np.inf), nearest)


def _cut_off(total, digits, least):
    """Whole numbers times 2^(2·least) to so many digits, a tie to even, and to no less than 2^least."""
    size = abs(total)
    drop = np.maximum(_bit_length(size) - digits, -least)
    kept = size >> drop
    rest, half = size - (kept << drop), 1 << (drop - 1)
    kept = kept + ((rest > half) | ((rest == half) & (kept % 2 == 1))).astype(bool)
    return np.ldexp(kept.astype(float), (drop + 2 * least).astype(int)) * np.where(total < 0, -1, 1)


def _multiples(h, least):
    """Floats as whole multiples of 2^least."""
    part, power = np.frexp(h)
    digits, shift = (part * 2.0**53).astype(np.int64).astype(object), power - 53 - least
    up, down = np.maximum(shift, 0).astype(object), np.maximum(-shift, 0).astype(object)
    return (digits << up) >> down


def _squashed(cell, x):
    if isinstance(cell, ReluCell):
        return np.maximum(x, np.zeros(1, x.dtype))  # of an overflow, too
    if not isinstance(cell, TanhCell):
        return x
    return np.array([_tanh(value) for value in x], object) if x.dtype == object else np.tanh(x)


# --- Tanh of rationals


def _is_real_tanh(model):
    return isinstance(model.cell, TanhCell) and isinstance(model.cell.open_step, Fraction)


def digits_needed(model):
    """How many decimal digits tell the states of a tanh cell in real numbers apart from what they come near to.

    tanh x is off x by about x³/3 and off 1 by about 2e^(−2x), and lines are told apart by the last digits of their numbers.
    Other models need none, and get what they would have.
    """
    if not _is_real_tanh(model):
        return getcontext().prec
    sizes = [abs(weight) for weight in vars(model.cell).values() if weight]
    least, most = min(sizes, default=Fraction(1)), sum(sizes)
    if most > MOST_DIGITS:
        return MOST_DIGITS + 1
    numbers = [part for line in lines(model.readout) for part in Fraction(line).as_integer_ratio()]
    longest = max((number.bit_length() for number in numbers), default=0)
    near_zero = 3 * max(0, round(log10(least.denominator) - log10(least.numerator)))
    return DIGITS + int(most) + near_zero + round(longest * log10(2))


def lines(readout):
    """The weights and biases of a readout."""
    return () if readout.kind == "zero" else (*(v for (v,) in readout.weight), *readout.bias)


def _enough_digits():
    return localcontext(prec=max(DIGITS, getcontext().prec))


def _decimal(x):
    x = Fraction(x)
    with _enough_digits():
        return Decimal(x.numerator) / Decimal(x.denominator)


def _tanh(x):
    """Tanh to as many digits as the context has; near zero no digit cancels."""
    x = _decimal(x) if isinstance(x, Fraction) else x
    with _enough_digits() as context:
        digits = context.prec
        if abs(x) > 2 * digits:
            return Decimal(1).copy_sign(x)
        context.prec = 2 * digits - min(0, 2 * x.adjusted())
        grown = (2 * x).exp()
        found = (grown - 1) / (grown + 1)
        context.prec = digits
        return +found
