"""How long a linear network with one matrix per token is right, where the two matrices commute: by least and greatest paths.

**A string is a lattice path.** What a token adds to an output depends on the token and on how many `(` and `)` follow it
(`path_terms`). So the output of a string is the sum of the terms along a path from (0, 0), its end, to (n, m), its beginning,
with a step in the direction of each token. The least sum over all strings with n opening and m closing brackets is

    E(n, m) = min(E(n − 1, m) + φ_open(n − 1, m), E(n, m − 1) + φ_close(n, m − 1)),     E(0, 0) = 0,

since the first token is either `(` or `)`. One table serves all lengths: length T is the diagonal n + m = T. A demand of the
readout (`affine`) asks for the least of y or of −y over all strings whose count has one sign, so the table decides each
length completely, and a path that attains what fails is a failing string.

**What decides.** Doubles with a bound on the error of each entry decide nearly all lengths. Where they do not, at a tie or near
it, the table is made once more in whole numbers of more digits, and at last in exact ones, up to the last length that is open.
Where even these would take too long the outcome is BOUNDED. Some networks are right at every length (`path_limits`).
"""

import numpy as np

from tallystick.certificates.linear.affine import AffineNetwork, affine_network
from tallystick.certificates.linear.path_limits import start_of_proof
from tallystick.certificates.linear.path_table import Table
from tallystick.certificates.linear.path_terms import diagonals, exact_time, longest
from tallystick.certificates.linear.responses import Precision
from tallystick.certificates.progress import report
from tallystick.certificates.verdict import REAL, Failure, Lengths, Outcome, Verdict, refute, runs_of
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.networks import Network

METHOD = "lattice paths"
"""The method's name in certificates."""

DEFAULT_LIMIT = 1000
LONGEST = 1 << 15
"""How far a table is made: its effort grows with the square."""

_FADES = (
    "every counted length to {} is right, and what tokens leave fades so fast that beyond it nothing can go wrong, though the "
    "network does not compute the count"
)

_EARLY = 8
"""Lengths that are looked at before a proof is."""

_QUICK = 1 << 31
"""Nanoseconds in which a failing string is found from exact numbers, so that it is the first of all that are as bad."""


def decide_by_paths(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Decide a linear network whose two matrices commute, in real numbers."""
    affine = affine_network(network) if arithmetic == REAL else None
    if affine is None or not affine.commutes:
        return None
    limit, start = limit or DEFAULT_LIMIT, None
    search = _Search(affine, lengths, min(limit, _EARLY))
    search.run()
    if search.failing is None:  # most networks fail early, and a proof may take a second to look for
        start = start_of_proof(affine, lengths)
        search = _Search(affine, lengths, start or limit)
        search.run()
    if start is not None and search.reached + lengths.stride > start:
        return Verdict(network, lengths, arithmetic, Outcome.PROVED, None, None, METHOD, _FADES.format(start))
    failure = None if search.failing is None else _failure(affine, network, search.failing)
    if failure is None:
        return Verdict(network, lengths, arithmetic, Outcome.BOUNDED, search.reached, None, METHOD, search.reason)
    return refute(network, lengths, arithmetic, failure, METHOD)


class _Search:
    """Goes through the lengths, first in doubles, then in more digits where these leave lengths open.

    Attributes:
        failing: the first length at which some string fails, if there is one.
        reached: every counted length up to this one is right.
        reason: why the search went no further.
    """

    def __init__(self, network: AffineNetwork, lengths: Lengths, limit: int) -> None:
        self.network, self.lengths, self.limit = network, lengths, limit
        self.failing: int | None = None
        self.reached, self.reason = 0, ""

    def run(self) -> None:
        """Decide as many lengths as can be decided."""
        still_open = list(self.lengths.upto(min(self.limit, LONGEST)))
        last, failing = still_open[-1], None
        try:
            for precision in Precision:
                if still_open:
                    still_open, found = self._look_at(still_open, precision)
                    failing = found or failing
        except KeyboardInterrupt:
            self.reason = (
                f"interrupted: every counted length to {self.reached} is right, the ones beyond it were not decided"
            )
            return
        first = still_open[0] if still_open else failing
        self.reached = last if first is None else first - self.lengths.stride
        if first is not None:
            self.failing = None if still_open else failing
            self.reason = (
                f"length {first} hangs on numbers that are too long to compare, and every shorter counted one is right"
            )
        elif self.limit <= LONGEST:
            self.reason = f"every counted length to {self.limit} is right; the search went no further"
        else:
            self.reason = f"every counted length to {last} is right; a longer table would take too long"

    def _look_at(self, asked: list[int], precision: Precision) -> tuple[list[int], int | None]:
        """Decide some lengths; return those that stay open, and the first that surely fails, beyond which none is looked at."""
        table, still_open, wanted = Table(self.network), list[int](), frozenset(asked)
        for diagonal in diagonals(self.network, longest(self.network, asked[-1], precision), precision):
            table.advance(diagonal)
            if table.length not in wanted:
                continue
            is_right, failing = table.outcome(diagonal)
            if failing is not None:
                return still_open, table.length
            if not is_right:
                still_open.append(table.length)
            elif not still_open:
                self.reached = table.length
                report(table.length, self.limit, f"right to length {table.length}, at most {self.limit} is asked for")
        return still_open + [length for length in asked if length > table.length], None


def _failure(affine: AffineNetwork, network: Network, length: int) -> Failure | None:
    """Return a string of a length that fails; with exact numbers, of the least paths the first in the order of the tokens."""
    precisions = [Precision.WIDE, Precision.DOUBLE, Precision.EXACT]
    if exact_time(affine, length) <= _QUICK:
        precisions = [Precision.EXACT]
    for precision in precisions:
        table, failing = Table(affine, keeps_paths=True), None
        if longest(affine, length, precision) == length:
            for diagonal in diagonals(affine, length, precision):
                table.advance(diagonal)
                if table.length == length:
                    _, failing = table.outcome(diagonal)
        if failing is None:
            continue
        demand, openings = failing
        string, right = table.path(demand, openings), network.task.index_of_count(demand.side)
        found = _class_of(affine, string)
        if found != right:
            return Failure(runs_of(string), network.task.classes[found], network.task.classes[right])
    return None


def _class_of(affine: AffineNetwork, string: str) -> int:
    """Return the index of the class of a string, which is run in whole numbers."""
    state, scale = np.zeros(affine.size, object), 1
    for token in string:
        place = (OPEN, CLOSE).index(token)
        scale *= affine.divisor
        state = affine.matrices[place] @ state + affine.steps[:, place] * scale
    outputs = affine.outputs @ state + np.array(affine.constants, object) * scale
    return next(
        index
        for index, needed in enumerate(affine.forms)
        if all(direction * outputs[output] >= (1 if strict else 0) for output, direction, strict in needed)
    )
