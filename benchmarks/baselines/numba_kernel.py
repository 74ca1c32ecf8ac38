"""What a programmer gets by hand: the binary training without bias as a numba kernel, vectorised over models.

Blocks of models are spread over the cores. Within a block the inner loop goes over the models, with the tokens unrolled inside
it, so that one pass takes a vector of models through a whole step and the block's weights and moments stay in the cache.
Gradients are derived by hand; `fastmath` is off.

Two kernels share that loop. `train` is the strong one: multiplications and additions fused, and an exponential that the
compiler can vectorise. `train_plain` has neither, only what numba offers as it is.
"""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.extending import intrinsic
from numba.np.unsafe.ndarray import to_fixed_tuple

BLOCK = 256
"""Models in a block: twelve numbers a model are 12 KiB, which the first cache holds."""

LEARNING_RATE, DECAY_MEAN, DECAY_SQUARE = 0.005, 0.9, 0.999

Kernel: TypeAlias = Callable[..., np.ndarray]
Type: TypeAlias = types.Type
Lowering: TypeAlias = tuple[object, Callable[..., object]]
"""An instruction for numba: its signature, and what writes it into the compiled program."""

_f = np.float32
_BETA_1, _REST_1, _BETA_2, _REST_2, _EPSILON = _f(0.9), _f(0.1), _f(0.999), _f(0.001), _f(1e-8)


def train(
    start: np.ndarray, opening: np.ndarray, closing: np.ndarray, target: np.ndarray, epochs: int = 100
) -> np.ndarray:
    """Train an ensemble with the strong kernel.

    Args:
        start: initial weights, shape (4, models): for `(`, for `)`, recurrent, readout.
        opening: 1 where a string has an opening bracket, shape (strings, tokens); shorter strings are padded on the left.
        closing: the same for closing brackets.
        target: 1 for a positive string, 0 for any other.
        epochs: passes over the strings.

    Returns:
        The final weights, of the shape of `start`.
    """
    return _train(_kernel(opening.shape[1], strong=True), start, opening, closing, target, epochs)


def train_plain(
    start: np.ndarray, opening: np.ndarray, closing: np.ndarray, target: np.ndarray, epochs: int = 100
) -> np.ndarray:
    """Train an ensemble with the kernel that uses nothing but numba's own; the arguments are those of `train`."""
    return _train(_kernel(opening.shape[1], strong=False), start, opening, closing, target, epochs)


def train_numpy(
    start: np.ndarray,
    opening: np.ndarray,
    closing: np.ndarray,
    target: np.ndarray,
    epochs: int = 100,
    dtype: type[np.floating] = np.float32,
) -> np.ndarray:
    """Do the same in plain NumPy, to check the kernels with; slow."""
    weights = [row.astype(dtype) for row in start]
    means, squares = np.zeros((2, *start.shape), dtype)
    steps = zip(*_step_sizes(epochs * len(target), dtype), strict=True)
    for _ in range(epochs):
        for opens, closes, y, (size, correction) in zip(opening, closing, target, steps, strict=False):
            a, b, u, v = weights
            h = by_a = by_b = by_u = np.zeros_like(a)
            for is_open, is_close in zip(opens.astype(dtype), closes.astype(dtype), strict=True):
                by_u = u * by_u + h
                h = u * h + (is_open * a + is_close * b)
                by_a, by_b = u * by_a + is_open, u * by_b + is_close
            error = 1 / (1 + np.exp(-v * h)) - dtype(y)
            slope = np.stack([error * v * by_a, error * v * by_b, error * v * by_u, error * h])
            means = dtype(DECAY_MEAN) * means + dtype(1 - DECAY_MEAN) * slope
            squares = dtype(DECAY_SQUARE) * squares + dtype(1 - DECAY_SQUARE) * slope**2
            weights = list(weights - size * means / (np.sqrt(squares) * correction + dtype(1e-8)))
    return np.stack(weights)


def _train(
    kernel: Kernel, start: np.ndarray, opening: np.ndarray, closing: np.ndarray, target: np.ndarray, epochs: int
) -> np.ndarray:
    arrays = [np.ascontiguousarray(array, np.float32) for array in (start, opening, closing, target)]
    return kernel(*arrays, *_step_sizes(epochs * len(target), np.float32), epochs)


def _step_sizes(steps: int, dtype: type[np.floating]) -> tuple[np.ndarray, np.ndarray]:
    """Adam's corrections for every step: the learning rate over 1 − β₁ⁿ, and 1/√(1 − β₂ⁿ)."""
    number = np.arange(1, steps + 1)
    sizes, corrections = LEARNING_RATE / (1 - DECAY_MEAN**number), 1 / np.sqrt(1 - DECAY_SQUARE**number)
    return sizes.astype(dtype), corrections.astype(dtype)


@intrinsic
def _fused(_context: object, _x: Type, _y: Type, _z: Type) -> Lowering:
    """x·y + z in one instruction, rounded once; without fastmath the compiler may not fuse by itself."""
    signature = types.float32(types.float32, types.float32, types.float32)
    return signature, lambda _compiler, builder, _signature, arguments: builder.fma(*arguments)


