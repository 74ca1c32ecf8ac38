"""What the paper prints: its twelve settings, the numbers of Table 2, and the words by which a report names them."""

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

PAPER_RUNS = 10
TASKS = ("binary", "ternary")
TRAIN_LENGTHS = (2, 4, 8)
COLUMNS = ("train", "20", "50")
COLUMN_TITLES = {"train": "Train", "20": "20 tokens", "50": "50 tokens"}

# In the order of the table: what is nearest to the paper first.
EDITIONS = {
    "exact": "the authors' ten seeds and their own strings",
    "fresh": "fresh seeds and generated strings",
    "float32": "fresh seeds and the authors' strings, the single-precision twin of the edition below",
    "float64": "fresh seeds, the authors' strings where they were given and the generated ones where not",
}
_SAMPLING = "95 % band of such an average over seeds and test strings, for this one order of the training strings"
BANDS = {
    "exact": "least to greatest such average when the initial weights are nudged, by 1e-7 unless config.toml says otherwise",
    "fresh": _SAMPLING,
    "float32": _SAMPLING,
    "float64": _SAMPLING,
}
DOUBLED_SOFTMAX = (
    "The published ternary loss applies softmax twice (cross-entropy on probabilities taken for logits), "
    "so it cannot go below 0.5514."
)

_HALF_A_DIGIT = 0.05
_ROUNDING_SLACK = 1e-9


class Group(NamedTuple):
    """A task with or without bias: a row of blocks in the paper's table, a pair of panels in its figure."""

    task: str
    bias: bool

    def __str__(self) -> str:
        """Return the words a reader sees.

        >>> str(Group("ternary", bias=True))
        'ternary with bias'
        """
        return f"{self.task} {'with' if self.bias else 'without'} bias"


class PaperSetting(NamedTuple):
    """One row of the paper's table."""

    task: str
    bias: bool
    train_length: int

    @property
    def group(self) -> Group:
        """The setting without its training length."""
        return Group(self.task, self.bias)

    def __str__(self) -> str:
        """Return the words a reader sees.

        >>> str(PaperSetting("binary", bias=False, train_length=8))
        'binary without bias, length 8'
        """
        return f"{self.group}, length {self.train_length}"


# The order of the paper's table: without bias first.
GROUPS = tuple(Group(task, bias) for bias in (False, True) for task in TASKS)
SETTINGS = tuple(PaperSetting(*group, length) for group in GROUPS for length in TRAIN_LENGTHS)


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
    (PaperSetting("binary", bias=False, train_length=2), "20"): Misprint("min", 150, "64.0"),
    (PaperSetting("ternary", bias=True, train_length=2), "50"): Misprint("max", 225, "152/225, which is 67.6"),
}


@cache
def printed_table() -> dict[tuple[PaperSetting, str], Printed]:
    """Return the paper's Table 2 by setting and column."""
    text = (files("tallystick.reports") / "paper_table2.csv").read_text(encoding="utf-8")
    return {
        (
            PaperSetting(row["classification"], row["bias"] == "true", int(row["train_length"])),
            row["column"],
        ): Printed(row["avg"], row["min"], row["max"])
        for row in csv.DictReader(text.splitlines())
    }


def has_printed_digit(computed: float, printed: str) -> bool:
    """Say whether a computed percentage rounds to the printed one, at one decimal whatever the rounding of ties.

    >>> has_printed_digit(89.96, "90"), has_printed_digit(89.94, "90"), has_printed_digit(72.35, "72.4")
    (True, False, True)
    """
    return abs(computed - float(printed)) <= _HALF_A_DIGIT + _ROUNDING_SLACK


def is_inside_band(printed: str, low: float, high: float) -> bool:
    """Say whether a printed number lies in the band, which is widened by what rounding to one decimal hides.

    >>> is_inside_band("92.7", 92.74, 95.0), is_inside_band("92.7", 92.76, 95.0)
    (True, False)
    """
    slack = _HALF_A_DIGIT + _ROUNDING_SLACK
    return low - slack <= float(printed) <= high + slack


def equality_note(found: dict[str, float], printed: Printed, misprinted: str | None = None) -> str:
    """Say which of avg, min and max equal the printed digits; a misprinted one is left to its own note.

    >>> equality_note({"avg": 69.2, "min": 64.0, "max": 77.33}, Printed("69.2", "6.04", "77.3"), "min")
    'avg and max equal to the printed digit'
    >>> equality_note({"avg": 69.3, "min": 64.0, "max": 77.33}, Printed("69.2", "64.0", "77.3"))
    'avg 69.3 (printed 69.2) differs'
    """
    compared = [which for which in found if which != misprinted]
    off = [
        f"{which} {found[which]:.1f} (printed {getattr(printed, which)})"
        for which in differences(found, printed, misprinted)
    ]
    if off:
        return f"{_enumeration(off)} {'differs' if len(off) == 1 else 'differ'}"
    return (
        "equal to the printed digit" if misprinted is None else f"{_enumeration(compared)} equal to the printed digit"
    )


def differences(found: dict[str, float], printed: Printed, misprinted: str | None = None) -> tuple[str, ...]:
    """Return which of avg, min and max do not equal the printed digits; a misprinted one is left out."""
    return tuple(
        which
        for which, value in found.items()
        if which != misprinted and not has_printed_digit(value, getattr(printed, which))
    )


def _enumeration(words: list[str]) -> str:
    """Join words as a sentence does."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
