"""What is asked of a network that is asked about a language, and whether that is anything at all."""

from itertools import islice
from typing import NamedTuple

from tallystick.certificates.verdict import Lengths
from tallystick.errors import BadInput
from tallystick.networks import Network
from tallystick.networks.steps import NEXT, SUPPORT, right_places

DEFAULT_REACH = 1000
"""How far a search goes that was not told how far."""

_MOST, _FURTHEST = 300, 12
"""How many configurations are looked at for one in which something is asked, and how many tokens are read before the first."""

_WANTED = {NEXT: "determines which token comes next", SUPPORT: "has a member"}


class Scope(NamedTuple):
    """What is asked of a network.

    Attributes:
        lengths: which lengths count.
        first: the least length that counts.
        arithmetic: `real`, or the floating point that it is executed in.
        limit: how far to search where nothing else decides; None is the decider's own.
    """

    lengths: Lengths
    first: int
    arithmetic: str
    limit: int | None

    @property
    def reach(self) -> int:
        """How far to search."""
        return DEFAULT_REACH if self.limit is None else self.limit

    def require_lengths(self) -> None:
        """Refuse a search that would end before the first length that counts: it would look at nothing, and say all is right."""
        if not self.lengths.upto(self.reach, self.first):
            first = self.lengths.upto(self.first + 1, self.first)[0]
            raise BadInput(
                f"limit: no length up to {self.reach} counts; search at least to {first}, the first that does"
            )

    @property
    def start(self) -> int:
        """The horizon of a network of which nothing is proved yet: just before the first length that counts."""
        return self.lengths.before(self.lengths.upto(self.first + 1, self.first)[0])

    def counts(self, length: int) -> bool:
        """Say whether a length counts."""
        return length in self.lengths.upto(length, self.first)


def require_question(network: Network, scope: Scope) -> None:
    """Refuse a network that would be right whatever it says, as where the language never determines the token that comes next.

    The configurations are those of strings from the first counted length on, the shortest first. That something is asked after
    the empty string is not enough: Dyck-1 without it determines the first token and no other.
    """
    decision, task = network.readout.decision, network.task
    if decision not in _WANTED:
        return
    met = dict.fromkeys([task.machine.start])
    for _ in range(min(max(scope.first, 1), _FURTHEST)):
        met = dict.fromkeys(islice((after for one in met for after in task.futures.live_steps(one).values()), _MOST))
    waiting = list(met)
    for configuration in waiting:
        if right_places(decision, task, configuration) is not None:
            return
        if len(waiting) < _MOST:
            new = {after: None for after in task.futures.live_steps(configuration).values() if after not in met}
            met |= new
            waiting += new
    raise BadInput(
        f"task: {task.name!r} never {_WANTED[decision]}, from length {max(scope.first, 1)} on and as far as was looked, so the "
        f"answer {decision} is asked nothing and every network would be right; ask for another answer, such as "
        f"{SUPPORT if decision == NEXT else NEXT}, or another task"
    )
