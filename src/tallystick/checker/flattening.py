"""Programs for any order: a sum of sums is one sum of all their terms, since nobody knows in which order they are added.

What a product gives is added before or after it is rounded; wherever else it goes it is rounded first, which a sum of this one
term stands for. Operations that nothing needs any more are left out.
"""

from fractions import Fraction
from typing import NamedTuple

from .answers import TooCostly
from .claims import Operation, Program

_MOST_TERMS = 1 << 16
_ONE = Fraction(1)
_PRODUCTS = ("product", "square")


class _Flat(NamedTuple):
    """A sum without sums among its terms."""

    terms: list[tuple[Fraction, int]]
    constants: list[Fraction]


def flat_program(program: Program, size: int) -> Program:
    """Return a program that begins with so many numbers, its sums of sums joined."""
    sums = _flat_sums(program, size)
    needed = _needed(program, size, sums)
    products = {place for place, operation in enumerate(program.operations, size) if operation.name in _PRODUCTS}
    operations: list[Operation] = []
    places, rounded = {place: place for place in range(size)}, dict[int, int]()

    def put(operation: Operation) -> int:
        operations.append(operation)
        return size + len(operations) - 1

    def number(place: int) -> int:
        """Return the place of a number once it is rounded."""
        if place not in products:
            return places[place]
        if place not in rounded:
            rounded[place] = put(Operation("sum", (places[place],), (_ONE,)))
        return rounded[place]

    for place, operation in enumerate(program.operations, size):
        if place not in needed:
            continue
        if place in sums:
            terms, constants = sums[place]
            taken = tuple(places[other] if abs(weight) == 1 else number(other) for weight, other in terms)
            weights = tuple(weight for weight, _ in terms)
            places[place] = put(Operation("sum", taken, weights, constants=tuple(constants)))
        else:
            places[place] = put(operation._replace(places=tuple(map(number, operation.places))))
    results = tuple(map(number, program.results))  # which may add operations
    return Program(tuple(operations), results)


def _flat_sums(program: Program, size: int) -> dict[int, _Flat]:
    sums: dict[int, _Flat] = {}
    number = 0
    for place, operation in enumerate(program.operations, size):
        if operation.name != "sum":
            continue
        found = _Flat([], [constant for constant in (operation.bias, *operation.constants) if constant])
        for weight, other in zip(operation.weights, operation.places, strict=True):
            # A factor of 1 or −1 rounds nothing; with another one the inner sum is added up before it is multiplied.
            inner = sums.get(other) if abs(weight) == 1 else None
            found.terms.extend([(weight, other)] if inner is None else [(weight * w, x) for w, x in inner.terms])
            found.constants.extend([] if inner is None else [weight * constant for constant in inner.constants])
        sums[place] = found
        number += len(found.terms) + len(found.constants)
        if number > _MOST_TERMS:
            raise TooCostly("the sums of a step have too many terms")
    return sums


def _needed(program: Program, size: int, sums: dict[int, _Flat]) -> set[int]:
    """Return the places that results hang on."""
    needed = set(program.results)
    for place in range(size + len(program.operations) - 1, size - 1, -1):
        if place in needed:
            taken = (
                [other for _, other in sums[place].terms] if place in sums else program.operations[place - size].places
            )
            needed.update(taken)
    return needed
