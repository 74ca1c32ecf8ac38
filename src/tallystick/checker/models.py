"""Networks as certificates write them: a cell that is known by its name and weights, or any other by its step as a program.

A program is a list of operations on numbers, those of the state first. An operation takes numbers that stand before it by their
places and gives one more:

    ["sum", [[w, place], …], c]           w·x + … + c: as executed each product is rounded, they are added from the left, c last
                                          (in any order: together with the terms of sums among them, by factors of 1 and −1)
    ["product", place, place], ["positive_part", place], ["tanh", place], ["sigmoid", place], ["square", place]
    ["step", place]                       1 above zero, else 0
    ["mean", share, place, place]         (1 − s)·x + s·y
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, cast

from .answers import require
from .claims import (
    CLASSES,
    COUNT,
    GREATEST,
    KINDS,
    NOTHING,
    RIGHT,
    Comparison,
    Decision,
    Model,
    Network,
    Operation,
    Program,
    Readout,
    Task,
    greatest_of,
)
from .counts import RIGHT as RIGHT_COUNT
from .counts import counted
from .reading import fields_of, list_of, matrix_of, number_of, one_of, vector_of

SCALAR = ("linear", "selective", "relu", "tanh")
GATES = {"linear": 1, "relu": 1, "tanh": 1, "gru": 3, "lstm": 4}
"""The cells that a certificate knows by their weights: those of one number, and those of matrices with so many rows per unit.

What has an `input_weight` has matrices, which tells the two apart where they share a name.
"""

_TENSOR_FIELDS = "cell input_weight recurrent_weight input_bias recurrent_bias readout"
_OUTPUTS = {"zero": 1, "binary": 1, "ternary": 3, COUNT: 1}
_TAKEN = {"product": 2, "positive_part": 1, "tanh": 1, "sigmoid": 1, "square": 1, "step": 1, "mean": 3}
"""How many numbers an operation takes."""

_LONGEST_NAME = 64
MOST_READ_FIRST = 16
MOST_UNITS, MOST_NUMBERS, _MOST_OPERATIONS, _MOST_TERMS, _MOST_COMPARISONS = 64, 1024, 4096, 1 << 15, 64


def model_of(value: object, *, apart: bool = False) -> tuple[Model | Network, tuple[str, ...]]:
    """Return a network, and the names of its classes; none where it is asked for the count.

    Args:
        value: what the certificate holds.
        apart: whether the numbers of a cell of matrices that are added to each other stay apart, since each is rounded.
    """
    model, classes = _model_of(value, apart)
    return (counted(model) if model.readout.kind == COUNT else model), classes


def _model_of(value: object, apart: bool) -> tuple[Model | Network, tuple[str, ...]]:
    require(isinstance(value, dict) and "cell" in value, "a model without a cell")
    found = cast("dict[str, Any]", value)
    cell = found["cell"]
    require(
        isinstance(cell, str) and len(cell) <= _LONGEST_NAME,
        f"a cell's name is not a text of {_LONGEST_NAME} letters at most",
    )
    scalar = _is_scalar(found)
    task = " task" if "task" in found or not (scalar or cell in GATES) else ""
    if scalar:
        fields = fields_of(found, "cell open_step close_step recurrent_weight readout" + task)
        recurrent = fields["recurrent_weight"]
        P, Q = map(number_of, list_of(recurrent, 2) if cell == "selective" else (recurrent, recurrent))
        readout, right, classes = _readout_and_task(fields, 1)
        return Model(
            cell, (P, Q), (number_of(fields["open_step"]), number_of(fields["close_step"])), readout, right
        ), classes
    if cell in GATES:
        return _network_of_tensors(fields_of(found, _TENSOR_FIELDS + task), apart)
    framed = " first" if "first" in found else ""
    fields = fields_of(found, "cell start step hidden readout" + framed + task)
    start = tuple(map(number_of, list_of(fields["start"], most=MOST_NUMBERS)))
    steps = fields_of(fields["step"], "( )")
    first, second = (program_from(steps[token], len(start), len(start)) for token in "()")
    hidden = program_from(fields["hidden"], len(start))
    before = list_of(fields.get("first", []), most=MOST_READ_FIRST)
    readout, right, classes = _readout_and_task(fields, len(hidden.results))
    network = Network(cell, start, (first, second), hidden, readout, right)
    return network._replace(first=tuple(program_from(one, len(start), len(start)) for one in before)), classes


def _is_scalar(model: dict[str, Any]) -> bool:
    return model["cell"] in SCALAR and "input_weight" not in model and "step" not in model


# --- Readouts and tasks -------------------------------------------------------------------------------------------------------


def _readout_and_task(model: dict[str, Any], units: int) -> tuple[Readout, Task, tuple[str, ...]]:
    """Return a model's readout, its task, and the names of the classes."""
    scalar = _is_scalar(model)
    readout = readout_from(model["readout"], units, scalar=scalar)
    if readout.kind == COUNT:
        asked = fields_of(model["task"], "name machine classes right") if "task" in model else None
        fine = asked is None or (asked["machine"], asked["classes"], asked["right"]) == ("bb", [], [])
        require(fine, "a count is asked for the count n − m, which has no classes")
        return readout, RIGHT_COUNT, ()
    if "task" not in model:
        require(readout.kind in KINDS, "a readout of its own needs a task")
        floored = scalar and model["cell"] == "relu" and readout.kind == "zero"
        return readout, Task(floored, RIGHT[readout.kind]), CLASSES[readout.kind]
    found = fields_of(model["task"], "name machine classes right")
    size = len(readout.decision.comparisons)
    classes = tuple(list_of(found["classes"], size))
    require(
        all(isinstance(name, str) for name in classes) and len(set(classes)) == size, "classes of one name, or of none"
    )
    require(all(name in classes for name in list_of(found["right"], 3)), "a right class that is none")
    below, zero, above = map(classes.index, found["right"])
    return readout, Task(one_of(found["machine"], ("bb", "semidyck1")) == "semidyck1", (below, zero, above)), classes


