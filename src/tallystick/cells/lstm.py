"""The long short-term memory, as PyTorch has it."""

from dataclasses import dataclass
from typing import final

from tallystick.cells.cell import Input
from tallystick.cells.vector import GatedCell, State
from tallystick.numbers import Number, hyperbolic_tangent, sigmoid
from tallystick.numbers.values import add


@final
@dataclass(frozen=True)
class LstmCell(GatedCell):
    """c' = f·c + i·g and h' = o·tanh c'; the rows are those of i, f, g and o in turn.

    i, f and o are sigmoids of W·x + b_x + U·h + b_h, and g is the tanh of it.

    >>> ready = ((9.0, 9.0), (9.0, 9.0), (9.0, -9.0), (9.0, 9.0))  # i, f and o near 1, g near ±1: c counts
    >>> cell = LstmCell(ready, ((0.0,),) * 4, (0.0,) * 4, (0.0,) * 4)
    >>> [round(state.memory[0], 2) for state in cell.trace("((())")]
    [0, 1.0, 2.0, 3.0, 2.0, 1.0]
    """

    name = "lstm"
    gates = 4
    gate_names = ("i", "f", "g", "o")
    has_memory = True

    def gate_values(self, state: State, token: Input) -> list[list[Number]]:
        """Return i, f, g and o."""
        both = zip(self._from_token(token), self._from_hidden(state.hidden), strict=True)
        i, f, g, o = (add(from_token, from_hidden) for from_token, from_hidden in both)
        squash = (sigmoid, sigmoid, hyperbolic_tangent, sigmoid)
        return [[function(x) for x in rows] for function, rows in zip(squash, (i, f, g, o), strict=True)]

    def step(self, state: State, token: Input) -> State:
        """Return h' and c'."""
        i, f, g, o = self.gate_values(state, token)
        taken = [x * y for x, y in zip(i, g, strict=True)]
        memory = tuple(x * c + new for x, c, new in zip(f, state.memory, taken, strict=True))
        return State(tuple(x * hyperbolic_tangent(c) for x, c in zip(o, memory, strict=True)), memory)
