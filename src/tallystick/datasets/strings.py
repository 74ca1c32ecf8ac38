"""Strings: read from files and written to them, encoded as arrays, and the paper's training sets and long tests.

A file has one string per line, optionally followed by a comma and its label. A label is checked against its string; without
labels the class follows from the string. Blank lines are skipped. Tokens are those of the task; where one has a longer name,
spaces stand between them.

A training set is all strings of a few short lengths, with the smaller classes filled up with repeats, shuffled once.

The long tests are 150 strings of one length, made from random Dyck-1 strings of a grammar. The grammar S → ( S ) with
probability 1/2, S S with 1/4, empty with 1/4 is not uniform over Dyck-1. Instead of drawing from it until a string happens to
have the length, strings of the length are drawn from the grammar's own conditional distribution, many at once: with
p₀ = 2 − √3 the probability of the empty string and c = 1/(1 − p₀/2), the strings of n pairs have the weights
A(n) = (c/2)·B(n−1) for one outer pair and B(n) = A(n) + (c/4)·Σ B(j)·B(n−j) in all.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from tallystick.errors import BadInput, UnknownToken, check_tokens, check_whole
from tallystick.files import read_text, write_text
from tallystick.languages.brackets import ALPHABET, BB, CLOSE, OPEN
from tallystick.languages.counter_machine import String
from tallystick.languages.task import read_string, string_text
from tallystick.languages.tasks import Task

if TYPE_CHECKING:
    from jaxtyping import Bool, Int

MOST_STRINGS = 1_000_000
"""The most strings that are read from a file."""

MOST_TOKENS = 2**26
"""The most tokens that are encoded, counting every string as long as the longest: memory has to hold them several times."""

LONGEST_TRAINING = 14
"""All strings of a length are listed: 2¹⁴ of them at most."""

DYCK, WRONG_ORDER, SURPLUS_CLOSING, SURPLUS_OPENING = 25, 25, 25, 75
SUITE_SIZE = DYCK + WRONG_ORDER + SURPLUS_CLOSING + SURPLUS_OPENING
TEST_LENGTHS = (20, 50)
LONGEST_TEST = 1000

Tokens: TypeAlias = "Bool[np.ndarray, 'string token']"
"""Strings as rows, True for an opening bracket."""

RUNS = 10
"""The paper's runs per setting; the seed is the run's number."""

_REPOSITORY_NAMES = {
    "binary": "CounterDataset{length}Tokens.txt",
    "ternary": "CounterDataset{length}TokensTernaryOversampledDataset.txt",
}


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


def published_strings(directory: Path, task: Task, length: int) -> list[str]:
    """Read the authors' strings, from a checkout of their repository or a folder with `binary_8.txt` and the like."""
    names = [f"{task.name}_{length}.txt", _REPOSITORY_NAMES[task.name].format(length=length)]
    for name in names:
        if (directory / name).is_file():
            return read_strings(directory / name, task)
    raise BadInput(
        f"{directory}: holds neither {names[0]} nor {names[1]}, the authors' {task.name} strings of {length} tokens"
    )


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


# --- The paper's training sets and long tests ---------------------------------------------------------------------------------


def training_set(task: Task, train_length: int, seed: int) -> list[str]:
    """Return the strings in the order in which every epoch reads them.

    >>> from tallystick.languages.tasks import TASKS
    >>> [len(training_set(TASKS[name], length, 0)) for name in ("binary", "ternary") for length in (2, 4, 8)]
    [6, 28, 354, 6, 24, 297]
    """
    lengths = training_lengths(train_length)
    generator = np.random.default_rng([seed, train_length, task.outputs])
    if task.outputs > 1:
        strings = _fill_at_random(task, [string for length in lengths for string in _strings(length)], generator)
    else:
        strings = [string for length in lengths for string in _fill_in_turn(task, _strings(length))]
    return [strings[place] for place in generator.permutation(len(strings))]


