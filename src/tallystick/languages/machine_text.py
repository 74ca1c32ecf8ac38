"""Strings and computations as people write and read them: tokens in a row, and a table with one line per token."""

from tallystick.errors import printable
from tallystick.languages.counter_machine import CounterMachine, String, show_zero_check


def has_long_names(alphabet: tuple[str, ...]) -> bool:
    """Say whether some token has a name of several characters, so that spaces must separate the tokens of a string."""
    return any(len(token) > 1 for token in alphabet)


def read_string(text: str, alphabet: tuple[str, ...]) -> String:
    """Return the string that a text stands for: its characters, or words where a token has a longer name.

    >>> read_string("aab", ("a", "b")), read_string("push push pop", ("push", "pop"))
    ('aab', ('push', 'push', 'pop'))
    """
    return tuple(text.split()) if has_long_names(alphabet) else text


def string_text(string: String, alphabet: tuple[str, ...]) -> str:
    """Write a string so that `read_string` reads it."""
    return (" " if has_long_names(alphabet) else "").join(string)


def trace(machine: CounterMachine, string: String) -> str:
    """Write the computation as a table that a person can read, one line a token.

    >>> from tallystick.languages.ready_machines import READY_MACHINES
    >>> print(trace(READY_MACHINES["bb"], "())"))
    step  token  zero check  update  state  counters
       0                             q      0
       1  (      0           +1      q      1
       2  )      1           -1      q      0
       3  )      0           -1      q      -1
    """
    rows = [("step", "token", "zero check", "update", "state", "counters")]
    rows.append(("0", "", "", "", machine.initial_state, _words(machine.start.counters)))
    for number, (case, update, after) in enumerate(machine.run(string), start=1):
        check = show_zero_check(case.zero_check)
        rows.append((str(number), case.token, check, _words(update), after.state, _words(after.counters)))
    rows = [tuple(map(printable, row)) for row in rows]  # a file may have called its states anything
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_align(row, widths) for row in rows)


def _align(row: tuple[str, ...], widths: list[int]) -> str:
    first, *rest = (
        cell.rjust(w) if i == 0 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()


def _words(values: tuple[object, ...]) -> str:
    return " ".join(map(str, values))
