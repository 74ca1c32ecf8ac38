"""How far a program would be right if it had been declared otherwise: a horizon of 0 to 2 may be that of a wrong encoding.

The program is run once on all strings up to a small length. Its answers under other declarations follow: with tokens in another
order a string gets the answer of the string that it is then read as, and with classes in another order another name for it.
"""

from collections.abc import Iterator
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.calling import NotRun
from tallystick.certificates.executable import Executable
from tallystick.certificates.string_blocks import RightClasses, all_rows
from tallystick.certificates.verdict import Lengths
from tallystick.languages.tasks import READY_TASKS, Task

SUSPECT = 2
"""Up to this horizon a wrong encoding is thought of."""

_FURTHER = 3
"""By so much another declaration must be right further, so as not to be so by chance."""

_STRINGS = 1024
_LONGEST = 10


class Variant(NamedTuple):
    """Another declaration: for each token and class the one that is meant instead, and the task."""

    tokens: tuple[int, ...]
    classes: tuple[int, ...]
    task: Task


def hint(program: Executable, lengths: Lengths, horizon: int) -> str:
    """Say with which other declaration a program would be right further than its horizon; nothing where there is none."""
    answers = _answers(program, lengths)
    tried = {variant: _horizon(variant, answers) for variant in _variants(program)}
    best = max(tried, key=lambda variant: tried[variant])  # the first of equals, which is the simplest
    if tried[best] < horizon + _FURTHER:
        return ""
    said = f"at least {tried[best]}" if tried[best] == max(answers) else str(tried[best])
    return f"with {_words(best, program)} the horizon would be {said}"


def _answers(program: Executable, lengths: Lengths) -> dict[int, NDArray[np.intp]]:
    """Return the classes that a program gives to all strings, by length, as far as it reads them and there are not too many."""
    found: dict[int, NDArray[np.intp]] = {}
    tokens = len(program.alphabet)
    for length in lengths.upto(_LONGEST):
        if tokens**length > _STRINGS:
            break
        try:
            found[length] = program.classes(program.outputs(all_rows(tokens, length)))
        except NotRun:
            break
    return found


def _variants(program: Executable) -> Iterator[Variant]:
    """Go through other orders of the tokens and of the classes, and other questions about the same tokens, the simplest first."""
    task, size = program.task, len(program.task.classes)
    asked = [other for other in READY_TASKS.values() if other.alphabet == task.alphabet and len(other.classes) == size]
    orders = product(permutations(range(size)), permutations(range(len(program.alphabet))))
    for classes, tokens in sorted(orders, key=lambda order: sum(_is_changed(part) for part in order)):
        for other in (task, *(one for one in asked if one.name != task.name)):
            if other is not task or _is_changed(tokens) or _is_changed(classes):
                yield Variant(tokens, classes, other)


def _is_changed(order: tuple[int, ...]) -> bool:
    return order != tuple(range(len(order)))


def _horizon(variant: Variant, answers: dict[int, NDArray[np.intp]]) -> int:
    """Return the length to which the answers are right under another declaration."""
    right, reached = RightClasses(variant.task), 0
    base = len(variant.tokens)
    for length, classes in answers.items():
        rows = all_rows(base, length)
        read = np.array(variant.tokens)[rows] @ base ** np.arange(length)[::-1]
        if (np.array(variant.classes)[classes[read]] != right.of_rows(rows)).any():
            break
        reached = length
    return reached


def _words(variant: Variant, program: Executable) -> str:
    """Say what differs from what was declared."""
    parts: list[str] = []
    if variant.task is not program.task:
        parts.append(f"task={variant.task.name!r}")
    if _is_changed(variant.classes):
        parts.append(f"classes={[str(variant.task.classes[place]) for place in variant.classes]!r}")
    if _is_changed(variant.tokens):
        pairs = [f"{program.alphabet[a]} read as {program.alphabet[b]}" for a, b in enumerate(variant.tokens) if a != b]
        parts.append("the two tokens swapped" if len(variant.tokens) == 2 else ", ".join(pairs))  # noqa: PLR2004
    return " and ".join(parts)
