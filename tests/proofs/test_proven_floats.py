"""The proven checker and the Python one agree about floating point as executed. `make proofs` builds the former."""

import random
from collections import Counter

import pytest
from executed_cases import PROGRAM, disagreements, proven_answer
from forged import issued, sealed, with_model

import tallystick as ts

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the proven checker is not built (make proofs)")


@pytest.mark.parametrize("seed", range(4))
def test_the_checkers_agree(seed):
    tally = Counter()
    assert list(disagreements(random.Random(f"floats {seed}"), 25, tally)) == []
    # Claims of both kinds were among them, and some that do not hold.
    assert tally["issued", True, True] > 15
    assert tally["forged", True, True] > 3
    assert tally["forged", False, False] > 10
    # All states of such short strings are listed, so that nothing is left open.
    assert tally["forged", False, None] == 0


def test_it_says_which_arithmetic_it_has_verified():
    certificate = issued(ts.Network(ts.LinearCell(1, -1, 1), ts.Readout.zero()), "bfloat16")
    valid, line = proven_answer(sealed(certificate))
    assert valid is True
    assert line.startswith("holds: BOUNDED: every string of 1 to 256 tokens gets its right class")
    assert line.endswith("as executed in bfloat16")


def test_a_counter_is_not_exact_one_token_further():
    certificate = issued(ts.Network(ts.LinearCell(1, -1, 1), ts.Readout.zero()), "bfloat16")
    assert proven_answer(sealed({**certificate, "horizon": 257}))[0] is False
    # 3/256 more than 1 has one digit too many for bfloat16, and rounds to an odd number of units that is exact to 1 alone.
    assert proven_answer(sealed(with_model(certificate, open_step="259/256")))[0] is False
