"""Floating-point modes other than the one that IEEE 754 begins in, entered and left again.

The C library keeps the processor's mode in its `fenv_t`; on x86-64 the last of its eight words is the register MXCSR. The
library's own `fesetround` would do for the directions, but nothing in it names the flushing of subnormal numbers.
"""

import ctypes
import platform
from contextlib import contextmanager
from functools import cache

MODES = {
    "flush to zero": (0x8000, "flushes subnormal numbers to zero"),
    "subnormals as zero": (0x0040, "flushes subnormal numbers to zero"),
    "both, as PyTorch sets them": (0x8040, "flushes subnormal numbers to zero"),
    "upward": (0x4000, "rounds upward"),
    "downward": (0x2000, "rounds downward"),
    "towards zero": (0x6000, "rounds towards zero"),
}
"""Each mode by name: its bits in MXCSR, and what a refusal says of it."""

CANNOT = None if (platform.machine(), platform.libc_ver()[0]) == ("x86_64", "glibc") else "needs glibc on x86-64"
"""Why the mode cannot be changed here, or None where it can."""


@cache
def _library():
    return ctypes.CDLL("libm.so.6")


@contextmanager
def mode(name):
    """Compute in another mode, in this thread."""
    library, before = _library(), (ctypes.c_uint32 * 8)()
    library.fegetenv(before)
    changed = type(before)(*before)
    changed[7] |= MODES[name][0]
    library.fesetenv(changed)
    try:
        yield
    finally:
        library.fesetenv(before)


def refusal_in(name, ask):
    """Ask in a mode; return None if that is refused in one line that names the change, else what came back."""
    with mode(name):
        try:
            answer = ask()
        except ValueError as refusal:
            answer = refusal
        except Exception as error:  # whatever it is, it is no refusal
            answer = error
    message = str(answer) if isinstance(answer, ValueError) else ""
    is_refusal = f"floating point: this thread {MODES[name][1]}" in message and "\n" not in message
    return None if is_refusal else f"{name}: {answer!r}"
