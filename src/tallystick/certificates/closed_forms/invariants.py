"""What is true of a network wherever a string may have led it: one family of states for each place, closed under every token.

A point has the coordinates p (how often each token was read), c (the machine's counters) and h (the numbers of the network's
state). A **family** is all points x₀ + Σ λᵢ·dᵢ that lie within bounds on their coordinates. Families are grown from the start:
the step of each token, run on a whole family (`runner`), gives another one, and the family of the place where it leads
is widened to hold it. Directions are added at most once per coordinate, and a bound that moves several times is dropped, so this
ends. What is left is an invariant: the start lies in it, and every step leads from it into it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from tallystick.certificates.closed_forms.families import Family, Point
from tallystick.certificates.closed_forms.places import Bound, Grid, Place
from tallystick.certificates.closed_forms.polyhedra import Hopeless, Polyhedron, Undecided
from tallystick.certificates.closed_forms.runner import Runner

_MOST_STEPS = 1_000
"""How many steps on families are taken, each counted once more for every direction, before no closed form is expected."""
_PATIENCE = 2
"""How often a bound may move before it is dropped."""
_MOST_SHAPES, _LONGEST_SHAPE = 8, 6

_ZERO = Fraction(0)


@dataclass(eq=False)
class Invariant:
    """The family of a place, as it is grown.

    Attributes:
        point: a point of it.
        directions: in echelon form: each has its own coordinate, at which it is 1 and the others and the point are 0.
        axes: those coordinates.
        least: a bound of each coordinate from below; None where there is none.
        most: the same from above.
        moved: how often each bound was moved.
        shapes: tokens that lead here, each standing for a run of it.
    """

    point: Point
    directions: list[Point]
    axes: list[int]
    least: list[Fraction | None]
    most: list[Fraction | None]
    moved: dict[tuple[int, bool], int] = field(default_factory=dict[tuple[int, bool], int])
    shapes: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])

    def family(self, known: Iterator[Bound], whole: int) -> Family:
        """Return the family within what its place says; the first coordinates, so many of them, are whole numbers."""
        flat = Family(
            self.point, tuple(self.directions), Polyhedron(len(self.directions), ()), _are_below(self.axes, whole)
        )
        own = zip(range(len(self.point)), self.least, self.most, strict=True)
        return flat.cut((*known, *(Bound(*bound) for bound in own)))

    def add_directions(self, vectors: Iterator[Point] | list[Point], order: list[int]) -> bool:
        """Let the family spread in more directions; return whether any was new."""
        grown = False
        for vector in vectors:
            rest = vector
            for direction, axis in zip(self.directions, self.axes, strict=True):
                rest = _without(rest, direction, axis)
            axis = next((place for place in order if rest[place]), None)
            if axis is None:
                continue
            grown = True
            rest = tuple(entry / rest[axis] for entry in rest)
            self.directions = [_without(direction, rest, axis) for direction in self.directions]
            self.point = _without(self.point, rest, axis)
            self.directions.append(rest)
            self.axes.append(axis)
        return grown


def _without(vector: Point, direction: Point, axis: int) -> Point:
    """Take as much of a direction off a vector as makes it 0 at an axis."""
    share = vector[axis]
    return tuple(x - share * d for x, d in zip(vector, direction, strict=True)) if share else vector


def _are_below(places: list[int], most: int) -> bool:
    return all(place < most for place in places)


def grow_invariants(runner: Runner, grid: Grid, *, only_live: bool, bound_states: bool) -> dict[Place, Invariant]:
    """Return the family of every place that can be reached; `Undecided` where the step is beyond affine numbers.

    Args:
        runner: the network.
        grid: the places.
        only_live: leave places aside from which nothing is accepted, and fail where that is open.
        bound_states: keep bounds of the network's own numbers too.
    """
    start = runner.start_point()
    # Where several coordinates may tell the others, unknown counters come first: their bounds are then those of one variable.
    order = [*range(len(runner.alphabet), runner.size), *range(len(runner.alphabet)), *range(runner.size, len(start))]
    bounded = len(start) if bound_states else runner.size
    found = {grid.start: _point_invariant(start, bounded)}
    found[grid.start].shapes.add(())
    waiting, steps = [grid.start], 0
    while waiting:
        place = waiting.pop(0)
        family = found[place].family(grid.bounds(place), runner.size)
        for token in runner.alphabet:
            for move in grid.moves(place, token):
                live = grid.is_live(move.after) if only_live else True
                if live is None:
                    raise Undecided("whether a continuation is accepted depends on the counters")
                if not live:
                    continue
                steps += 1 + len(found[place].directions)
                if steps > _MOST_STEPS or len(found[place].directions) > len(runner.alphabet) + 2:
                    raise Hopeless("a state that does not follow from what was read")
                for image in runner.steps(family, token, move):
                    grown = _join(found, move.after, image, order, bounded)
                    grown |= _join_shapes(found[place], token, found[move.after])
                    if grown and move.after not in waiting:
                        waiting.append(move.after)
    return found


def _point_invariant(point: Point, bounded: int) -> Invariant:
    bounds: list[Fraction | None] = [x if place < bounded else None for place, x in enumerate(point)]
    return Invariant(point, [], [], list(bounds), list(bounds))


def _join(found: dict[Place, Invariant], place: Place, image: Family, order: list[int], bounded: int) -> bool:
    """Widen the family of a place to hold another one; return whether it grew."""
    grown = place not in found
    if grown:
        found[place] = Invariant(image.point, [], [], *_ranges(image, bounded))
    invariant = found[place]
    away = tuple(x - y for x, y in zip(image.point, invariant.point, strict=True))
    grown |= invariant.add_directions([away, *image.directions], order)
    least, most = _ranges(image, bounded)
    for at in range(bounded):
        grown |= _move_bound(invariant, at, least[at], below=True)
        grown |= _move_bound(invariant, at, most[at], below=False)
    return grown


def _ranges(family: Family, bounded: int) -> tuple[list[Fraction | None], list[Fraction | None]]:
    forms = [family.form(place) if place < bounded else None for place in range(len(family.point))]
    least = [None if form is None else family.polyhedron.least(form) for form in forms]
    return least, [None if form is None else family.polyhedron.most(form) for form in forms]


def _move_bound(invariant: Invariant, at: int, value: Fraction | None, *, below: bool) -> bool:
    bounds = invariant.least if below else invariant.most
    old = bounds[at]
    if old is None or (value is not None and (value >= old if below else value <= old)):
        return False
    moves = invariant.moved[at, below] = invariant.moved.get((at, below), 0) + 1
    if value is not None and moves > _PATIENCE:
        value = _ZERO if below and value >= 0 else None
    bounds[at] = value
    return True


def _join_shapes(before: Invariant, token: str, after: Invariant) -> bool:
    grown = False
    for shape in sorted(before.shapes, key=len):
        longer = shape if shape[-1:] == (token,) else (*shape, token)
        if longer not in after.shapes and len(longer) <= _LONGEST_SHAPE and len(after.shapes) < _MOST_SHAPES:
            after.shapes.add(longer)
            grown = True
    return grown
