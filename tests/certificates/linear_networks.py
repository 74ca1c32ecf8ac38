"""Linear networks of several units for the tests, and every string of them in whole numbers."""

from fractions import Fraction
from math import lcm
from operator import mul

import numpy as np

import tallystick as ts
from tallystick.languages.tasks import BB_MEMBERSHIP, BINARY, TERNARY
from tallystick.networks.readout import GREATEST, SIGN

ZERO, ONE = Fraction(0), Fraction(1)


def matrix_product(X, Y):
    """The product of rational matrices, each over one denominator: to add fractions one by one takes several times as long."""
    (rows, D), (columns, E) = over_one_denominator(X), over_one_denominator(list(zip(*Y, strict=True)))
    return [[Fraction(sum(map(mul, row, column)), D * E) for column in columns] for row in rows]


def over_one_denominator(rows):
    D = lcm(*(x.denominator for row in rows for x in row))
    return [[x.numerator * (D // x.denominator) for x in row] for row in rows], D


def change_of_basis(generator, d):
    """A whole matrix with a whole inverse, and that inverse."""
    P = [[Fraction(int(i == j)) for j in range(d)] for i in range(d)]
    inverse = [row[:] for row in P]
    for _ in range(3 if d > 1 else 0):
        i, j = generator.sample(range(d), 2)
        c = generator.randint(-1, 1)
        P[i] = [x + c * y for x, y in zip(P[i], P[j], strict=True)]
        for row in inverse:
            row[j] -= c * row[i]
    return P, inverse


def eighths(generator, size, most):
    return [Fraction(generator.randint(-most, most), 8) for _ in range(size)]


def near_counter(generator, d):
    """One unit that counts or nearly does, and others that forget, seen from another basis."""
    U = [[ZERO] * d for _ in range(d)]
    for place, value in enumerate(
        [generator.choice([ONE, ONE, ONE, Fraction(15, 16), Fraction(9, 8)]), *eighths(generator, d - 1, 5)]
    ):
        U[place][place] = value
    a = [ONE, *eighths(generator, d - 1, 2)]
    b = [generator.choice([-ONE, -ONE, Fraction(-7, 8)]), *eighths(generator, d - 1, 2)]
    return seen_from_another_basis(generator, U, a, b, [ONE, *eighths(generator, d - 1, 2)])


def seen_from_another_basis(generator, U, a, b, v):
    P, inverse = change_of_basis(generator, len(a))
    moved = [[x for (x,) in matrix_product(P, [[x] for x in vector])] for vector in (a, b)]
    return matrix_product(matrix_product(P, U), inverse), *moved, matrix_product([v], inverse)[0]


def defective(generator, d):
    """Equal eigenvalues with too few eigenvectors, the counter's or the others'."""
    value = generator.choice([ONE, Fraction(1, 2), Fraction(-1, 2), ZERO])
    U = [[value if i == j and i else ONE if i == j or j == i + 1 > 1 else ZERO for j in range(d)] for i in range(d)]
    a = [ONE, *eighths(generator, d - 1, 1)]
    return seen_from_another_basis(generator, U, a, [-x for x in a], [ONE, *eighths(generator, d - 1, 2)])


def forgetful(generator, d):
    """A network that has forgotten all that is more than d tokens ago, beside a counter."""
    U = [[ONE if i == j == 0 or j == i + 1 > 1 else ZERO for j in range(d)] for i in range(d)]
    return seen_from_another_basis(
        generator,
        U,
        [ONE, *eighths(generator, d - 1, 3)],
        [-ONE, *eighths(generator, d - 1, 3)],
        [ONE, *eighths(generator, d - 1, 3)],
    )


def unseen(generator, d):
    """An exact counter, and units that grow or turn but that no output sees."""
    U = [[Fraction(int(i == j == 0)) for j in range(d)] for i in range(d)]
    for row in U[1:]:
        row[:] = eighths(generator, d, 16)
    return U, [ONE, *eighths(generator, d - 1, 8)], [-ONE, *eighths(generator, d - 1, 8)], [ONE, *[ZERO] * (d - 1)]


def anything(generator, d):
    return [eighths(generator, d, 12) for _ in range(d)], *(eighths(generator, d, 12) for _ in range(3))


KINDS = {kind.__name__: kind for kind in (near_counter, defective, forgetful, unseen, anything)}


def readouts(v, threshold):
    """A readout of each kind for an output v·h, with the task that it answers."""
    v = tuple(v)
    zeros, opposite = (ZERO,) * len(v), tuple(-x for x in v)
    return {
        "binary": (ts.Readout((v,), (-threshold,), SIGN), BINARY),
        "ternary": (ts.Readout((opposite, zeros, v), (-threshold, ZERO, -threshold)), TERNARY),
        "two outputs": (ts.Readout((zeros, v), (threshold, ZERO), GREATEST), BINARY),
        "two, the other way round": (
            ts.Readout((v, zeros), (ZERO, threshold), GREATEST),
            BINARY.in_order(("Pos", "ZeroNeg")),
        ),
        "members by sign": (ts.Readout((v,), (-threshold,), SIGN), BB_MEMBERSHIP),
        "members by greatest": (ts.Readout((zeros, v), (ZERO, threshold), GREATEST), BB_MEMBERSHIP),
    }


def some_network(generator, kind, d, readout=None, *, start=False):
    """A network of a kind; with a state to start from it is a stack of one layer."""
    U, a, b, v = KINDS[kind](generator, d)
    layer = ts.LinearLayer(tuple(zip(a, b, strict=True)), tuple(map(tuple, U)), (ZERO,) * d, (ZERO,) * d)
    cell = ts.Stack((layer,), start=(tuple(eighths(generator, d, 2)),)) if start else layer
    made = readouts(v, Fraction(generator.randint(0, 8), 8))
    chosen, task = made[readout or generator.choice(list(made))]
    return ts.Network(cell, chosen, task)


def first_wrong_length(network, longest, stride=1):
    """The first counted length at which some string is wrong: every string is run, in whole numbers."""
    exact = network.in_arithmetic("rational")
    layer, start = exact.cell, [ZERO] * exact.cell.units
    if isinstance(layer, ts.Stack):
        (start,), (layer,) = layer.start, layer.layers
    D = lcm(8, *(x.denominator for row in layer.recurrent_weight for x in row))
    A = np.array([[int(x * D) for x in row] for row in layer.recurrent_weight], object).T
    c = np.array([[int(x * D) for x in column] for column in zip(*layer.input_weight, strict=True)], object)
    V, bias = (
        np.array([[int(x * D) for x in row] for row in rows], object)
        for rows in (exact.readout.weight, [exact.readout.bias])
    )
    states, counts, scale = np.array([[int(x * D) for x in start]], object), np.zeros(1, int), 1
    for length in range(1, longest + 1):
        states = np.stack([states @ A + scale * D * step for step in c], axis=1).reshape(2 * len(states), -1)
        counts = np.stack([counts + 1, counts - 1], axis=1).ravel()
        scale *= D
        outputs = states @ V.T + bias * scale * D
        if outputs.shape[1] == 1:
            found = (outputs[:, 0] > 0).astype(int)
        else:
            found = np.array([list(row).index(max(row)) for row in outputs])
        if length % stride == 0 and (found != network.task.right_classes(counts)).any():
            return length
    return None
