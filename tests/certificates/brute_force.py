"""Every string run one by one, in exact numbers or as executed: the oracle that the certificates are held against."""

from fractions import Fraction
from itertools import product

import numpy as np

from tallystick.cells import ReluCell, SelectiveCell
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
    return kind(a, b, some_weight(generator))


def some_readout(kind, cell, generator):
    """Thresholds that fall onto states of the cell half of the time."""
    if kind is ZeroCheck:
        return ZeroCheck()
    states = [cell.final_state(string) for string in ("(", ")", "()", ")(", "((", "))")] + [Fraction(0)]
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


def right_index(model, string):
    """The right class, from its definition: κ = 0 for a ReLU cell's zero check, the sign of the count otherwise."""
    count, kappa = 0, 0
    for token in string:
        step = 1 if token == "(" else -1
        count, kappa = count + step, max(0, kappa + step)
    if isinstance(model.readout, ZeroCheck):
        return int((kappa if isinstance(model.cell, ReluCell) else count) == 0)
    sign = (count > 0) - (count < 0)
    return int(sign > 0) if isinstance(model.readout, BinaryReadout) else sign + 1


def states_by_string(model, longest):
    """Every string to a length with its final state; each state is one step from a shorter one."""
    cell = model.cell
    found = {"": np.asarray(cell.open_step).dtype.type(0) if not isinstance(cell.open_step, Fraction) else Fraction(0)}
    current = dict(found)
    for _ in range(longest):
        current = {string + token: _step(cell, state, token) for string, state in current.items() for token in "()"}
        found |= current
    return found


def _step(cell, h, token):
    opening = token == "("
    c = cell.open_step if opening else cell.close_step
    if isinstance(cell, SelectiveCell):
        return (cell.open_recurrent_weight if opening else cell.close_recurrent_weight) * h + c
    h = cell.recurrent_weight * h + c
    return max(h, 0 * h) if isinstance(cell, ReluCell) else h


def failing_strings(model, longest):
    """Every failing string to a length, shortest first."""
    states = states_by_string(model, longest)
    return [s for s, h in states.items() if s and int(model.readout.class_index(h)) != right_index(model, s)]


def brackets(length):
    return ["".join(tokens) for tokens in product("()", repeat=length)]
