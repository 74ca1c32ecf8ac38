"""How deep an exact counter stays exact in floating point."""

from tallystick.cells import Recurrence, ReluCell, ScalarCell
from tallystick.certificates.verdict import FLOATS
from tallystick.errors import BadInput
from tallystick.numbers import ARITHMETICS, exact, float_format


def exact_depth(cell: Recurrence, arithmetic: str) -> int | None:
    """Return the greatest k up to which every multiple of a is exact: k·s ≤ 2^p for a = s·2^e with s odd.

    With U = 1 and b = −a the state is a sum of steps a and −a. While the count stays within ±k each state is a multiple
    of a with at most p binary digits, so no operation rounds, fused or not: every string of length k or less is counted
    as in the real numbers. p is 11, 8, 24 and 53 for float16, bfloat16, float32 and float64; overflow may end it sooner.
    None for a cell that, with its weights rounded to this arithmetic, is no exact counter.

    >>> from tallystick.cells import LinearCell
    >>> exact_depth(LinearCell(1, -1, 1), "float32") == 2**24
    True
    >>> exact_depth(LinearCell(0.1, -0.1, 1), "float32"), exact_depth(LinearCell(1, -1, 0.5), "float32")
    (1, None)
    """
    if arithmetic not in FLOATS:
        raise BadInput(f"arithmetic: {arithmetic!r} is not one of {', '.join(FLOATS)}")
    if not isinstance(cell, ScalarCell) or cell.counting is None:
        return None
    form = float_format(arithmetic)
    try:
        rounded = cell.map_weights(ARITHMETICS[form.name])  # a fused weight would not compare
    except BadInput:  # a weight that does not fit the format
        return None
    if (
        rounded.open_step == 0
        or rounded.close_step != -rounded.open_step
        or any(U != 1 for U in rounded.recurrent_weights)
    ):
        return None
    if isinstance(rounded, ReluCell) and rounded.open_step < 0:
        return None
    step = abs(exact(rounded.open_step))
    odd = step.numerator // (step.numerator & -step.numerator)
    return min(2**form.digits // odd, int(form.greatest / step))
