"""Numbers that are functions of a few variables: affine ones, and squashed ones on top of them.

A program is run on such numbers where some inequalities hold. Where max(0, ·) or a step needs to know a sign that these leave
open, they are parted in two, and the program is run on each part.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from .answers import TooCostly
from .claims import Program
from .effort import Limit
from .polyhedra import Form, Row, bounds_of, has_no_solution, row_of
from .tanh import tanh_above, tanh_below

_PLACES = 256
_MOST_PARTS, _DEEPEST, _MOST_DIGITS = 256, 8, 1 << 16
_ZERO = Fraction(0)

Interval = tuple[Fraction | None, Fraction | None]
"""The least and the greatest that a number may be; None is no bound."""


class Squashed(NamedTuple):
    """tanh or the sigmoid of a number."""

    name: str
    argument: "Symbol"


class Symbol(NamedTuple):
    """An affine form, and multiples of squashed numbers."""

    form: Form
    squashed: tuple[tuple[Fraction, Squashed], ...] = ()

    @property
    def constant(self) -> Fraction | None:
        """The number itself, where it is one and rational."""
        return None if self.squashed or any(self.form[:-1]) else self.form[-1]

    @property
    def depth(self) -> int:
        """How many squashed numbers stand in each other."""
        return max((1 + one.argument.depth for _, one in self.squashed), default=0)


def combined(terms: Sequence[tuple[Fraction, Symbol]], constant: Fraction, size: int) -> Symbol:
    """Return a sum of multiples of numbers, and a constant."""
    form = [*[_ZERO] * size, constant]
    squashed: dict[Squashed, Fraction] = {}
    for weight, symbol in terms:
        if weight:
            form = [x + weight * y for x, y in zip(form, symbol.form, strict=True)]
            for share, one in symbol.squashed:
                squashed[one] = squashed.get(one, _ZERO) + weight * share
    if any(max(abs(x.numerator), x.denominator).bit_length() > _MOST_DIGITS for x in form):
        raise TooCostly("the numbers of a closed form have too many digits")
    return Symbol(tuple(form), tuple((share, one) for one, share in squashed.items() if share))


class Region(NamedTuple):
    """Where numbers are looked at: the rows that hold there, which variables are whole, and how long that may take."""

    rows: tuple[Row, ...]
    whole: tuple[bool, ...]
    limit: Limit

    @property
    def is_empty(self) -> bool:
        """Whether surely nothing is there."""
        self.limit.stop_in_time()
        return has_no_solution(self.rows, self.whole)

    def cut(self, *rows: Row) -> "Region":
        """Return the part where more rows hold."""
        return self._replace(rows=(*self.rows, *rows))

    def has_none(self, form: Form, *, strict: bool) -> bool:
        """Say whether a form is surely nowhere at least 0, or above it."""
        return self.cut(row_of(form, strict=strict)).is_empty

    def interval(self, symbol: Symbol) -> Interval:
        """Return bounds of a number."""
        found = bounds_of(symbol.form, self.rows, self.whole)
        low, high = (_ZERO, _ZERO) if found is None else found
        for share, one in symbol.squashed:
            least, greatest = self.squashed_interval(one)
            a, b = sorted((share * least, share * greatest))
            low, high = None if low is None else low + a, None if high is None else high + b
        return low, high

    def squashed_interval(self, one: Squashed) -> tuple[Fraction, Fraction]:
        """Return bounds of tanh or the sigmoid, which rise."""
        low, high = self.interval(one.argument)
        halved = one.name == "sigmoid"
        unit = 1 << _PLACES
        bottom = -unit if low is None else tanh_below(low.numerator, low.denominator << halved, _PLACES)
        top = unit if high is None else tanh_above(high.numerator, high.denominator << halved, _PLACES)
        if halved:
            return Fraction(unit + bottom, 2 * unit), Fraction(unit + top, 2 * unit)
        return Fraction(bottom, unit), Fraction(top, unit)


class _Open(Exception):
    """A sign that the rows leave open."""

    def __init__(self, form: Form) -> None:
        super().__init__()
        self.form = form


def runs_of(
    programs: Sequence[Program], state: Sequence[Symbol | None], region: Region
) -> Iterator[tuple[Region, list[list[Symbol | None]]]]:
    """Run programs, each on what the one before it gives; go through parts of a region with all results there.

    None stands for a number of which nothing is known, and for whatever follows from it.
    """
    waiting, parts = [region], 0
    while waiting:
        here = waiting.pop()
        if here.is_empty:
            continue
        parts += 1
        if parts > _MOST_PARTS:
            raise TooCostly("a closed form has too many parts")
        try:
            results: list[list[Symbol | None]] = []
            numbers: Sequence[Symbol | None] = state
            for program in programs:
                found = _run(program, numbers, here)
                results.append(found)
                numbers = found
        except _Open as sign:
            negative = tuple(-x for x in sign.form)
            waiting += [here.cut(row_of(sign.form, strict=True)), here.cut(row_of(negative, strict=False))]
        else:
            yield here, results


def _run(program: Program, state: Sequence[Symbol | None], region: Region) -> list[Symbol | None]:
    numbers, size = list(state), len(region.whole)
    for name, places, weights, bias, constants in program.operations:
        shares = weights if name == "sum" else (Fraction(1),) * len(places)
        taken = [(share, numbers[place]) for share, place in zip(shares, places, strict=True) if share]
        known = [(share, symbol) for share, symbol in taken if symbol is not None]
        if len(known) < len(taken):
            numbers.append(None)
        elif name == "sum":
            numbers.append(combined(known, bias + sum(constants), size))
        else:
            numbers.append(_operated(name, [symbol for _, symbol in known], region))
    return [numbers[place] for place in program.results]


def _operated(name: str, taken: list[Symbol], region: Region) -> Symbol:
    size = len(region.whole)
    x = taken[0]
    if name in ("tanh", "sigmoid"):
        if x.constant == 0:
            return combined([], _ZERO if name == "tanh" else Fraction(1, 2), size)
        if x.depth >= _DEEPEST:
            raise TooCostly("a closed form has squashed numbers too deep in each other")
        return Symbol((_ZERO,) * (size + 1), ((Fraction(1), Squashed(name, x)),))
    if name in ("positive_part", "step"):
        positive = _is_positive(x, region)
        return x if positive and name != "step" else combined([], Fraction(int(positive)), size)
    share, *others = [x, x] if name == "square" else taken
    if name == "mean":
        terms = [] if share.constant is None else [(1 - share.constant, others[0]), (share.constant, others[1])]
    elif share.constant is None:
        terms = [] if others[0].constant is None else [(others[0].constant, share)]
    else:
        terms = [(share.constant, others[0])]
    if not terms:
        raise TooCostly("a step multiplies numbers that are no constants")
    return combined(terms, _ZERO, size)


def _is_positive(x: Symbol, region: Region) -> bool:
    """Say whether a number is above 0 everywhere in a region, or nowhere."""
    if x.squashed:
        low, high = region.interval(x)
        if low is not None and low > 0:
            return True
        if high is not None and high <= 0:
            return False
        raise TooCostly("the sign of a squashed number is not decided here")
    if region.has_none(x.form, strict=True):
        return False
    if region.has_none(tuple(-number for number in x.form), strict=False):
        return True
    raise _Open(x.form)


# --- Comparisons ----------------------------------------------------------------------------------------------------------------


def is_impossible(conditions: Sequence[tuple[Symbol, bool]], region: Region, splits: int = 48) -> bool:
    """Say whether surely no point of a region has every one of some numbers at least 0, or above 0 where that is strict.

    A squashed number is replaced by its bound; where that does not tell, a whole variable's least values are looked at apart.
    """
    rows: list[Row] = []
    for symbol, strict in conditions:
        form = _upper_form(symbol, region)
        if form is not None:
            rows.append(row_of(form, strict=strict))
    if region.cut(*rows).is_empty:
        return True
    found = _apart(conditions, region) if splits else None
    if found is None:
        return False
    first, rest = found
    return is_impossible(conditions, first, 0 if len(region.whole) == 1 else splits // 2) and is_impossible(
        conditions, rest, splits - 1
    )


def _upper_form(symbol: Symbol, region: Region) -> Form | None:
    """Return an affine form that is at least as large, or of the same sign; None where none is known."""
    if len(symbol.squashed) == len("xy") and not any(symbol.form):
        (share, one), (other_share, other) = symbol.squashed
        if one.name == other.name and share == -other_share:  # both rise, so their arguments tell
            difference = [(share, one.argument), (other_share, other.argument)]
            return _upper_form(combined(difference, _ZERO, len(region.whole)), region)
    if len(symbol.squashed) == 1 and not any(symbol.form):
        ((share, one),) = symbol.squashed
        if one.name == "tanh":  # which has the sign of its argument
            return _upper_form(combined([(share, one.argument)], _ZERO, len(region.whole)), region)
    form = list(symbol.form)
    for share, one in symbol.squashed:
        form[-1] += max(share * end for end in region.squashed_interval(one))
    return tuple(form)


def _apart(conditions: Sequence[tuple[Symbol, bool]], region: Region) -> tuple[Region, Region] | None:
    """Part a region at the least value of a whole variable that is squashed."""
    size = len(region.whole)
    for place in sorted({place for symbol, _ in conditions for place in _variables(symbol)}):
        unit = tuple(Fraction(int(entry == place)) for entry in range(size))
        found = bounds_of((*unit, _ZERO), region.rows, region.whole)
        if not region.whole[place] or found is None or found[0] is None:
            continue
        least = -(-found[0].numerator // found[0].denominator)
        at_most = row_of((*(-x for x in unit), Fraction(least)), strict=False)
        more = row_of((*unit, Fraction(-least - 1)), strict=False)
        return region.cut(at_most), region.cut(more)
    return None


def _variables(symbol: Symbol) -> Iterator[int]:
    for _, one in symbol.squashed:
        yield from (place for place, weight in enumerate(one.argument.form[:-1]) if weight)
        yield from _variables(one.argument)
