"""What the tokens of a random affine network do with its state: the matrices of every kind, with a layer."""

import random
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


class Generator(random.Random):
    """Random choices, and a factor of every part: 1, or one that no float holds exactly."""

    def __init__(self, seed):
        super().__init__(seed)
        self.factor = self.choice([ONE, ONE, ONE, Fraction(2, 3), Fraction(9, 10)])


def parts(generator, size, most, unit=8):
    """Some multiples of 1/unit, none above most/unit, times the factor."""
    return [generator.factor * generator.randint(-most, most) / unit for _ in range(size)]


def diagonal(values):
    return [[value if i == j else ZERO for j in range(len(values))] for i, value in enumerate(values)]


def times(matrix, vector):
    return [x for (x,) in matrix_product(matrix, [[x] for x in vector])]


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


LINEAR = {
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


# --- Complex factors: z' = λ∘z + …, real parts before imaginary parts --------------------------------------------------------


def complex_units(make):
    """A kind whose λ, inputs and row are made by a function, as an LruLayer."""

    def kind(generator, d):
        size = (d + 1) // 2
        factors, a, b, v = make(generator, size)
        real, imaginary = zip(*factors, strict=True)
        U = [
            *([*row, *[-x for x in turn]] for row, turn in zip(diagonal(real), diagonal(imaginary), strict=True)),
            *([*turn, *row] for row, turn in zip(diagonal(real), diagonal(imaginary), strict=True)),
        ]
        bias = parts(generator, 2 * size, 2)
        columns = [[x - y for x, y in zip(s, bias, strict=True)] for s in (a, b)]
        layer = ts.LruLayer(tuple(zip(*columns, strict=True)), (real, imaginary), tuple(bias))
        return Core((U, U), (a, b), v), layer

    return kind


def complex_counter(generator, size):
    """One factor is 1 or nearly so, and the others turn and shrink, or turn for ever."""
    turns = [(ZERO, Fraction(1, 2)), (Fraction(1, 2), Fraction(-1, 2)), (Fraction(3, 8), Fraction(1, 4)), (ZERO, ONE)]
    off = generator.choice([ZERO, ZERO, Fraction(generator.choice([-1, 1]), 32)])
    factors = [(ONE + off, ZERO), *(generator.choice(turns) for _ in range(size - 1))]
    a, v = ([ONE, *parts(generator, size - 1, 1), ZERO, *parts(generator, size - 1, 1)] for _ in range(2))
    return factors, a, [-x for x in a], v


def complex_anything(generator, size):
    factors = [tuple(parts(generator, 2, 4, 4)) for _ in range(size)]
    return factors, *(parts(generator, 2 * size, 4, 4) for _ in range(3))


COMPLEX = {make.__name__: complex_units(make) for make in (complex_counter, complex_anything)}


# --- A matrix for each token -------------------------------------------------------------------------------------------------


def factors_by_token(make):
    """A kind of diagonal matrices, as a SelectiveLayer."""

    def kind(generator, d):
        opening, closing, a, b, v = make(generator, d)
        bias = parts(generator, d, 1)
        columns = [[x - y for x, y in zip(s, bias, strict=True)] for s in (a, b)]
        factors = tuple(zip(opening, closing, strict=True))
        layer = ts.SelectiveLayer(tuple(zip(*columns, strict=True)), factors, tuple(bias))
        return Core((diagonal(opening), diagonal(closing)), (a, b), v), layer

    return kind


def selective_anything(generator, d):
    return *(parts(generator, d, 3, 2) for _ in range(2)), *(parts(generator, d, 4, 4) for _ in range(3))


def equal_factors(generator, d):
    """The same factors for both tokens: the matrix is shared after all."""
    factors = [ONE, *parts(generator, d - 1, 5)]
    _, a, b, v = beside_a_counter(generator, diagonal(factors[1:]))
    return factors, factors, a, b, v


def selective_near_counter(generator, d):
    """A unit that counts or nearly does, and others that forget more after one token than after the other."""
    off = [ONE + generator.choice([0, 0, -1, 1]) * Fraction(1, 2 ** generator.randint(3, 6)) for _ in range(2)]
    _, a, b, v = beside_a_counter(generator, diagonal([ZERO] * (d - 1)))
    opening, closing = ([x, *parts(generator, d - 1, 5)] for x in off)
    return opening, closing, a, b, v


def fading_factors(generator, d):
    """A unit that counts, and others that fade, of which so little is left that no string goes wrong, or a little more."""
    opening, closing = ([ONE, *parts(generator, d - 1, 3, 4)] for _ in range(2))
    left = [1 - max(abs(x), abs(y)) for x, y in zip(opening[1:], closing[1:], strict=True)]
    room = [Fraction(generator.randint(0, 10), 16) / max(1, d - 1) * x for x in left]
    signs = [generator.choice([-1, 1]) for _ in room]
    a, b = [ONE, *room], [-ONE, *(generator.choice([-x, x, ZERO]) for x in room)]
    return opening, closing, a, b, [ONE, *(Fraction(sign) for sign in signs)]


def undone_factors(generator, d):
    """What `(` does to a unit `)` undoes: the state is a function of the count, unless one weight is off."""
    powers = [Fraction(2) ** generator.choice([-1, 0, 0, 1]) for _ in range(d)]
    a = [abs(x) for x in parts(generator, d, 4, 4)]
    closing = [1 / x for x in powers]
    b = [-x * y for x, y in zip(closing, a, strict=True)]
    if generator.randrange(2):
        generator.choice([powers, closing, a, b])[generator.randrange(d)] += Fraction(generator.choice([-1, 1]), 16)
    return powers, closing, a, b, [abs(x) for x in parts(generator, d, 4, 4)]


SELECTIVE = {
    make.__name__: factors_by_token(make)
    for make in (selective_anything, equal_factors, selective_near_counter, fading_factors, undone_factors)
}


def matrices_by_token(make):
    """A kind of any two matrices, as a MatrixLayer."""

    def kind(generator, d):
        core = from_another_basis(generator, make(generator, d))
        bias = parts(generator, d, 1)
        columns = [[x - y for x, y in zip(s, bias, strict=True)] for s in core.added]
        matrices = tuple(tuple(map(tuple, A)) for A in core.matrices)
        return core, ts.MatrixLayer(tuple(zip(*columns, strict=True)), matrices, tuple(bias))

    return kind


def polynomial(generator, M):
    """A polynomial of a matrix, which commutes with every other one."""
    constant, first, second = parts(generator, 3, 2, 4)
    found = [
        [first * x + second * y for x, y in zip(*rows, strict=True)]
        for rows in zip(M, matrix_product(M, M), strict=True)
    ]
    return [[x + constant * (i == j) for j, x in enumerate(row)] for i, row in enumerate(found)]


def commuting(generator, d):
    """Beside a counter, two polynomials of one matrix that is not diagonal."""
    M = [parts(generator, d - 1, 2, 2) for _ in range(d - 1)]
    cores = [beside_a_counter(generator, polynomial(generator, M)) for _ in range(2)]
    (opening, a, b, v), (closing, *_) = cores
    return Core((opening, closing), (a, b), v)


def undone_matrix(generator, d):
    """A whole matrix of determinant one for `(`, and its inverse for `)`, which takes back what `(` added."""
    P, inverse = change_of_basis(generator, d)
    a = parts(generator, d, 2, 2)
    return Core((P, inverse), (a, [-x for x in times(inverse, a)]), parts(generator, d, 2, 2))


def dense_by_token(generator, d):
    """Matrices that do not commute."""
    return Core(
        tuple([parts(generator, d, 3, 4) for _ in range(d)] for _ in range(2)),
        tuple(parts(generator, d, 4, 4) for _ in range(2)),
        parts(generator, d, 4, 4),
    )


def hidden_counter(generator, d):
    """Matrices that do not commute, and an output that counts whatever they do to the other units, or that sees a little."""
    cores = [beside_a_counter(generator, [parts(generator, d - 1, 3, 4) for _ in range(d - 1)]) for _ in range(2)]
    (opening, a, b, v), (closing, *_) = cores
    v[1:] = [x * generator.choice([0, 0, 0, 1]) for x in v[1:]]
    for matrix in (opening, closing):
        for row in matrix[1:]:
            row[0] = Fraction(generator.randint(-1, 1), 2)
    return Core((opening, closing), (a, b), v)


def equal_matrices(generator, d):
    U, a, b, v = near_counter(generator, d)
    return Core((U, U), (a, b), v)


MATRICES = {
    make.__name__: matrices_by_token(make)
    for make in (commuting, undone_matrix, dense_by_token, hidden_counter, equal_matrices)
}
KINDS = LINEAR | COMPLEX | SELECTIVE | MATRICES
