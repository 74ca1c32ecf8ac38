"""A claim as data, and what is right: by definition, not by any network."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain, repeat
from typing import NamedTuple

NOTHING = -1
"""In the place of an output: the number 0."""


class Comparison(NamedTuple):
    """One output is above another, or equal to it where the comparison is not strict."""

    greater: int
    less: int
    strict: bool


class Decision:
    """What makes classes of outputs: the comparisons of each class. The first class gets whatever no other class gets.

    Every comparison asks whether one output is above another, and wants either answer: `pairs` are these questions.
    """

    def __init__(self, comparisons: tuple[tuple[Comparison, ...], ...]) -> None:
        self.comparisons = comparisons
        self.pairs = tuple(dict.fromkeys(map(_pair, chain.from_iterable(comparisons[1:]))))
        self.class_of = lru_cache(maxsize=1024)(self._class_of)

    def _class_of(self, above: tuple[bool | None, ...]) -> int | None:
        """Return the class, given which pairs are above; None where answers are missing (None) or two classes are made."""
        answers = dict(zip(self.pairs, above, strict=True))
        made: list[int] = []
        for index, needed in enumerate(self.comparisons[1:], start=1):
            held = [None if answers[_pair(one)] is None else answers[_pair(one)] is one.strict for one in needed]
            if False in held:
                continue
            if None in held:
                return None
            made.append(index)
        return (made or [0])[0] if len(made) <= 1 else None


def _pair(comparison: Comparison) -> tuple[int, int]:
    greater, less, strict = comparison
    return (greater, less) if strict else (less, greater)


def greatest_of(outputs: int) -> Decision:
    """Return what makes each of several outputs the greatest; of equal ones the first wins."""
    places = range(outputs)
    return Decision(
        tuple(tuple(Comparison(one, other, other < one) for other in places if other != one) for one in places)
    )


KINDS = {
    "zero": Decision(((), (Comparison(0, NOTHING, False), Comparison(NOTHING, 0, False)))),
    "binary": Decision(((Comparison(NOTHING, 0, False),), (Comparison(0, NOTHING, True),))),
    "ternary": greatest_of(3),
}
"""The readouts that a certificate names without saying what they are."""

GREATEST = "class"
"""The readout of as many outputs as it has biases, of which the greatest wins; it is asked for a task of its own."""

COUNT = "count"
"""The readout whose one output is the answer itself (`counts`)."""

CLASSES = {"zero": ("rejected", "accepted"), "binary": ("ZeroNeg", "Pos"), "ternary": ("Neg", "Zero", "Pos")}
RIGHT = {"zero": (0, 1, 0), "binary": (0, 0, 1), "ternary": (0, 1, 2)}
"""The classes that they are usually asked for, of counts below, at and above zero."""


class Readout(NamedTuple):
    """From a state to a class.

    Attributes:
        kind: its name.
        lines: v and c of each output v·h + c.
        decision: what makes a class of the outputs.
    """

    kind: str
    lines: tuple[tuple[tuple[Fraction, ...], Fraction], ...]
    decision: Decision


class Task(NamedTuple):
    """What is right: it follows from the sign of a count.

    Attributes:
        floored: whether the count is κ, which never falls below 0, and not n − m.
        right: the classes of counts below, at and above zero.
    """

    floored: bool
    right: tuple[int, int, int]

    def group_after(self, group: int, token: int, size: int = 1) -> int:
        """Return the group of a string with one more run: its number of `(`, or κ."""
        return max(0, group + (1 - 2 * token) * size) if self.floored else group + (1 - token) * size

    def right_class(self, group: int, length: int) -> int:
        """Return the index of the class that the strings of a group should get."""
        count = group if self.floored else 2 * group - length
        return self.right[(count > 0) - (count < 0) + 1]


class Model(NamedTuple):
    """A network with one unit, its numbers exact. `(` is token 0 and leads from h to P·h + a, `)` is 1 and leads to Q·h + b.

    Attributes:
        cell: linear or selective; relu cuts off below zero, tanh squashes.
        weights: P and Q.
        steps: a and b.
        readout: what makes a class of h.
        task: what is right.
    """

    cell: str
    weights: tuple[Fraction, Fraction]
    steps: tuple[Fraction, Fraction]
    readout: Readout
    task: Task

    @property
    def lines(self) -> list[tuple[Fraction, Fraction]]:
        """The slope and the bias of each output."""
        return [(slope, bias) for (slope,), bias in self.readout.lines]

    @property
    def is_usual(self) -> bool:
        """Whether the theorems speak of the readout and the task.

        A zero check is asked for the language that its cell can accept, and any other readout known by name for the sign of
        n − m, each of its classes being right for some count. Then no comparison has one answer for all counts.
        """
        kind, (floored, right) = self.readout.kind, self.task
        if kind == "zero":
            return right == RIGHT[kind] and floored == (self.cell == "relu")
        return kind in (*KINDS, GREATEST) and not floored and len(set(right)) == len(self.readout.decision.comparisons)


class Operation(NamedTuple):
    """A step of a program.

    Attributes:
        name: sum, product, positive_part, tanh, sigmoid, square, step or mean.
        places: the numbers it takes. Of a mean the share comes first: (1 − s)·x + s·y.
        weights: what a sum multiplies each of its numbers by.
        bias: what a sum adds last.
        constants: what it adds besides, each rounded by itself (`any_order`).
    """

    name: str
    places: tuple[int, ...]
    weights: tuple[Fraction, ...] = ()
    bias: Fraction = Fraction(0)
    constants: tuple[Fraction, ...] = ()


class Program(NamedTuple):
    """From numbers to numbers: what each operation gives is one more number, and some of all are the result."""

    operations: tuple[Operation, ...]
    results: tuple[int, ...]


class Network(NamedTuple):
    """A network whose step is a program, its numbers exact.

    Attributes:
        cell: its name.
        start: the state before the first token.
        steps: from a state to the next one, for `(` and for `)`.
        hidden: from a state to what the readout sees.
        readout: what makes a class of that.
        task: what is right.
        first: steps that are done before the first token.
    """

    cell: str
    start: tuple[Fraction, ...]
    steps: tuple[Program, Program]
    hidden: Program
    readout: Readout
    task: Task
    first: tuple[Program, ...] = ()


class Counterexample(NamedTuple):
    """A string as runs of (token, size), the class it gets, the class it should get, and h along it where that is written."""

    runs: list[tuple[int, int]]
    given: int
    right: int
    trace: list[Fraction] | None

    @property
    def length(self) -> int:
        """The number of tokens."""
        return sum(size for _, size in self.runs)

    def tokens(self) -> Iterator[int]:
        """Go through the tokens of the string."""
        return chain.from_iterable(repeat(token, size) for token, size in self.runs)


class Tail(NamedTuple):
    """What proves all lengths from K = `start` on: the matrix E, and the power m (`limits`)."""

    limit: tuple[tuple[Fraction, ...], ...]
    power: int
    start: int


class Rest(NamedTuple):
    """What proves that no string of odd length passes a zero check: p, c, q and K (`zero_check`)."""

    period: int
    recurrence: tuple[Fraction, ...]
    power: int
    start: int


class Invariant(NamedTuple):
    """What proves a counter of floats: E, K, a box per number for each count, and how numbers move beyond (`saturation`)."""

    edge: int
    depth: int
    boxes: tuple[tuple[tuple[Fraction, Fraction], ...], ...]
    above: tuple[Fraction | None, ...]
    below: tuple[Fraction | None, ...]


class Claim(NamedTuple):
    """Every counted length (a multiple of the stride) up to the horizon is right; PROVED knows no horizon.

    What proves all lengths stands last: `tail` of sorting, `rest` of a zero check, `start` of lattice paths, and `invariant`,
    which proves very many.
    """

    model: Model | Network
    stride: int
    arithmetic: str
    verdict: str
    horizon: int
    counterexample: Counterexample | None
    method: str
    tail: Tail | None = None
    rest: Rest | None = None
    start: int = 0
    invariant: Invariant | None = None

    def right_class(self, runs: list[tuple[int, int]]) -> int:
        """Return the index of the class that a string should get."""
        group, task = 0, self.model.task
        for token, size in runs:
            group = task.group_after(group, token, size)
        return task.right_class(group, sum(size for _, size in runs))
