"""Linear networks of any dimension in real arithmetic, decided by sorting what brackets add.

An output of a string of length T with n opening brackets is C + Σ_{k<T} γ_k and the sum of the n terms δ_k of its opening
brackets (`affine`). Any n of the T terms are those of a string, so the least output over all strings with n opening brackets
comes from the n least terms: S_n. What is right depends on the side of T/2 on which n lies, so a length is right iff for each
demand of the readout the least output over n in a range p … q (0 to below T/2, T/2 itself, or above T/2 to T) is above 0; for
−y take −δ and −γ.

**Many lengths at once.** For every number M, S_n ≥ n·M − Σ_{k<T} max(0, M − δ_k), since a sum of n terms less n·M is at least
the sum of the negative ones among all terms less M. So with n = p for M ≥ 0 and n = q for M ≤ 0

    2·y ≥ 2·C + (2·n − T)·M + Σ_{k<T} (2·γ_k + M − 2·max(0, M − δ_k)),

which one running sum gives for all lengths of a chunk. It is an equality where M lies between the n-th least term and the
next, for the n in p … q at which S_n is least: the number of negative terms, or the end of the range that is nearest to it,
since S_n is convex in n. So a single length is decided completely, as far as its terms are known: sorted terms that are off
by e₀, e₁, … give sums that are off by at most Σ e_k.

**What decides.** Doubles with proved bounds on their errors decide nearly all lengths, a million of them in seconds. Where
they do not, at a tie or near it, the length is decided in whole numbers of more digits, and at last in exact ones
(`responses`). Where even these would be too long the outcome is BOUNDED.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.linear.affine import AffineNetwork, Demand, affine_network
from tallystick.certificates.linear.limits import proof_of
from tallystick.certificates.linear.responses import UNIT, Precision, ResponseMaker, Responses
from tallystick.certificates.progress import report
from tallystick.certificates.verdict import REAL, Failure, Lengths, Outcome, Verdict, refute, runs_of
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.networks import Network

METHOD = "sorting"
"""The method's name in certificates."""

DEFAULT_LIMIT = 1000
LONGEST = 1 << 21
"""How far the terms of a network are kept in memory."""

_FIRST_STAGE, _NEXT_STAGE = 16, 8
"""The first lengths are looked at alone, then up to eight times as many: most networks fail early."""

_SHARE = 8
"""A chunk of lengths is at most this part of the lengths before it, so that one M is good for all of it."""

_LONGEST_WIDE = 1 << 14
"""Up to this length a failing string is found from whole numbers, so that it is the same on every machine."""


