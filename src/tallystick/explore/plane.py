"""The regions R_N as polygons of the plane (a/b, U), for drawing."""

from functools import lru_cache

import numpy as np

from tallystick.certificates.regions import outline, reach

HIGHEST = 4.0
"""The greatest U that is drawn; the region of length 2 has no end."""

MOST_REGIONS = 12
LONGEST_REGION = 128
"""Each is found once, in a quarter of a second at the most; longer ones would be too small to see."""

_STEPS = 100
_INWARDS = 1 - 1e-9  # the tip itself is empty

Polygon = list[tuple[float, float]]


@lru_cache(maxsize=256)
def region(longest: int, lengths: str) -> Polygon:
    """Return the outline of R_N: up its left side, which belongs to it, and down its right side, which does not.

    >>> min(region(8, "all"))
    (-1.0, 1.0)
    """
    tip = min(reach(longest, lengths), HIGHEST)
    # Evenly in log U, so that U = 1 is in the middle: the left side has its corner there.
    heights = np.exp(np.linspace(-1, 1, 2 * _STEPS + 1) * np.log(tip) * _INWARDS)
    left, right = outline(heights, longest, lengths)
    inside = np.isfinite(left)
    up = [(float(x), float(y)) for x, y in zip(left[inside], heights[inside], strict=True)]
    down = [(float(x), float(y)) for x, y in zip(right[inside][::-1], heights[inside][::-1], strict=True)]
    return up + down
