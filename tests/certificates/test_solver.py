"""Horizons against a solver: z3 finds no failing string up to the horizon, and finds one at the next counted length.

The solver is given the network itself, token by token with a truth value for each, and none of the certificates' theory.
"""

import random
from fractions import Fraction

import pytest
from brute_force import some_model

from tallystick.cells import LinearCell, ReluCell, SelectiveCell
from tallystick.certificates.horizon import certify
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.models import Model
from tallystick.readouts import READOUTS, BinaryReadout, TernaryReadout, ZeroCheck

z3 = pytest.importorskip("z3")

LONGEST = 9
KINDS = [LinearCell, SelectiveCell, ReluCell]


def real(value):
    return z3.RealVal(str(Fraction(value)))


def network(model, length):
    """The tokens of a string, the state after it, its count, and what must hold of the tokens."""
    cell, tokens = model.cell, [z3.Bool(f"t{i}") for i in range(length)]
    weights = (
        (cell.open_recurrent_weight, cell.close_recurrent_weight)
        if isinstance(cell, SelectiveCell)
        else (cell.recurrent_weight,) * 2
    )
    h, count, defined = real(0), z3.IntVal(0), []
    for i, token in enumerate(tokens):
        after = z3.If(token, real(weights[0]) * h + real(cell.open_step), real(weights[1]) * h + real(cell.close_step))
        after = z3.If(after > 0, after, real(0)) if isinstance(cell, ReluCell) else after
        state, total = z3.Real(f"h{i}"), z3.Int(f"d{i}")
        following = count + z3.If(token, 1, -1)
        semi_dyck1 = isinstance(cell, ReluCell) and isinstance(model.readout, ZeroCheck)
        following = z3.If(following < 0, 0, following) if semi_dyck1 else following
        defined += [state == after, total == following]
        h, count = state, total
    return tokens, h, count, defined


def wrong(readout, h, count):
    """The string's class is not the right one."""
    if isinstance(readout, ZeroCheck):
        return (h == 0) != (count == 0)
    if isinstance(readout, BinaryReadout):
        return (real(readout.weight) * h + real(readout.bias) > 0) != (count > 0)
    negative, zero, positive = (real(v) * h + real(c) for v, c in zip(readout.weight, readout.bias, strict=True))
    is_positive = z3.And(positive > negative, positive > zero)
    is_zero = z3.And(zero > negative, zero >= positive)
    return z3.Or(is_positive != (count > 0), is_zero != (count == 0))


def some_string_fails(model, length):
    tokens, h, count, defined = network(model, length)
    solver = z3.Solver()
    solver.add(*defined, wrong(model.readout, h, count))
    answer = solver.check()
    assert answer != z3.unknown
    if answer == z3.unsat:
        return False
    found = solver.model()
    string = "".join("(" if z3.is_true(found.eval(token, model_completion=True)) else ")" for token in tokens)
    assert model.class_of(string) != model.right_class(string)
    return True


def near_counter(kind, readout, generator):
    """A model whose horizon is likely to be some lengths long."""
    spread = generator.choice([3, 5, 8, 13])
    a = Fraction(generator.choice([1, 2, 3]), generator.choice([1, 2]))
    off = [1 + Fraction(generator.randint(-2, 2), spread * 4) for _ in range(3)]
    cell = SelectiveCell(a, -a * off[0], off[1], off[2]) if kind is SelectiveCell else kind(a, -a * off[0], off[1])
    if readout is ZeroCheck:
        return some_model(kind, readout, generator)
    at = a * Fraction(generator.randint(0, 4), 5)
    if readout is BinaryReadout:
        return Model(cell, BinaryReadout(Fraction(1), -at))
    return Model(cell, TernaryReadout((-1, 0, 1), (-at, 0, -at)))


@pytest.mark.parametrize("readout", READOUTS.values(), ids=READOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_solver_agrees_with_the_horizon(kind, readout):
    generator, horizons = random.Random(f"{kind}{readout}"), set()
    for _ in range(12):
        model = generator.choice([near_counter, some_model])(kind, readout, generator)
        for lengths in Lengths:
            verdict = certify(model, lengths, limit=LONGEST)
            trusted = LONGEST if verdict.horizon is None else min(verdict.horizon, LONGEST)
            assert not any(some_string_fails(model, length) for length in lengths.upto(trusted))
            if verdict.outcome is Outcome.REFUTED and verdict.failure.length <= LONGEST:
                assert some_string_fails(model, verdict.failure.length)
            horizons.add(verdict.horizon)
    assert len(horizons) > 1
