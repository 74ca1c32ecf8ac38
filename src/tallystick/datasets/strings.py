"""Strings: read from files and written to them, scored by one network, and encoded as arrays.

A file has one string per line, optionally followed by a comma and its label. A label is checked against its string; without
labels the class follows from the string. Blank lines are skipped. Tokens are those of the task; where one has a longer name,
spaces stand between them.
"""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tallystick.cells import ScalarCell
from tallystick.errors import BadInput, UnknownToken, check_tokens
from tallystick.files import read_text, write_text
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN
from tallystick.languages.counter_machine import String
from tallystick.languages.task import read_string, string_text
from tallystick.languages.tasks import BINARY, TASKS, TERNARY, Task
from tallystick.networks import Network
from tallystick.numbers import standard_floats

if TYPE_CHECKING:
    from jaxtyping import Bool

MOST_STRINGS = 1_000_000
"""The most strings that are read from a file."""

MOST_TOKENS = 2**26
"""The most tokens that are encoded, counting every string as long as the longest: memory has to hold them several times."""


_MOST_WORK = 10**17
"""The sum of the cubes of the strings' lengths times the squared bits that a state gains per token: some minutes of work."""


def read_strings(path: Path, *tasks: Task) -> list[str]:
    """Read the strings of a file in order; each label must be right for one of the tasks."""
    lines = [(number, line.strip()) for number, line in enumerate(read_text(path).splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line]
    if len(lines) > MOST_STRINGS:
        raise BadInput(f"{path}: holds {len(lines):,} strings; at most {MOST_STRINGS:,} are read")
    strings = [_text(line, tasks, f"{path}: line {number}") for number, line in lines]
    if not strings:
        raise BadInput(f"{path}: holds no string; one is expected on each line")
    return strings


def write_strings(strings: list[str], task: Task | None, path: Path) -> None:
    """Write strings as `read_strings` reads them, with their labels if there is a task."""
    write_text("".join(f"{string},{task.label(string)}\n" if task else f"{string}\n" for string in strings), path)


def _text(line: str, tasks: tuple[Task, ...], where: str) -> str:
    text, comma, label = (part.strip() for part in line.partition(","))
    alphabet = tasks[0].alphabet if tasks else ALPHABET
    string = read_string(text, alphabet)
    try:
        check_tokens(string, alphabet)
    except UnknownToken as error:
        raise BadInput(f"{where}: {error}") from None
    if comma:
        _check_label(string, label, tasks, where)
    return text


def _check_label(string: String, label: str, tasks: tuple[Task, ...], where: str) -> None:
    right = list(dict.fromkeys(str(task.right_class(string)) for task in tasks))
    if label not in right:
        names, expected = " or ".join(task.name for task in tasks), " or ".join(map(repr, right))
        shown = string_text(string, tasks[0].alphabet)
        raise BadInput(f"{where}: label {label!r} is wrong for {shown}; it should be {expected} ({names} task)")


class Encoded(NamedTuple):
    """Strings as two arrays of the same shape: where an opening bracket stands, and where a closing one.

    Strings are padded on the left: a token that is neither bracket leaves a state of zero at zero.
    """

    opening: "Bool[np.ndarray, 'string token']"
    closing: "Bool[np.ndarray, 'string token']"


def encode(strings: list[str], width: int = 0) -> Encoded:
    """Return one string per row, right-aligned in the longest string's width or in `width`, whichever is more.

    >>> encode(["()", ")"]).closing.astype(int).tolist()
    [[0, 1], [0, 1]]
    """
    for string in strings:
        check_tokens(string, ALPHABET)
    width = max([width, *map(len, strings)])
    if len(strings) * width > MOST_TOKENS:
        raise BadInput(
            f"strings: {len(strings):,}, the longest of {width:,} tokens, make a table of more than {MOST_TOKENS:,} tokens; "
            "long ones and short ones are better tested apart"
        )
    padded = np.frombuffer("".join(string.rjust(width) for string in strings).encode("ascii"), np.uint8)
    return Encoded(*(padded.reshape(len(strings), width) == ord(token) for token in (OPEN, CLOSE)))


def score(model: Network, path: Path) -> dict[str, int | float]:
    """Return how many strings of the file the model puts into the right class of its readout.

    Labels are checked for the network's task; the zero check accepts those of the binary and of the ternary task. A network that
    names the next token is asked only where its task says what may follow: `asked` says of how many strings, and the others count
    neither as right nor as wrong.
    """
    membership = model.is_usual and model.task.name not in TASKS
    texts = read_strings(path, *((BINARY, TERNARY) if membership else (model.task,)))
    strings = [read_string(text, model.alphabet) for text in texts]
    _check_effort(model, strings, path)
    wanted = [(string, right) for string in strings if (right := model.right_class(string)) is not None]
    if not wanted:
        raise BadInput(f"{path}: after none of its strings does the task {model.task.name!r} say what must follow")
    with standard_floats():  # a state that overflows is simply wrong
        right = sum(model.class_of(string) == expected for string, expected in wanted)
    asked = {} if model.readout.steps is None else {"asked": len(wanted)}
    return {"strings": len(strings), **asked, "right": right, "accuracy": 100 * right / len(wanted)}


def _check_effort(model: Network, strings: list[String], path: Path) -> None:
    """Refuse strings along which exact states would grow for hours."""
    weights = model.cell.recurrent_weights if isinstance(model.cell, ScalarCell) else ()
    growth = max((_bits(weight) for weight in weights if isinstance(weight, Fraction)), default=0)
    if growth**2 * sum(len(string) ** 3 for string in strings) > _MOST_WORK:
        longest = max(map(len, strings))
        raise BadInput(
            f"{path}: along strings of up to {longest:,} tokens rational states would grow for hours; "
            "--arithmetic float64 takes them"
        )


def _bits(weight: Fraction) -> int:
    return max(weight.numerator.bit_length(), weight.denominator.bit_length()) - 1
