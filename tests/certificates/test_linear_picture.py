"""What is drawn of a linear network, against every string in rationals, and against what is known by hand."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tallystick import LinearCell, LinearLayer, MatrixLayer, Network, Readout, ReluCell, SelectiveCell, SelectiveLayer
from tallystick.certificates.linear.path_picture import path_outputs
from tallystick.certificates.linear.picture import picture_of
from tallystick.errors import BadInput

LENGTH = 6


def layer(matrix, opening, closing):
    size = len(opening)
    return LinearLayer(tuple(zip(opening, closing, strict=True)), matrix, (0,) * size, (0,) * size)


def random_network(seed):
    generator = random.Random(seed)
    size, outputs = generator.randint(1, 4), generator.choice([1, 3])

    def numbers(*shape):
        if not shape:
            return Fraction(generator.randint(-6, 6), generator.choice([2, 3, 4]))
        return tuple(numbers(*shape[1:]) for _ in range(shape[0]))

    cell = LinearLayer(numbers(size, 2), numbers(size, size), numbers(size), numbers(size))
    return Network(cell, Readout(numbers(outputs, size), numbers(outputs)))


def outputs_of(network, string):
    """Return the outputs that are compared, by the classes that they tell apart."""
    found = network.outputs(string)
    names = [str(name) for name in network.task.classes]
    if len(found) == 1:
        return {("Pos", "ZeroNeg"): found[0]}
    return {
        (names[one], names[other]): found[one] - found[other] for one in range(3) for other in range(3) if one != other
    }


def random_selective_network(seed):
    generator = random.Random(seed)
    size, outputs = generator.randint(1, 3), generator.choice([1, 3])

    def numbers(*shape):
        if not shape:
            return Fraction(generator.randint(-6, 6), generator.choice([2, 3, 4]))
        return tuple(numbers(*shape[1:]) for _ in range(shape[0]))

    cell = SelectiveLayer(numbers(size, 2), numbers(size, 2), numbers(size))
    return Network(cell, Readout(numbers(outputs, size), numbers(outputs)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("is_shared", [True, False])
def test_margins_are_the_extremes_over_all_strings(seed, is_shared):
    network = random_network(seed) if is_shared else random_selective_network(seed)
    drawn = picture_of(network, LENGTH).outputs if is_shared else path_outputs(network, LENGTH)
    assert len(drawn) == (1 if len(network.readout.bias) == 1 else 3)
    for output in drawn:
        upper, lower = output.name.split(" against ")
        for length in range(1, LENGTH + 1):
            above, below = [], []
            for tokens in product("()", repeat=length):
                string = "".join(tokens)
                right = str(network.right_class(string))
                y = outputs_of(network, string)[upper, lower]
                above += [y] if right == upper else []
                below += [y] if right == lower else []
            found = output.least[length - 1], output.greatest[length - 1]
            for value, expected in zip(found, (min(above, default=None), max(below, default=None)), strict=True):
                assert np.isnan(value) if expected is None else value == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_eigenvalues_and_their_weights_give_what_brackets_add(seed):
    network = random_network(seed)
    for output in picture_of(network, LENGTH).outputs:
        if output.has_weights:
            for k in range(8):
                added = sum(mode.weight * mode.value**k for mode in output.modes)
                assert added == pytest.approx(output.openings[k], abs=1e-6)
        upper, lower = output.name.split(" against ")
        one, other = (outputs_of(network, string)[upper, lower] for string in ("(", ")"))
        assert output.openings[0] == pytest.approx(float(one - other))


def test_the_limit_is_the_weight_of_the_eigenvalue_one():
    # A change of basis of diag(1, 1/2, -1/3), so that no entry shows the eigenvalues.
    basis = np.array([[1, 2, 0], [0, 1, 1], [1, 0, 1]])
    inverse = [[Fraction(round(entry), 3) for entry in row] for row in 3 * np.linalg.inv(basis)]
    values = [Fraction(1), Fraction(1, 2), Fraction(-1, 3)]
    matrix = tuple(
        tuple(sum(int(basis[i, j]) * values[j] * inverse[j][k] for j in range(3)) for k in range(3)) for i in range(3)
    )
    opening = tuple(int(x) for x in basis @ [1, 1, 1])
    network = Network(layer(matrix, opening, tuple(-x for x in opening)), Readout(((2, 1, 1),), (-1,)))
    (output,) = picture_of(network, 8).outputs
    weight = 2 * sum(v * int(b) for v, b in zip((2, 1, 1), basis[:, 0], strict=True))
    assert output.limit == weight == Fraction(output.openings[-1]).limit_denominator(1000)
    assert [round(mode.value.real, 9) for mode in output.modes] == [1, 0.5, pytest.approx(-1 / 3)]
    rest = np.abs(output.openings - float(weight)).sum()
    assert output.deviation == pytest.approx(rest)
    assert not output.is_constant


def test_an_eigenvalue_that_the_readout_does_not_see():
    network = Network(layer(((1, 0), (0, 3)), (1, 1), (-1, -1)), Readout(((1, 0),), (Fraction(-1, 2),)))
    (output,) = picture_of(network).outputs
    assert [mode.value for mode in output.modes] == [3, 1]
    assert [mode.value for mode in output.seen] == [1]
    assert output.limit == 2
    assert output.deviation == 0
    assert output.is_constant


def test_where_there_is_no_limit():
    turning = Network(layer(((0, -1), (1, 0)), (1, 0), (-1, 0)), Readout(((1, 0),), (0,)))
    growing = Network(layer(((1, 1), (0, 1)), (0, 1), (0, -1)), Readout(((1, 0),), (0,)))
    assert [picture_of(network).outputs[0].limit for network in (turning, growing)] == [None, None]
    assert not picture_of(growing).outputs[0].has_weights
    forgetting = Network(layer(((Fraction(1, 2), 1), (0, Fraction(1, 2))), (0, 1), (0, -1)), Readout(((1, 0),), (0,)))
    assert picture_of(forgetting).outputs[0].limit == 0


def test_a_cell_with_one_unit_has_the_same_picture():
    (output,) = picture_of(Network(LinearCell(1, -1, Fraction(1, 2)), Readout.binary(-3, 1))).outputs
    assert output.openings[:3].tolist() == [-6, -3, -1.5]
    assert output.limit == 0


def test_what_has_no_picture_is_said():
    with pytest.raises(BadInput, match="cell: a relu network with the task 'binary' has no such picture"):
        picture_of(Network(ReluCell(1, -1, 1), Readout.binary(1)))
    huge = Network(LinearCell(10**400, -1, 1), Readout.binary(1))
    with pytest.raises(BadInput, match="no double holds it"):
        picture_of(huge)


@pytest.mark.parametrize("seed", range(12))
def test_the_string_that_is_shown_is_the_worst_of_its_length(seed):
    network = random_selective_network(seed)
    for output in path_outputs(network, LENGTH):
        upper, lower = output.name.split(" against ")
        y = float(outputs_of(network, output.string)[upper, lower])
        assert output.end == pytest.approx(y)
        assert len(output.added) == len(output.string) == LENGTH
        assert y in (pytest.approx(output.least[-1]), pytest.approx(output.greatest[-1]))
        assert min(output.least[-1], -output.greatest[-1]) == pytest.approx(
            y if str(network.right_class(output.string)) == upper else -y
        )
        shown = path_outputs(network, LENGTH, "(()")
        ends = {one.name: one.end for one in shown}
        assert ends[output.name] == pytest.approx(float(outputs_of(network, "(()")[upper, lower]))


def test_the_factors_that_the_readout_sees():
    # Two matrices with the eigenvectors (1, 1) and (1, -1), of which the readout sees the first.
    def matrix(first, second):
        return ((first + second, first - second), (first - second, first + second))

    half = Fraction(1, 2)
    matrices = matrix(half, Fraction(3, 2)), matrix(Fraction(1, 4), Fraction(1, 8))
    cell = MatrixLayer(((1, -1), (1, -1)), matrices, (0, 0))
    (output,) = path_outputs(Network(cell, Readout(((1, 1),), (0,))), 4)
    assert [(round(one.opening.real, 9), round(one.closing.real, 9)) for one in output.factors] == [(1, 0.5)]


def test_matrices_that_do_not_commute_have_no_picture():
    cell = MatrixLayer(((1, -1), (0, 0)), (((0, 1), (1, 0)), ((1, 1), (0, 1))), (0, 0))
    with pytest.raises(BadInput, match="with matrices that commute where each token has its own"):
        path_outputs(Network(cell, Readout(((1, 0),), (0,))), 4)
    with pytest.raises(BadInput, match="one matrix for both tokens"):
        picture_of(Network(SelectiveCell(1, -1, 2, 0.5), Readout.binary(1)))
