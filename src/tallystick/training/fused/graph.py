"""Numbers as what they are computed from: a program as a graph of operations, and how it is written.

Two numbers that are computed alike are one place in the graph. Adding 0, and multiplying by 0 or 1, needs no operation: the first
token of a string finds a state of zeros, and an array that is filled up with zeros is added to another one.

A graph is written with whatever computes numbers of many networks: LLVM's vectors for processors, Pallas for GPUs. It is written
as a whole, or in phases, each for other networks.
"""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, inf
from typing import Any, NamedTuple, Protocol

import numpy as np

Place = int
"""The place of a number among all that were noted."""

Value = Any
"""One number of many networks as whoever writes it has it, or a scalar that all networks share."""

INPUT, CONSTANT, NUMBER, CONVERSION = "input", "constant", "number", "conversion"
"""What a place can be beside an operation of JAX's: given, known, known but for its type, or another place in another type."""

SUMS = ("add", "sub", "add_any")
PRODUCT = "mul"
AS_WRITTEN = "as written"
"""The detail of a sum or a product that stays one operation."""


class Operation(NamedTuple):
    """How a number is computed: by JAX's name for it, from which places; `detail` is a value, a type or a remark."""

    name: str
    operands: tuple[Place, ...] = ()
    detail: Any = None


class Vectors(Protocol):
    """What writes an operation on numbers of many networks."""

    @property
    def operations(self) -> Container[str]:
        """JAX's names of the operations that `apply` knows."""
        ...

    def constant(self, value: Any) -> Value:  # noqa: ANN401 -- a number of NumPy's
        """Return a number that all networks share."""

    def number(self, value: float, like: Value) -> Value:
        """Return a constant of the type of another value."""

    def precision(self, value: Value) -> str:
        """Return NumPy's name of the type of a value."""
        ...

    def apply(self, name: str, *operands: Value) -> Value:
        """Apply an operation by JAX's name for it."""

    def convert(self, value: Value, dtype: Any) -> Value:  # noqa: ANN401 -- whatever names a type for NumPy
        """Return a value in another type, rounded to it."""

    def multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        """Return x·y + z, rounded once."""


class Graph:
    """Notes operations; what was noted before is not noted again."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.noted: list[Operation] = []
        self._places: dict[Operation, Place] = {}

    def note(self, name: str, *operands: Place, detail: Any = None) -> Place:  # noqa: ANN401
        """Return the place of an operation."""
        operation = Operation(name, operands, detail)
        if operation not in self._places:
            self._places[operation] = len(self.noted)
            self.noted.append(operation)
        return self._places[operation]

    def constant(self, value: Any) -> Place:  # noqa: ANN401 -- a number of NumPy's
        """Return the place of a number that is the same for all networks and steps."""
        array = np.asarray(value)
        return self.note(CONSTANT, detail=(array.item(), str(array.dtype)))

    def apply(self, name: str, *operands: Place, as_written: bool = False) -> Place:
        """Return the place of an operation's result, which may be one of the operands."""
        if name not in (PRODUCT, *SUMS):
            return self.note(name, *operands)
        (x, y), (left, right) = operands, map(self._known, operands)
        if (left == 0 or right == 1) if name == PRODUCT else right == 0:
            return x
        if (left == 1 or right == 0) if name == PRODUCT else left == 0 and name != "sub":
            return y
        return self.note(name, x, y, detail=AS_WRITTEN if as_written else None)

    def convert(self, place: Place, dtype: str) -> Place:
        """Return the place of a number in another type."""
        known = self._known(place)
        return self.note(CONVERSION, place, detail=dtype) if known is None else self.constant(np.asarray(known, dtype))

    def needed(self, results: Iterable[Place]) -> list[Place]:
        """Return the places that the results rest on, each after those that it rests on."""
        found, left = set(), list(results)
        while left:
            place = left.pop()
            if place not in found:
                found.add(place)
                left += self.noted[place].operands
        return sorted(found)

    def added_products(self, results: Sequence[Place]) -> set[Place]:
        """Return the products that only sums need: a multiply-add computes such a product and the sum at once."""
        places = self.needed(results)
        found = {place for place in places if self.noted[place].name == PRODUCT and not self.noted[place].detail}
        found -= set(results)
        for place in places:
            name, operands, detail = self.noted[place]
            if name not in SUMS or detail == AS_WRITTEN:
                found -= set(operands)
        return found

    def write(
        self, wanted: Sequence[Place], given: Sequence[Value], vectors: Vectors, multiply_adds: Container[str]
    ) -> list[Value]:
        """Write all that some places rest on, and return their values; `given` are the values of the inputs."""
        added = self.added_products(wanted)

        def read(place: Place) -> Value | None:
            return given[self.noted[place].detail] if self.noted[place].name == INPUT else None

        writing = Writing(self, added, vectors, multiply_adds, read)
        for place in self.needed(wanted):
            if place not in added:
                writing.value(place)
        return [writing.value(place) for place in wanted]

    def _known(self, place: Place) -> float | None:
        operation = self.noted[place]
        return operation.detail[0] if operation.name == CONSTANT else None


