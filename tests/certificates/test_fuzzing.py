"""No wrong verdict: ten thousand models at the edges of every arithmetic, against all that can contradict the certifier.

`soak/verdicts.py` goes on to a million, and `soak/modes.py` to more of those that are asked about in other floating-point modes.
"""

import itertools
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from brute_force import READOUTS, SCALAR_CELLS
from differential import VectorBlock, blocks, compare
from float_modes import CANNOT, MODES
from refusals import refuse

CELLS_IN_ALL = 10_000
BLOCKS = list(blocks(CELLS_IN_ALL, each=48))
QUICK = {("linear", "ternary"), ("selective", "binary"), ("relu", "zero"), ("tanh", "binary")}
KINDS = [
    # Every cell and every readout once; the other pairs take long.
    pytest.param(cell, readout, marks=[] if (cell, readout) in QUICK else pytest.mark.long)
    for cell, readout in itertools.product(SCALAR_CELLS, READOUTS)
]


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


def test_no_verdict_on_a_gru_or_an_lstm_is_contradicted():
    tallies = [agreeing(block) for block in BLOCKS if isinstance(block, VectorBlock)]
    assert all(sum(tally[way] for tally in tallies) for way in ("REFUTED", "BOUNDED", "checker"))


@pytest.mark.skipif(CANNOT is not None, reason=str(CANNOT))
def test_every_verdict_in_another_floating_point_mode_is_refused():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process_of_its_own:
        tallies, answers = zip(*process_of_its_own.map(refuse, blocks(1, each=5), chunksize=8), strict=True)
    assert not [answer for found in answers for answer in found][:1]
    total = sum(tallies[1:], start=tallies[0])
    ways = {"verdicts", "counts", "extreme strings", "random strings", "ensembles", "checker", *MODES}
    assert not [way for way in ways if not total[way]]


def agreeing(block):
    tally, disagreements = compare(block)
    assert not disagreements, disagreements[0]
    return tally
