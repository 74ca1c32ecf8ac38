"""Wrong answers of a network whose states lie in families: the shortest string that gets one.

What is right is the same in a whole place. So an answer is wrong exactly where some comparisons between outputs hold, and these
are linear inequalities in a family's variables, or have such for bounds. The whole point that meets them and stands for the
shortest string is looked at by itself.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from tallystick.certificates.closed_forms.affine import Symbolic, number_on
from tallystick.certificates.closed_forms.families import Family, Point
from tallystick.certificates.closed_forms.invariants import Invariant
from tallystick.certificates.closed_forms.machine_runs import configuration_after
from tallystick.certificates.closed_forms.ordering import Ordered
from tallystick.certificates.closed_forms.places import Grid, Move, Place
from tallystick.certificates.closed_forms.polyhedra import Form, Polyhedron, Undecided
from tallystick.certificates.closed_forms.runner import Runner
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import Failure, Runs
from tallystick.languages.counter_machine import Configuration
from tallystick.networks.readout import NOTHING
from tallystick.networks.steps import SUPPORT

LONGEST = 10**30
"""No string longer than this is looked for."""


class Proof(NamedTuple):
    """Families that every step leads into, and how configurations were parted for them."""

    grid: Grid
    runner: Runner
    invariants: dict[Place, Invariant]

    def family(self, place: Place) -> Family:
        """Return the family of a place."""
        return self.invariants[place].family(self.grid.bounds(place), self.runner.size)

    @property
    def reach(self) -> int | None:
        """The length up to which every string is followed; None where that is all of them."""
        return min(map(min, self.grid.borders.values())) if self.grid.closed else None


class _Wrong(NamedTuple):
    """The least length at which an answer may be wrong in a place, the point there, and where the last token was read."""

    length: int
    place: Place
    point: Point
    before: Point
    token: str


def shortest_failure(proof: Proof, scope: Scope) -> Failure | None:
    """Return a shortest failing string; None where every answer is right."""
    lengths = scope.lengths.upto(LONGEST, scope.first)
    start = proof.grid.start
    if 0 in lengths:
        outputs = proof.runner.first_outputs()
        if _is_wrong(proof, start, outputs):
            return Failure((), _said(proof, outputs), _right_name(proof, start))
    wrong = [found for place in proof.invariants for found in _wrong_points(proof, place, lengths)]
    shortest = min((one.length for one in wrong), default=None)
    for one in wrong:
        failure = _failure_at(proof, one) if one.length == shortest else None
        if failure is not None:
            return failure
    if wrong:
        raise Undecided("the families hold more than what can be reached, or the bounds of outputs are too wide")
    return None


def _is_wrong(proof: Proof, place: Place, outputs: list[Symbolic]) -> bool:
    """Say whether outputs that are single numbers are wrong in a place."""
    return any(all(comparison.holds() for comparison in several) for several in _mistakes(proof, place, outputs))


def _failure_at(proof: Proof, wrong: _Wrong) -> Failure | None:
    """Look at one point by itself: return a string that leads there, where its answer is indeed wrong."""
    runs = _string_to(proof, wrong)
    if runs is None:
        return None
    alone = Family(wrong.before, (), Polyhedron(0, ()), whole=True)
    move = Move(wrong.place, (), (0,) * proof.grid.machine.counters)
    for _, _, outputs in proof.runner.answers(alone, wrong.token, move):
        if _is_wrong(proof, wrong.place, outputs):
            return Failure(runs, _said(proof, outputs), _right_name(proof, wrong.place))
    return None


def _wrong_points(proof: Proof, before: Place, lengths: range) -> Iterator[_Wrong]:
    """Go through the points with the least length at which each mistake may be made after one more token."""
    runner, family = proof.runner, proof.family(before)
    for token in runner.alphabet:
        for move in proof.grid.moves(before, token):
            if move.after not in proof.invariants:
                continue
            for part, after, outputs in runner.answers(family, token, move):
                for several in _mistakes(proof, move.after, outputs):
                    sides = [side for comparison in several if (side := comparison.side()) is not None]
                    mistaken = runner.path.polyhedron.cut(sides)
                    if mistaken.is_empty:
                        continue
                    if not after.whole:
                        raise Undecided("the state does not follow from how often each token was read")
                    found = mistaken.whole_point(_length(after, len(runner.alphabet)), lengths)
                    if found is not None:
                        values, size = found
                        yield _Wrong(size, move.after, after.at(values), part.at(values), token)


def _length(family: Family, tokens: int) -> Form:
    length = family.form(0)
    for coordinate in range(1, tokens):
        length = length.plus(family.form(coordinate))
    return length


def _mistakes(proof: Proof, place: Place, outputs: list[Symbolic]) -> Iterator[list[Ordered]]:
    """Go through sets of comparisons: an answer is wrong in a place wherever all of one set hold."""
    network = proof.runner.network
    zero = number_on(proof.runner.path, Fraction(0))
    if network.readout.steps is None:
        right = _right_index(proof, place)
        classes = [_comparisons(proof, index, outputs) for index in range(len(network.readout.comparisons))]
        if classes[right]:
            yield from ([Ordered(one.less, one.greater, not one.strict)] for one in classes[right])
        else:
            yield from (several for index, several in enumerate(classes) if index != right)
        return
    allowed = _allowed(proof, place)
    named = network.readout.steps.places(network.alphabet)
    if network.readout.decision == SUPPORT:
        for token, output in zip(named, outputs, strict=True):
            yield [Ordered(zero, output, strict=False) if token in allowed else Ordered(output, zero, strict=True)]
    elif len(allowed) == 1:
        best = named.index(next(iter(allowed)))
        for at, output in enumerate(outputs):
            if at != best:
                yield [Ordered(output, outputs[best], strict=at > best)]


def _comparisons(proof: Proof, index: int, outputs: list[Symbolic]) -> list[Ordered]:
    """Return what makes a class; nothing for one that gets whatever no other class gets."""
    zero = number_on(proof.runner.path, Fraction(0))
    return [
        Ordered(*(zero if at == NOTHING else outputs[at] for at in (one.greater, one.less)), strict=one.strict)
        for one in proof.runner.network.readout.comparisons[index]
    ]


def _right_index(proof: Proof, place: Place) -> int:
    """Return the right class in a place, which depends on the machine's state and the signs of its counters."""
    task = proof.grid.task
    return task.question(task.machine, _some_configuration(proof.grid, place))