class Writing:
    """What is written of one graph so far.

    Args:
        graph: what to write.
        added: the products that may become part of sums.
        vectors: what writes an operation.
        multiply_adds: the types in which such a product does become part of a sum.
        read: returns the value of a place that is not computed here, such as an input; None for every other.
    """

    def __init__(
        self,
        graph: Graph,
        added: set[Place],
        vectors: Vectors,
        multiply_adds: Container[str],
        read: Callable[[Place], Value | None],
    ) -> None:
        """Begin with nothing."""
        self._noted, self._added, self._read = graph.noted, added, read
        self._vectors, self._multiply_adds = vectors, multiply_adds
        self._values: dict[Place, Value] = {}

    def value(self, place: Place) -> Value:
        """Return the value of a place; what it rests on is written first where it is not yet."""
        if place not in self._values:
            found = self._read(place)
            self._values[place] = self._compute(*self._noted[place]) if found is None else found
        return self._values[place]

    def _compute(self, name: str, operands: tuple[Place, ...], detail: Any) -> Value:  # noqa: ANN401
        if name == CONSTANT:
            number, dtype = detail
            return self._vectors.constant(np.asarray(number, dtype)[()])
        if name == NUMBER:
            return self._vectors.number(detail, self.value(operands[0]))
        if name == CONVERSION:
            return self._vectors.convert(self.value(operands[0]), detail)
        if name in SUMS and detail != AS_WRITTEN:
            for place, other in zip(operands, operands[::-1], strict=True):
                if place in self._added and self._is_fused(place):
                    return self._multiply_add(name, place, other, product_first=place == operands[0])
        return self._vectors.apply(name, *map(self.value, operands))

    def _is_fused(self, product: Place) -> bool:
        return self._vectors.precision(self.value(self._noted[product].operands[0])) in self._multiply_adds

    def _multiply_add(self, name: str, product: Place, other: Place, *, product_first: bool) -> Value:
        """Return x·y + z, x·y − z or z − x·y."""
        x, y = map(self.value, self._noted[product].operands)
        z, negative = self.value(other), name == "sub"
        x = self._vectors.apply("neg", x) if negative and not product_first else x
        return self._vectors.multiply_add(x, y, self._vectors.apply("neg", z) if negative and product_first else z)


# --- Phases ---------------------------------------------------------------------------------------------------------------------

_WAITS = {
    "float32": {"exp": 45, "tanh": 60, "logistic": 60, "sin": 45, "cos": 45, "div": 12, "sqrt": 20},
    "float64": {"exp": 45, "tanh": 80, "logistic": 62, "sin": 60, "cos": 60, "div": 14, "sqrt": 24},
}
_USUAL_WAIT = 4
"""About how many clocks pass until a result is there."""

_DIVIDER = {
    "float32": {"div": 2.5, "logistic": 2.5, "tanh": 2.5, "sqrt": 4.5},
    "float64": {"div": 4.0, "logistic": 4.0, "tanh": 4.0, "sqrt": 7.5},
}
"""For how many clocks an operation holds the one unit that computes quotients and roots."""

_CLOCKS_OF_A_PHASE = 60
"""A step gets a phase for every so many clocks of waits. More phases measured slower: what one computes for another goes through
memory. These numbers decide where a step is cut, and so its speed, but no result."""

