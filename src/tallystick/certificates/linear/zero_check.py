"""The zero check of linear networks of any dimension: accepted iff v·h + c = 0, which is to be so for balanced strings alone.

With δ, γ and C as in `affine`, and Γ_T = C + Σ_{k<T} γ_k, a string of length T ends at Γ_T and the sum of the δ_k of its opening
brackets. The network is right at every length iff

    (i)    δ_k = δ ≠ 0 for all k: two brackets of a balanced string that change places change its output by δ_k − δ_l;
    (ii)   Γ_2j = −δ·j for all j ≥ 1, so that balanced strings end at 0, and no others of even length do;
    (iii)  at odd lengths 2·j + 1, where Γ = −δ·j + γ_2j, no number n of opening brackets gives 0: x_j = γ_2j/δ is no whole
           number from −(j + 1) to j.

**(i) and (ii) are finite.** δ_(k+1) − δ_k is a linear recurrence of order d in k, and Γ_(2j+2) − Γ_2j + δ one in j (Cayley and
Hamilton); both are 0 if d terms in a row are. So being right at the lengths to 2·d + 2 that count decides them, and at the
first of these that is wrong a few strings tell which fails.

**(iii)** is decided where x comes to rest (`odd_lengths`).

With a matrix for each token, only networks whose output is a multiple of the count are decided here (`matrices`): whether another
one is right is undecidable in general.
"""

from dataclasses import replace
from fractions import Fraction

from tallystick.certificates.linear.affine import AffineNetwork, Demand, affine_network
from tallystick.certificates.linear.matrices import is_exact_counter
from tallystick.certificates.linear.odd_lengths import OddLengths, Rationals, Rest, terms_of
from tallystick.certificates.verdict import REAL, Failure, Lengths, Outcome, Verdict, refute, runs_of
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.tasks import BB_MEMBERSHIP, BINARY
from tallystick.networks import Network, Readout
from tallystick.networks.readout import SIGN, ZERO

METHOD = "zero check"
"""The method's name in certificates."""

DEFAULT_LIMIT = 1000


def decide_zero_check(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Decide the zero check of a linear network with one matrix for both tokens, or that counts exactly, in real numbers."""
    affine = zero_checked(network) if arithmetic == REAL else None
    if affine is None:
        return None
    if affine.is_shared:
        return _decide_shared(network, affine, lengths, DEFAULT_LIMIT if limit is None else limit)
    if not is_multiple_of_count(affine):
        return None
    return _prove(network, lengths, "the output is a multiple of the count, so that it is 0 on balanced strings alone")


def _decide_shared(network: Network, affine: AffineNetwork, lengths: Lengths, limit: int) -> Verdict:
    string = _early_failure(affine, lengths)
    if string is not None:
        return _refute(network, lengths, string)
    why = "opening a bracket adds the same number wherever it stands, every balanced string ends at 0, and no"
    if lengths is Lengths.EVEN:
        return _prove(network, lengths, f"{why} other string of even length does")
    walk = OddLengths(affine)
    rest = walk.rest()
    failing = walk.first_whole(rest.start if rest else limit // 2)
    if failing is not None:
        return _refute(network, lengths, walk.string(failing))
    if rest is not None:
        return _prove(network, lengths, f"{why} string of odd length can")
    looked = len(walk.upto(limit // 2))
    reached = max(limit if looked == limit // 2 else 2 * looked + 2, 2 * affine.size + 2)
    reason = f"every even length is right, and every odd one to {reached}; those beyond it were not decided"
    return Verdict(network, lengths, REAL, Outcome.BOUNDED, reached, None, METHOD, reason)


def _prove(network: Network, lengths: Lengths, reason: str) -> Verdict:
    return Verdict(network, lengths, REAL, Outcome.PROVED, None, None, METHOD, reason)


def zero_checked(network: Network) -> AffineNetwork | None:
    """Return a linear network whose zero check is asked for balanced strings, as an affine one; else None.

    Its one output is v·h + c, times a number that is not 0.
    """
    if network.readout.decision != ZERO or network.task != BB_MEMBERSHIP:
        return None
    by_sign = Network(network.cell, Readout(network.readout.weight, network.readout.bias, SIGN), BINARY)
    return affine_network(by_sign)


def is_multiple_of_count(affine: AffineNetwork) -> bool:
    """Say whether the one output is s·(n − m) on every string, with s ≠ 0."""
    at_zero = tuple(Demand(0, direction, strict=False, side=0) for direction in (1, -1))
    counts = is_exact_counter(replace(affine, demands=at_zero), Lengths.ALL)
    return counts and bool(affine.outputs[0] @ affine.inputs[:, 0])


def rest_of(affine: AffineNetwork) -> Rest | None:
    """Return what proves that no string of odd length ends at 0 beyond those that are looked at, or None."""
    return OddLengths(affine).rest()


def _refute(network: Network, lengths: Lengths, string: str) -> Verdict:
    balanced = string.count(OPEN) == string.count(CLOSE)
    rejected, accepted = network.task.classes
    failure = Failure(runs_of(string), *((rejected, accepted) if balanced else (accepted, rejected)))
    return refute(network, lengths, REAL, failure, METHOD)


# --- Lengths to 2·d + 2, which decide (i) and (ii) ----------------------------------------------------------------------------


def _early_failure(affine: AffineNetwork, lengths: Lengths) -> str | None:
    """Return a shortest failing string of a counted length to 2·d + 2."""
    openings, total, terms = Rationals(), Fraction(affine.constants[0]), terms_of(affine)
    for length in range(1, 2 * affine.size + 3):
        opening, drift = next(terms)
        openings.append(opening)
        total += drift
        if length % lengths.stride == 0:
            string = (_odd_failure if length % 2 else _even_failure)(openings, total)
            if string is not None:
                return string
    return None


def _odd_failure(openings: Rationals, total: Fraction) -> str | None:
    """Return a string that ends at 0, if there is one; at shorter lengths δ is one number that is not 0.

    Only the first token, which has the last δ, may add another number than the rest.
    """
    *others, last = openings
    for first in (OPEN, CLOSE):
        missing = -total - last if first == OPEN else -total
        number = missing / others[0] if others else missing
        if number.denominator == 1 and 0 <= number <= len(others) and (others or not missing):
            return first + OPEN * int(number) + CLOSE * (len(others) - int(number))
    return None


def _even_failure(openings: Rationals, total: Fraction) -> str | None:
    """Return a balanced string that does not end at 0, or another one that does.

    The balanced strings that end lowest and highest have the least and the greatest terms. If both end at 0, all δ are equal,
    and unless they are 0 no other string ends there.
    """
    half, order = len(openings) // 2, sorted(range(len(openings)), key=openings.__getitem__)
    for places in (order[:half], order[half:]):
        if total + sum(openings[place] for place in places) != 0:
            return "".join(OPEN if place in places else CLOSE for place in reversed(range(len(openings))))
    return None if openings[0] else OPEN * len(openings)
