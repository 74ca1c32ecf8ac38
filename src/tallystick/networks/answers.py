"""How a JSON file says what a network's outputs mean: the readout's matrix, the decision over its outputs, and the task.

Two spellings are read. `"readout": {"kind": "binary", "weight": [2.5], "bias": [0]}` says the usual things in one word. The
longer one says each for itself:

    "readout": {"weight": [[2.5], [0]], "bias": [0, 0]},
    "answer": {"kind": "class", "classes": ["accepted", "rejected"]}, "task": "bb"

An answer is `sign` (one output, above zero or not), `accept` (the same, for membership), `class` (the greatest output wins, of
equal ones the first), `zero` (one output is zero or not) or `count` (the whole number that is nearest to one output). `classes`
are the task's, in the order of the outputs; for one output the class of an output that is not above zero comes first. The zero
check of one unit may leave out its weights. Whoever reads the file may say task and classes as well, and is followed; so does
whoever asks for the count of a network whose one output has a sign.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, cast

from tallystick.cells import Recurrence, ScalarCell
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.tasks import READY_TASKS, MembershipClass, Task
from tallystick.networks.declaration import declare_task
from tallystick.networks.network import Network
from tallystick.networks.readout import COUNT, DECISIONS, GREATEST, MOST_OUTPUTS, SIGN, Readout, decision_of
from tallystick.numbers import exact
from tallystick.numbers.values import exact_number

ACCEPT = "accept"
"""The sign of one output, asked for membership."""


class Asked(NamedTuple):
    """What a file, or its reader, says of a network beside its weights (`networks.declaration`)."""

    task: Task | str | None = None
    classes: Sequence[str] | None = None
    tokens: Mapping[str, object] | str | None = None
    nonlinearity: str | None = None

    def over(self, other: "Asked") -> "Asked":
        """Return what is said here, and what the other says where nothing is said here."""
        return Asked(
            other.task if self.task is None else self.task,
            other.classes if self.classes is None else self.classes,
            other.tokens if self.tokens is None else self.tokens,
            other.nonlinearity if self.nonlinearity is None else self.nonlinearity,
        )


def read_answer(fields: dict[str, Document], units: int) -> Readout:
    """Read the matrix of the longer spelling and the decision over its outputs."""
    answer = _answer(fields)
    name = answer["kind"].text()
    if name not in (*DECISIONS, COUNT, ACCEPT):
        answer["kind"].refuse(f"one of {', '.join((*DECISIONS, COUNT, ACCEPT))}")
    decision = SIGN if name == ACCEPT else name
    parts = fields["readout"].fields(required=("weight",), optional=("bias",))
    rows = len(list(parts["weight"].items()))
    outputs = rows if decision_of(decision, rows) and rows <= MOST_OUTPUTS else _outputs(decision)
    bias = read_numbers(parts["bias"], outputs) if "bias" in parts else (Fraction(0),) * outputs
    return Readout(read_numbers(parts["weight"], outputs, units), bias, decision)


def read_readout(document: Document, kind: type[Recurrence], units: int) -> Readout:
    """Read a readout of the shorter spelling, whose kind says the decision too."""
    given = document.fields(required=("kind",), optional=("weight", "bias"))
    scalar = issubclass(kind, ScalarCell)
    known = {decision.kind: key for key, decision in DECISIONS.items()} | {COUNT: COUNT}
    if given["kind"].text() not in known:
        given["kind"].refuse(f"one of {', '.join(known)}")
    key = known[given["kind"].text()]
    if key in DECISIONS and not DECISIONS[key].has_weights and (scalar or (units == 1 and "weight" not in given)):
        document.fields(required=("kind",))
        return Readout(((1,),), (0,), key)
    size = _outputs(key)
    fields = document.fields(required=("kind", "weight"), optional=("bias",))
    weight = read_numbers(fields["weight"], size, *(() if scalar else (units,)))
    bias = read_numbers(fields["bias"], size) if "bias" in fields else (Fraction(0),) * size
    return Readout(tuple((value,) for value in weight) if scalar else weight, bias, key)


def read_task(fields: dict[str, Document], readout: Readout, usual: Task | None, asked: Asked) -> Task:
    """Return what a network is asked for, its classes in the order of the outputs; where that is open, ask."""
    answer = _answer(fields) if "answer" in fields else {}
    accepts = "kind" in answer and answer["kind"].value == ACCEPT
    usual = None if accepts else usual
    said = Asked()
    if readout.decision == COUNT and "task" in fields and fields["task"].value == COUNT:
        return asked_task(readout, usual, asked)
    if "task" in fields and asked.task is None:
        said = Asked(_ready_task(fields["task"], readout))
    if "classes" in answer:
        said = said._replace(classes=[entry.text() for entry in answer["classes"].items()])
    found = asked_task(readout, usual, asked.over(said))
    if accepts and set(found.classes) != set(MembershipClass):
        raise BadInput(
            f"task: {found.name!r} has the classes {', '.join(found.classes)}; the answer accept is for membership"
        )
    return found


def asked_readout(readout: Readout, asked: Asked) -> Readout:
    """Return a readout as it is asked: whoever asks for the count looks at a single output itself, and not at its sign."""
    name = asked.task.name if isinstance(asked.task, Task) else asked.task
    return Readout(readout.weight, readout.bias, COUNT) if (name, readout.decision) == (COUNT, SIGN) else readout


def asked_task(readout: Readout, usual: Task | None, asked: Asked) -> Task:
    """Return the task that is asked, or the usual one, its classes in the order of the outputs; where that is open, ask."""
    if asked.task is None and usual is None:
        raise BadInput(
            f"task: missing; {_several(readout)} may answer several tasks; say task= (in the file, as --task or as an argument), "
            + (
                f"one of {', '.join(_fitting(readout))}"
                if _fitting(readout)
                else "though no ready task has so many classes"
            )
        )
    found = usual if asked.task is None else declare_task(asked.task, may_count=len(readout.bias) == 1)
    assert found is not None
    if (not found.classes) != (readout.decision == COUNT):
        raise BadInput(
            f"task: {found.name!r} does not go with the {readout.kind} readout: a count readout answers the task count, which "
            "asks for a number, and no other readout does"
        )
    if len(found.classes) != len(readout.comparisons):
        raise BadInput(
            f"task: {found.name!r} has {len(found.classes)} classes, {', '.join(found.classes)}; {_several(readout)} tells "
            f"{len(readout.comparisons)} apart"
        )
    if asked.classes is not None:
        return found.in_order(asked.classes)
    if len(readout.bias) > 1 and usual is None:
        raise BadInput(
            f"classes: missing; say which output is which: classes={','.join(found.classes)} in the order of the outputs (in the "
            "file, as --classes or as an argument)"
        )
    return found


def _several(readout: Readout) -> str:
    return f"a readout of {len(readout.bias)} output{'' if len(readout.bias) == 1 else 's'}"


def answer_to_json(network: Network, *, long: bool) -> dict[str, object]:
    """Return the fields of a file that say what the outputs mean, in the shorter spelling where it has a word for it."""
    task, readout = network.task, network.readout
    ready = READY_TASKS.get(task.name)
    reordered = ready is not None and task.classes != ready.classes
    named = {} if task == network.usual_task else {"task": task.name}
    if not long and not reordered and readout.kind != GREATEST:
        return {"readout": readout_to_json(readout, network.cell), **named}
    weights = {
        "weight": write_numbers(readout.weight, "readout.weight"),
        "bias": write_numbers(readout.bias, "readout.bias"),
    }
    answer: dict[str, object] = {"kind": readout.decision}
    if reordered or readout.kind == GREATEST:
        answer["classes"] = [str(name) for name in task.classes]
    return {"readout": weights, "answer": answer, **named}


def readout_to_json(readout: Readout, cell: Recurrence) -> dict[str, object]:
    """Return a readout by its kind; of a cell with one unit the weights are numbers, unless there are outputs of any number."""
    written: dict[str, object] = {"kind": readout.kind}
    if readout.has_weights:
        flat = isinstance(cell, ScalarCell) and readout.kind != GREATEST
        weight = tuple(row[0] for row in readout.weight) if flat else readout.weight
        written |= {
            "weight": write_numbers(weight, "readout.weight"),
            "bias": write_numbers(readout.bias, "readout.bias"),
        }
    return written


def _outputs(decision: str) -> int:
    """Return how many outputs a decision is usually over."""
    return DECISIONS[decision].outputs if decision in DECISIONS else 1


def _answer(fields: dict[str, Document]) -> dict[str, Document]:
    return fields["answer"].fields(required=("kind",), optional=("classes",))


def _ready_task(document: Document, readout: Readout) -> Task:
    """Read the name of a task, which must have as many classes as the readout."""
    name, fitting = document.text(), _fitting(readout)
    if name not in fitting:
        document.refuse(f"a task with {len(readout.comparisons)} classes: one of {', '.join(fitting)}")
    return fitting[name]


def _fitting(readout: Readout) -> dict[str, Task]:
    """Return the tasks over brackets with as many classes as a readout has."""
    size = len(readout.comparisons)
    return {n: task for n, task in READY_TASKS.items() if len(task.classes) == size and task.alphabet == ALPHABET}


def read_numbers(document: Document, *shape: int) -> Any:  # noqa: ANN401 -- a number, or nested tuples of numbers
    """Read a number, a list of numbers or a list of rows, of a given shape."""
    if not shape:
        return exact(document.value, document.where)
    size, *rest = shape
    found = tuple(read_numbers(entry, *rest) for entry in document.items())
    if len(found) != size:
        what = "row" if rest else "number"
        document.refuse(f"a list of {size} {what}{'' if size == 1 else 's'}")
    return found


def depth_of(document: Document) -> int:
    """Return how many lists stand inside each other, by their first entries."""
    value, found = document.value, 0
    while isinstance(value, list):
        value, found = cast("list[object]", value)[0] if value else None, found + 1
    return found


def write_numbers(values: Any, field: str) -> Any:  # noqa: ANN401
    """Return a number or nested tuples of numbers as a file holds them, each exact."""
    if not isinstance(values, tuple):
        return exact_number(values, field)
    return [write_numbers(value, field) for value in cast("tuple[Any, ...]", values)]
