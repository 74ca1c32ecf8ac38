"""Networks with one unit, many of them near a counter: for claims in exact arithmetic and in floating point."""

from fractions import Fraction

import tallystick as ts


def some_unit(generator):
    """A network with one unit, most of them near a counter, and a readout that it may be asked by."""
    near = generator.choice([0, 0, Fraction(1, 64), Fraction(1, 512), Fraction(-1, 200), Fraction(1, 7)])
    a = Fraction(generator.choice([1, 1, 2, -1, 3]), generator.choice([1, 1, 2, 3]))
    off = generator.choice([0, 0, 0, Fraction(1, 100), Fraction(-1, 9)])
    kind = generator.choice(["linear", "linear", "selective", "relu"])
    if kind == "selective":
        P = generator.choice([1 + near, Fraction(2), Fraction(1, 2), Fraction(-2), Fraction(-1), Fraction(9, 10)])
        Q = generator.choice([1 / P, 1 / P, 1 / P + off])
        cell = ts.SelectiveCell(a, -Q * a + off, P, Q)
    else:
        cell = (ts.ReluCell if kind == "relu" else ts.LinearCell)(a, -a + off, 1 + near)
    v = generator.choice([1, 1, -1, 2]) * (1 if a > 0 else -1)
    c = -generator.choice([Fraction(1, 2), 0, Fraction(1, 5), 1])
    readouts = [
        ts.Readout.binary(v, c),
        ts.Readout.binary(v, c),
        ts.Readout.ternary((-v, 0, v), (c, 0, c)),
        ts.Readout.zero(),
        ts.Readout(((v,),), (c,), "count"),
    ]
    return ts.Network(cell, generator.choice(readouts))


def some_long_unit(generator):
    """A linear unit so near to a counter that it is right for long, or the other way round, with ties at some lengths."""
    a = Fraction(generator.choice([1, 1, 2, -1, 3]), generator.choice([1, 1, 2, 3]))
    off = Fraction(generator.randint(-9, 9), 10 ** generator.randint(2, 18))
    b = -a + generator.choice([0, 0, off / 7])
    U = generator.choice(
        [*[1 + off] * 6, *[Fraction(1)] * 3, Fraction(9, 10), Fraction(11, 10), Fraction(0), Fraction(-1)]
    )
    cell = ts.LinearCell(a, b, U)
    v = generator.choice([1, 1, -1, 2]) * (1 if a > 0 else -1)
    c = -abs(v * a) * generator.choice([Fraction(1, 2), Fraction(1, 5), Fraction(2, 3), Fraction(9, 10), 0, 1])
    if generator.randrange(6) == 0:  # the output is exactly 0 at some string
        half = generator.randint(1, 40)
        h = Fraction(0)
        for step in [a] * (half + generator.randint(0, 1)) + [b] * half:
            h = U * h + step
        c = -v * h
    readouts = [
        ts.Readout.binary(v, c),
        ts.Readout.binary(v, c),
        ts.Readout.ternary((-v, 0, v), (c, 0, c)),
        ts.Readout.ternary((-v, 0, v), (0, abs(v * a) / 3, 0)),
    ]
    return ts.Network(cell, generator.choice(readouts))
