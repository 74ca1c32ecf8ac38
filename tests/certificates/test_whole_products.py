"""Products of matrices of long whole numbers by doubles are those of Python's own numbers."""

import random

import numpy as np
import pytest

from tallystick.certificates.linear import whole_products
from tallystick.certificates.linear.whole_products import whole_product


def some_matrix(generator, rows, columns, bits):
    most = 2**bits
    found = np.empty((rows, columns), object)
    for place in np.ndindex(rows, columns):
        found[place] = generator.choice([0, 1, -1, most, -most, most - 1, 1 - most, generator.randint(-most, most)])
    return found


@pytest.mark.parametrize("bits", [1, 15, 16, 17, 31, 32, 33, 64, 200, 1500])
def test_products_are_exact(bits, monkeypatch):
    monkeypatch.setattr(whole_products, "_LEAST", 0)
    generator = random.Random(bits)
    for _ in range(30):
        rows, inner, columns = (generator.randint(1, 6) for _ in range(3))
        first, second = some_matrix(generator, rows, inner, bits), some_matrix(generator, inner, columns, bits // 2 + 1)
        assert (whole_product(first, second) == first @ second).all()


def test_the_largest_sums_are_exact():
    first = np.full((2, 4096), 1 - 2**300, object)
    assert (whole_product(first, first.T) == 4096 * (2**300 - 1) ** 2).all()
