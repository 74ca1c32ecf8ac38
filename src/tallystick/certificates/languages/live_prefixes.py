"""Networks that answer after every token: every prefix that still matters is followed, each in its own enclosure.

- `threshold`: a token that is not allowed rejects a string for good. So only the prefixes that the network has not rejected are
  followed, whatever the language says of them. A rejected prefix that has an accepted continuation fails with a shortest one.
  At the end of each prefix whose length counts, the answer must be membership.
- `next` and `support`: only prefixes of members matter, and only at their ends.

In real arithmetic all prefixes of a length run together, in boxes of doubles; what these leave open is decided with more digits
(`deeper`), so that no comparison is ever guessed. In floating point they run together as the cell's own step executes them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import inputs_of
from tallystick.certificates.languages.deeper import MOST_DIGITS, Deeper, Tree
from tallystick.certificates.languages.rejections import Rejections, is_member, membership_failure
from tallystick.certificates.languages.runners import Runner, chosen, joined, runner_of
from tallystick.certificates.languages.said import Said, Truths, nothing_said
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.progress import report
from tallystick.certificates.verdict import REAL, Failure, Outcome, Verdict, runs_of
from tallystick.languages.counter_machine import Configuration
from tallystick.languages.tasks import MembershipClass
from tallystick.networks import Network
from tallystick.networks.steps import STEPWISE, THRESHOLD, right_places
from tallystick.numbers import FORMATS

METHOD = "live prefixes"

DEFAULT_LIMIT = 1000
_MOST_WORK, _LEAST_ENTRIES = 1 << 28, 64
"""How many weights are gone through in all, prefix by prefix, and how many a prefix counts for at least; some seconds."""

_MOST_DEEPER = 50_000
"""How many prefixes are decided with more digits; some seconds."""

Places = NDArray[np.intp]


def decide_live_prefixes(network: Network, scope: Scope) -> Verdict | None:
    """Follow the prefixes of a network that answers after every token; None for any other, and for fused arithmetic."""
    if network.readout.decision not in STEPWISE or scope.arithmetic not in (REAL, *FORMATS):
        return None
    search = _Search(network, scope)
    try:
        found = search.run()
    except KeyboardInterrupt:
        found = "interrupted"
    outcome, horizon, failure = Outcome.BOUNDED, search.reached, None
    if isinstance(found, Failure):
        said = "gets" if search.by_threshold else "is followed by"
        outcome, horizon, failure = Outcome.REFUTED, scope.lengths.before(found.length), found
        found = f"a string of length {failure.length} {said} {failure.found} instead of {failure.right}"
        found = f"{found}; no shorter counted one fails"
    elif found is None:
        outcome, horizon = Outcome.PROVED, None
        found = f"no prefix is left to follow from length {search.length} on, and all shorter strings are right"
    else:
        found = f"every counted length to {search.reached} is right; {found}"
    known = search.rejections.best if outcome is Outcome.BOUNDED else None
    reason = f"{found} ({search.work})"
    return Verdict(
        network, scope.lengths, scope.arithmetic, outcome, horizon, failure, METHOD, reason, known, scope.first
    )


def live_counts(network: Network, scope: Scope) -> list[int]:
    """Return how many prefixes of each length are followed, from the empty one on, until the search ends."""
    search = _Search(network, scope)
    search.run()
    return [len(tokens) for _, tokens in search.tree.levels]


class _Search:
    """The prefixes of one length, and what is known of the shorter ones.

    Attributes:
        length: of the prefixes.
        cases: the configurations that they lead to, each once.
        case: which of these each prefix leads to.
        states: those of the network after the prefixes.
        reached: the largest length that counts up to which all strings are right.
    """

    def __init__(self, network: Network, scope: Scope) -> None:
        """Start with the empty string."""
        self.network, self.scope = network, scope
        self.limit = DEFAULT_LIMIT if scope.limit is None else scope.limit
        self.by_threshold = network.readout.decision == THRESHOLD
        self.futures, self.machine = network.task.futures, network.task.machine
        self.inputs = [inputs_of(network.alphabet)[token] for token in network.alphabet]
        self.length, self.followed = 0, 1
        self.cases: list[Configuration] = [self.machine.start]
        self.case: Places = np.zeros(1, np.intp)
        self.reached = scope.start
        self.tree = Tree()
        self.deeper = Deeper(network, self.tree)
        self.rejections = Rejections(network.task, scope)
        self.runner: Runner | None = runner_of(network, scope.arithmetic)
        self.states: Any = self.runner.start() if self.runner else None

    @property
    def work(self) -> str:
        """What was done, in words."""
        which = "that it had not rejected" if self.by_threshold else "of members"
        text = f"{self.followed:,} prefixes {which} were followed"
        if self.scope.arithmetic != REAL:
            return f"{text}, each step as NumPy executes it in {self.scope.arithmetic}, sums from the left"
        if not self.deeper.asked:
            return f"{text}, each in its own box of doubles"
        digits = f"balls of up to {self.deeper.digits} binary digits" if self.deeper.digits else "rationals"
        return f"{text}, each in its own box of doubles, and {self.deeper.asked:,} of them in {digits}"

    def run(self) -> Failure | str | None:
        """Return a shortest failing string, why the search ended before there was one, or None where nothing is left."""
        stop: Failure | str | None = None
        while stop is None:
            stop = self.rejections.failure(self.length) or self._look_at_answers()
            if stop is None and not self._is_left():
                return self.rejections.best
            report(self.length, self.limit, f"right to length {self.reached}, {len(self.case):,} prefixes of the next")
        return stop

    # --- The answers after the prefixes -------------------------------------------------------------------------------------

    def _look_at_answers(self) -> Failure | str | None:
        """Return a failing string or why the search ends; else go on to the prefixes of the next length."""
        said, is_open = self._said()
        failure = self._failure_here(said)
        if failure:
            return failure
        if not (is_open[:, -1] if self.by_threshold else is_open).any():
            self.reached = self.length if self.scope.counts(self.length) else self.reached
        if is_open.any():
            return self._tie(is_open)
        if self.length == self.limit:
            return "the search went no further"
        return self._grow(said)

    def _said(self) -> tuple[Said, Truths]:
        """Return what is said after each prefix, and which of what is needed is open, even with more digits."""
        needed = self._needed()[self.case]
        said = self.runner.said(self.states) if self.runner and len(self.case) else nothing_said(needed.shape)
        for row in np.flatnonzero((needed & ~said.yes & ~said.no).any(axis=1)):
            said.yes[row], said.no[row] = self.deeper.said(self.length, int(row), needed[row])
            if (needed[row] & ~said.yes[row] & ~said.no[row]).any() or self.deeper.asked > _MOST_DEEPER:
                break
        return said, needed & ~said.yes & ~said.no

    def _needed(self) -> Truths:
        """Say for each configuration which answers matter: with `threshold` all but the end at a length that does not count."""
        counts, places = self.scope.counts(self.length), len(self.network.alphabet) + 1
        if self.by_threshold:
            needed = np.ones((len(self.cases), places), bool)
            needed[:, -1] = counts
            return needed
        asked = [counts and self._right(case) is not None for case in self.cases]
        return np.repeat(np.array(asked, bool)[:, None], places, axis=1)

    def _right(self, case: Configuration) -> frozenset[int] | None:
        return right_places(self.network.readout.decision, self.network.task, case)

    def _failure_here(self, said: Said) -> Failure | None:
        """Return a failing string among the prefixes, the first in the order of the alphabet."""
        if not self.scope.counts(self.length):
            return None
        if self.by_threshold:
            is_right = np.array([self._is_member(case) for case in self.cases], bool)[self.case]
            wrong = np.where(is_right, said.no[:, -1], said.yes[:, -1])
        else:
            rights = [self._right(case) for case in self.cases]
            places = range(len(self.network.alphabet) + 1)
            right = np.array([[place in (one or ()) for place in places] for one in rights], bool)[self.case]
            is_asked = np.array([one is not None for one in rights], bool)[self.case]
            is_known = (said.yes | said.no).all(axis=1)
            wrong = is_asked & is_known & np.where(right, said.no, said.yes).any(axis=1)
        if not wrong.any():
            return None
        row = int(np.flatnonzero(wrong)[0])
        string = self._string(row)
        if self.by_threshold:
            return membership_failure(string, is_member=not said.yes[row, -1])
        steps, alphabet = self.network.readout.steps, self.network.alphabet
        assert steps is not None
        found = steps.names(np.flatnonzero(said.yes[row]).tolist(), alphabet)
        return Failure(
            runs_of(string), found, steps.names(self._right(self.cases[int(self.case[row])]) or (), alphabet)
        )

    def _is_member(self, case: Configuration) -> bool:
        if not self.length:  # for which a task may have an answer of its own
            return self.network.task.right_class(()) == MembershipClass.ACCEPTED
        return is_member(self.network.task, case)

    def _string(self, row: int) -> tuple[str, ...]:
        return tuple(self.network.alphabet[place] for place in self.tree.path(self.length, row))

    def _tie(self, is_open: Truths) -> str:
        if self.deeper.asked > _MOST_DEEPER:
            return f"at length {self.length} too many prefixes need more digits than doubles have"
        row = int(np.flatnonzero(is_open.any(axis=1))[0])
        runs = " ".join(f"{token}^{size}" for token, size in runs_of(self._string(row))) or "the empty string"
        return f"{MOST_DIGITS:,} binary digits do not tell what it says after {runs}, which may be a tie"

    # --- One token more -----------------------------------------------------------------------------------------------------

    def _is_left(self) -> bool:
        return bool(len(self.case) or self.rejections.waiting)

    def _grow(self, said: Said) -> str | None:
        """Go on to the prefixes with one more token; return why that is too much, where it is."""
        cases, after = self._cases_after()
        if self.by_threshold:
            self._reject(said.no[:, :-1], cases, after)
            is_followed = said.yes[:, :-1]
        else:
            is_live = np.array([self.futures.is_live(case) for case in cases], bool)
            is_followed = is_live[after][self.case]
        rows, tokens = np.nonzero(is_followed)
        self.followed += len(rows)
        entries = max(self.network.cell.matrix_entries, _LEAST_ENTRIES)
        if self.followed * entries > _MOST_WORK:
            return f"{len(rows):,} prefixes of length {self.length + 1} are too many to follow"
        if self.runner and len(rows):
            self.states = self._step(self.runner, rows, tokens)
        self.tree.grow(rows, tokens)
        found: tuple[Places, Places] = np.unique(after[self.case[rows], tokens], return_inverse=True)
        reached, self.case = found
        self.cases = [cases[place] for place in reached.tolist()]
        self.length += 1
        return None

    def _cases_after(self) -> tuple[list[Configuration], Places]:
        """Return the configurations after one more token, each once, and which of them each old one and token leads to."""
        found: dict[Configuration, int] = {}
        after = np.empty((len(self.cases), len(self.network.alphabet)), np.intp)
        for number, case in enumerate(self.cases):
            for place, token in enumerate(self.network.alphabet):
                reached = self.machine.step(case, token).after
                after[number, place] = found.setdefault(reached, len(found))
        return list(found), after

    def _reject(self, no: Truths, cases: list[Configuration], after: Places) -> None:
        """Look at what the rejected prefixes lead to, one for each configuration."""
        self.rejections.advance()
        rows, tokens = np.nonzero(no)
        found: tuple[Places, Places] = np.unique(after[self.case[rows], tokens], return_index=True)
        reached, first = found
        for place, at in zip(map(int, reached), map(int, first), strict=True):
            if self.futures.is_live(cases[place]) and not self.rejections.is_hopeless(self.length + 1):
                prefix = (*self._string(int(rows[at])), self.network.alphabet[int(tokens[at])])
                self.rejections.add(prefix, cases[place])

    def _step(self, runner: Runner, rows: Places, tokens: Places) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the states of the prefixes with one more token, in their order."""
        order = np.argsort(tokens, kind="stable")
        parts = [
            runner.step(chosen(self.states, rows[tokens == place]), self.inputs[place])
            for place in map(int, np.unique(tokens))
        ]
        return chosen(joined(parts), np.argsort(order))