_CUTS = 100
"""How many ways to cut a step are looked at closely."""

_COMPARISONS = ("gt", "ge", "lt", "le", "eq", "ne")


class Step(NamedTuple):
    """One step as a graph.

    Attributes:
        graph: what it does.
        inputs: of each input, by its detail, the type, and whether every network has its own.
        before: the inputs that go from step to step.
        after: what becomes of each.
        right: who was right.
        counts: whether anybody asks for that.
    """

    graph: Graph
    inputs: Sequence[tuple[str, bool]]
    before: Sequence[Place]
    after: Sequence[Place]
    right: Place
    counts: bool


def share_reciprocals(step: Step) -> Step:
    """Return a step in which numbers with the same divisor, such as the shares of a softmax, are multiplied by its reciprocal."""
    graph, noted = Graph(), step.graph.noted
    needed = sorted({*step.graph.needed([*step.after, step.right]), *step.before})
    divided = Counter(noted[place].operands[1] for place in needed if noted[place].name == "div")
    moved: dict[Place, Place] = {}
    for place in needed:
        name, operands, detail = noted[place]
        parts = [moved[operand] for operand in operands]
        if name == "div" and divided[operands[1]] > 1:
            reciprocal = graph.note("div", graph.note(NUMBER, parts[1], detail=1), parts[1])
            moved[place] = graph.apply(PRODUCT, parts[0], reciprocal, as_written=True)
        else:
            moved[place] = graph.note(name, *parts, detail=detail)
    before, after = ([moved[place] for place in places] for places in (step.before, step.after))
    return step._replace(graph=graph, before=before, after=after, right=moved[step.right])


class _Waits(NamedTuple):
    """When each operation of a step that every network does on its own begins and ends at the soonest, in clocks.

    Attributes:
        begins: when the numbers that it needs are there.
        ends: when its result is there.
    """

    begins: dict[Place, int]
    ends: dict[Place, int]


def _wait(step: Step, needed: Iterable[Place], added: Container[Place]) -> tuple[_Waits, dict[Place, str]]:
    """Let every operation begin as soon as it can, and return NumPy's name of the type of each number, too.

    Added products are part of sums.
    """
    noted, own = step.graph.noted, set[Place]()
    begins: dict[Place, int] = {}
    ends: dict[Place, int] = {}
    types: dict[Place, str] = {}
    for place in needed:
        name, operands, detail = noted[place]
        begin = ends[place] = max((ends[operand] for operand in operands), default=0)
        if name in (INPUT, CONSTANT):
            types[place], is_own = step.inputs[detail] if name == INPUT else (detail[1], False)
        else:
            kept = detail if name == CONVERSION else types[operands[-1]]
            types[place] = "bool" if name in _COMPARISONS else kept
            is_own = name != NUMBER and not own.isdisjoint(operands)
        if is_own:
            own.add(place)
            if name != INPUT and place not in added:
                begins[place], ends[place] = begin, begin + _WAITS.get(types[place], {}).get(name, _USUAL_WAIT)
    return _Waits(begins, {place: ends[place] for place in begins}), types


def phases_for(step: Step, most: int) -> int:
    """Return how many phases to cut a step into, by a rule that fits measurements: the longer its waits, the more."""
    results = [place for former, place in zip(step.before, step.after, strict=True) if place != former]
    waits, _ = _wait(step, step.graph.needed(results), step.graph.added_products(results))
    return min(most, ceil(max(waits.ends.values()) / _CLOCKS_OF_A_PHASE))


