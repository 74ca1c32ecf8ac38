"""Networks of the kinds that the proven checker covers, each drawn with its arithmetic and how far it is to be looked at."""

from fractions import Fraction

from brute_force import READOUTS, SCALAR_CELLS
from claim_forgers import ARITHMETICS
from edge_models import edge_model
from edge_vector_networks import edge_vector_network
from vector_networks import VECTOR_CELLS, counting_gru, counting_lstm, random_model, ternary, with_noise

import tallystick as ts
from tallystick.networks.readout import COUNT

_LIMITS, _EDGE_LIMIT, _GATED_LIMIT = (40, 40, 120), 10, 14
"""Near a counter; at the edges of a format, where all states may have to be listed; and where all strings are told apart."""


# --- One unit -------------------------------------------------------------------------------------------------------------------


def _near_counter(generator):
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


def some_unit(generator):
    """A network with one unit."""
    return _near_counter(generator), "real", generator.choice(_LIMITS)


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
    limit = generator.choice([10**20, 10 ** generator.randint(1, 12)])
    return ts.Network(cell, generator.choice(readouts)), "real", limit


# --- Floating point as executed -------------------------------------------------------------------------------------------------


def some_executed(generator):
    """A network with one unit: at the edges of its format, or near a counter."""
    arithmetic = generator.choice(ARITHMETICS)
    if generator.randrange(2):
        cell = SCALAR_CELLS[generator.choice(["linear", "selective", "relu"])]
        return edge_model(cell, generator.choice(READOUTS), arithmetic, generator), arithmetic, _EDGE_LIMIT
    while (network := _near_counter(generator)).readout.decision == COUNT:
        pass  # no proof speaks of the count in floating point
    return network, arithmetic, generator.choice(_LIMITS)


# --- Tanh cells and layers, GRUs and LSTMs --------------------------------------------------------------------------------------


def _lstm(generator):
    return with_noise(counting_lstm(4), 0.1, generator.randrange(2**32))


def _gru(generator):
    return with_noise(counting_gru(0.9), 0.05, generator.randrange(2**32))


def _three_classes(generator):
    return ternary(with_noise(counting_lstm(5), 0.05, generator.randrange(2**32)))


def _two_units(generator):
    kind = generator.choice([*VECTOR_CELLS.values(), ts.TanhLayer])
    return random_model(kind, 2, generator.choice([1, 3]), generator.randrange(2**32))


def _tanh_unit(generator):
    return edge_model(SCALAR_CELLS["tanh"], generator.choice(READOUTS), "real", generator)


def some_gated(generator):
    """A network of some kind, most of them near a counter."""
    draw = generator.choice([_lstm, _gru, _three_classes, _two_units, edge_vector_network, _tanh_unit])
    return draw(generator), "real", _GATED_LIMIT
