"""Horizons against a solver: z3 finds no failing string up to the horizon, and finds one at the next counted length.

The solver is given the network itself, token by token with a truth value for each, and none of the certificates' theory.
"""

import random
from fractions import Fraction

import pytest
from brute_force import READOUTS, some_model

from tallystick.cells import LinearCell, ReluCell, SelectiveCell
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Lengths
from tallystick.networks import Network, Readout

pytest.importorskip("z3")
from solver import solver_disagreement

LONGEST = 9
KINDS = [LinearCell, SelectiveCell, ReluCell]


def near_counter(kind, readout, generator):
    """A model whose horizon is likely to be some lengths long."""
    spread = generator.choice([3, 5, 8, 13])
    a = Fraction(generator.choice([1, 2, 3]), generator.choice([1, 2]))
    off = [1 + Fraction(generator.randint(-2, 2), spread * 4) for _ in range(3)]
    cell = SelectiveCell(a, -a * off[0], off[1], off[2]) if kind is SelectiveCell else kind(a, -a * off[0], off[1])
    if readout == "zero":
        return some_model(kind, readout, generator)
    at = a * Fraction(generator.randint(0, 4), 5)
    if readout == "binary":
        return Network(cell, Readout.binary(Fraction(1), -at))
    return Network(cell, Readout.ternary((-1, 0, 1), (-at, 0, -at)))


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_solver_agrees_with_the_horizon(kind, readout):
    generator, horizons = random.Random(f"{readout} {kind.name}"), set()
    for _ in range(6):
        model = generator.choice([near_counter, some_model])(kind, readout, generator)
        for lengths in Lengths:
            verdict = certify(model, lengths, limit=LONGEST)
            assert solver_disagreement(verdict, LONGEST) is None
            horizons.add(verdict.horizon)
    assert len(horizons) > 1
