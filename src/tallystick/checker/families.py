"""Families: for each place of the machine's configurations, a family that holds all that the network can be there.

    {"method": "closed form", "near": K, "memory": J, "kept": [i, …],
     "places": [{"state": "b", "counters": [0, "+"], "latest": ["b"],
                 "point": […], "directions": [[…], …], "least": […], "most": […]}, …]}

Coordinates are how often each token was read, the counters, and the kept numbers of the network's state, which are all that steps
look at. A family is all point + Σ λᵢ·directionsᵢ with coordinates between `least` and `most` (null is no bound), with counters as
the place says and tokens read at least 0 times.
"""

from fractions import Fraction
from typing import NamedTuple, cast

from .answers import require
from .effort import Limit
from .language_claims import LanguageClaim
from .places import DOWN, UP, Bound, Counter, Place, Places
from .polyhedra import Form, Row, row_of
from .reading import fields_of, list_of, number_of
from .symbols import Region

_MOST_FAMILIES, _MOST_MEMORY, _MOST_DIRECTIONS = 4096, 16, 16

Key = tuple[Place, tuple[int, ...]]
"""A place, and the latest tokens."""


class Family(NamedTuple):
    """The family of a place: each coordinate as a form of the variables, and where these lie."""

    forms: tuple[Form, ...]
    region: Region
    point: tuple[Fraction, ...]
    directions: tuple[tuple[Fraction, ...], ...]
    least: tuple[Fraction | None, ...]
    most: tuple[Fraction | None, ...]


class Families:
    """The evidence, read."""

    def __init__(self, claim: LanguageClaim, limit: Limit) -> None:
        self.claim, self.network, self.limit = claim, claim.network, limit
        language = self.network.language
        found = fields_of(claim.evidence, "method near memory kept places")
        near, self.memory = found["near"], found["memory"]
        self.kept: list[int] = list_of(found["kept"])
        require(type(near) is int and 0 < near <= 1 << 12, "near is not a small number")
        require(type(self.memory) is int and 0 < self.memory <= _MOST_MEMORY, "memory is not a small number")
        numbers = range(len(self.network.start))
        fine = all(type(place) is int and place in numbers for place in self.kept)
        require(fine and sorted(set(self.kept)) == self.kept, "kept are not places of the state")
        self.tokens, self.size = len(language.alphabet), len(language.alphabet) + language.counters
        self.places = Places(language, near, limit)
        self.families: dict[Key, Family] = {}
        for one in list_of(found["places"], most=_MOST_FAMILIES):
            key, family = self._family(one)
            require(key not in self.families, "a place stands twice")
            self.families[key] = family

    def _family(self, value: object) -> tuple[Key, Family]:
        found = fields_of(value, "state counters latest point directions least most")
        names, alphabet = self.network.language.state_names, self.network.language.alphabet
        require(found["state"] in names, "a state that the machine has not")
        counters = tuple(map(self._counter, list_of(found["counters"], self.network.language.counters)))
        latest = list_of(found["latest"], most=self.memory)
        require(all(token in alphabet for token in latest), "a token that the alphabet has not")
        place = names.index(found["state"]), counters
        size = self.size + len(self.kept)
        point = tuple(map(number_of, list_of(found["point"], size)))
        directions = tuple(
            tuple(map(number_of, list_of(one, size))) for one in list_of(found["directions"], most=_MOST_DIRECTIONS)
        )
        least, most = (
            tuple(None if x is None else number_of(x) for x in list_of(found[name], size)) for name in ("least", "most")
        )
        forms = tuple((*(one[at] for one in directions), point[at]) for at in range(size))
        rows = [row_of(forms[at], strict=False) for at in range(self.tokens)]
        for at in range(size):
            rows += between(forms[at], least[at], most[at])
        for bound in self.places.bounds(place):
            rows += within(forms, bound, self.tokens)
        whole = tuple(self._is_whole(at, point, directions) for at in range(len(directions)))
        key = place, tuple(map(alphabet.index, latest))
        return key, Family(forms, Region(tuple(rows), whole, self.limit), point, directions, least, most)

    def _counter(self, value: object) -> Counter:
        fine = value in (UP, DOWN) or (type(value) is int and abs(value) < self.places.near)
        require(fine, "a counter is neither near zero nor on a side of it")
        return cast("Counter", value)

    def _is_whole(self, at: int, point: tuple[Fraction, ...], directions: tuple[tuple[Fraction, ...], ...]) -> bool:
        """Say whether a variable is a token's number or a counter itself, give or take a whole number, and so whole."""
        for coordinate in range(self.size):
            column = [one[coordinate] for one in directions]
            alone = all(not x for place, x in enumerate(column) if place != at)
            if alone and abs(column[at]) == 1 and point[coordinate].denominator == 1:
                return True
        return False


def axes_of(family: Family) -> list[tuple[int, Fraction]]:
    """Return for each direction a coordinate in which it alone moves, and the inverse of by how much."""
    found: list[tuple[int, Fraction]] = []
    for place, direction in enumerate(family.directions):
        others = [one for at, one in enumerate(family.directions) if at != place]
        alone = [at for at, x in enumerate(direction) if x and not any(one[at] for one in others)]
        require(alone, "the directions of a family are not told apart by coordinates")
        found.append((alone[0], Fraction(1, direction[alone[0]])))
    return found


def plus(form: Form, amount: int) -> Form:
    """Return a form and a number more."""
    return (*form[:-1], form[-1] + amount)


def between(form: Form, least: Fraction | None, most: Fraction | None) -> list[Row]:
    """Return the rows that hold a form between two numbers."""
    low = [] if least is None else [row_of((*form[:-1], form[-1] - least), strict=False)]
    high = [] if most is None else [row_of((*(-x for x in form[:-1]), most - form[-1]), strict=False)]
    return [*low, *high]


def within(forms: tuple[Form, ...], bound: Bound, tokens: int) -> list[Row]:
    """Return the rows that hold a counter within a bound."""
    at, least, most = bound
    return between(
        forms[tokens + at], None if least is None else Fraction(least), None if most is None else Fraction(most)
    )


def outside(form: Form, least: Fraction | None, most: Fraction | None) -> list[Form]:
    """Return forms that are above 0 where a form leaves its bounds."""
    low = [] if least is None else [(*(-x for x in form[:-1]), least - form[-1])]
    high = [] if most is None else [(*form[:-1], form[-1] - most)]
    return [*low, *high]


def is_zero(form: Form, region: Region) -> bool:
    """Say whether a form is surely 0 everywhere in a region."""
    if not any(form):
        return True
    return region.has_none(form, strict=True) and region.has_none(tuple(-x for x in form), strict=True)
