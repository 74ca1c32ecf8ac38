"""Networks that answer after every token where prefixes are too many to follow one by one: groups of them, and suspects.

**From below**, a group holds the prefixes of one length that lead the task's machine to the same configuration and have the same
last k tokens, and one box holds the states of them all (`tree_groups`). All prefixes of a group get the same answer where its box
decides each place; where it does not, the length is undecided, and more tokens are told apart. So a token is followed or rejected
after all prefixes of a group, and any one of them stands for it.

**From above**, prefixes are followed in floating point, for each configuration those alone that lead furthest in each direction:
up and down in every output and every number of the state. One that fails there is followed by itself, in its own box and with
more digits where these do not decide, and counts only if it fails for certain.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tallystick.certificates.any_order.executions import said_of
from tallystick.certificates.boxes.box_proof import INTERRUPTED, UNDECIDED, known_failure
from tallystick.certificates.languages.live_search import LiveSearch, Places, Stopped
from tallystick.certificates.languages.machine_arrays import Whole
from tallystick.certificates.languages.rejections import Rejections
from tallystick.certificates.languages.runners import chosen
from tallystick.certificates.languages.said import Said, Truths
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.languages.tree_groups import extremes, joined_alike, suffixes_for
from tallystick.certificates.verdict import ANY_ORDERS, REAL, Failure
from tallystick.networks import Network
from tallystick.numbers import ANY_ORDER, FORMATS
from tallystick.numbers.values import numbers_of

METHOD = "grouped prefixes"
"""The method's name in certificates."""

_MOST_LENGTHS = 300
"""At how many lengths suspects are looked for, from the first that counts on."""


class Found(NamedTuple):
    """What groups found out: the search that came furthest, how it ended, and a string that is known to fail."""

    search: LiveSearch
    stop: Failure | Stopped | None
    known: Failure | None


def follow_groups(network: Network, scope: Scope, search: LiveSearch) -> Found | None:
    """Look for a failing string, then prove what is shorter in groups; None where there are no boxes to put around states.

    Args:
        network: what is asked.
        scope: what it is asked.
        search: one that followed its prefixes one by one, and was paused.
    """
    if search.runner is None or scope.arithmetic not in (REAL, *ANY_ORDERS):
        return None
    known: Failure | None = None
    best: Found | None = None
    tried = [search]
    try:
        counted = scope.lengths.upto(search.limit, scope.first)
        known = known_failure(
            _suspects(network, scope, search.limit), counted, lambda one: _failure(network, scope, one)
        )
        most = search.limit if known is None else known.length - 1
        for suffix in (0, *suffixes_for(len(network.alphabet))):
            groups = _Groups(network, scope._replace(limit=most), suffix)
            tried.append(groups)
            stop = groups.run()
            if best is None or groups.reached > best.search.reached or not isinstance(stop, Stopped):
                best = Found(groups, stop, known)
            if not isinstance(stop, Stopped) or stop.why != UNDECIDED:
                break
    except KeyboardInterrupt:
        furthest = max(tried, key=lambda one: one.reached)
        return Found(furthest, Stopped(INTERRUPTED, INTERRUPTED), known)
    return best


class _Groups(LiveSearch):
    """Groups of prefixes: those with one configuration and the same last tokens; the trail has one prefix of each."""

    followed_as = "groups of prefixes"

    def __init__(self, network: Network, scope: Scope, suffix: int) -> None:
        """Start with the empty string."""
        super().__init__(network, scope)
        self._codes, self._are_alone = np.zeros(1, np.int64), np.ones(1, bool)
        self._suffix, self._kinds = suffix, len(network.alphabet) ** suffix

    @property
    def work(self) -> str:
        """What was done, in words."""
        last = "token" if self._suffix == 1 else f"{self._suffix} tokens"
        alike = f"one configuration and the same last {last}" if self._suffix else "one configuration"
        text = f"{self.followed:,} groups of prefixes with {alike} were followed, each"
        if self.scope.arithmetic == REAL:
            return f"{text} in one box of doubles"
        return f"{text} in a box of all that {said_of(self.scope.arithmetic)} may compute"

    def _strings_of(self, rows: Places) -> Places:
        return rows if self._are_alone[rows].all() else rows[:0]

    def _tie(self, is_open: Truths) -> Stopped:
        if self._are_alone[is_open.any(axis=1)].all():
            return super()._tie(is_open)
        return Stopped(UNDECIDED, f"the boxes around the states do not decide what it says after {self.length} tokens")

    def _go_to(self, rows: Places, tokens: Places) -> None:
        if not len(rows):
            super()._go_to(rows, tokens)
            return
        codes = (self._codes[rows] * len(self.network.alphabet) + tokens) % self._kinds
        self.states, first, sizes = joined_alike(self.at * self._kinds + codes, self.states)
        self.at, self._codes = self.at[first], codes[first]
        self._are_alone = self._are_alone[rows[first]] & (sizes == 1)
        super()._go_to(rows[first], tokens[first])


class _Extremes(LiveSearch):
    """Prefixes as executed, for each configuration those alone that lead furthest in some direction."""

    passed = -1
    """The length up to which failing strings are of no interest."""

    def pass_by(self, failure: Failure) -> None:
        """Go on as if a string and the others of its length were right."""
        self.passed = max(self.length, failure.length)
        self.rejections = Rejections(self.network.task, self.scope)

    def _failure_here(self, said: Said, right: Truths) -> Failure | None:
        return None if self.length <= self.passed else super()._failure_here(said, right)

    def _go_to(self, rows: Places, tokens: Places) -> None:
        if len(rows):
            scores = [*numbers_of(self.states), *self.network.outputs_of_state(self.states)]
            kept = extremes(self.at, scores)
            self.states, self.at = chosen(self.states, kept), self.at[kept]
            rows, tokens = rows[kept], tokens[kept]
        super()._go_to(rows, tokens)


def _suspects(network: Network, scope: Scope, limit: int) -> Iterator[tuple[str, ...]]:
    """Go through strings that fail as executed, at most one per length, the shortest first."""
    form = scope.arithmetic.removesuffix(ANY_ORDER)
    form = form if form in FORMATS else "float64"
    longest = min(limit, scope.first + _MOST_LENGTHS)
    search = _Extremes(network.in_arithmetic(form), scope._replace(arithmetic=form, limit=longest))
    while isinstance(found := search.run(), Failure):
        yield found.tokens
        search.pass_by(found)


class _Alone(LiveSearch):
    """One prefix: of all answers along it only those matter that decide whether it fails."""

    def __init__(self, network: Network, scope: Scope, string: tuple[str, ...]) -> None:
        """Start with the empty string."""
        super().__init__(network, scope._replace(limit=len(string)))
        self._string_places = [network.alphabet.index(token) for token in string]

    @property
    def _next(self) -> Truths:
        """Which token follows in the string; none at its end."""
        found = np.zeros(len(self.network.alphabet), bool)
        found[self._string_places[self.length : self.length + 1]] = True
        return found

    def _needed(self, right: Truths) -> Truths:
        is_end = self.length == len(self._string_places)
        if not self.by_threshold:
            return super()._needed(right) & is_end
        return super()._needed(right) & np.append(self._next, is_end)

    def _followed(self, said: Said, after: Whole) -> Truths:
        return super()._followed(said, after) & self._next


def _failure(network: Network, scope: Scope, string: tuple[str, ...]) -> Failure | None:
    """Follow one string by itself; return how it, or what begins with a part of it, fails for certain."""
    found = _Alone(network, scope, string).run()
    return found if isinstance(found, Failure) else None
