"""What the tokens of a random affine network do with its state: the matrices of every kind, with a layer."""

from fractions import Fraction
from typing import NamedTuple

from linear_networks import change_of_basis, matrix_product

import tallystick as ts

ZERO, ONE = Fraction(0), Fraction(1)


class Core(NamedTuple):
    """A matrix and what is added, for `(` and for `)`, and the row that an output is made of."""

    matrices: tuple[list, list]
    added: tuple[list, list]
    row: list


# --- Numbers and matrices -----------------------------------------------------------------------------------------------------


def parts(generator, size, most, unit=8):
    """Some multiples of 1/unit, none above most/unit."""
    return [Fraction(generator.randint(-most, most), unit) for _ in range(size)]


def diagonal(values):
    return [[value if i == j else ZERO for j in range(len(values))] for i, value in enumerate(values)]


def times(matrix, vector):
    return [sum((x * y for x, y in zip(row, vector, strict=True)), start=ZERO) for row in matrix]


def plus(*vectors):
    return [sum(entries, start=ZERO) for entries in zip(*vectors, strict=True)]


def from_another_basis(generator, core):
    """The same outputs, of a state that is a whole matrix times the former."""
    P, inverse = change_of_basis(generator, len(core.row))
    moved = tuple(matrix_product(matrix_product(P, A), inverse) for A in core.matrices)
    return Core(moved, tuple(times(P, s) for s in core.added), matrix_product([core.row], inverse)[0])


# --- One matrix for both tokens -----------------------------------------------------------------------------------------------


def linear(make):
    """A kind whose U, a, b and v are made by a function, as a LinearLayer with any two biases."""

    def kind(generator, d):
        U, a, b, v = make(generator, d)
        core = from_another_basis(generator, Core((U, U), (a, b), v))
        (U, _), (a, b), v = core
        bias = parts(generator, 2, 2)
        columns = [[x - sum(bias) for x in s] for s in (a, b)]
        input_bias, recurrent_bias = ((x,) * d for x in bias)
        layer = ts.LinearLayer(
            tuple(zip(*columns, strict=True)), tuple(map(tuple, U)), tuple(input_bias), tuple(recurrent_bias)
        )
        return core, layer

    return kind


def anything(generator, d):
    return [parts(generator, d, 12) for _ in range(d)], *(parts(generator, d, 12) for _ in range(3))


def small(generator, d):
    """Few and small numbers, which meet thresholds and each other often."""
    return [parts(generator, d, 2, 2) for _ in range(d)], *(parts(generator, d, 2, 2) for _ in range(3))


def beside_a_counter(generator, others):
    """A unit that counts, and a block of others, of which the output sees a little."""
    seen, size = generator.choice([1, 2, 3]), len(others)
    U = [[ONE, *[ZERO] * size], *([ZERO, *row] for row in others)]
    a, v = ([ONE, *parts(generator, size, seen)] for _ in range(2))
    b = [-ONE, *generator.choice([parts(generator, size, seen), [-x for x in a[1:]]])]
    return U, a, b, v


def near_counter(generator, d):
    """What counts is off by little, and the other units forget."""
    U, a, b, v = beside_a_counter(generator, diagonal(parts(generator, d - 1, 5)))
    off = generator.choice([-1, 1]) * Fraction(1, 2 ** generator.randint(3, 7))
    generator.choice([U[0], a, b, v])[0] += off
    return U, a, b, v


def exact_counter(generator, d):
    """The output counts: it does not see the other units, or nothing gets into them."""
    unseen = [parts(generator, d - 1, 4, 4) for _ in range(d - 1)]
    U, a, b, v = beside_a_counter(generator, unseen)
    if generator.randrange(2):
        v[1:] = [ZERO] * (d - 1)
        for row in U[1:]:
            row[0] = Fraction(generator.randint(-1, 1), 2)
    else:
        a[1:] = b[1:] = [ZERO] * (d - 1)
        U[0][1:] = parts(generator, d - 1, 2)
    return U, a, b, v


def one_weight_off(generator, d):
    """An exact counter with one weight changed by a power of two, down to a few thousandths."""
    U, a, b, v = exact_counter(generator, d)
    row = generator.choice([*U, a, b, v])
    row[generator.randrange(d)] += generator.choice([-1, 1]) * Fraction(1, 2 ** generator.randint(2, 9))
    return U, a, b, v


def right_for_ever(generator, d):
    """What a bracket adds is off the count by so little in all that no string goes wrong, or a little more than that."""
    values = [Fraction(generator.randint(-3, 3), 4) for _ in range(d - 1)]
    U, a, b, v = beside_a_counter(generator, diagonal(values))
    v[1:] = [generator.choice([-1, 1]) * ONE for _ in range(d - 1)]
    room = [Fraction(generator.randint(0, 10), 8) / max(1, d - 1) * (1 - abs(value)) for value in values]
    a[1:], b[1:] = room, [generator.choice([-x, ZERO * x]) for x in room]
    return U, a, b, v


def jordan(generator, d):
    """An eigenvalue with too few eigenvectors."""
    value = generator.choice([ONE, ONE, Fraction(1, 2), Fraction(-1, 2), -ONE])
    block = [[value if i == j else ONE if j == i + 1 else ZERO for j in range(d - 1)] for i in range(d - 1)]
    return beside_a_counter(generator, block)


def long_chain(generator, d):
    """One Jordan block of the counter's own eigenvalue: the output may grow as a power of the length."""
    U = [[ONE if i == j or j == i + 1 else ZERO for j in range(d)] for i in range(d)]
    a = [ONE, *parts(generator, d - 1, 1)]
    return U, a, [-x for x in a], [ONE, *parts(generator, d - 1, 1)]


def nilpotent(generator, d):
    """Units that have forgotten everything after a few tokens, beside a counter or alone."""
    block = [[Fraction(generator.randint(-2, 2), 2) if j > i else ZERO for j in range(d)] for i in range(d)]
    if generator.randrange(3) == 0:
        return block, *(parts(generator, d, 4, 4) for _ in range(3))
    return beside_a_counter(generator, [row[1:] for row in block[1:]])


def no_memory(generator, d):
    return [[ZERO] * d for _ in range(d)], *(parts(generator, d, 4, 4) for _ in range(3))


def turning(generator, d):
    """Units that change places or signs for ever, beside a counter: eigenvalues of size one."""
    places = generator.sample(range(d - 1), d - 1)
    block = [
        [generator.choice([-ONE, ONE]) if j == place else ZERO for j in range(d - 1)] for i, place in enumerate(places)
    ]
    return beside_a_counter(generator, block)


def diagonal_matrix(generator, d):
    return beside_a_counter(generator, diagonal(parts(generator, d - 1, 8)))


KINDS = {
    make.__name__: linear(make)
    for make in (
        anything,
        small,
        near_counter,
        exact_counter,
        one_weight_off,
        right_for_ever,
        jordan,
        long_chain,
        nilpotent,
        no_memory,
        turning,
        diagonal_matrix,
    )
}