def training_lengths(train_length: int) -> list[int]:
    """Return the lengths that "length N" stands for: the powers of two from 2 on that are below N, and N itself.

    >>> training_lengths(8), training_lengths(6)
    ([2, 4, 8], [2, 4, 6])
    """
    check_whole(train_length, "train_length", least=1)
    if train_length > LONGEST_TRAINING:
        raise BadInput(f"train_length: {train_length} is more than {LONGEST_TRAINING}: all 2^length strings are listed")
    doubled = [2**power for power in range(1, train_length.bit_length()) if 2**power < train_length]
    return [*doubled, train_length]


def _strings(length: int) -> list[str]:
    return [*BB.members(length), *BB.non_members(length)]


def _fill_in_turn(task: Task, strings: list[str]) -> list[str]:
    """Repeat the positive strings in turn until they are as many as the others (the binary task, length by length)."""
    positive = [string for string in strings if task.index_of_count(task.count(string)) > 0]
    others = [string for string in strings if task.index_of_count(task.count(string)) <= 0]
    smaller, larger = (positive, others) if len(positive) <= len(others) else (others, positive)
    filled = [smaller[place % len(smaller)] for place in range(len(larger))]
    return others + filled if smaller is positive else filled + positive


def _fill_at_random(task: Task, strings: list[str], generator: np.random.Generator) -> list[str]:
    """Add random repeats until the three classes are equal (the ternary task, over the merged set)."""
    classes = [[string for string in strings if task.right_class(string) == name] for name in task.classes]
    if not all(classes):
        raise BadInput("train_length: 1 has no string of the class Zero; the ternary task needs 2 or more")
    size = max(map(len, classes))
    return [
        string
        for members in classes
        for string in [
            *members,
            *(members[place] for place in generator.integers(len(members), size=size - len(members))),
        ]
    ]


def long_suite(task: Task, length: int, seed: int) -> list[str]:
    """Return the test strings of one length: 150, and 225 for the ternary task, whose classes are filled up to 75.

    >>> from tallystick.languages.tasks import TASKS
    >>> [len(long_suite(TASKS[name], 20, seed=1)) for name in ("binary", "ternary")]
    [150, 225]
    """
    generator = np.random.default_rng([seed, length])
    strings = as_strings(draw_suites(length, 1, generator))
    return [strings[place] for place in suite_places(task, generator)]


def draw_suites(length: int, suites: int, generator: np.random.Generator) -> Tokens:
    """Draw whole suites of 150 strings, one after the other, each string from a Dyck-1 string of its own."""
    tokens = draw_dyck(length, suites * SUITE_SIZE, generator).reshape(suites, SUITE_SIZE, length)
    parts = np.split(tokens, np.cumsum([DYCK, WRONG_ORDER, SURPLUS_CLOSING]), axis=1)
    dyck, ordered, closing, opening = (part.reshape(-1, length) for part in parts)
    # Exchanging the brackets of the surplus-closing rule gives the surplus-opening one.
    changed = [dyck, _disorder(ordered, generator), _turn(closing, generator), ~_turn(~opening, generator)]
    return np.concatenate([part.reshape(suites, -1, length) for part in changed], axis=1).reshape(-1, length)


def suite_places(task: Task, generator: np.random.Generator) -> "Int[np.ndarray, ' string']":
    """Return which strings of a suite a task reads: all of them, and in the ternary task repeats of the two smaller classes."""
    places = np.arange(SUITE_SIZE)
    if task.outputs == 1:
        return places
    zero, negative = places[: DYCK + WRONG_ORDER], places[DYCK + WRONG_ORDER : -SURPLUS_OPENING]
    repeats = [generator.choice(part, SURPLUS_OPENING - len(part)) for part in (zero, negative)]
    return np.concatenate([places, *repeats])