def decide_by_sorting(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Decide a linear network with one matrix for both tokens, in real numbers."""
    affine = affine_network(network) if arithmetic == REAL else None
    if affine is None or not affine.is_shared:
        return None
    limit = DEFAULT_LIMIT if limit is None else limit
    proof = None
    found = first_failure(affine, network, lengths, min(limit, _FIRST_STAGE))
    if isinstance(found, Reached):  # a proof takes longer than a few lengths
        proof = proof_of(affine, lengths)
        found = first_failure(affine, network, lengths, limit if proof is None else proof.start)
    if proof is not None and isinstance(found, Reached) and found.length + lengths.stride > proof.start:
        return Verdict(network, lengths, arithmetic, Outcome.PROVED, None, None, METHOD, proof.reason)
    if isinstance(found, Reached):
        return Verdict(network, lengths, arithmetic, Outcome.BOUNDED, found.length, None, METHOD, found.reason)
    return refute(network, lengths, arithmetic, found, METHOD)


class Reached(NamedTuple):
    """Every counted length up to this one is right, and why the search went no further."""

    length: int
    reason: str


def first_failure(affine: AffineNetwork, network: Network, lengths: Lengths, limit: int) -> Failure | Reached:
    """Return a shortest failing string up to a limit, or how far no string fails."""
    maker, reached = ResponseMaker(affine), 0
    try:
        for stage in _stages(min(limit, LONGEST)):
            terms = maker.upto(stage, Precision.DOUBLE)
            while reached < stage:
                reached = _right_upto(affine, terms, lengths, reached)
                report(reached, limit, f"right to length {reached}, at most {limit} is asked for")
                length = reached + lengths.stride - reached % lengths.stride
                if length > stage:
                    break
                after = _right_or_failing(maker, terms, lengths, length, stage)
                if isinstance(after, Demand):
                    failure = _failure(maker, network, after, length)
                    return failure or Reached(length - lengths.stride, _open_reason(length))
                if after is None:
                    return Reached(length - lengths.stride, _open_reason(length))
                reached = after
            reached = stage
    except KeyboardInterrupt:
        reached -= reached % lengths.stride
        reason = f"interrupted: every counted length to {reached} is right, the ones beyond it were not decided"
        return Reached(reached, reason)
    reached -= reached % lengths.stride
    why = "the search went no further" if limit <= LONGEST else "more terms do not fit into the memory"
    return Reached(reached, f"every counted length to {limit if limit <= LONGEST else reached} is right; {why}")


def _stages(limit: int) -> Iterator[int]:
    stage = _FIRST_STAGE
    while stage < limit:
        yield stage
        stage *= _NEXT_STAGE
    if limit:
        yield limit


def _open_reason(length: int) -> str:
    return f"length {length} hangs on numbers that are too long to compare, and every shorter counted one is right"


def _right_or_failing(
    maker: ResponseMaker, terms: Responses | None, lengths: Lengths, length: int, stage: int
) -> int | Demand | None:
    """Decide one length, with ever more digits; return how far all is right, a demand that fails, or None."""
    for precision, upto in (
        (Precision.DOUBLE, length),
        (Precision.WIDE, length),
        (Precision.EXACT, min(stage, 2 * length)),  # one tie is seldom alone
        (Precision.EXACT, length),
    ):
        closer = terms if precision is Precision.DOUBLE else maker.upto(upto, precision)
        if closer is None:
            continue
        reached = _right_upto(maker.network, closer, lengths, length - 1)
        if reached >= length:
            return reached
        failing = next((demand for demand in maker.network.demands if _fails(closer, demand, length)), None)
        if failing is not None:
            return failing
    return None


def _right_upto(affine: AffineNetwork, terms: Responses | None, lengths: Lengths, reached: int) -> int:
    """Return up to which length every counted one is right, as far as these terms tell, given that this holds to `reached`."""
    if terms is None:
        return reached
    width = max(1, reached // _SHARE)
    while reached < terms.length:
        last = min(terms.length, reached + width)
        proved = min(_proved_upto(terms, demand, lengths.stride, reached, last) for demand in affine.demands)
        if proved == reached and width == 1:
            return reached
        width = max(1, min(2 * width, last // _SHARE) if proved == last else width // 4)
        reached = proved
    return reached


def _proved_upto(terms: Responses, demand: Demand, stride: int, reached: int, last: int) -> int:
    """Return up to which length, at most `last`, a demand is met by all strings of every counted length."""
    values, errors = least_outputs(terms, demand, reached, last)
    met = values > errors if demand.strict else values >= errors
    counted = np.arange(reached + 1, last + 1)
    asked = (counted % stride == 0) & ((demand.side != 0) | (counted % 2 == 0))
    open_places = np.flatnonzero(asked & ~met.astype(bool))
    return reached + int(open_places[0]) if len(open_places) else last


def _fails(terms: Responses, demand: Demand, length: int) -> bool:
    """Say whether a demand surely fails for some string of a length."""
    if demand.side == 0 and length % 2:
        return False
    (value,), (error,) = least_outputs(terms, demand, length - 1, length)
    return bool(value <= -error if demand.strict else value < -error)


@np.errstate(all="ignore")  # what overflows is not decided
def least_outputs(terms: Responses, demand: Demand, before: int, last: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a lower bound of twice the least output in a demand's direction, for each length after `before`, and of its error.

    For the last length it is the least output itself, up to the error.
    """
    output, direction, _, side = demand
    opening, drift = (direction * part[output, :last] for part in (terms.openings, terms.drifts))
    pivot = _pivot(opening, side)
    rest = 2 * drift + pivot - 2 * np.maximum(pivot - opening, 0)
    sums, lengths = np.cumsum(rest)[before:], np.arange(before + 1, last + 1)
    edges = _edges(side, pivot, lengths if terms.is_rounded else lengths.astype(object)) * pivot
    constant = 2 * direction * terms.constants[output]
    errors = 2 * (terms.errors[output, before + 1 : last + 1] + terms.constant_error)
    if terms.is_rounded:
        # An entry of `rest` is rounded three times, in all by at most u·(4·|γ| + 4·|δ| + 6·|M|); a running sum of T entries by
        # T·u of their sizes; the whole thrice. All is taken about twice, which covers the rounding of the bound itself.
        sizes = terms.sizes[output, before + 1 : last + 1] + lengths * np.abs(pivot)
        errors = errors + UNIT * (
            12 * sizes
            + 2 * lengths * np.cumsum(np.abs(rest))[before:]
            + 8 * (np.abs(constant) + np.abs(edges) + np.abs(sums))
        )
    return constant + edges + sums, errors


def _pivot(opening: NDArray[Any], side: int) -> Any:  # noqa: ANN401 -- a double or a whole number
    """Return M: between the n-th least term and the next, for the n at which the sum of the n least is least."""
    length = len(opening)
    first, last = openings_of(side, length)
    negative = int(np.count_nonzero(opening < 0))
    if first <= negative <= last:
        return 0
    place = first - 1 if negative < first else last
    return np.partition(opening, place)[place]


def openings_of(side: int, length: int) -> tuple[int, int]:
    """Return the least and the greatest number of opening brackets of strings whose count has a sign."""
    half = length // 2
    return {-1: (0, (length + 1) // 2 - 1), 0: (half, half), 1: (half + 1, length)}[side]


def _edges(side: int, pivot: Any, lengths: NDArray[Any]) -> NDArray[Any]:  # noqa: ANN401
    """Return 2·n − T for the n of a range at which n·M is least."""
    if side == 0:
        return 0 * lengths
    if side > 0:
        return 2 - lengths % 2 if pivot >= 0 else lengths
    return lengths % 2 - 2 if pivot <= 0 else -lengths


def _failure(maker: ResponseMaker, network: Network, demand: Demand, length: int) -> Failure | None:
    """Return a string of a length that fails a demand: its opening brackets stand where the least terms are."""
    for precision in (Precision.EXACT, Precision.WIDE, Precision.DOUBLE):
        if precision is Precision.WIDE and length > _LONGEST_WIDE:
            continue
        terms = maker.upto(length, precision)
        if terms is None:
            continue
        opening = demand.direction * terms.openings[demand.output]
        first, last = openings_of(demand.side, length)
        chosen = np.argsort(opening, kind="stable")[: min(max(np.count_nonzero(opening < 0), first), last)]
        is_open = np.zeros(length, bool)
        is_open[length - 1 - chosen] = True
        found = _class_of(maker.network, terms, is_open)
        right = network.task.index_of_count(demand.side)
        if found is not None and found != right:
            string = "".join(np.where(is_open, OPEN, CLOSE))
            return Failure(runs_of(string), network.task.classes[found], network.task.classes[right])
    return None


def _class_of(affine: AffineNetwork, terms: Responses, is_open: NDArray[np.bool_]) -> int | None:
    """Return the index of the class that a string surely gets, or None."""
    length = len(is_open)
    values = terms.constants + terms.drifts.sum(axis=1) + terms.openings[:, is_open[::-1]].sum(axis=1)
    errors = terms.errors[:, length] + terms.constant_error
    if terms.is_rounded:
        errors = errors + 4 * length * UNIT * (terms.sizes[:, length] + np.abs(terms.constants))

    def holds(output: int, direction: int, strict: bool) -> bool:
        value = direction * values[output]
        return bool(value > errors[output] if strict else value >= errors[output])

    return next((index for index, needed in enumerate(affine.forms) if all(holds(*form) for form in needed)), None)
