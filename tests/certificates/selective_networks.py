"""Networks with one matrix per token for the tests, and every string of them in whole numbers."""

from fractions import Fraction
from math import lcm

import numpy as np
from linear_networks import ONE, ZERO, change_of_basis, eighths, matrix_product, readouts

import tallystick as ts


def diagonal(values):
    return [[value if i == j else ZERO for j in range(len(values))] for i, value in enumerate(values)]


def seen_from_another_basis(generator, matrices, steps, v):
    P, inverse = change_of_basis(generator, len(v))
    moved = [[x for (x,) in matrix_product(P, [[x] for x in vector])] for vector in steps]
    turned = [matrix_product(matrix_product(P, matrix), inverse) for matrix in matrices]
    return turned, moved, matrix_product([v], inverse)[0]


def steps_near_a_count(generator, d):
    closing = generator.choice([-ONE, -ONE, -ONE, Fraction(-7, 8)])
    return [ONE, *eighths(generator, d - 1, 2)], [closing, *eighths(generator, d - 1, 2)]


def gated(generator, d):
    """One unit that counts or nearly does, and others with a factor of their own for each token, 0, 1 and negative ones too."""
    factors = [
        [generator.choice([ONE, ONE, ONE, Fraction(15, 16), Fraction(9, 8)]), *eighths(generator, d - 1, 8)]
        for _ in "()"
    ]
    return (
        [diagonal(values) for values in factors],
        steps_near_a_count(generator, d),
        [ONE, *eighths(generator, d - 1, 2)],
    )


def undone(generator, d):
    """Units whose closing map undoes their opening map: functions of the count, monotone or not."""
    opening = [generator.choice([ONE, Fraction(2), Fraction(1, 2), -ONE, Fraction(-2)]) for _ in range(d)]
    closing = [1 / factor for factor in opening]
    a = [ONE, *eighths(generator, d - 1, 4)]
    b = [-q * x for q, x in zip(closing, a, strict=True)]
    return [diagonal(opening), diagonal(closing)], (a, b), [ONE, *eighths(generator, d - 1, 4)]


def mixed(generator, d):
    """The same units as `gated`, seen from another basis: dense matrices that commute."""
    return seen_from_another_basis(generator, *gated(generator, d))


def polynomials(generator, d):
    """Two polynomials of one matrix, defective or nilpotent ones among them, beside a unit that counts."""
    rest = diagonal([ONE, *[generator.choice([ZERO, ZERO, Fraction(1, 2), Fraction(-1, 2)])] * (d - 1)])
    for place in range(1, d - 1):
        rest[place][place + 1] = generator.choice([ZERO, ONE])
    square = matrix_product(rest, rest)
    matrices = []
    for _ in "()":
        p, q = eighths(generator, 2, 4)
        joint = [[p * x + q * y for x, y in zip(*rows, strict=True)] for rows in zip(rest, square, strict=True)]
        joint[0] = [ONE, *[ZERO] * (d - 1)]
        matrices.append(joint)
    return seen_from_another_basis(
        generator, matrices, steps_near_a_count(generator, d), [ONE, *eighths(generator, d - 1, 3)]
    )


def any_factors(generator, d):
    return (
        [diagonal(eighths(generator, d, 12)) for _ in "()"],
        [eighths(generator, d, 12) for _ in "()"],
        eighths(generator, d, 12),
    )


COMMUTING = {kind.__name__: kind for kind in (gated, undone, mixed, polynomials, any_factors)}


def any_matrices(generator, d):
    """Matrices that seldom commute."""
    return (
        [[eighths(generator, d, 8) for _ in range(d)] for _ in "()"],
        [eighths(generator, d, 8) for _ in "()"],
        eighths(generator, d, 8),
    )


def unseen(generator, d):
    """An exact counter; what its other units do, no output sees, but they see the counter."""
    matrices = [diagonal([ONE, *[ZERO] * (d - 1)]) for _ in "()"]
    for matrix in matrices:
        for row in matrix[1:]:
            row[:] = eighths(generator, d, 16)
    steps = [ONE, *eighths(generator, d - 1, 8)], [-ONE, *eighths(generator, d - 1, 8)]
    return seen_from_another_basis(generator, matrices, steps, [ONE, *[ZERO] * (d - 1)])


