"""The zero check of a linear network with one matrix for both tokens: accepted iff v·h + c = 0, right for balanced strings alone.

A string of length T ends at Γ_T = C + Σ_{k<T} γ_k and the sum of the δ_k of its opening brackets (`affine`). At an even
length all balanced strings end at 0 only if all δ_k so far are equal, to δ say, since two of their brackets may change
places; and then no other string does if δ ≠ 0. At an odd length whose shorter lengths are right only the last δ_k may be
another: no n of the others, with or without it, may end at 0.

**All lengths.** δ_(k+1) − δ_k, and in j also Γ_(2j+2) − Γ_2j + δ, are linear recurrences of order d (Cayley and Hamilton), so
right lengths to 2·d + 2 make every even length right. At length 2·j + 1 then Γ = −δ·j + γ_2j, and a string ends at 0 iff x_j
= γ_2j/δ is a whole number from −(j + 1) to j. The certificate has a period p and a recurrence of the differences e_j =
x_(j+p) − x_j, j ≥ 1. What it is off by is itself a recurrence of order d, and 0 if d terms in a row are. With M its companion
matrix, E_j = (e_j, …, e_(j+m−1)) goes to M·E_j. If the sizes in no row of M^q add up to more than θ < 1, the sum of |e_j|
over all j ≥ K is at most R = Σ_{i<q} max|E_(K+i)|/(1 − θ). No x_j from K on is whole if no whole number is within R of x_K,
…, x_(K+p−1).
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from operator import mul

from .affine import Affine, Demand, affine_of
from .answers import TooCostly, require
from .claims import Claim, Network, Rest
from .counters import require_counter
from .effort import Limit, product_time, total_time
from .sorting import Terms

METHOD = "zero check"

_MOST_DIGITS = 1 << 22
"""Binary digits of the common denominator of all terms."""

Rationals = list[Fraction]


def check_zero(claim: Claim, network: Network, limit: Limit) -> None:
    """Every counted length to the horizon is right, or every one of all; the counterexample follows the horizon and fails."""
    require(claim.arithmetic == "real", "a zero check of several units is decided in real numbers only")
    known = network.readout.kind == "zero" and not network.task.floored and network.task.right == (0, 1, 0)
    require(known, "the zero check decides only for balanced strings")
    affine = affine_of(network, limit, "a zero check decides", one_matrix=False)
    is_shared, example = affine.matrices[0] == affine.matrices[1], claim.counterexample
    if claim.verdict == "PROVED" and claim.rest is None and (claim.stride == 1 or not is_shared):
        _require_multiple(affine, claim.stride, limit)
        return
    require(is_shared, "a zero check decides only for a step with one matrix for both tokens, or for an exact counter")
    if claim.verdict == "PROVED":
        _check_lengths(affine, claim.stride, 2 * affine.size + 2, limit)
        if claim.stride == 1:
            _check_rest(affine, claim.rest, limit)
        return
    _check_lengths(affine, claim.stride, claim.horizon, limit)
    if example is not None:
        require(example.length == claim.horizon + claim.stride, "the counterexample does not follow the horizon")
        require(claim.right_class(example.runs) == example.right, "the right class is not the string's")
        terms = _exact_terms(affine, example.length, limit)
        end = terms.constants[0]
        for place, ((found, _), token) in enumerate(zip(terms, reversed(list(example.tokens())), strict=True)):
            limit.go_on(place, example.length)
            end += found[0][1] + (0 if token else found[0][0])
        given = int(end == 0)
        require(given == example.given != example.right, "the counterexample does not fail as it is said to")


def _require_multiple(affine: Affine, stride: int, limit: Limit) -> None:
    """Refuse a network unless its output is s·(n − m) on every string, with s ≠ 0."""
    require_counter(affine, [Demand(0, direction, strict=False, side=0) for direction in (1, -1)], stride, limit)
    require(sum(map(mul, affine.outputs[0], affine.steps[0])), "a counter that stays at 0")


def _exact_terms(affine: Affine, length: int, limit: Limit) -> Terms:
    if length * affine.divisor.bit_length() > _MOST_DIGITS:
        raise TooCostly(f"the terms of length {length} have too many digits")
    terms = Terms(affine, length, None)
    limit.allow(total_time(terms.time, length), f"length {length}")
    return terms


def _check_lengths(affine: Affine, stride: int, horizon: int, limit: Limit) -> None:
    """Every counted length to the horizon is right."""
    if not horizon:
        return
    terms = _exact_terms(affine, horizon, limit)
    end, delta, latest = terms.constants[0], None, 0
    for length, (found, _) in enumerate(terms, start=1):
        limit.go_on(length, horizon)
        ((opening, drift), *_) = found
        end += drift
        others, latest = latest, opening
        delta = opening if delta is None else delta
        if length % stride:
            require(length % 2, "a stride of 1 or 2")
            continue
        if length % 2 == 0:
            equal = delta == opening == others and delta != 0
            require(equal and 2 * end == -delta * length, f"a string of length {length} fails")
        else:
            for first in (0, opening):
                require(not _is_reached(end + first, delta, length - 1), f"a string of length {length} fails")


def _is_reached(value: int, delta: int, most: int) -> bool:
    """Say whether value + n·δ is 0 for some n from 0 to `most`."""
    if not most or not delta:
        return value == 0
    return value % delta == 0 and 0 <= -value // delta <= most


def _check_rest(affine: Affine, rest: Rest | None, limit: Limit) -> None:
    """No string of odd length ends at 0, given that every even length is right."""
    require(rest is not None, "nothing says why odd lengths are right")
    assert rest is not None
    order, size, period = len(rest.recurrence), affine.size, rest.period
    require(order <= size, "the recurrence is longer than the network's own")
    needed = max(rest.start - 1 + rest.power + order + period, size + order + period)
    values = list(islice(_quotients(affine, needed, limit), needed))
    for j, x in enumerate(values[: rest.start], start=1):
        require(not (x.denominator == 1 and -(j + 1) <= x <= j), f"a string of length {2 * j + 1} fails")
    differences = [after - x for x, after in zip(values, values[period:], strict=False)]
    for j in range(size):
        limit.go_on(j, size)
        expected = sum((c * differences[j + i] for i, c in enumerate(rest.recurrence)), start=Fraction(0))
        require(differences[j + order] == expected, "the recurrence is not that of the network")
    theta = _greatest_row(rest, limit)
    require(theta < 1, "the power does not shrink what it is applied to")
    first = rest.start - 1
    groups = (differences[i : i + order] for i in range(first, first + rest.power if order else first))
    reach = sum((max(map(abs, group)) for group in groups), start=Fraction(0)) / (1 - theta)
    for x in values[first : first + period]:
        require((x + reach) // 1 < x - reach, "some string of odd length may end at 0")


def _quotients(affine: Affine, number: int, limit: Limit) -> Iterator[Fraction]:
    """Go through x_1, x_2 and so on."""
    delta = 0
    for k, (found, _) in enumerate(_exact_terms(affine, 2 * number + 1, limit)):
        limit.go_on(k, 2 * number)
        delta = delta or found[0][0]
        if k and k % 2 == 0:
            yield Fraction(found[0][1], delta)


def _greatest_row(rest: Rest, limit: Limit) -> Fraction:
    """Return θ, the greatest sum of sizes along a row of M^q."""
    order = len(rest.recurrence)
    if not order:
        return Fraction(0)
    digits = max(c.denominator.bit_length() + c.numerator.bit_length() for c in rest.recurrence)
    limit.allow(order**2 * rest.power * product_time(digits, digits * rest.power) * 2, "the powers of a recurrence")
    # The rows of M^(i+1) are those of M^i, one further down, and one more.
    rows = [[Fraction(int(i == j)) for j in range(order)] for i in range(order)]
    for done in range(rest.power):
        limit.go_on(done, rest.power)
        last = [
            sum((c * row[place] for c, row in zip(rest.recurrence, rows, strict=True)), start=Fraction(0))
            for place in range(order)
        ]
        rows = [*rows[1:], last]
    return max(sum(map(abs, row), start=Fraction(0)) for row in rows)