def readout_from(value: object, units: int, *, scalar: bool) -> Readout:
    """Read a readout: its weight is a row per output, but a number where both the cell and the readout are known by name."""
    require(isinstance(value, dict), "an object is missing")
    kind: Any = cast("dict[str, Any]", value).get("kind")
    require(isinstance(kind, str), "a readout without a kind")
    if kind == "zero" and (scalar or "weight" not in cast("dict[str, Any]", value)):
        fields_of(value, "kind")
        require(units == 1, "a zero check of h itself reads one unit")
        return Readout(kind, (((Fraction(1),), Fraction(0)),), KINDS[kind])
    found = fields_of(value, "kind weight bias" + ("" if kind in (*KINDS, GREATEST, COUNT) else " comparisons"))
    size = _OUTPUTS.get(kind) or len(list_of(found["bias"], most=MOST_UNITS))
    flat = scalar and kind in (*KINDS, COUNT)
    rows = [[v] for v in list_of(found["weight"])] if flat else found["weight"]
    weight = matrix_of(rows, size, units)
    lines = tuple(zip(weight, vector_of(found["bias"], size), strict=True))
    require(lines, "a readout without outputs")
    if kind == COUNT:
        return Readout(kind, lines, greatest_of(size))  # `counts` says what is asked of it
    if kind == GREATEST:
        require(size > 1, "a greatest output of one")
        return Readout(kind, lines, greatest_of(size))
    return Readout(kind, lines, KINDS.get(kind) or _decision(found["comparisons"], size))


def _decision(value: object, outputs: int) -> Decision:
    """Read the comparisons of each class but the first."""
    classes = [tuple(_comparison(one, outputs) for one in list_of(needed)) for needed in list_of(value)]
    require(classes and all(classes), "a class without comparisons")
    require(sum(map(len, classes)) <= _MOST_COMPARISONS, f"more than {_MOST_COMPARISONS} comparisons")
    return Decision(((), *classes))


def _comparison(value: object, outputs: int) -> Comparison:
    """Read [greater, less, strict]; null is the number 0."""
    greater, less, strict = list_of(value, 3)
    for place in (greater, less):
        fine = place is None or (type(place) is int and 0 <= place < outputs)
        require(fine, "a comparison of what is no output")
    require(type(strict) is bool and greater != less, "a comparison of nothing")
    return Comparison(NOTHING if greater is None else greater, NOTHING if less is None else less, strict)


# --- Programs -----------------------------------------------------------------------------------------------------------------


def program_from(value: object, size: int, results: int | None = None) -> Program:
    """Read a program that takes so many numbers."""
    found = fields_of(value, "operations results")
    operations: list[Operation] = []
    for entry in list_of(found["operations"], most=_MOST_OPERATIONS):
        operations.append(_operation(list_of(entry), size + len(operations)))
    require(sum(len(one.places) for one in operations) <= _MOST_TERMS, f"a program has more than {_MOST_TERMS} terms")
    places = _places(list_of(found["results"], results, MOST_NUMBERS), size + len(operations))
    require(places, "a program without results")
    return Program(tuple(operations), places)


def _operation(entry: list[Any], before: int) -> Operation:
    require(entry, "an operation without a name")
    name, *taken = entry
    one_of(name, ("sum", *_TAKEN))
    if name != "sum":
        return Operation(name, _places(list_of(taken, _TAKEN[name]), before))
    terms, bias = list_of(taken, 2)
    pairs = [list_of(term, 2) for term in list_of(terms, most=_MOST_TERMS)]
    weights = tuple(number_of(weight) for weight, _ in pairs)
    return Operation(name, _places([place for _, place in pairs], before), weights, number_of(bias))


def _places(found: list[Any], before: int) -> tuple[int, ...]:
    """Read places of numbers that are there already."""
    fine = all(type(place) is int and 0 <= place < before for place in found)
    require(fine, "an operation takes a number that is not before it")
    return tuple(found)