def unreached(generator, d):
    """An exact counter; its output sees units that stay at 0, whatever their matrices."""
    matrices = [diagonal([ONE, *[ZERO] * (d - 1)]) for _ in "()"]
    for matrix in matrices:
        for row in matrix[1:]:
            row[1:] = eighths(generator, d - 1, 16)
        matrix[0][1:] = eighths(generator, d - 1, 8)
    steps = [ONE, *[ZERO] * (d - 1)], [-ONE, *[ZERO] * (d - 1)]
    return seen_from_another_basis(generator, matrices, steps, [ONE, *eighths(generator, d - 1, 8)])


DENSE = {kind.__name__: kind for kind in (any_matrices, unseen, unreached)}


def layer_of(matrices, steps):
    """A diagonal layer where it can be one."""
    d = len(steps[0])
    inputs = tuple(zip(*steps, strict=True))
    if all(matrix == diagonal([matrix[i][i] for i in range(d)]) for matrix in matrices):
        return ts.SelectiveLayer(inputs, tuple(tuple(m[i][i] for m in matrices) for i in range(d)), (ZERO,) * d)
    return ts.MatrixLayer(inputs, tuple(tuple(map(tuple, matrix)) for matrix in matrices), (ZERO,) * d)


def some_network(generator, kind, d, readout=None, *, start=False):
    """A network of a kind; with a state to start from it is a stack of one layer."""
    matrices, steps, v = {**COMMUTING, **DENSE}[kind](generator, d)
    layer = layer_of(matrices, steps)
    cell = ts.Stack((layer,), start=(tuple(eighths(generator, d, 2)),)) if start else layer
    made = readouts(v, Fraction(generator.randint(0, 8), 8))
    chosen, task = made[readout or generator.choice(list(made))]
    return ts.Network(cell, chosen, task)


def wrong_strings(network, longest, stride=1):
    """The first counted length with wrong strings, and these; (None, set()) where there are none: every string is run."""
    exact = network.in_arithmetic("rational")
    layer, start = exact.cell, [ZERO] * exact.cell.units
    if isinstance(layer, ts.Stack):
        (start,), (layer,) = layer.start, layer.layers
    if isinstance(layer, ts.SelectiveLayer):
        matrices = [diagonal(values) for values in zip(*layer.recurrent_weight, strict=True)]
    else:
        matrices = layer.recurrent_weight
    D = lcm(8, *(x.denominator for matrix in matrices for row in matrix for x in row))
    D = lcm(D, *(x.denominator for row in layer.input_weight for x in row))
    transposed = [np.array([[int(x * D) for x in row] for row in matrix], object).T for matrix in matrices]
    steps = np.array([[int(x * D) for x in column] for column in zip(*layer.input_weight, strict=True)], object)
    E = lcm(*(x.denominator for row in (*exact.readout.weight, exact.readout.bias) for x in row))
    V, bias = (
        np.array([[int(x * E) for x in row] for row in rows], object)
        for rows in (exact.readout.weight, [exact.readout.bias])
    )
    states, counts, strings, scale = np.array([[int(x * D) for x in start]], object), np.zeros(1, int), [""], 1
    for length in range(1, longest + 1):
        states = np.stack(
            [states @ A + scale * D * step for A, step in zip(transposed, steps, strict=True)], axis=1
        ).reshape(2 * len(states), -1)
        counts = np.stack([counts + 1, counts - 1], axis=1).ravel()
        strings = [string + token for string in strings for token in "()"]
        scale *= D
        outputs = states @ V.T + bias * scale * D
        if outputs.shape[1] == 1:
            found = (outputs[:, 0] > 0).astype(int)
        else:
            found = np.array([list(row).index(max(row)) for row in outputs])
        wrong = found != network.task.right_classes(counts)
        if length % stride == 0 and wrong.any():
            return length, {strings[place] for place in np.flatnonzero(wrong)}
    return None, set()
