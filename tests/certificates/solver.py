"""Networks for a solver, token by token with a truth value for each: z3 finds a failing string of a length, or finds none."""

from fractions import Fraction

import z3

from tallystick.cells import ReluCell, SelectiveCell


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
        semi_dyck1 = isinstance(cell, ReluCell) and model.readout.kind == "zero"
        following = z3.If(following < 0, 0, following) if semi_dyck1 else following
        defined += [state == after, total == following]
        h, count = state, total
    return tokens, h, count, defined


def wrong(readout, h, count):
    """The string's class is not the right one."""
    if readout.kind == "zero":
        return (h == 0) != (count == 0)
    outputs = [real(v) * h + real(c) for (v,), c in zip(readout.weight, readout.bias, strict=True)]
    if readout.kind == "binary":
        return (outputs[0] > 0) != (count > 0)
    negative, zero, positive = outputs
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


def solver_disagreement(verdict, longest):
    """What is wrong with a verdict in real arithmetic, or None: no length to the horizon fails, and the next one does."""
    model = verdict.model.in_arithmetic("rational")
    trusted = longest if verdict.horizon is None else min(verdict.horizon, longest)
    for length in verdict.lengths.upto(trusted):
        if some_string_fails(model, length):
            return f"the solver knows a failing string of length {length}"
    if verdict.failure and verdict.failure.length <= longest and not some_string_fails(model, verdict.failure.length):
        return f"the solver knows no failing string of length {verdict.failure.length}"
    return None