def _some_configuration(grid: Grid, place: Place) -> Configuration:
    far = {"+": grid.near, "-": -grid.near}
    return Configuration(place.state, tuple(c if isinstance(c, int) else far[c] for c in place.counters))


def _allowed(proof: Proof, place: Place) -> frozenset[int]:
    """Return which tokens may follow in a place, by their places in the alphabet, and the end; `Undecided` where it depends."""
    grid = proof.grid
    allowed: set[int] = {len(grid.machine.alphabet)} if grid.is_accepted(place) else set()
    for at, token in enumerate(grid.machine.alphabet):
        live = {grid.is_live(move.after) for move in grid.moves(place, token)}
        if len(live) != 1 or None in live:
            raise Undecided("which tokens may follow depends on the counters")
        if live == {True}:
            allowed.add(at)
    return frozenset(allowed)


def _right_name(proof: Proof, place: Place) -> str:
    network = proof.runner.network
    steps = network.readout.steps
    if steps is None:
        return network.task.classes[_right_index(proof, place)]
    return steps.names(_allowed(proof, place), network.alphabet)


def _said(proof: Proof, outputs: list[Symbolic]) -> str:
    """Return the answer that outputs give which are single numbers."""
    network = proof.runner.network
    zero, steps = number_on(proof.runner.path, Fraction(0)), network.readout.steps
    if steps is None:
        classes = [_comparisons(proof, index, outputs) for index in range(len(network.readout.comparisons))]
        given = [index for index, several in enumerate(classes) if several and all(one.holds() for one in several)]
        rest = [index for index, several in enumerate(classes) if not several]
        return network.task.classes[(given or rest)[0]]
    named = steps.places(network.alphabet)
    if network.readout.decision == SUPPORT:
        said = [
            place for place, output in zip(named, outputs, strict=True) if Ordered(output, zero, strict=True).holds()
        ]
        return steps.names(said, network.alphabet)
    best = 0
    for at in range(1, len(outputs)):
        best = at if Ordered(outputs[at], outputs[best], strict=True).holds() else best
    return steps.names([named[best]], network.alphabet)


# --- Strings ----------------------------------------------------------------------------------------------------------------


def _string_to(proof: Proof, wrong: _Wrong) -> Runs | None:
    """Return a string, as runs, that leads to a point; None where none is found."""
    alphabet, counts = proof.runner.alphabet, wrong.point
    read = {token: int(counts[place]) for place, token in enumerate(alphabet)}
    counters = tuple(int(c) for c in counts[len(alphabet) : proof.runner.size])
    wanted = Configuration(wrong.place.state, counters)
    for shape in sorted(proof.invariants[wrong.place].shapes, key=lambda shape: (len(shape), shape)):
        for runs in _runs_of_shape(shape, read):
            latest = tuple(
                token for token, size in runs[-proof.grid.memory :] for _ in range(min(size, proof.grid.memory))
            )
            if (
                latest[-proof.grid.memory :] == wrong.place.latest
                and configuration_after(proof.grid.machine, runs) == wanted
            ):
                return runs
    return None


def _runs_of_shape(shape: tuple[str, ...], read: dict[str, int]) -> Iterator[Runs]:
    """Give every run of a shape one token, and what is left of each token to one of its runs."""
    if any((token in shape) != (size > 0) for token, size in read.items()):
        return
    sizes = [1] * len(shape)
    last = {token: place for place, token in enumerate(shape)}
    first = {token: place for place, token in reversed(list(enumerate(shape)))}
    for chosen in (first, last):
        filled = list(sizes)
        for token, place in chosen.items():
            filled[place] = read[token] - shape.count(token) + 1
        if min(filled, default=1) > 0:
            yield tuple(zip(shape, filled, strict=True))
