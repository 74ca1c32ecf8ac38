"""Files of strings: one string a line, optionally followed by a comma and its label.

A label is checked against its string; without labels the class follows from the string. Blank lines are passed over.
"""

from pathlib import Path

from tallystick.errors import BadInput, UnknownToken, check_tokens
from tallystick.files import read_text, write_text
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.tasks import Task

MOST_STRINGS = 1_000_000


def read_strings(path: Path, *tasks: Task) -> list[str]:
    """Read the strings of a file in order; each label must be right for one of the tasks.

    A file of another task is refused with the first label that gives it away.
    """
    lines = [(number, line.strip()) for number, line in enumerate(read_text(path).splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line]
    if len(lines) > MOST_STRINGS:
        raise BadInput(f"{path}: holds {len(lines):,} strings; at most {MOST_STRINGS:,} are read")
    strings = [_string(line, tasks, f"{path}: line {number}") for number, line in lines]
    if not strings:
        raise BadInput(f"{path}: holds no string; one is expected on each line")
    return strings


def write_strings(strings: list[str], task: Task | None, path: Path) -> None:
    """Write strings with their labels, as `read_strings` reads them; without a task there are none."""
    write_text("".join(f"{string},{task.label(string)}\n" if task else f"{string}\n" for string in strings), path)


def _string(line: str, tasks: tuple[Task, ...], where: str) -> str:
    string, comma, label = (part.strip() for part in line.partition(","))
    try:
        check_tokens(string, ALPHABET)
    except UnknownToken as error:
        raise BadInput(f"{where}: {error}") from None
    if comma:
        _check_label(string, label, tasks, where)
    return string


def _check_label(string: str, label: str, tasks: tuple[Task, ...], where: str) -> None:
    right = list(dict.fromkeys(str(task.label(string)) for task in tasks))
    if label not in right:
        names, expected = " or ".join(task.name for task in tasks), " or ".join(map(repr, right))
        raise BadInput(f"{where}: label {label!r} is wrong for {string}; it should be {expected} ({names} task)")
