"""How long work takes, and how long it may take.

Work is estimated before it begins, from the sizes of its numbers: what would not end in time is not begun. Estimates are
rough, so every long loop also asks the clock, and stops at the limit.
"""

import sys
from collections.abc import Callable
from fractions import Fraction
from time import monotonic_ns

from .answers import TooCostly, number_text

MINUTES = 5
"""How long a check may take by default."""

_SECOND = 10**9
_FIRST_REPORT, _NEXT_REPORT = 2 * _SECOND, _SECOND
_UNITS = (("years", 365 * 24 * 3600), ("days", 24 * 3600), ("hours", 3600), ("minutes", 60))

# Measured with Python 3.11, whose whole numbers are made of words of 30 bits.
_WORD = 30
_OPERATION = 100
"""Nanoseconds of an operation on short numbers."""
_WORD_PRODUCT = 1500
"""Picoseconds of the product of two words in a longer product or quotient."""
_KARATSUBA = 70  # words from which Python multiplies halves, three times instead of four


class Limit:
    """The time that a check may take, counted from here on."""

    def __init__(self, minutes: Fraction | int = MINUTES, report: Callable[[str], None] | None = None) -> None:
        self.report, self.start = report, monotonic_ns()
        self.allowed = int(minutes * 60 * _SECOND)
        self.next_report = self.start + _FIRST_REPORT

    def allow(self, nanoseconds: int, work: str) -> None:
        """Let work begin only if it ends in time."""
        if monotonic_ns() + nanoseconds > self.start + self.allowed:
            raise TooCostly(f"{work} would take about {duration(nanoseconds)}; {self._way_out()}")

    def go_on(self, done: int, last: int) -> None:
        """Stop at the limit; else report from time to time how far the work has come."""
        now = monotonic_ns()
        if now > self.start + self.allowed:
            raise TooCostly(f"stopped at length {number_text(done)} of {number_text(last)}; {self._way_out()}")
        if self.report is not None and now > self.next_report:
            self.next_report = now + _NEXT_REPORT
            spent = f"{(now - self.start) // _SECOND} s of at most {duration(self.allowed)}"
            self.report(f"checking length {number_text(done)} of {number_text(last)}: {spent}")

    def stop_in_time(self) -> None:
        """Stop at the limit."""
        if monotonic_ns() > self.start + self.allowed:
            raise TooCostly(f"stopped before the end; {self._way_out()}")

    def _way_out(self) -> str:
        return f"the limit is {duration(self.allowed)}, and --minutes raises it"


def duration(nanoseconds: int) -> str:
    """Write a time in its largest unit, rounded up.

    >>> duration(300 * 10**9), duration(5), duration(10**30)
    ('5 minutes', '1 s', '1,000,000 years or more')
    """
    seconds = -(-nanoseconds // _SECOND)
    name, size = next((unit for unit in _UNITS if seconds >= 2 * unit[1]), ("s", 1))
    number = -(-seconds // size)
    return f"{number:,} {name}" if number <= 10**6 else f"{10**6:,} {name} or more"


def product_time(bits: int, others: int) -> int:
    """Return the nanoseconds of a product of two numbers of so many bits."""
    short, long = sorted((_words(bits), _words(others)))
    pieces, halves, times = -(-long // short), short, 1
    while halves > _KARATSUBA:
        halves, times = halves // 2 + 1, 3 * times
    return _OPERATION + pieces * times * halves**2 * _WORD_PRODUCT // 1000


def quotient_time(bits: int, divisor: int) -> int:
    """Return the nanoseconds of a quotient of so many bits."""
    return _OPERATION + _words(bits) * _words(divisor) * _WORD_PRODUCT // 1000


def _words(bits: int) -> int:
    return bits // _WORD + 1


def total_time(nanoseconds: Callable[[int], int], last: int) -> int:
    """Add up what each length to the last takes: by Simpson's rule, which is exact for a cubic."""
    end = nanoseconds(last)
    return last * (nanoseconds(0) + 4 * nanoseconds(last // 2) + end) // 6 + end


class ProgressLine:
    """Shows on standard error how far the work has come: one line, which a terminal shows anew each time."""

    def __init__(self) -> None:
        self.shown, self.terminal = False, bool(sys.stderr and sys.stderr.isatty())

    def __call__(self, text: str) -> None:
        """Show how far the work has come."""
        if self.terminal or not self.shown:
            self._write(f"\r{text}\x1b[K" if self.terminal else f"{text}\n")
        self.shown = True

    def clear(self) -> None:
        """Take the line away again."""
        if self.shown and self.terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        if sys.stderr:  # which is None where the caller has closed it
            sys.stderr.write(text)
            sys.stderr.flush()
