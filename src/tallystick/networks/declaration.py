"""What a network's weights do not tell, declared: the task, what it reads for each token, and which output is which class.

    declare("bb", {"(": 0, ")": 1}, ["rejected", "accepted"])

A token is read as an index, which is the place of the 1 in a one-hot vector or a row of an embedding, or as a vector. `"()"`
stands for the indices in that order. Beside the tokens of the task's alphabet `<BOS>` is read before every string, `<EOS>`
after it, and `<PAD>` never: strings of one length are run together.

Nothing is guessed: what is missing is asked for, by the name of the argument.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tallystick.errors import BadInput
from tallystick.languages.tasks import READY_TASKS, Task, ready_task
from tallystick.numbers import Number, check_number

Encoding = int | tuple[Number, ...]
"""What is read for a token: an index, or a vector."""

FIRST, LAST, PADDING = "<BOS>", "<EOS>", "<PAD>"
_SPECIAL = (FIRST, LAST, PADDING)
_LARGEST_INDEX = 10**6


@dataclass(frozen=True)
class Declaration:
    """What was declared of a network.

    Attributes:
        task: what is right, its classes in the order of the outputs.
        tokens: what is read for each token of the task's alphabet, and for no other.
        first: what is read before every string.
        last: what is read after every string.
        has_classes: whether the order of the classes was declared, or is the task's own.
    """

    task: Task
    tokens: dict[str, Encoding]
    first: tuple[Encoding, ...] = ()
    last: tuple[Encoding, ...] = ()
    has_classes: bool = False

    def check_outputs(self, outputs: int) -> None:
        """Refuse outputs that do not tell the task's classes apart; ask which is which where there are several.

        One output above zero, or above 1/2 after a sigmoid, is the second class.
        """
        names = [str(name) for name in self.task.classes]
        if len(names) != (2 if outputs == 1 else outputs):
            apart = "one output tells two classes apart" if outputs == 1 else f"{outputs} outputs are {outputs} classes"
            raise BadInput(
                f"task: {self.task.name!r} has {len(names)} classes, {', '.join(names)}; {apart}: return one output per class, "
                "or say another task="
            )
        if outputs > 1 and not self.has_classes:
            raise BadInput(
                f"classes: missing; say which output is which: classes={names!r} in the order of the outputs"
            )


def declare(
    task: Task | str | None,
    tokens: Mapping[str, object] | str | None,
    classes: Sequence[str] | None = None,
    *,
    may_count: bool = False,
) -> Declaration:
    """Return what is declared of a network, checked; what is missing is asked for.

    Args:
        task: a task or the name of a ready one.
        tokens: what is read for each token, or the tokens in the order of a one-hot vector.
        classes: the task's classes in the order of the outputs; the default is the task's own order.
        may_count: whether the task may ask for a number, as `count` does.

    >>> declared = declare("anbn", {"<BOS>": 2, "a": 0, "b": 1}, ["accepted", "rejected"])
    >>> declared.tokens, declared.first, str(declared.task.classes[0])
    ({'a': 0, 'b': 1}, (2,), 'accepted')
    """
    found = declare_task(task, classes, may_count=may_count)
    encodings = _encodings(found, tokens)
    first, last = (tuple(encodings[name] for name in (special,) if name in encodings) for special in (FIRST, LAST))
    alphabet = {token: encodings[token] for token in found.alphabet}
    return Declaration(found, alphabet, first, last, classes is not None)


def declare_task(task: Task | str | None, classes: Sequence[str] | None = None, *, may_count: bool = False) -> Task:
    """Return the task that is declared, its classes in the order that is declared."""
    if task is None:
        raise BadInput(f"task: missing; say what is right: task= one of {', '.join(_answerable())}")
    found = task if isinstance(task, Task) else ready_task(task)
    if not found.classes and not may_count:
        raise BadInput(
            f"task: {found.name!r} asks for a number and has no classes; say one of {', '.join(_answerable())}"
        )
    return found if classes is None else found.in_order(classes)


def _answerable() -> list[str]:
    return [name for name, task in READY_TASKS.items() if task.classes]


def one_hot(encoding: Encoding, size: int, token: str = "token") -> tuple[Number, ...]:
    """Return the vector of so many numbers that an encoding stands for: itself, or one-hot at its index."""
    if isinstance(encoding, tuple):
        if len(encoding) != size:
            raise BadInput(f"tokens: {token!r} has {len(encoding)} numbers; the network reads vectors of {size}")
        return encoding
    check_index(encoding, size, token)
    return tuple(int(place == encoding) for place in range(size))


def doubles(vector: Sequence[Number], token: str = "token") -> list[float]:
    """Return a vector as doubles; refuse a number that is none, since what is run would read another one."""
    for place, number in enumerate(vector):
        try:
            same = float(number) == number
        except OverflowError:
            same = False
        if not same:
            raise BadInput(f"tokens: {token!r}[{place}] is not a double, so nothing can be run on it; round it first")
    return [float(number) for number in vector]


def check_index(index: int, size: int, token: str) -> None:
    """Refuse an index that is not below a size."""
    if index >= size:
        raise BadInput(f"tokens: {token!r} has the index {index}; the network reads indices from 0 to {size - 1}")


def _encodings(task: Task, tokens: object) -> dict[str, Encoding]:
    if tokens is None:
        raise BadInput(f"tokens: missing; say what is read for each token: {_examples(task)}")
    if isinstance(tokens, str):
        if sorted(tokens) != sorted(task.alphabet):
            raise BadInput(f"tokens: {tokens!r} are not {_listed(task)}, each once, in the order of a one-hot vector")
        return {token: index for index, token in enumerate(tokens)}
    if not isinstance(tokens, Mapping):
        raise BadInput(f"tokens: {tokens!r} is not {_examples(task)}")
    given = cast("Mapping[Any, object]", tokens)
    for name in given:
        if name not in (*task.alphabet, *_SPECIAL):
            raise BadInput(
                f"tokens: {name!r} is neither a token of {task.name!r}, {_listed(task)}, nor {', '.join(_SPECIAL)}"
            )
    for token in task.alphabet:
        if token not in given:
            raise BadInput(f"tokens: {token!r} is missing; say what is read for it: {_examples(task)}")
    found = {str(name): _encoding(str(name), value) for name, value in given.items()}
    _check_alike(task, found)
    return found


def _encoding(token: str, value: object) -> Encoding:
    """Return an index or a vector; an array or a tensor is a vector."""
    listed: object = value.tolist() if hasattr(value, "tolist") else value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportAttributeAccessIssue]
    if isinstance(listed, int) and not isinstance(listed, bool) and 0 <= listed <= _LARGEST_INDEX:
        return listed
    if not isinstance(listed, list | tuple) or not listed:
        raise BadInput(f"tokens: {token!r} is {value!r}, which is neither an index from 0 on nor a vector of numbers")
    numbers = tuple(cast("Sequence[Number]", listed))
    for place, number in enumerate(numbers):
        check_number(number, f"tokens: {token!r}[{place}]")
    return numbers


def _check_alike(task: Task, encodings: dict[str, Encoding]) -> None:
    """Refuse indices beside vectors, vectors of several lengths, and two tokens that are read as the same."""
    sizes = {token: len(found) if isinstance(found, tuple) else 0 for token, found in encodings.items()}
    for token, size in sizes.items():
        if size != sizes[task.alphabet[0]]:
            raise BadInput(
                f"tokens: {token!r} is {encodings[token]!r} and {task.alphabet[0]!r} {encodings[task.alphabet[0]]!r}; all are "
                "indices, or all vectors of one length"
            )
    for place, token in enumerate(task.alphabet):
        for other in task.alphabet[:place]:
            if encodings[token] == encodings[other]:
                raise BadInput(
                    f"tokens: {other!r} and {token!r} are both {encodings[token]!r}, so nothing can tell them apart"
                )


def _listed(task: Task) -> str:
    return " ".join(task.alphabet)


def _examples(task: Task) -> str:
    """Return what may be said of a task's tokens, as it is written in Python."""
    places = range(len(task.alphabet))
    indices = dict(zip(task.alphabet, places, strict=True))
    vectors = {token: [int(place == index) for place in places] for token, index in indices.items()}
    return f"tokens={indices!r} (indices) or tokens={vectors!r} (vectors)"
