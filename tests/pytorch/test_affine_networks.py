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
    roundings = (len(affine.start) + 2) * (len(string) + 1) * unit
    return [total * roundings / (1 - roundings) for total in outputs_of(absolute, string)]


def answer(affine, outputs):
    """The index of the class, or the whole number that is nearest; by the definition of the decision."""
    if affine.decision == "sign":
        return int(outputs[0] > 0)
    assert affine.decision == "class"
    return max(range(len(outputs)), key=lambda place: (outputs[place], -place))


def is_beyond_rounding(affine, exact, bounds):
    """Whether no rounding within the bounds changes the answer."""
    if affine.decision == "sign":
        return abs(exact[0]) > bounds[0]
    best = answer(affine, exact)
    others = (place for place in range(len(exact)) if place != best)
    return all(exact[best] - exact[place] > bounds[best] + bounds[place] for place in others)


def compare_failing_strings(seeds, limit):
    """Run the failing strings of verdicts in float32 and float64; return how many there are, and how many runs rounding allows."""
    torch.set_num_threads(1)
    failing = compared = 0
    for kind in KINDS:
        for seed in seeds:
            affine, verdict = decided(kind, seed, limit)
            if verdict.failure is None:
                continue
            string = verdict.failure.string
            sign = (string.count("(") > string.count(")")) - (string.count("(") < string.count(")"))
            exact = outputs_of(affine, string)
            assert answer(affine, exact) != affine.right[sign + 1]
            failing += 1
            for form, unit in UNITS_OF_ROUNDING.items():
                if is_beyond_rounding(affine, exact, rounding_bounds(affine, string, unit)):
                    assert answer(affine, executed_outputs(affine, string, form)) == answer(affine, exact)
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
    failing, compared = compare_failing_strings(range(10, 40), 24)
    assert compared > failing > 300
