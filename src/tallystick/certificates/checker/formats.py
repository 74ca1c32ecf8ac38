"""Floating point in whole numbers: a float is a whole number of units, the least positive number of its format.

Products and sums of whole numbers are exact, so an operation is exact arithmetic followed by one rounding, said here.
"""

from fractions import Fraction
from typing import NamedTuple

FUSED = "-fused"


class Format(NamedTuple):
    """A binary format.

    Attributes:
        digits: binary digits of a number.
        places: a unit is 2^−places.
        limit: every finite number is below 2^limit.
        tanh_neighbours: how far an executed tanh may be from the correctly rounded one, in neighbouring numbers.
    """

    digits: int
    places: int
    limit: int
    tanh_neighbours: int

    @property
    def greatest(self) -> int:
        """The greatest finite number, in units."""
        return (2**self.digits - 1) << (self.limit - self.digits + self.places)

    @property
    def infinity(self) -> int:
        """What stands for an overflow: far enough beyond all numbers that adding one of them leaves it there."""
        return 4 * self.greatest

    def rounded(self, value: int, places: int) -> int:
        """Return the number nearest to value / 2^places units, a tie to the even one.

        So many last digits are cut off that `digits` stay, or more where what is left would be finer than a unit.
        Adding half, less one last place if the digit before is even, makes the cut one to nearest.
        """
        cut = max(value.bit_length() - self.digits, places)
        if cut <= 0:
            return value
        half_or_less = (1 << (cut - 1)) - 1 + (value >> cut & 1)
        found = ((value + half_or_less) >> cut) << (cut - places)
        if found.bit_length() <= self.limit + self.places:
            return found
        return self.infinity if found > 0 else -self.infinity

    def nearest(self, value: Fraction) -> int:
        """Round a rational. Of what lies beyond two digits below a unit it only matters whether there is any."""
        whole, rest = divmod(value.numerator << (self.places + 2), value.denominator)
        return self.rounded(whole | (rest != 0), 2)

    def neighbour(self, value: int, steps: int) -> int:
        """Return the number so many neighbours above, or below for negative steps."""
        sign = 1 if steps > 0 else -1
        for _ in range(abs(steps)):
            # Towards zero a power of two has its neighbour at the distance of the numbers below it.
            size = abs(value) if value * sign >= 0 else abs(value) - 1
            value += sign << max(size.bit_length() - self.digits, 0)
        return value


FORMATS = {
    "float16": Format(11, 24, 16, 1),
    "bfloat16": Format(8, 133, 128, 1),
    "float32": Format(24, 149, 128, 4),
    "float64": Format(53, 1074, 1024, 4),
}
