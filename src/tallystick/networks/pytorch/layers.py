"""The layers that signals make: sums are put into one another exactly; a layer is left per recurrence and nonlinearity."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tallystick.cells import CELLS, LAYERS, Cell, Recurrence, Stack
from tallystick.cells.vector import State
from tallystick.networks.pytorch.signals import CONST, SUM, TOKENS, Column, Floats, Signal, Unreadable, exact_weight
from tallystick.numbers.values import Matrix, Vector

_GATED = ("gru", "lstm")
_LAYERS = {SUM: "linear", "relu": "relu", "tanh": "tanh"}

Form = dict[Column | None, Fraction]
"""A sum of multiples of columns; None stands for the number 1."""


class Sums:
    """The features of signals as sums of what is no sum."""

    def __init__(self, tokens: Signal) -> None:
        """Begin with nothing worked out."""
        self._tokens = tokens
        self._forms: dict[Signal, list[Form]] = {}

    def forms(self, signal: Signal) -> list[Form]:
        """Return one sum per feature; a recurrence and what is not linear stands for itself."""
        waiting = [signal]  # and no recursion, since a long loop that is no recurrence is a deep sum of sums
        while waiting:
            last = waiting[-1]
            below = [one for one, _, _ in last.columns if one not in self._forms] if _is_worked_out(last) else []
            waiting.extend(below)
            if not below and (last := waiting.pop()) not in self._forms:
                self._forms[last] = self._work_out(last)
        return self._forms[signal]

    def _work_out(self, signal: Signal) -> list[Form]:
        itself: list[Form] = [{(signal, 0, feature): Fraction(1)} for feature in range(signal.size)]
        if not _is_worked_out(signal):
            return itself
        found = self.rows(signal.weight, signal.biases, signal.columns)
        if signal.operation != "relu":
            return found
        # The ReLU of what the token alone decides is decided by the token too, and exactly.
        try:
            values = [self.values(form) for form in found]
        except Unreadable:
            return itself
        return [
            {(self._tokens, 0, token): max(value, Fraction(0)) for token, value in enumerate(row)} for row in values
        ]

    def rows(self, weight: Floats, biases: Floats, columns: Sequence[Column]) -> list[Form]:
        """Return W·x + b, row by row."""
        parts = [self._shifted(column) for column in columns]
        found: list[Form] = []
        for row, terms in zip(weight.tolist(), biases.tolist(), strict=True):
            form: Form = {None: sum(map(exact_weight, terms), Fraction(0))}
            for factor, part in zip(row, parts, strict=True):
                if factor:
                    exactly = exact_weight(factor)
                    for column, value in part.items():
                        form[column] = form.get(column, 0) + exactly * value
            found.append({column: value for column, value in form.items() if value})
        return found

    def _shifted(self, column: Column) -> Form:
        signal, shift, feature = column
        form = self.forms(signal)[feature]
        return {key and (key[0], key[1] + shift, key[2]): value for key, value in form.items()} if shift else form

    def values(self, form: Form) -> list[Fraction]:
        """Return the value of a sum for each token, where the token alone decides it."""
        if any(column and column[:2] != (self._tokens, 0) for column in form):
            raise Unreadable("")
        constant = form.get(None, Fraction(0))
        return [constant + form.get((self._tokens, 0, token), 0) for token in range(self._tokens.size)]


def _is_worked_out(signal: Signal) -> bool:
    return signal.start is None and signal.operation in (SUM, CONST, "relu")


# --- Layers -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layer:
    """A cell, the state that it starts from, the signal that it reads, and whether anything goes from token to token."""

    cell: Cell
    start: Any
    reads: Signal
    is_recurrent: bool


def layers_below(top: Signal, sums: Sums, tokens: Signal) -> list[Layer]:
    """Return the layers that make a signal, the lowest first."""
    found: list[Layer] = []
    while top is not tokens:
        found.append(_layer(top, sums, tokens))
        top = found[-1].reads
    return found[::-1]


def recurrence(layers: list[Layer], first: tuple[int, ...], last: tuple[int, ...]) -> Recurrence:
    """Return a cell that reads one-hot tokens, or a stack of them; `first` and `last` are read around every string."""
    cells, start = tuple(layer.cell for layer in layers), tuple(layer.start for layer in layers)
    size = cells[0].inputs
    if len(cells) == 1 and not first and not last and start == (cells[0].initial_state,):
        return _with_one_unit(cells[0])
    unit: Matrix = tuple(tuple(int(place == token) for place in range(size)) for token in range(size))
    return Stack(cells, unit[:2], start, tuple(unit[token] for token in first), tuple(unit[token] for token in last))


def _with_one_unit(cell: Cell) -> Cell:
    """Return the cell of one unit that a layer equals, for which there are exact deciders."""
    if type(cell) not in LAYERS.values() or cell.units != 1:
        return cell
    tensors = cell.tensors()
    ((opening, closing),), ((recurrent,),) = tensors["input_weight"], tensors["recurrent_weight"]
    bias = tensors["input_bias"][0] + tensors["recurrent_bias"][0]
    steps = {"open_step": opening + bias, "close_step": closing + bias, "recurrent_weight": recurrent}
    return CELLS[cell.name].from_tensors(steps)


def _layer(signal: Signal, sums: Sums, tokens: Signal) -> Layer:
    units = signal.units
    if signal.operation in _GATED:
        return _gated_layer(signal, sums, tokens)
    if signal.operation not in _LAYERS:
        raise signal.refuse(f"{signal.operation} is read at the very end of a module alone")
    rows = sums.rows(signal.weight, signal.biases, signal.columns)
    own: Matrix = tuple(tuple(row.pop((signal, -1, unit), Fraction(0)) for unit in range(units)) for row in rows)
    reads, weight, bias = read_by(signal, rows, tokens)
    start = signal.start or (Fraction(0),) * units
    zeros = (Fraction(0),) * units
    cell = LAYERS[_LAYERS[signal.operation]].from_tensors(_tensors(weight, own, bias, zeros))
    return Layer(cell, start, reads, signal.start is not None)


def _gated_layer(signal: Signal, sums: Sums, tokens: Signal) -> Layer:
    units, inputs = signal.units, signal.weight.shape[1] - signal.units
    if signal.start is None or signal.columns[inputs:] != tuple(
        (signal, -1, feature) for feature in range(signal.size)
    ):
        raise signal.refuse("its state is not what it was one token before")
    rows = sums.rows(signal.weight[:, :inputs], signal.biases[:, :1], signal.columns[:inputs])
    reads, weight, bias = read_by(signal, rows, tokens)
    own = tuple(tuple(map(exact_weight, row)) for row in signal.weight[:, inputs:].tolist())
    second = tuple(map(exact_weight, signal.biases[:, 1].tolist()))
    start = signal.start
    cell = CELLS[signal.operation].from_tensors(_tensors(weight, own, bias, second))
    return Layer(cell, State(start[:units], start[units:]), reads, is_recurrent=True)


def _tensors(weight: Matrix, own: Matrix, bias: Vector, second: Vector) -> dict[str, Any]:
    return {"input_weight": weight, "recurrent_weight": own, "input_bias": bias, "recurrent_bias": second}


def read_by(signal: Signal, rows: list[Form], tokens: Signal) -> tuple[Signal, Matrix, Vector]:
    """Return the one signal that sums read, and their W and b; `signal` is named where they read more."""
    reads = tokens
    for other, shift, feature in sorted(_columns(rows), key=lambda column: column[0] is tokens):
        reads = other if reads is tokens else reads
        if other is not reads:
            raise signal.refuse(f"reads both {_name(reads)} and {_name(other)}, and a layer reads one below it")
        if shift:
            raise signal.refuse(f"reads {_name(other)} of another token than the last")
        if feature >= other.units:
            raise signal.refuse(f"reads the memory c of {_name(other)}, of which the next layer sees h alone")
    weight = tuple(tuple(row.get((reads, 0, feature), Fraction(0)) for feature in range(reads.units)) for row in rows)
    return reads, weight, tuple(row.get(None, Fraction(0)) for row in rows)


def _columns(rows: list[Form]) -> Iterator[Column]:
    for row in rows:
        yield from (column for column in row if column)


def _name(signal: Signal) -> str:
    return "the token" if signal.operation == TOKENS else f"the {signal.function} of {signal.place}"