# --- Cells of matrices ----------------------------------------------------------------------------------------------------------


def _network_of_tensors(found: dict[str, Any], apart: bool) -> tuple[Network, tuple[str, ...]]:
    """Read a cell in PyTorch's layout: a row per gate and unit, gate after gate."""
    cell = found["cell"]
    rows = len(list_of(found["recurrent_weight"]))
    units = rows // GATES[cell]
    require(0 < units <= MOST_UNITS, f"a cell of matrices has not 1 to {MOST_UNITS} units")
    readout, task, classes = _readout_and_task(found, units)
    inputs = matrix_of(found["input_weight"], units * GATES[cell], 2)
    recurrent = matrix_of(found["recurrent_weight"], units * GATES[cell], units)
    biases = [vector_of(found[name], units * GATES[cell]) for name in ("input_bias", "recurrent_bias")]
    first, second = (
        _WRITERS[cell]([(row[token], bias) for row, bias in zip(inputs, biases[0], strict=True)], recurrent, biases[1])
        for token in (0, 1)
    )
    if not apart:
        first, second = map(_join, (first, second))
    start = (Fraction(0),) * len(first.results)
    return Network(cell, start, (first, second), Program((), tuple(range(units))), readout, task), classes


class _Writer:
    """A program as it is written: each method adds an operation, and returns the place of what it gives."""

    def __init__(self, size: int, units: int) -> None:
        self.size, self.hidden, self.operations = size, tuple(range(units)), list[Operation]()

    def put(self, name: str, *places: int, weights: Sequence[Fraction] = (), terms: Sequence[Fraction] = ()) -> int:
        self.operations.append(Operation(name, places, tuple(weights), constants=tuple(terms)))
        return self.size + len(self.operations) - 1

    def row(self, weights: Sequence[Fraction], *terms: Fraction) -> int:
        """Add U·h and some terms."""
        return self.put("sum", *self.hidden, weights=weights, terms=terms)


def _join(program: Program) -> Program:
    """Add up what sums add besides, exactly."""
    operations = [one._replace(bias=one.bias + sum(one.constants), constants=()) for one in program.operations]
    return program._replace(operations=tuple(operations))


_Rows = Sequence[Sequence[Fraction]]
_Pairs = Sequence[tuple[Fraction, Fraction]]


def _gru(x: _Pairs, recurrent: _Rows, bias: Sequence[Fraction]) -> Program:
    """Next comes h' = (1 − z)·n + z·h with n = tanh(x_n + r·y_n) and y = U·h + c, where r and z are sigmoids of x + y."""
    units = len(recurrent[0])
    program = _Writer(units, units)
    results: list[int] = []
    for r, z, n in zip(range(units), range(units, 2 * units), range(2 * units, 3 * units), strict=True):
        reset, keep = (program.put("sigmoid", program.row(recurrent[g], *x[g], bias[g])) for g in (r, z))
        taken = program.put("product", reset, program.row(recurrent[n], bias[n]))
        new = program.put("tanh", program.put("sum", taken, weights=(Fraction(1),), terms=x[n]))
        results.append(program.put("mean", keep, new, r))
    return Program(tuple(program.operations), tuple(results))


def _lstm(x: _Pairs, recurrent: _Rows, bias: Sequence[Fraction]) -> Program:
    """Next come c' = f·c + i·g and h' = o·tanh c', where g is the tanh and i, f and o are the sigmoids of x + U·h + c."""
    units = len(recurrent[0])
    program = _Writer(2 * units, units)
    hidden: list[int] = []
    memory: list[int] = []
    for unit in range(units):
        rows = [program.row(recurrent[g], *x[g], bias[g]) for g in range(unit, 4 * units, units)]
        i, f, g, o = map(program.put, ("sigmoid", "sigmoid", "tanh", "sigmoid"), rows)
        terms = program.put("product", f, units + unit), program.put("product", i, g)
        memory.append(program.put("sum", *terms, weights=(Fraction(1), Fraction(1))))
        hidden.append(program.put("product", o, program.put("tanh", memory[-1])))
    return Program(tuple(program.operations), (*hidden, *memory))


def _layer(squash: str | None) -> Callable[[_Pairs, _Rows, Sequence[Fraction]], Program]:
    """Return the writer of h' = f(x + U·h + c), where f is an operation, or None for x itself."""

    def write(x: _Pairs, recurrent: _Rows, bias: Sequence[Fraction]) -> Program:
        units = len(recurrent)
        program = _Writer(units, units)
        sums = [program.row(recurrent[unit], *x[unit], bias[unit]) for unit in range(units)]
        results = sums if squash is None else [program.put(squash, place) for place in sums]
        return Program(tuple(program.operations), tuple(results))

    return write


_WRITERS = {
    "linear": _layer(None),
    "relu": _layer("positive_part"),
    "tanh": _layer("tanh"),
    "gru": _gru,
    "lstm": _lstm,
}
