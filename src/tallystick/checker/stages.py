"""A program in stages: operations of one name that need nothing but what earlier stages find are run together."""

from collections import Counter
from typing import NamedTuple

from .claims import Operation, Program

Stage = list[Operation]

_FEWEST = 3
"""As many sums over the same numbers make a stage of their own."""


class Stages(NamedTuple):
    """A program whose operations stand in another order.

    Attributes:
        fixed: stages that no number of the state leads to. What they find stands after the state.
        moving: the others; what they find comes next.
        results: the places of the results.
    """

    fixed: list[Stage]
    moving: list[Stage]
    results: tuple[int, ...]


def stages_of(program: Program, size: int) -> Stages:
    """Put a program in stages, for a state of so many numbers."""
    kinds = _kinds(program, size)
    order = sorted(range(len(kinds)), key=kinds.__getitem__)
    places = [*range(size), *[0] * len(kinds)]
    for new, old in enumerate(order, size):
        places[size + old] = new
    stages: dict[_Kind, Stage] = {}
    for old in order:
        operation = program.operations[old]
        moved = operation._replace(places=tuple(places[place] for place in operation.places))
        stages.setdefault(kinds[old], []).append(moved)
    fixed = [stage for kind, stage in stages.items() if not kind.moves]
    moving = [stage for kind, stage in stages.items() if kind.moves]
    return Stages(fixed, moving, tuple(places[place] for place in program.results))


class _Kind(NamedTuple):
    """What the operations of a stage share; stages stand in this order.

    Attributes:
        moves: whether the state matters.
        depth: how many operations must come before, and one.
        name: that of the operation.
        places: what sums add up, if several add up the same numbers.
    """

    moves: bool
    depth: int
    name: str
    places: tuple[int, ...]


def _kinds(program: Program, size: int) -> list[_Kind]:
    moves, depths = [True] * size, [0] * size
    kinds: list[_Kind] = []
    for name, places, *_ in program.operations:
        moves.append(any(moves[place] for place in places))
        depths.append(1 + max((depths[place] for place in places), default=0))
        kinds.append(_Kind(moves[-1], depths[-1], name, places if name == "sum" else ()))
    number = Counter(kinds)
    return [kind if number[kind] >= _FEWEST else kind._replace(places=()) for kind in kinds]