def _cut(waits: _Waits, number: int, held: Mapping[Place, float]) -> list[float]:
    """Return when each phase of a step begins, so that one pass over all of them is short.

    The longest phase counts, all of them by their root mean square, and how long roots and quotients stand in line for the unit
    that computes them, because those of several phases come at the same time. The weights of the three fit measurements.

    Args:
        waits: when each operation begins and ends.
        number: how many phases.
        held: for how many clocks operations hold that unit.
    """
    begins, ends = (np.array(list(part.values())) for part in waits)
    times = np.unique(begins)
    reached = np.array([ends[begins <= time].max() for time in times])  # the end of all that begins by then
    cuts = np.array(list(combinations(range(1, len(times)), min(number, len(times)) - 1)), int)
    starts = np.pad(times[cuts], ((0, 0), (1, 0)))
    lengths = np.pad(reached[cuts - 1], ((0, 0), (0, 1)), constant_values=reached[-1]) - starts
    wait = lengths.max(axis=1) + np.sqrt((lengths**2).mean(axis=1))

    def clocks(cut: int) -> float:
        first = starts[cut].tolist()
        line = sorted((waits.ends[place] - first[bisect(first, waits.begins[place]) - 1], place) for place in held)
        free = delay = 0.0
        for ready, place in line:
            delay += max(free - ready, 0)
            free = max(free, ready) + held[place]
        return float(wait[cut]) + delay / (2 * max(len(line), 1))

    found = min(np.argsort(wait, kind="stable")[:_CUTS].tolist(), key=clocks)
    return [*starts[found].tolist(), *[inf] * (number - starts.shape[1])]


class Phases:
    """A step in phases of about equal length. While one group of networks is in one phase, others can be in the others.

    The operations of a step wait for each other, so that a processor that works on one step at a time idles. If it does each
    phase for another group of networks, operation by operation in turn, some compute while others wait.

    Args:
        step: what is cut.
        number: how many phases.

    Attributes:
        added: the products that become part of sums.
        order: the operations in the order to write them in; those of one phase stand among those of the others.
        phase: the phase of each.
        ready: by operation, the numbers from step to step that are written over once it is written: which, and by what place.
        rest: the same for those that are written over at the end of the last phase: what they become is not computed, or all
            networks share it.
        at_home: places that a later phase finds where a number from step to step stands, and which number that is.
        crossing: the other places that later phases read, with their types.
    """

    def __init__(self, step: Step, number: int) -> None:
        """Cut the step."""
        graph = self._graph = step.graph
        pairs = zip(step.before, step.after, strict=True)
        changed = [(kept, former, place) for kept, (former, place) in enumerate(pairs) if place != former]
        results = [place for *_, place in changed]
        self.added = graph.added_products([*results, step.right])  # whether or not it counts, so that both round alike
        results += [step.right] if step.counts else []
        waits, types = _wait(step, graph.needed(results), self.added)
        divider = {place: _DIVIDER.get(types[place], {}).get(graph.noted[place].name) for place in waits.begins}
        begins, starts = waits.begins, _cut(waits, number, {place: held for place, held in divider.items() if held})
        self.phase = {place: bisect(starts, begin) - 1 for place, begin in begins.items()}
        self.order = sorted(begins, key=lambda place: (begins[place] - starts[self.phase[place]], place))
        turns = {place: (self.phase[place], turn) for turn, place in enumerate(self.order)}
        end = number - 1, len(self.order)
        last: dict[Place, tuple[int, int]] = {}
        for place in (*self.order, *(place for place in results if place not in turns)):
            turn = turns.get(place, end)
            for source in (place,) if graph.noted[place].name == INPUT else self._sources(place):
                last[source] = max(last.get(source, turn), turn)
        self.ready, self.rest = defaultdict[Place, list[tuple[int, Place]]](list), list[tuple[int, Place]]()
        self.at_home: dict[Place, int] = {}
        crossing = {place for place, (phase, _) in last.items() if self.phase.get(place, phase) < phase}
        for kept, former, place in changed:
            own = turns.get(place, end)
            phase, turn = max(own, last.get(former, own))
            (self.rest if turn == end[1] else self.ready[self.order[turn]]).append((kept, place))
            if phase == self.phase.get(place):
                self.at_home[place] = kept
            elif place in self.phase:
                crossing.add(place)
        self.crossing = {place: types[place] for place in sorted(crossing - set(self.at_home))}

    def _sources(self, place: Place) -> Iterator[Place]:
        """Give the inputs and operations that an operation reads, through added products and what all networks share."""
        for operand in self._graph.noted[place].operands:
            if operand in self.phase or self._graph.noted[operand].name == INPUT:
                yield operand
            else:
                yield from self._sources(operand)
