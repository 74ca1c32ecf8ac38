"""The proven checker and the Python one agree about floating point as executed. `make proofs` builds the former."""

import pytest
from forged import issued, with_model
from proven_cases import PROGRAM, proven_answers, sealed

import tallystick as ts

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the proven checker is not built (make proofs)")


def test_it_says_which_arithmetic_it_has_verified():
    certificate = issued(ts.Network(ts.LinearCell(1, -1, 1), ts.Readout.zero()), "bfloat16")
    (line,) = proven_answers([certificate])
    assert line.startswith("holds: BOUNDED: every string of 1 to 256 tokens gets its right class")
    assert line.endswith("as executed in bfloat16")


def test_a_counter_is_not_exact_one_token_further():
    certificate = issued(ts.Network(ts.LinearCell(1, -1, 1), ts.Readout.zero()), "bfloat16")
    # 3/256 more than 1 has one digit too many for bfloat16, and rounds to an odd number of units that is exact to 1 alone.
    forged = [{**certificate, "horizon": 257}, with_model(certificate, open_step="259/256")]
    assert [line.partition(":")[0] for line in proven_answers(map(sealed, forged))] == ["does not hold"] * 2