@intrinsic
def _truncated(_context: object, _x: Type) -> Lowering:
    """The whole number of a float, as 32 bits; numba's own conversion goes through 64 and halves the vectors."""
    return types.int32(types.float32), lambda _c, builder, _s, arguments: builder.fptosi(arguments[0], ir.IntType(32))


@intrinsic
def _float_of_bits(_context: object, _bits: Type) -> Lowering:
    """The float that these 32 bits are."""
    return types.float32(types.int32), lambda _c, builder, _s, arguments: builder.bitcast(arguments[0], ir.FloatType())


@njit(inline="always", error_model="numpy")
def _exponential(x: float) -> float:
    """e^x to about one unit in the last place: 2ⁿ·e^r with |r| ≤ ln 2 / 2, and a polynomial (Cephes) for e^r."""
    x = min(max(x, _f(-87)), _f(88))
    # Adding and subtracting 1.5·2²³ rounds to a whole number.
    n = _fused(x, _f(1.4426950408889634), _f(12582912)) - _f(12582912)
    # ln 2 in two parts, the first short enough for n·part to be exact.
    r = _fused(n, _f(2.12194440e-4), _fused(n, _f(-0.693359375), x))
    p = _fused(_f(1.9875691500e-4), r, _f(1.3981999507e-3))
    p = _fused(p, r, _f(8.3334519073e-3))
    p = _fused(p, r, _f(4.1665795894e-2))
    p = _fused(p, r, _f(1.6666665459e-1))
    p = _fused(p, r, _f(5.0000001201e-1))
    p = _fused(p, r * r, r) + _f(1)
    # A float's exponent stands above its 23 digits, moved up by 127.
    return p * _float_of_bits(np.int32((_truncated(n) + np.int32(127)) << np.int32(23)))


@njit(inline="always", error_model="numpy")
def _unfused(x: float, y: float, z: float) -> float:
    return x * y + z


@njit(inline="always", error_model="numpy")
def _library_exponential(x: float) -> float:
    return np.exp(x)


@cache
def _kernel(width: int, *, strong: bool) -> Kernel:
    """Compile the kernel for strings of `width` tokens: the loop over them is unrolled, so their number is a constant.

    Division follows NumPy's rules, not Python's: a test for zero in the inner loop would keep it from being vectorised.
    """
    fused, exponential = (_fused, _exponential) if strong else (_unfused, _library_exponential)

    @njit(inline="always", error_model="numpy")
    def update(state: np.ndarray, row: int, model: int, slope: float, size: float, correction: float) -> None:
        mean = fused(_BETA_1, state[4 + row, model], _REST_1 * slope)
        square = fused(_BETA_2, state[8 + row, model], _REST_2 * (slope * slope))
        state[4 + row, model] = mean
        state[8 + row, model] = square
        state[row, model] -= size * mean / fused(np.sqrt(square), correction, _EPSILON)

    @njit(error_model="numpy")
    def step(
        state: np.ndarray, opens: np.ndarray, closes: np.ndarray, target: float, size: float, correction: float
    ) -> None:
        # As tuples the tokens are values, not memory that the writes to `state` might change.
        opens, closes = to_fixed_tuple(opens, width), to_fixed_tuple(closes, width)
        for model in range(BLOCK):
            a, b, u, v = state[0, model], state[1, model], state[2, model], state[3, model]
            h = by_a = by_b = by_u = _f(0)
            for place in range(width):
                by_u = fused(u, by_u, h)
                h = fused(u, h, opens[place] * a + closes[place] * b)
                by_a = fused(u, by_a, opens[place])
                by_b = fused(u, by_b, closes[place])
            error = _f(1) / (_f(1) + exponential(-v * h)) - target
            update(state, 0, model, error * v * by_a, size, correction)
            update(state, 1, model, error * v * by_b, size, correction)
            update(state, 2, model, error * v * by_u, size, correction)
            update(state, 3, model, error * h, size, correction)

    @njit(parallel=True, error_model="numpy")
    def kernel(
        start: np.ndarray,
        opening: np.ndarray,
        closing: np.ndarray,
        target: np.ndarray,
        sizes: np.ndarray,
        corrections: np.ndarray,
        epochs: int,
    ) -> np.ndarray:
        models = start.shape[1]
        end = np.empty_like(start)
        for block in prange((models + BLOCK - 1) // BLOCK):
            first = block * BLOCK
            last = min(first + BLOCK, models)
            # Rows 0 to 3 are the weights, then the means and the squares. Models that fill up the last block stay at zero.
            state = np.zeros((12, BLOCK), np.float32)
            state[:4, : last - first] = start[:, first:last]
            number = 0
            for _ in range(epochs):
                for string in range(len(target)):
                    step(state, opening[string], closing[string], target[string], sizes[number], corrections[number])
                    number += 1
            end[:, first:last] = state[:4, : last - first]
        return end

    return kernel
