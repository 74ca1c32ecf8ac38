"""Networks on boxes: whatever lies in the boxes of a state, the next state lies in its."""

from collections.abc import Callable
from functools import cached_property

from .arithmetic import Arithmetic, Box, Boxes, Run, getter
from .asked import Asked
from .claims import Network, Operation, Program
from .stages import Stage, stages_of

_GROWING = ("sum", "product", "square", "mean")


class BoxedNetwork:
    """A network in an arithmetic."""

    def __init__(self, network: Network | Asked, arithmetic: Arithmetic) -> None:
        self.network, self.arithmetic = network, arithmetic
        starts = [Operation("sum", (), (), number) for number in network.start]
        self.start: Boxes = tuple(map(arithmetic.stored, arithmetic.sums(starts)([])))
        self.unread = self.start
        """The boxes before anything is read; `start` is read on from by the first token."""
        for program in network.first:
            self.start = self.step_of(program)(self.start)
        self._steps, self._hidden = [*map(self.step_of, network.steps)], self.function(network.hidden)
        self._above = arithmetic.pairs(network.readout)

    def function(self, program: Program) -> Callable[[Boxes], Boxes]:
        """Return a program as a function of boxes."""
        size = len(self.start)
        fixed, moving, places = stages_of(self.arithmetic.program_of(program, size), size)
        first, runs, results, check = self._runs(fixed), self._runs(moving), getter(places), self.arithmetic.check
        if not (first or runs):
            return lambda state: tuple(results(state))
        constants: list[Box] = []

        def run_all(boxes: list[Box], runs: list[tuple[Run, bool]]) -> list[Box]:
            for run, is_growing in runs:
                found = run(boxes)
                if is_growing:
                    check(found)
                boxes += found
            return boxes

        def function(state: Boxes) -> Boxes:
            if first and not constants:
                constants.extend(run_all([*state], first)[len(state) :])
            return tuple(results(run_all([*state, *constants], runs)))

        return function

    def step_of(self, program: Program) -> Callable[[Boxes], Boxes]:
        """Return a program as a function from a state to the next one."""
        function, stored = self.function(program), self.arithmetic.stored
        return (lambda state: tuple(map(stored, function(state)))) if self.arithmetic.stores else function

    def _runs(self, stages: list[Stage]) -> list[tuple[Run, bool]]:
        """Return stages as functions, and whether each may make numbers longer and longer."""
        return [(self.arithmetic.run(stage), stage[0].name in _GROWING) for stage in stages]

    def step(self, state: Boxes, token: int) -> Boxes:
        """Return the boxes of the next state."""
        return self._steps[token](state)

    def hidden(self, state: Boxes) -> Boxes:
        """Return the boxes of what the readout sees."""
        return self._hidden(state)

    def above(self, state: Boxes) -> tuple[bool | None, ...]:
        """Say of each pair of outputs whether the first is surely above the second, or surely not; else None."""
        return self._above(self._hidden(state))

    @cached_property
    def _lines(self) -> Run:
        places = tuple(range(len(self.network.hidden.results)))
        return self.arithmetic.sums([Operation("sum", places, *line) for line in self.network.readout.lines])

    def outputs(self, state: Boxes) -> Boxes:
        """Return the boxes of the outputs."""
        return tuple(self._lines(list(self._hidden(state))))

    def class_of(self, state: Boxes) -> int | None:
        """Return the class that every state in the boxes gets, or None if they may not all get one."""
        return self.network.readout.decision.class_of(self.above(state))

    def is_narrow(self, state: Boxes) -> bool:
        """Say whether more digits may decide."""
        return all(map(self.arithmetic.is_narrow, state))

    def time(self) -> int:
        """Return about how many nanoseconds a step and its class take."""
        operations = [*self.network.steps[0].operations, *self.network.hidden.operations]
        sums = [Operation("sum", (), weights, bias) for weights, bias in self.network.readout.lines]
        return 2000 + sum(self.arithmetic.time(operation) for operation in (*operations, *sums))


def hull(first: Boxes, second: Boxes) -> Boxes:
    """Return the least boxes around two states."""
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(first, second, strict=True))
