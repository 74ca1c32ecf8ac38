"""A network: a cell, a readout, and the task it is to answer."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tallystick.cells import Recurrence, ScalarCell
from tallystick.display import Shown, View
from tallystick.errors import BadInput
from tallystick.languages.counter_machine import Configuration, String
from tallystick.languages.tasks import MembershipClass, Task
from tallystick.networks.readout import GREATEST, ZERO, Readout
from tallystick.networks.steps import THRESHOLD, right_places, said_places
from tallystick.numbers import ARITHMETICS, Number

MOST_UNITS = 64
"""Enough for a few units; each step goes through every weight one by one."""


_DECLARED = ("tokens", "first", "last", "padding", "start")
"""The numbers of a stack that a reader may have been told, and not read."""


@dataclass(frozen=True, repr=False)
class Network(Shown):
    """A network as a whole: it reads a string, token by token, and gives it a class.

    Attributes:
        cell: the recurrence: one cell that reads one-hot tokens, or a `Stack` of cells, with a vector for each token and a
            state to start from.
        readout: what makes a class of the last state.
        task: what is right; its alphabet is what the network reads. The default is the sign of the count n − m for a binary or
            ternary readout, and for the zero check membership in the language that the kind of cell can accept: semi-Dyck-1 for a
            ReLU cell, BB for all others. Two outputs, or more than three, and answers after every token may answer several
            tasks, so there is no default for them.
        folded: whether whoever read it from tensors put some of them together, such as two biases or an embedding and a matrix.
            In real numbers that changes nothing.

    >>> from tallystick.cells import LinearCell, ReluCell
    >>> [str(Network(kind(1, -1, 1), Readout.zero()).task.right_class("())")) for kind in (LinearCell, ReluCell)]
    ['rejected', 'accepted']
    """

    cell: Recurrence
    readout: Readout
    task: Task = None  # pyright: ignore[reportAssignmentType] -- filled in below
    folded: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        for name, kind, what in (("cell", Recurrence, "Cell or a Stack"), ("readout", Readout, "Readout")):
            if not isinstance(getattr(self, name), kind):
                raise BadInput(f"{name}: {getattr(self, name)!r} is not a {what}")
        if self.readout.units != self.cell.units:
            raise BadInput(f"readout: reads {self.readout.units} units; the cell has {self.cell.units}")
        if self.task is None:  # pyright: ignore[reportUnnecessaryComparison]
            if self.usual_task is None:
                raise BadInput(
                    f"task: missing; a readout of {len(self.readout.bias)} outputs may answer several tasks, so say which one it "
                    "answers, its classes in the order of the outputs"
                )
            object.__setattr__(self, "task", self.usual_task)
        if not isinstance(self.task, Task):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"task: {self.task!r} is not a Task")
        if self.cell.inputs != len(self.alphabet):
            raise BadInput(
                f"cell: reads vectors of {self.cell.inputs} numbers; a token of {self.task.name!r} is one of "
                f"{len(self.alphabet)} one-hot vectors unless a Stack says otherwise"
            )
        self._check_answers()

    def __repr__(self) -> str:
        from tallystick.networks.views import describe_cell  # noqa: PLC0415 -- which imports this

        return f"Network({describe_cell(self)}, answer {self.readout.decision}, task {self.task.name})"

    def view(self) -> View:
        """Return what a notebook shows: the parts, and the answers along a short string."""
        from tallystick.networks.views import view_of_network  # noqa: PLC0415 -- which imports this

        return view_of_network(self)

    def _check_answers(self) -> None:
        """Refuse a readout that does not answer the task."""
        task, readout = self.task, self.readout
        if readout.steps is not None:
            readout.steps.check(task.alphabet)
            if set(task.classes) != set(MembershipClass):
                raise BadInput(
                    f"task: {task.name!r} is not a language, which the decision {readout.decision} is asked about"
                )
            if self.cell.is_padded:
                raise BadInput(
                    "padding: strings are filled up for an answer at their end, not for one after every token"
                )
            return
        if bool(task.classes) != bool(readout.comparisons):
            raise BadInput(
                f"task: {task.name!r} asks for a {'class' if task.classes else 'number'}, which a {readout.kind} readout does "
                "not give; the decision count goes with the task count, and no other does"
            )
        if len(task.classes) != len(readout.comparisons):
            raise BadInput(
                f"task: {task.name!r} has {len(task.classes)} classes; "
                f"a {readout.kind} readout tells {len(readout.comparisons)} apart"
            )
        if readout.decision == ZERO and readout.has_weights and isinstance(self.cell, ScalarCell):
            raise BadInput(
                "readout: the zero check of a cell with one unit looks at h itself, so its weight is 1 and its bias 0; a layer "
                "of one unit, such as a LinearLayer, takes any"
            )

    @property
    def usual_task(self) -> Task | None:
        """What such a readout of such a cell is usually asked for; None where it could be anything."""
        return usual_task(self.cell, self.readout)

    @property
    def scalar_cell(self) -> ScalarCell:
        """The cell, where it has one unit and its network gives a class; any other is refused."""
        if not isinstance(self.cell, ScalarCell):
            raise BadInput(
                f"cell: a {self.cell.name} cell is outside of this, which is for cells with one unit and no gates"
            )
        if not self.task.classes:
            raise BadInput(
                f"task: {self.task.name!r} asks for a number, and this is for networks that give a class; certify and evaluate "
                "take any"
            )
        return self.cell

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The tokens that it reads: those of its task."""
        return self.task.alphabet

    @property
    def is_usual(self) -> bool:
        """Whether it is asked at the end of a string of brackets for what the sign of a count decides, as in the paper."""
        return self.readout.steps is None and not self.cell.is_padded and self.task.is_by_sign

    def require_usual(self) -> None:
        """Refuse a network that is asked for anything else (`is_usual`)."""
        if not self.is_usual:
            self.task.require_sign()
            raise BadInput(
                "network: its strings are padded, or it answers after every token; this is for one answer at the end of a string "
                "of brackets (ts.certify and tallystick certify take any)"
            )

    @property
    def first_length(self) -> int:
        """The least length that it is asked about: 0 where it is asked about the empty string, else 1."""
        return 0 if self.readout.steps is not None or self.task.empty is not None else 1

    def trace(self, string: String) -> list[Any]:
        """Return the state of the cell before the first token and after each one."""
        return self.cell.trace(string, self.alphabet)

    def outputs_of_state(self, state: Any) -> list[Number]:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the outputs for one state of the cell."""
        return self.readout.outputs(self.cell.hidden(state))

    def outputs(self, string: String) -> list[Number]:
        """Return the outputs after a string."""
        return self.outputs_of_state(self.trace(string)[-1])

    def class_of_state(self, state: Any) -> str:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the class for one state of the cell."""
        return self.task.name_of(self.readout.class_index(self.cell.hidden(state)))

    def class_of(self, string: String) -> str:
        """Return the class that the network gives a string, or the number or the names of tokens that it answers."""
        states, steps = self.trace(string), self.readout.steps
        if steps is None:
            return self.class_of_state(states[-1])
        said = partial(said_places, self.readout.decision, steps, self.alphabet)
        if self.readout.decision != THRESHOLD:
            return self.name_of(said(self.outputs_of_state(states[-1])))
        wanted = [*map(self.alphabet.index, string), len(self.alphabet)]
        accepted = all(place in said(self.outputs_of_state(state)) for place, state in zip(wanted, states, strict=True))
        return MembershipClass.ACCEPTED if accepted else MembershipClass.REJECTED

    def right_class(self, string: String) -> str | None:
        """Return what the network should answer; None where every answer is right, as there may be after a prefix."""
        if self._gives_class:
            return self.task.right_class(string)
        right = self.right_answer(self.task.configuration(string))
        return None if right is None else self.name_of(right)

    def right_answer(self, configuration: Configuration) -> Any:  # noqa: ANN401 -- an index, a number, or places of tokens
        """Return what is right where the task's machine stands in a configuration; None where every answer is.

        It is the index of a class or the number that is asked for; with `next` and `support` the places of tokens.
        """
        if self._gives_class:
            return self.task.question(self.task.machine, configuration)
        return right_places(self.readout.decision, self.task, configuration)

    def name_of(self, answer: Any) -> str:  # noqa: ANN401 -- as `right_answer` has it
        """Return an answer in words."""
        steps = self.readout.steps
        return self.task.name_of(answer) if steps is None or self._gives_class else steps.names(answer, self.alphabet)

    @property
    def _gives_class(self) -> bool:
        """Whether a string gets a class or a number, and not names of tokens."""
        return self.readout.steps is None or self.readout.decision == THRESHOLD

    def map_weights(self, number: Callable[..., Number]) -> "Network":
        """Return this network with number(weight, name) in the place of each weight."""
        return Network(self.cell.map_weights(number), self.readout.map_weights(number), self.task)

    def in_arithmetic(self, name: str) -> "Network":
        """Return the network with every weight rounded to a named arithmetic; running it then rounds at every step."""
        if name not in ARITHMETICS:
            raise BadInput(f"arithmetic: {name!r} is not one of {', '.join(ARITHMETICS)}")
        return self.map_weights(ARITHMETICS[name])

    def mark_folded(self, numbers: Iterable[float]) -> "Network":
        """Return this network, marked as folded unless its weights are the numbers that it was read from, each by itself.

        What tokens stand for and states to begin with may be among the numbers, or declared.
        """
        weights, others = Counter[Any](), Counter[Any]()

        def note(value: Number, name: str = "") -> Number:
            (others if name in _DECLARED else weights)[value] += 1
            return value

        self.map_weights(note)
        read = Counter(number for number in numbers if number)
        del weights[0]
        folded = bool(weights - read) or bool(read - weights - others)
        return replace(self, folded=folded) if folded else self

    def place(self, position: int) -> "Network":
        """Return one network of many whose weights are arrays, each weight the double that it equals."""

        def number(values: Any, _: str) -> float:  # noqa: ANN401 -- an array
            return float(values[..., position])

        return self.map_weights(number)


def usual_task(cell: Recurrence, readout: Readout) -> Task | None:
    """Return what such a readout of such a cell is usually asked for; None where it could be anything."""
    return None if readout.kind == GREATEST or readout.steps else readout.rule.task or cell.membership
