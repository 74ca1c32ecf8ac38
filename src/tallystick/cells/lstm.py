"""The long short-term memory, as PyTorch has it."""

from dataclasses import dataclass
from typing import final

from tallystick.cells.cell import Input
from tallystick.cells.vector import GatedCell, State
from tallystick.numbers import hyperbolic_tangent, sigmoid
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
    has_memory = True

    def step(self, state: State, token: Input) -> State:
        """Return h' and c'."""
        both = zip(self._from_token(token), self._from_hidden(state.hidden), strict=True)
        i, f, g, o = (add(from_token, from_hidden) for from_token, from_hidden in both)
        taken = [sigmoid(x) * hyperbolic_tangent(y) for x, y in zip(i, g, strict=True)]
        memory = tuple(sigmoid(x) * c + new for x, c, new in zip(f, state.memory, taken, strict=True))
        return State(tuple(sigmoid(x) * hyperbolic_tangent(c) for x, c in zip(o, memory, strict=True)), memory)
