"""Failing strings of affine networks fail in PyTorch, too: in float32 and float64, wherever rounding cannot hide it."""

import sys
from fractions import Fraction
from pathlib import Path

import pytest

from tallystick.certificates.certify import certify

torch = pytest.importorskip("torch", reason="needs the [torch] extra")
sys.path.insert(0, str(Path(__file__).parents[1] / "certificates"))

from affine_cases import KINDS, some_case  # noqa: E402
from every_string import outputs_of  # noqa: E402

HALF = Fraction(1, 2)
UNITS_OF_ROUNDING = {torch.float32: Fraction(1, 2**24), torch.float64: Fraction(1, 2**53)}
"""Half the distance between 1 and the next number, of each kind."""


def executed_outputs(affine, string, kind):
    """The outputs as PyTorch computes them, token by token with a product of matrices."""
    matrices, added = (
        [torch.tensor(numbers(part), dtype=kind) for part in pair] for pair in (affine.matrices, affine.added)
    )
    h = torch.tensor(numbers(affine.start), dtype=kind)
    for token in string:
        place = "()".index(token)
        h = matrices[place] @ h + added[place]
    rows, bias = (torch.tensor(numbers(part), dtype=kind) for part in (affine.rows, affine.bias))
    return (rows @ h + bias).tolist()


def numbers(nested):
    return [numbers(part) for part in nested] if isinstance(nested, list | tuple) else float(nested)


def rounding_bounds(affine, string, unit):
    """How far rounding may move each output: the sum of all terms' sizes, times the roundings that each goes through."""
    sizes = [[[abs(x) for x in row] for row in A] for A in affine.matrices]
    added = [[abs(x) for x in s] for s in affine.added]
    rows, bias = [[abs(x) for x in row] for row in affine.rows], [abs(x) for x in affine.bias]
    absolute = type(affine)(sizes, added, [abs(x) for x in affine.start], rows, bias, affine.decision, affine.right)
    roundings = (len(affine.start) + 4) * (len(string) + 1) * unit
    return [total * roundings / (1 - roundings) for total in outputs_of(absolute, string)]


def is_right(affine, outputs, count):
    """Whether outputs give the right answer to a string with this count, by the definition of the decision."""
    if affine.decision == "count":
        return abs(outputs[0] - count) < HALF
    if affine.decision == "class":
        found = max(range(len(outputs)), key=lambda place: (outputs[place], -place))
    else:
        found = int(outputs[0] > 0 if affine.decision == "sign" else outputs[0] == 0)
    return found == affine.right[(count > 0) - (count < 0) + 1]


def is_beyond_rounding(affine, exact, bounds, count):
    """Whether no rounding within the bounds changes the answer."""
    if affine.decision == "count":
        return abs(exact[0] - count) - HALF > bounds[0]
    if affine.decision != "class":
        return abs(exact[0]) > bounds[0]
    best = exact.index(max(exact))
    others = (place for place in range(len(exact)) if place != best)
    return all(exact[best] - exact[place] > bounds[best] + bounds[place] for place in others)


def compare_failing_strings(seeds, limit):
    """Run the failing strings of verdicts in float32 and float64; return how many there are, and how many runs are compared."""
    torch.set_num_threads(1)
    failing = compared = 0
    for kind in KINDS:
        for seed in seeds:
            affine, verdict = decided(kind, seed, limit)
            if verdict.failure is None:
                continue
            string = verdict.failure.string
            count = string.count("(") - string.count(")")
            exact = outputs_of(affine, string)
            assert not is_right(affine, exact, count)
            failing += 1
            for form, unit in UNITS_OF_ROUNDING.items():
                if is_beyond_rounding(affine, exact, rounding_bounds(affine, string, unit), count):
                    assert not is_right(affine, executed_outputs(affine, string, form), count)
                    compared += 1
    return failing, compared


def decided(kind, seed, limit):
    case = some_case(f"executed {seed}", kind)
    return case.affine, certify(case.network, limit=limit)


def test_failing_strings_fail_in_pytorch():
    failing, compared = compare_failing_strings(range(3), 8)
    assert compared > failing > 30


@pytest.mark.long
def test_longer_failing_strings_fail_in_pytorch():
    failing, compared = compare_failing_strings(range(10, 20), 24)
    assert compared > failing > 100
