"""Products of matrices of long whole numbers, exactly: by Python's own numbers, or for large matrices by doubles.

A number is cut into digits of 16 binary places, so a matrix is a sum of matrices of small numbers times powers of 2^16. The
products of these are sums of products below 2^32 in size, so that doubles hold them exactly as long as fewer than 2^21 are
added up.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[Any]
"""An array of Python's whole numbers, of any size."""

_DIGIT = 16
_LEAST = 1 << 14
"""Products of single numbers from which cutting pays."""
_MOST_DIGITS = 64
_MOST_ADDED = 1 << 21


def whole_product(first: Whole, second: Whole) -> Whole:
    """Return the product of two matrices of whole numbers.

    >>> whole_product(np.array([[2**70, -1]], object), np.array([[3], [5]], object)).tolist()
    [[3541774862152233910267]]
    """
    if is_diagonal(second):
        return first * second.diagonal()
    if is_diagonal(first):
        return first.diagonal()[:, None] * second
    size = max(1 + int(np.abs(matrix).max()).bit_length() // _DIGIT for matrix in (first, second))
    if first.size * second.shape[1] < _LEAST or size > _MOST_DIGITS or size * len(second) >= _MOST_ADDED:
        return first @ second
    digits, others = _digits(first, size), _digits(second, size)
    total = np.zeros((2 * size + 1, len(first), second.shape[1]), np.int64)
    for place in range(2 * size - 1):
        ours = range(max(0, place - size + 1), min(place, size - 1) + 1)
        left, right = np.concatenate(digits[ours], axis=1), np.concatenate(others[[place - i for i in ours]], axis=0)
        total[place] += (left @ right).astype(np.int64)
        # What is beyond a digit is carried; shifting rounds down, so that what stays is not negative.
        total[place + 1] += total[place] >> _DIGIT
        total[place] &= (1 << _DIGIT) - 1
    total[2 * size] = total[2 * size - 1] >> _DIGIT
    return _numbers(total)


def is_diagonal(matrix: Whole) -> bool:
    """Say whether a matrix is square, and 0 beside its diagonal."""
    return matrix.shape[0] == matrix.shape[1] and np.count_nonzero(matrix) == np.count_nonzero(matrix.diagonal())


def _digits(matrix: Whole, size: int) -> NDArray[np.float64]:
    """Cut each number into digits, the least first; the last has the sign."""
    content = b"".join([int(number).to_bytes(2 * size, "little", signed=True) for number in matrix.flat])
    found = np.frombuffer(content, "<u2").reshape(*matrix.shape, size).astype(np.float64)
    found[..., -1] -= (found[..., -1] >= 1 << _DIGIT - 1) * float(1 << _DIGIT)
    return np.ascontiguousarray(np.moveaxis(found, -1, 0))


def _numbers(digits: NDArray[np.int64]) -> Whole:
    """Join digits, the last of which have the sign."""
    size, rows, columns = digits.shape
    content = np.moveaxis(digits, 0, -1).astype("<u2").tobytes()
    width = 2 * size
    found = np.empty(rows * columns, object)
    found[:] = [
        int.from_bytes(content[place : place + width], "little", signed=True) for place in range(0, len(content), width)
    ]
    return found.reshape(rows, columns)
