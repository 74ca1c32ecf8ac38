"""No wrong verdict: ten thousand models at the edges of every arithmetic, against all that can contradict the certifier.

`soak/verdicts.py` goes on to a million.
"""

import itertools

import pytest
from differential import GatedBlock, blocks, compare

from tallystick.cells import CELLS
from tallystick.networks import READOUTS

CELLS_IN_ALL = 10_000
BLOCKS = list(blocks(CELLS_IN_ALL, each=48))
KINDS = list(itertools.product(CELLS, READOUTS))


def test_there_are_ten_thousand():
    assert sum(block.cells for block in BLOCKS) >= CELLS_IN_ALL


@pytest.mark.parametrize(("cell", "readout"), KINDS)
def test_no_verdict_is_contradicted(cell, readout):
    tallies = [agreeing(block) for block in BLOCKS if block[:2] == (cell, readout)]
    total = sum(tallies[1:], start=tallies[0])
    ways = {"REFUTED", "BOUNDED", "refused", "brute force", "checker", "ensemble", "larger limits"}
    ways |= {"counts", "longer strings", "z3"} if cell != "tanh" else {"counts"}
    ways |= {"PROVED"} if cell in ("linear", "selective") or (cell, readout) == ("relu", "zero") else set()
    assert not [way for way in ways if not total[way]]


def test_no_verdict_on_a_gated_network_is_contradicted():
    tallies = [agreeing(block) for block in BLOCKS if isinstance(block, GatedBlock)]
    assert all(sum(tally[way] for tally in tallies) for way in ("REFUTED", "BOUNDED", "checker"))


def agreeing(block):
    tally, disagreements = compare(block)
    assert not disagreements, disagreements[0]
    return tally
