"""The floating-point mode of a thread: rounding to nearest with subnormal numbers, as IEEE 754 begins, or no verdict.

A processor keeps its mode per thread, and any library may change it: PyTorch when asked to, a library built with
-ffast-math while it is loaded. No system tells the mode everywhere, so it is found by computing: a few sums in every format,
through NumPy and through Python, whose bits differ as soon as the mode does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput

_FLUSHES = "flushes subnormal numbers to zero", "torch.set_flush_denormal(False)"
_ROUNDS = "fesetround(FE_TONEAREST)"
_CHANGES = (
    _FLUSHES,
    _FLUSHES,
    ("rounds upward", _ROUNDS),
    ("rounds downward", _ROUNDS),
    ("rounds towards zero", _ROUNDS),
)
"""What it means that a sum differs, and how it is undone, in the order of the sums; the first that differs tells."""


class _Sums(NamedTuple):
    """Two arrays to add, and the bits of their sums in the mode that IEEE 754 begins in."""

    left: NDArray[Any]
    right: NDArray[Any]
    kind: type[np.generic]
    bits: NDArray[Any]


def _sums(kind: type[np.generic]) -> _Sums:
    """Return the sums in a format, all written in bits: in a changed mode, constants might be off already.

    A tiny sum of tiny numbers and one of normal numbers; then 1 + u/4, its negative and 1 + 3u/4, for u one unit in the last
    place of 1.
    """
    limits: Any = ml_dtypes.finfo(kind)
    whole = np.dtype(f"u{np.dtype(kind).itemsize}")
    negative, normal = 1 << (limits.bits - 1), 1 << int(limits.nmant)

    def power(exponent: int) -> int:
        return (exponent - int(limits.minexp) + 1) * normal

    one, quarter, quarters = power(0), power(-limits.nmant - 2), power(-limits.nmant - 1) + normal // 2
    left, right, total = np.array(
        [
            (1, 1, 2),
            (normal + normal // 2, negative + normal, normal // 2),
            (one, quarter, one),
            (negative + one, negative + quarter, negative + one),
            (one, quarters, one + 1),
        ],
        whole,
    ).T.copy()
    return _Sums(left.view(kind), right.view(kind), kind, total)


_EVERY = [_sums(kind) for kind in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]
_EVERY.append(_EVERY[-1]._replace(left=_EVERY[-1].left.astype(object), right=_EVERY[-1].right.astype(object)))
"""The sums in every format, and once more as Python's own floats."""


def check_mode() -> None:
    """Refuse to go on in a thread whose floating-point mode is changed; takes some microseconds."""
    with np.errstate(all="ignore"):
        for left, right, kind, bits in _EVERY:
            found = np.asarray(left + right, kind).view(bits.dtype)
            if found.tobytes() != bits.tobytes():
                change, way_out = _CHANGES[int(np.flatnonzero(found != bits)[0])]
                raise BadInput(
                    f"floating point: this thread {change}, so floats do not behave as in IEEE 754 and no verdict is safe; "
                    f"undo it, as with {way_out}, or ask in a new process"
                )


@contextmanager
def standard_floats() -> Iterator[None]:
    """Compute in the mode that IEEE 754 begins in, or not at all; around a block, or as the decorator of a function.

    The mode is looked at before and after, since a library may change it half-way. What overflows, underflows or is no
    number is part of the answer: NumPy says nothing of it, however the user has set `np.seterr`.
    """
    with np.errstate(all="ignore"):
        check_mode()
        yield
        check_mode()
