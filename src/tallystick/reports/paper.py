"""The numbers the paper prints in Table 2, and what can be said of them without training anything."""

import csv
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from tallystick.reports.settings import Setting

_HALF_A_DIGIT = 0.05
_ROUNDING_SLACK = 1e-9


class Printed(NamedTuple):
    """One entry of the paper's table, each number as it is printed."""

    avg: str
    min: str
    max: str


class Misprint(NamedTuple):
    """A printed number that no accuracy can take, and what the authors' own seeds and strings give instead."""

    which: str
    strings: int
    truth: str

    def note(self, printed: Printed) -> str:
        """Return the explanation in one sentence."""
        value = getattr(printed, self.which)
        return (
            f"printed {self.which} {value} is a misprint: no multiple of 1/{self.strings}, so no accuracy on "
            f"{self.strings} strings; the authors' seeds and strings give {self.truth}"
        )


MISPRINTS = {
    (Setting("binary", bias=False, train_length=2), "20"): Misprint("min", 150, "64.0"),
    (Setting("ternary", bias=True, train_length=2), "50"): Misprint("max", 225, "152/225, which is 67.6"),
}


@cache
def printed_table() -> dict[tuple[Setting, str], Printed]:
    """Return the paper's Table 2 by setting and column."""
    text = (files("tallystick.reports") / "paper_table2.csv").read_text(encoding="utf-8")
    return {
        (
            Setting(row["classification"], row["bias"] == "true", int(row["train_length"])),
            row["column"],
        ): Printed(row["avg"], row["min"], row["max"])
        for row in csv.DictReader(text.splitlines())
    }


def printed_digit_matches(computed: float, printed: str) -> bool:
    """Say whether a computed percentage rounds to the printed one, at one decimal whatever the rounding of ties.

    >>> printed_digit_matches(89.96, "90"), printed_digit_matches(89.94, "90"), printed_digit_matches(72.35, "72.4")
    (True, False, True)
    """
    return abs(computed - float(printed)) <= _HALF_A_DIGIT + _ROUNDING_SLACK


def inside_band(printed: str, low: float, high: float) -> bool:
    """Say whether a printed number lies in the band, which is widened by what rounding to one decimal hides.

    >>> inside_band("92.7", 92.74, 95.0), inside_band("92.7", 92.76, 95.0)
    (True, False)
    """
    slack = _HALF_A_DIGIT + _ROUNDING_SLACK
    return low - slack <= float(printed) <= high + slack


def possible_accuracy(printed: str, strings: int) -> bool:
    """Say whether some number of right answers on so many strings rounds to the printed percentage.

    >>> possible_accuracy("66.7", 150), possible_accuracy("6.04", 150), possible_accuracy("67.5", 225)
    (True, False, False)
    """
    value = Decimal(printed)
    half_a_unit = Decimal(1).scaleb(int(value.as_tuple().exponent)) / 2
    nearest = round(value * strings / 100)
    return any(
        abs(Decimal(100 * right) / strings - value) <= half_a_unit for right in (nearest - 1, nearest, nearest + 1)
    )
