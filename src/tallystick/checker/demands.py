"""What a task asks of the outputs of a linear network."""

from collections.abc import Iterator
from typing import NamedTuple

from .affine import Affine, affine_of
from .answers import require
from .claims import COUNT, GREATEST, Claim, Network
from .effort import Limit


class Demand(NamedTuple):
    """For strings whose count has the sign `side`, direction·y of a pair must be above 0, or at least 0 if not strict."""

    pair: int
    direction: int
    strict: bool
    side: int


def demanding(
    claim: Claim, network: Network, limit: Limit, who: str, *, one_matrix: bool = False
) -> tuple[Affine, list[Demand]]:
    """Return a network as an affine one, and what its task asks; refuse a claim that those who decide do not speak of."""
    require(claim.arithmetic == "real", f"{who} in real numbers only")
    known = network.readout.kind in ("binary", "ternary", GREATEST, COUNT) and not network.task.floored
    require(known, f"{who} only for the sign of n − m, by one output or the greatest of several")
    return affine_of(network, limit, who, one_matrix=one_matrix), list(_demands(network))


def _demands(network: Network) -> Iterator[Demand]:
    """Go through what right classes ask for: a strict comparison wants its pair above 0, any other wants it not above 0."""
    pairs, comparisons = network.readout.decision.pairs, network.readout.decision.comparisons
    for side, right in zip((-1, 0, 1), network.task.right, strict=True):
        for greater, less, strict in comparisons[right]:
            pair = pairs.index((greater, less) if strict else (less, greater))
            yield Demand(pair, 1 if strict else -1, strict, side)


def is_met(demand: Demand, level: int, constant: int, stride: int, rest: int = 0) -> bool:
    """Say whether 2·y ≥ 2·C + (2·n − T)·L + `rest` meets a demand at every length, all times one positive number."""
    level *= demand.direction
    least = 2 * demand.direction * constant + abs(level * demand.side) * stride + rest
    return level * demand.side >= 0 and (least > 0 or (least == 0 and not demand.strict))
