"""How a JSON file says what a network's outputs mean: the readout's matrix, the decision over its outputs, and the task.

Two spellings are read. `"readout": {"kind": "binary", "weight": [2.5], "bias": [0]}` says the usual things in one word. The
longer one says each for itself:

    "readout": {"weight": [[2.5], [0]], "bias": [0, 0]},
    "answer": {"kind": "class", "classes": ["accepted", "rejected"]}, "task": "bb"

An answer is `sign` (one output, above zero or not), `accept` (the same, for membership), `class` (the greatest output wins, of
equal ones the first), `zero` (one output is zero or not) or `count` (the whole number that is nearest to one output). `classes`
are the task's, in the order of the outputs; for one output the class of an output that is not above zero comes first. The zero
check of one unit may leave out its weights.

The answers `threshold`, `next` and `support` are given after every token (`networks.steps`). `outputs` names the token of each
output, `end` the one among them that ends the string, and `threshold` is a number:

    "answer": {"kind": "threshold", "outputs": ["a", "b", "<EOS>"], "end": "<EOS>", "threshold": 0.005}, "task": "anbn"

`networks.files` reads the shorter spelling, and `networks.asked` the task.
"""

from fractions import Fraction

from tallystick.cells import Recurrence, ScalarCell
from tallystick.files import Document
from tallystick.networks.network import Network
from tallystick.networks.readout import (
    COUNT,
    DECISIONS,
    GREATEST,
    MOST_OUTPUTS,
    SIGN,
    Readout,
    decision_of,
    usual_outputs,
)
from tallystick.networks.steps import STEPWISE, THRESHOLD, Steps
from tallystick.numbers import exact
from tallystick.numbers.values import read_numbers, write_numbers

ACCEPT = "accept"
"""The sign of one output, asked for membership."""


def read_answer(fields: dict[str, Document], units: int) -> Readout:
    """Read the matrix of the longer spelling and the decision over its outputs."""
    answer = answer_fields(fields)
    name = answer["kind"].text()
    decision = SIGN if name == ACCEPT else name
    parts = fields["readout"].fields(required=("weight",), optional=("bias",))
    steps = _read_steps(answer) if decision in STEPWISE else None
    rows = len(steps.outputs) if steps else len(list(parts["weight"].items()))
    outputs = rows if steps or (decision_of(decision, rows) and rows <= MOST_OUTPUTS) else usual_outputs(decision)
    bias = read_numbers(parts["bias"], outputs) if "bias" in parts else (Fraction(0),) * outputs
    return Readout(read_numbers(parts["weight"], outputs, units), bias, decision, steps)


def _read_steps(answer: dict[str, Document]) -> Steps:
    """Read what each output stands for, where an answer is given after every token."""
    outputs = tuple(entry.text() for entry in answer["outputs"].items())
    threshold = exact(answer["threshold"].value, answer["threshold"].where) if "threshold" in answer else None
    return Steps(outputs, answer["end"].text(), threshold)


def answer_to_json(network: Network, *, long: bool, has_order: bool) -> dict[str, object]:
    """Return the fields of a file that say what the outputs mean, in the shorter spelling where it has a word for it.

    Args:
        network: the network.
        long: whether the longer spelling is asked for.
        has_order: whether the classes stand in an order that the task's name does not tell.
    """
    task, readout, steps = network.task, network.readout, network.readout.steps
    if not long and not has_order and readout.kind != GREATEST and steps is None:
        return {"readout": readout_to_json(readout, network.cell)}
    weights = {
        "weight": write_numbers(readout.weight, "readout.weight"),
        "bias": write_numbers(readout.bias, "readout.bias"),
    }
    answer: dict[str, object] = {"kind": readout.decision}
    if steps is not None:
        answer |= {"outputs": list(steps.outputs), "end": steps.end}
        answer |= {} if steps.threshold is None else {"threshold": write_numbers(steps.threshold, "threshold")}
    elif has_order or readout.kind == GREATEST:
        answer["classes"] = [str(name) for name in task.classes]
    return {"readout": weights, "answer": answer}


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


def answer_fields(fields: dict[str, Document]) -> dict[str, Document]:
    """Return the fields of an answer; those that are given after every token name their outputs."""
    kind, known = fields["answer"].content.get("kind"), (*DECISIONS, COUNT, ACCEPT, *STEPWISE)
    if isinstance(kind, str) and kind not in known:
        Document(kind, f"{fields['answer'].where}: kind").refuse(f"one of {', '.join(known)}")
    if kind not in STEPWISE:
        return fields["answer"].fields(required=("kind",), optional=("classes",))
    return fields["answer"].fields(required=("kind", "outputs", "end", *((THRESHOLD,) if kind == THRESHOLD else ())))
