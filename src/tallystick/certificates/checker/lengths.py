"""All lengths to the horizon, one after the other, by the extremes of h in each group of strings: any cell, any arithmetic."""

from .claim import Claim
from .finding import Undecided, require
from .machine import Ends, Machine
from .machines import judge, machines

_MOST_STATES = 2 * 10**6


def check_lengths(claim: Claim) -> None:
    """Every counted length to the horizon is right.

    Strings are grouped by their number of `(`, or by κ: either decides what is right. A group's ends follow from those of
    the groups one token shorter that lead into it, and it is right if all between them has the right class.
    """
    judge(claim.model, claim.arithmetic, lambda machine: _check(claim, machine))


def _check(claim: Claim, machine: Machine) -> None:
    machine.require_quick(2 * claim.horizon**2, claim.horizon)
    states = _States(claim)
    row: list[Ends] = [(0, 0)]
    for length in range(1, claim.horizon + 1):
        machine.advance()
        row = _longer(row, machine)
        for group, ends in enumerate(row if length % claim.stride == 0 else ()):
            found, right = machine.class_between(ends), claim.model.right_class(group, length)
            require(found in (right, None), f"a string of length {length} fails")
            if found is None and machine.enclosing:
                raise Undecided
            if found is None:
                states.check(length, group, right)


def _longer(row: list[Ends], machine: Machine) -> list[Ends]:
    """Return the ends of the groups one token longer: each group is the union of what leads into it."""
    longer: dict[int, Ends] = {}
    group_after = machine.model.group_after
    for group, ends in enumerate(row):
        for token in (0, 1):
            target, (low, high) = group_after(group, token), machine.image(ends, token)
            least, greatest = longer.get(target, (low, high))
            longer[target] = (min(least, low), max(greatest, high))
    return [longer[group] for group in range(len(row) + 1)]


class _States:
    """Every state of every string, listed length by length, for groups whose ends do not tell."""

    def __init__(self, claim: Claim) -> None:
        self.machine = next(machines(claim.model, claim.arithmetic))
        self.length = self.listed = 0
        self.groups = {0: {0}}

    def check(self, length: int, group: int, right: int) -> None:
        """Refuse a group that holds a state of another class than the right one."""
        while self.length < length:
            self._lengthen()
        fine = all(self.machine.class_between((h, h)) == right for h in self.groups[group])
        require(fine, f"a string of length {length} fails")

    def _lengthen(self) -> None:
        self.machine.advance()
        longer: dict[int, set[int]] = {}
        for group, states in self.groups.items():
            for token in (0, 1):
                target = longer.setdefault(self.machine.model.group_after(group, token), set())
                target.update(self.machine.step(h, token) for h in states)
        self.length, self.groups = self.length + 1, longer
        self.listed += sum(map(len, longer.values()))
        require(self.listed <= _MOST_STATES, f"too many states to list at length {self.length}")
