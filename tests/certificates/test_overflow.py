"""What overflows, or is no number after that, is said in words where it matters; no warning escapes."""

import warnings

import pytest

from tallystick.cells import ReluCell, SelectiveCell
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.exact_accuracy import exact_accuracy
from tallystick.certificates.one_unit.failing_strings import extreme_failures, random_failures
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout

# `((` overflows in float16, and a weight of 0 makes no number of an infinite state.
CELLS = [SelectiveCell(40000, -1, 1, 0), SelectiveCell(-1, -40000, 0, 1), ReluCell(40000, -1, 2)]
READOUTS = [Readout.binary(1), Readout.ternary((-2, 0, 2), (-1, 0, -1)), Readout.zero()]


@pytest.mark.parametrize("readout", READOUTS, ids=lambda readout: readout.kind)
@pytest.mark.parametrize("cell", CELLS, ids=["above", "below", "relu"])
def test_an_overflow_is_quiet(cell, readout):
    model = Network(cell, readout)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdict = certify(model, arithmetic="float16")
        assert verdict.failure is not None or verdict.reason == "h overflows at length 2"
        for length in (2, 4):
            failures = extreme_failures(model, length, "float16") + random_failures(
                model, length, 3, arithmetic="float16"
            )
            assert all(failure.length == length and failure.found != failure.right for failure in failures)
        with pytest.raises(BadInput, match="^length: h overflows at length 2; only shorter lengths can be counted$"):
            exact_accuracy(model, 4, "float16")
