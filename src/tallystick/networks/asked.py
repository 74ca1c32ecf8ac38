"""What is asked of a network: by its file, or by whoever reads the file and is followed.

`"task"` is the name of a ready task, or a machine as in its own file (`languages.machine_files`). `"empty": false` says that the
empty string is not a member, where the task's own machine accepts it; `true` the opposite. Which output is which class is asked
for where the number of outputs does not tell. Whoever asks for the count of a network whose one output has a sign gets the count.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.machine_files import task_from_json, task_to_json
from tallystick.languages.tasks import READY_TASKS, MembershipClass, Task, ready_task
from tallystick.networks.answers import ACCEPT, answer_fields
from tallystick.networks.declaration import declare_task
from tallystick.networks.network import Network
from tallystick.networks.readout import COUNT, SIGN, Readout


class Asked(NamedTuple):
    """What a file, or its reader, says of a network beside its weights (`networks.declaration`)."""

    task: Task | str | None = None
    classes: Sequence[str] | None = None
    tokens: Mapping[str, object] | str | None = None
    nonlinearity: str | None = None
    empty: bool | None = None

    def over(self, other: "Asked") -> "Asked":
        """Return what is said here, and what the other says where nothing is said here."""
        return Asked(
            other.task if self.task is None else self.task,
            other.classes if self.classes is None else self.classes,
            other.tokens if self.tokens is None else self.tokens,
            other.nonlinearity if self.nonlinearity is None else self.nonlinearity,
            other.empty if self.empty is None else self.empty,
        )


def own_task(document: Document) -> Task | None:
    """Return the task that a network's file names or describes; None where it does neither."""
    said = document.content.get("task")
    if not isinstance(said, dict):
        return READY_TASKS.get(said) if isinstance(said, str) else None
    where = f"{document.where}: task"
    try:
        return task_from_json(Document(cast("object", said), where))
    except BadInput as error:
        message = str(error)
        raise BadInput(message if message.startswith(where) else f"{where}: {message}") from None


def alphabet_of(document: Document, own: Task | None, asked: Task | str | None) -> tuple[str, ...]:
    """Return the tokens that a file's network reads: those of the task. Without `tokens` the file must say which are meant."""
    chosen = READY_TASKS.get(asked) if isinstance(asked, str) else asked
    stated = own.alphabet if own else ALPHABET
    if chosen is None and own is None:
        _refuse_unknown_tokens(document, asked)
    if chosen is None or chosen.alphabet == stated:
        return stated
    if "tokens" not in document.content and (own or "open_step" in document.content):
        raise BadInput(
            f"task: {chosen.name!r} has the tokens {', '.join(chosen.alphabet)}; the file is for {', '.join(stated)}: say in its "
            "field tokens what is read for each"
        )
    return chosen.alphabet


def _refuse_unknown_tokens(document: Document, asked: Task | str | None) -> None:
    """Ask for the task of a file whose tokens are not brackets."""
    tokens = document.content.get("tokens")
    names = tuple(cast("dict[str, object]", tokens)) if isinstance(tokens, dict) else ()
    if not names or set(names) & set(ALPHABET):
        return
    said = document.content.get("task") if asked is None else asked
    if said is not None:
        ready_task(said)  # which it is not, so this says what the ready ones are
    raise BadInput(
        f"task: missing; the file's tokens are {', '.join(names)}, so say what is right of them: task= (in the file, as --task "
        "or as an argument) a ready task or a machine's file"
    )


def read_task(
    fields: dict[str, Document], readout: Readout, usual: Task | None, asked: Asked, own: Task | None
) -> Task:
    """Return what a network is asked for, its classes in the order of the outputs; where that is open, ask."""
    answer = answer_fields(fields) if "answer" in fields else {}
    accepts = "kind" in answer and answer["kind"].value == ACCEPT
    usual = None if accepts else usual
    said = Asked()
    if readout.decision == COUNT and "task" in fields and fields["task"].value == COUNT:
        return asked_task(readout, usual, asked)
    if "task" in fields and asked.task is None:
        named = not isinstance(fields["task"].value, dict)
        said = Asked(_ready_task(fields["task"], readout) if named else own)
    if "classes" in answer:
        said = said._replace(classes=[entry.text() for entry in answer["classes"].items()])
    if "empty" in fields and not isinstance(asked.task, Task):
        said = said._replace(empty=_flag(fields["empty"]))
    found = asked_task(readout, usual, asked.over(said))
    if accepts and not found.is_membership:
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
            f"task: missing; {_several(readout)} may answer several tasks; say task= (in the file, as --task of certify and "
            "extract, or as an argument), "
            + (
                f"one of {', '.join(_fitting(readout))}"
                if _fitting(readout)
                else "though no ready task has so many classes"
            )
        )
    found = usual if asked.task is None else declare_task(asked.task, may_count=len(readout.bias) == 1)
    assert found is not None
    if readout.steps is not None:  # of which the network asks for a language
        if asked.classes is not None:
            raise BadInput(f"classes: the answer {readout.decision} has none; leave them out")
        return _with_empty(found, asked)
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
    found = _with_empty(found, asked)
    if asked.classes is not None:
        return found.in_order(asked.classes)
    if len(readout.bias) > 1 and (usual is None or not found.is_by_sign):
        raise BadInput(
            f"classes: missing; say which output is which: classes={','.join(found.classes)} in the order of the outputs (in the "
            "file, as --classes or as an argument)"
        )
    return found


def _several(readout: Readout) -> str:
    return f"a readout of {len(readout.bias)} output{'' if len(readout.bias) == 1 else 's'}"


def _with_empty(task: Task, asked: Asked) -> Task:
    return task if asked.empty is None else task.with_empty(asked.empty)


def task_fields(network: Network) -> dict[str, object]:
    """Return the fields of a file that say what is asked, where that is not the usual thing."""
    task = network.task
    if task == network.usual_task:
        return {}
    empty = {} if task.empty is None else {"empty": task.empty}
    if is_ready(task) or task.indices_by_check is None:
        return {"task": task.name, **empty}
    return {"task": task_to_json(task), **empty}


def has_order(network: Network) -> bool:
    """Say whether a file must list the classes of a network: in another order than the task's, or one that nobody expects."""
    task, ready = network.task, READY_TASKS.get(network.task.name)
    usual = ready.classes if ready else tuple(MembershipClass) if task.is_membership else task.classes
    return task.classes != usual or (len(network.readout.bias) > 1 and not task.is_by_sign)


def is_ready(task: Task) -> bool:
    """Say whether a task is a ready one, its classes in any order and the empty string in or out."""
    ready = READY_TASKS.get(task.name)
    if ready is None or sorted(ready.classes) != sorted(task.classes):
        return False
    ready = ready.in_order(task.classes)
    return (ready if task.empty is None else ready.with_empty(task.empty)) == task


def _flag(document: Document) -> bool:
    if not isinstance(document.value, bool):
        document.refuse("true or false")
    return document.value


def _ready_task(document: Document, readout: Readout) -> Task:
    """Read the name of a task, which must have as many classes as the readout."""
    name, fitting = document.text(), _fitting(readout)
    if name not in fitting:
        document.refuse(f"a task with {len(readout.comparisons)} classes: one of {', '.join(fitting)}")
    return fitting[name]


def _fitting(readout: Readout) -> dict[str, Task]:
    """Return the ready tasks with as many classes as a readout has; languages for answers after every token."""
    if readout.steps is not None:
        return {name: task for name, task in READY_TASKS.items() if task.is_membership}
    return {name: task for name, task in READY_TASKS.items() if len(task.classes) == len(readout.comparisons)}
