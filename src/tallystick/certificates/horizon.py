"""How long can this network be trusted? The verdict over **all** strings, in a named arithmetic.

What is right is said by the network's task: for most networks the class of the count n − m. Real arithmetic reads the weights
exactly and decides in rationals or between proved bounds; floating point is decided as executed, by the cell's own step. The
deciders that a cell lists are asked in turn (`deciders`).
"""

from tallystick.certificates.deciders import DECIDERS
from tallystick.certificates.verdict import REAL, Verdict, arithmetic_of, lengths_of
from tallystick.errors import BadInput, check_whole
from tallystick.networks import Network
from tallystick.numbers import standard_floats

_LEAST_LIMIT = 2


@standard_floats()
def certify(network: Network, lengths: str = "all", arithmetic: str = REAL, limit: int | None = None) -> Verdict:
    """Return the verdict on a network: PROVED, REFUTED with a shortest failing string, or BOUNDED.

    Args:
        network: any network whose cell lists deciders.
        lengths: `all`, or `even` as in the paper's data.
        arithmetic: `real`, or `float16`, `bfloat16`, `float32` or `float64` as executed, `-fused` or not; the weights are
            rounded to it first, once.
        limit: how far to search where nothing else decides.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.networks import Readout
    >>> certify(Network(LinearCell(1, -1, 1), Readout.zero())).outcome
    <Outcome.PROVED: 'PROVED'>
    >>> verdict = certify(Network(LinearCell(1, -1, 0.5), Readout.zero()))
    >>> verdict.horizon, verdict.failure.string, verdict.trace()
    (1, '()', [0, Fraction(1, 1), Fraction(-1, 2)])
    """
    arithmetic_of(arithmetic)
    counted = lengths_of(lengths)
    if limit is not None:
        check_whole(limit, "limit", least=_LEAST_LIMIT)
    for name in network.cell.deciders:
        verdict = DECIDERS[name](network, counted, arithmetic, limit)
        if verdict is not None:
            return verdict
    raise BadInput(f"cell: a {type(network.cell).__name__} is outside what can be decided")
