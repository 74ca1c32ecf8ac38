"""Shares as they are printed: those that are not nothing or all do not look like it."""

_MOST_DIGITS = 9


def percent(share: float) -> str:
    """Write a share in percent with one decimal, and with more where it would look like nothing or like all.

    >>> percent(0.5), percent(0.9999), percent(1.0)
    ('50.0', '99.99', '100.0')
    """
    digits = 1
    while digits < _MOST_DIGITS and round(100 * share, digits) in (0, 100) and share not in (0, 1):
        digits += 1
    return f"{100 * share:.{digits}f}"