def draw_dyck(length: int, number: int, generator: np.random.Generator) -> Tokens:
    """Draw Dyck-1 strings of one length from the grammar's conditional distribution, all of them at the same time.

    Each string has a stack of what is still to be written: n > 0 stands for n pairs, 0 for a closing bracket.
    """
    check_whole(length, "length", least=2)
    if length % 2 or length > LONGEST_TEST:
        raise BadInput(f"length: {length} is not an even number up to {LONGEST_TEST}")
    choices = _choices(length // 2)
    rows = np.arange(number)
    stack = np.zeros((number, length + 2), dtype=np.int16)
    stack[:, 0] = length // 2
    top, place = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    tokens = np.zeros((number, length), dtype=bool)
    while rows.size:
        pairs = stack[rows, top[rows]]
        # 0: write `(`, then n − 1 pairs, then `)`; j > 0: write j pairs, then n − j.
        first = (generator.random(rows.size)[:, None] > choices[pairs]).sum(axis=1)
        writes = (pairs == 0) | (first == 0)
        opens = writes & (pairs > 0)
        tokens[rows[opens], place[rows[opens]]] = True
        place[rows[writes]] += 1
        _replace_top(stack, top, rows, pairs, np.where(opens, 0, first))
        rows = rows[place[rows] < length]
    return tokens


def as_strings(tokens: Tokens) -> list[str]:
    """Write rows of tokens as strings."""
    return ["".join(OPEN if opening else CLOSE for opening in row) for row in tokens.tolist()]


def _choices(most_pairs: int) -> np.ndarray:
    """Return, for each number of pairs, the cumulative probabilities of one outer pair and of a split after j pairs."""
    empty = 2 - 3**0.5
    scale = 1 / (1 - empty / 2)
    total, cumulative = [empty], np.ones((most_pairs + 1, most_pairs))
    for pairs in range(1, most_pairs + 1):
        outer = scale / 2 * total[pairs - 1]
        splits = [scale / 4 * total[j] * total[pairs - j] for j in range(1, pairs)]
        total.append(outer + sum(splits))
        cumulative[pairs, :pairs] = np.cumsum([outer, *splits]) / total[pairs]
        cumulative[pairs, pairs - 1 :] = 1.0
    return cumulative


def _replace_top(stack: np.ndarray, top: np.ndarray, rows: np.ndarray, pairs: np.ndarray, first: np.ndarray) -> None:
    """Replace the top of each stack, which was just read, with what follows from it."""
    splits = first > 0
    outer = (pairs > 0) & ~splits
    at = top[rows]
    # A split leaves n − j below and j above; an outer pair leaves its `)` below and its n − 1 pairs, if any, above.
    stack[rows, at] = np.where(splits, pairs - first, 0)
    stack[rows, at + 1] = np.where(splits, first, pairs - 1)
    grows = splits | (outer & (pairs > 1))
    top[rows] = at + np.where(grows, 1, np.where(outer, 0, -1))


def _disorder(tokens: Tokens, generator: np.random.Generator) -> Tokens:
    """Move the opening bracket of some outermost pairs behind their closing one: `(u)` becomes `u)(`, which dips below zero."""
    depth = np.where(tokens, 1, -1).cumsum(axis=1)
    ends = (depth == 0) & ~tokens
    part = ends.cumsum(axis=1) - ends
    chosen = np.take_along_axis(_some_of(ends.sum(axis=1), tokens.shape[1], generator), part, axis=1)
    shifted = np.concatenate([tokens[:, 1:], tokens[:, :1]], axis=1)
    return np.where(chosen, ends | shifted, tokens)


def _turn(tokens: Tokens, generator: np.random.Generator) -> Tokens:
    """Turn some opening brackets into closing ones: draw their number from 1 to N/2, then their places with replacement."""
    openings = np.nonzero(tokens)[1].reshape(len(tokens), -1)
    chosen = _some_of(np.full(len(tokens), openings.shape[1]), openings.shape[1], generator)
    turned = tokens.copy()
    np.put_along_axis(turned, openings, ~chosen, axis=1)
    return turned


def _some_of(numbers: np.ndarray, width: int, generator: np.random.Generator) -> np.ndarray:
    """For each row choose among its first n places: draw k uniformly from 1 … n, then k places with replacement."""
    draws = generator.integers(1, numbers + 1)
    places = generator.integers(0, numbers[:, None], size=(len(numbers), width))
    chosen = np.zeros((len(numbers), width), dtype=bool)
    drawn = np.arange(width) < draws[:, None]
    np.put_along_axis(chosen, np.where(drawn, places, places[:, :1]), values=True, axis=1)
    return chosen
