"""Networks whose outputs follow the count: a few linear equations decide.

With the matrices and steps of `affine`, an output C + w·g is C + s·(n − m) on every string iff in every state that is reached `(`
adds s to it, and `)` takes s away:

    w·(A·g + a) − w·g = s,     w·(B·g + b) − w·g = −s.

At g = 0 that is w·a = s = −w·b. With it, the rows u = w·(A − I) and u = w·(B − I) must be 0 on every g that is reached. That
asks for u·a = u·b = 0, and for the same of u·A and u·B, and so on. All these rows together span a space of at most d
dimensions, which is grown from a basis: a row that is a sum of multiples of others asks for nothing new (Schützenberger,
Tzeng). If every row of the basis is 0 on a and b, the output counts.

**In which numbers.** Elimination in rationals makes long numbers. Times D, though, all is whole, and matrices of at most d − 1
tokens decide, since the space stops growing by then. So what decides is a whole number of at most |u|₁·(the greatest row sum of
D·A and D·B)^(d−1)·(the greatest entry of a and b). Modulo a prime above that, only 0 is 0, and the basis is grown in the
field of that prime. A shorter prime comes first: a number that is not 0 there is not 0.

**Monotone functions of the count** may be right at every length too (Theorem 2, for several units). Let each unit that is seen
have factors P > 0 and Q = 1/P and steps a and b = −Q·a, so that `)` undoes what `(` does to it. Then it is a function h of the
count k, with h(k + 1) − h(k) = a·P^k. If all w·a of an output have one sign, it rises or falls with the count, and the counts
next to zero decide.
"""

import numpy as np

from tallystick.certificates.linear.affine import AffineNetwork, Demand, affine_network
from tallystick.certificates.linear.whole_products import Whole, is_diagonal
from tallystick.certificates.verdict import REAL, Lengths, Outcome, Verdict
from tallystick.networks import Network

METHOD = "matrices"
"""The method's name in certificates."""

COUNTS = "every output is a multiple of the count, plus a constant, and has the right sign next to zero"

FOLLOWS = "every output rises or falls with the count, on which alone it depends, and has the right sign next to zero"

_EXPONENTS = (61, 521, 1279, 2203, 4423, 9689, 19937, 44497)
"""Those of Mersenne's primes 2^q − 1."""


def decide_by_matrices(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Prove exact counters with any matrices, and monotone functions of the count, right at every length; None for others."""
    del limit
    affine = affine_network(network) if arithmetic == REAL else None
    if affine is None:
        return None
    reason = COUNTS if is_exact_counter(affine, lengths) else FOLLOWS if is_monotone(affine, lengths) else None
    if reason is None:
        return None
    return Verdict(network, lengths, arithmetic, Outcome.PROVED, None, None, METHOD, reason)


def is_exact_counter(network: AffineNetwork, lengths: Lengths) -> bool:
    """Say whether every output is the count, times a number and plus another, and meets its demands at every length."""
    rows = network.outputs[sorted({demand.output for demand in network.demands})]
    if any(rows @ network.steps.sum(axis=1)):  # w·a = −w·b
        return False
    levels = network.outputs @ network.inputs[:, 0]
    if not all(
        is_met(demand, levels[demand.output], network.constants[demand.output], lengths) for demand in network.demands
    ):
        return False
    changes = np.concatenate([rows @ matrix - rows * network.divisor for matrix in network.matrices])
    return _vanishes(changes, network, _EXPONENTS[0]) and any(
        _vanishes(changes, network, exponent) for exponent in _decisive(changes, network)
    )


def is_met(demand: Demand, limit: int, constant: int, lengths: Lengths, rest: int = 0) -> bool:
    """Say whether a demand is met at every length, given L, C and what Σ t_k comes to at least, all times one positive number.

    That is what `limits` needs; of an exact counter L is 2·s, and Σ t_k is 0.
    """
    limit *= demand.direction
    if demand.side * limit < 0:
        return False
    least = 2 * demand.direction * constant + abs(demand.side * limit) * lengths.stride + rest
    return least > 0 or (least == 0 and not demand.strict)


def is_monotone(network: AffineNetwork, lengths: Lengths) -> bool:
    """Say whether units with factors of their own make every output a monotone function of the count that meets its demands."""
    if not all(is_diagonal(matrix) for matrix in network.matrices):
        return False
    (P, Q), (a, b), D = (matrix.diagonal() for matrix in network.matrices), network.steps.T, network.divisor
    seen = (network.outputs != 0).any(axis=0) & (network.steps != 0).any(axis=1)
    if not ((P > 0) & (P * Q == D * D) & (b * D == -Q * a))[seen].all():
        return False
    for output, direction, strict, side in network.demands:
        changes = direction * network.outputs[output] * a
        if side and (changes * side < 0).any():
            return False
        # The least y in this direction is next to zero; there it is C and what one or two tokens add, times D.
        added = 0 * a if side == 0 else a * D if side > 0 else b * D
        if lengths is Lengths.EVEN:
            added = added + (0 * a if side == 0 else a * P if side > 0 else b * Q)
        least = direction * (network.constants[output] * D + network.outputs[output] @ added)
        if least < 0 or (least == 0 and strict):
            return False
    return True


def _decisive(rows: Whole, network: AffineNetwork) -> tuple[int, ...]:
    """Return the first exponent whose prime is above all numbers that decide; none where they are too long."""
    growth = max(int(np.abs(matrix).sum(axis=1).max()) for matrix in network.matrices)
    largest = int(np.abs(rows).sum(axis=1).max()) * int(np.abs(network.steps).max())
    digits = largest.bit_length() + (network.size - 1) * growth.bit_length()
    return tuple(exponent for exponent in _EXPONENTS if exponent > digits)[:1]


def _vanishes(rows: Whole, network: AffineNetwork, exponent: int) -> bool:
    """Say whether all that rows become by the matrices is 0 on both steps, modulo 2^exponent − 1."""
    prime, basis, waiting = (1 << exponent) - 1, dict[int, Whole](), list(rows)
    while waiting:
        row = waiting.pop() % prime
        if any(row @ network.steps % prime):
            return False
        # Each row of the basis is 0 at the pivots of those before it, so that one pass in this order is enough.
        for pivot, other in basis.items():
            if row[pivot]:
                row = (row - row[pivot] * other) % prime
        pivot = next((place for place, entry in enumerate(row) if entry), None)
        if pivot is not None:
            basis[pivot] = row * pow(int(row[pivot]), -1, prime) % prime
            waiting += [row @ matrix for matrix in network.matrices]
    return True
