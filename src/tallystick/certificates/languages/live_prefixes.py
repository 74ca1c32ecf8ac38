"""Networks that answer after every token: every prefix that still matters is followed, each in its own enclosure.

- `threshold`: a token that is not allowed rejects a string for good. So only the prefixes that the network has not rejected are
  followed, whatever the language says of them. A rejected prefix that has an accepted continuation fails with a shortest one.
  At the end of each prefix whose length counts, the answer must be membership.
- `next` and `support`: only prefixes of members matter, and only at their ends.

In real arithmetic all prefixes of a length run together, in boxes of doubles; what these leave open is decided with more digits
(`more_digits`), so that no comparison is ever guessed. In floating point they run together as the cell's own step executes them,
or in boxes of all that any library may compute.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import inputs_of
from tallystick.certificates.any_order.executions import said_of
from tallystick.certificates.languages.machine_arrays import MetConfigurations, Whole
from tallystick.certificates.languages.more_digits import MOST_DIGITS, Deeper
from tallystick.certificates.languages.prefixes import Trail
from tallystick.certificates.languages.rejections import Rejections, is_member, membership_failure
from tallystick.certificates.languages.runners import Runner, chosen, joined, runner_of
from tallystick.certificates.languages.said import Said, Truths, nothing_said
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.progress import report
from tallystick.certificates.verdict import ANY_ORDERS, REAL, Failure, Outcome, Verdict, runs_of
from tallystick.languages.counter_machine import Configuration
from tallystick.networks import Network
from tallystick.networks.steps import STEPWISE, THRESHOLD
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
    if network.readout.decision not in STEPWISE or scope.arithmetic not in (REAL, *FORMATS, *ANY_ORDERS):
        return None
    search = _Search(network, scope)
    try:
        found = search.run()
    except KeyboardInterrupt:
        found = "interrupted"
    outcome, horizon, failure = Outcome.BOUNDED, search.reached, None
    if isinstance(found, Failure):
        outcome, horizon, failure = Outcome.REFUTED, scope.lengths.before(found.length), found
        found = found.reason("gets" if search.by_threshold else "is followed by")
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
    trail: Trail | None = search.trail
    counts: list[int] = []
    while trail is not None:
        counts.append(len(trail.tokens))
        trail = trail.before
    return counts[::-1]


class _Search:
    """The prefixes of one length, and what is known of the shorter ones.

    Attributes:
        trail: the prefixes.
        at: the number of the configuration that each leads to.
        states: those of the network after the prefixes.
        reached: the largest length that counts up to which all strings are right.
    """

    def __init__(self, network: Network, scope: Scope) -> None:
        """Start with the empty string."""
        self.network, self.scope = network, scope
        self.limit = DEFAULT_LIMIT if scope.limit is None else scope.limit
        self.by_threshold = network.readout.decision == THRESHOLD
        self.futures = network.task.futures
        self.inputs = [inputs_of(network.alphabet)[token] for token in network.alphabet]
        self.trail, self.followed = Trail(), 1
        self.met, self.at = MetConfigurations(network.task), np.zeros(1, np.int64)
        self.reached = scope.start
        self.deeper = Deeper(network)
        self.rejections = Rejections(network.task, scope)
        self.runner: Runner | None = runner_of(network, scope.arithmetic)
        self.states: Any = self.runner.start() if self.runner else None

    @property
    def length(self) -> int:
        """The length of the prefixes."""
        return self.trail.length

    @property
    def work(self) -> str:
        """What was done, in words."""
        which = "that it had not rejected" if self.by_threshold else "of members"
        text = f"{self.followed:,} prefixes {which} were followed"
        if self.scope.arithmetic in ANY_ORDERS:
            return f"{text}, each in a box of all that {said_of(self.scope.arithmetic)} may compute"
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
            report(self.length, self.limit, f"right to length {self.reached}, {len(self.at):,} prefixes of the next")
        return stop

    # --- The answers after the prefixes -------------------------------------------------------------------------------------

    def _look_at_answers(self) -> Failure | str | None:
        """Return a failing string or why the search ends; else go on to the prefixes of the next length."""
        right = self._right_answers()
        said, is_open = self._said(right)
        failure = self._failure_here(said, right)
        if failure:
            return failure
        if not (is_open[:, -1] if self.by_threshold else is_open).any():
            self.reached = self.length if self.scope.counts(self.length) else self.reached
        if is_open.any():
            return self._tie(is_open)
        if self.length == self.limit:
            return "the search went no further"
        return self._grow(said)

    def _right_answers(self) -> Truths:
        """Say what is right after each prefix, place by place: nothing where nothing is asked, with `threshold` the end alone."""
        right = np.zeros((len(self.at), len(self.network.alphabet) + 1), bool)
        if not len(self.at) or not self.scope.counts(self.length):
            return right
        if self.by_threshold:
            right[:, -1] = self.met.truths(self.at, partial(is_member, self.network.task))
            return right

        def wanted(configuration: Configuration) -> list[bool]:
            named = self.network.right_answer(configuration) or ()
            return [place in named for place in range(right.shape[1])]

        return self.met.truths(self.at, wanted)

    def _said(self, right: Truths) -> tuple[Said, Truths]:
        """Return what is said after each prefix, and which of what is needed is open, even with more digits."""
        needed = self._needed(right)
        said = self.runner.said(self.states) if self.runner and len(self.at) else nothing_said(needed.shape)
        unsaid = np.flatnonzero((needed & ~said.yes & ~said.no).any(axis=1))
        for row in unsaid if self.scope.arithmetic == REAL else ():
            said.yes[row], said.no[row] = self.deeper.said(self.trail, int(row), needed[row])
            if (needed[row] & ~said.yes[row] & ~said.no[row]).any() or self.deeper.asked > _MOST_DEEPER:
                break
        return said, needed & ~said.yes & ~said.no

    def _needed(self, right: Truths) -> Truths:
        """Say for each prefix which answers matter: with `threshold` all but the end at a length that does not count."""
        if not self.by_threshold:
            return np.broadcast_to(right.any(axis=1, keepdims=True), right.shape)
        needed = np.ones_like(right)
        needed[:, -1] = self.scope.counts(self.length)
        return needed

    def _failure_here(self, said: Said, right: Truths) -> Failure | None:
        """Return a failing string among the prefixes, the first in the order of the alphabet."""
        if not self.scope.counts(self.length):
            return None
        wrong = np.where(right, said.no, said.yes)
        if self.by_threshold:
            rows = np.flatnonzero(wrong[:, -1])
        else:
            is_known = (said.yes | said.no).all(axis=1)
            rows = np.flatnonzero(right.any(axis=1) & is_known & wrong.any(axis=1))
        if not len(rows):
            return None
        row = int(rows[0])
        string = self._string(row)
        if self.by_threshold:
            return membership_failure(string, is_member=not said.yes[row, -1])
        found, wanted = (self.network.name_of(np.flatnonzero(one[row]).tolist()) for one in (said.yes, right))
        return Failure(runs_of(string), found, wanted)

    def _string(self, row: int) -> tuple[str, ...]:
        return self.trail.string(row, self.network.alphabet)

    def _tie(self, is_open: Truths) -> str:
        if self.deeper.asked > _MOST_DEEPER:
            return f"at length {self.length} too many prefixes need more digits than doubles have"
        row = int(np.flatnonzero(is_open.any(axis=1))[0])
        runs = " ".join(f"{token}^{size}" for token, size in runs_of(self._string(row))) or "the empty string"
        if self.scope.arithmetic != REAL:
            return f"libraries may differ in what it says after {runs}"
        return f"{MOST_DIGITS:,} binary digits do not tell what it says after {runs}, which may be a tie"

    # --- One token more -----------------------------------------------------------------------------------------------------

    def _is_left(self) -> bool:
        return bool(len(self.at) or self.rejections.waiting)

    def _grow(self, said: Said) -> str | None:
        """Go on to the prefixes with one more token; return why that is too much, where it is."""
        after = self.met.after(self.at)
        if self.by_threshold:
            self._reject(said.no[:, :-1], after)
            is_followed = said.yes[:, :-1]
        else:
            is_followed = self.met.truths(after, self.futures.is_live)
        rows, tokens = np.nonzero(is_followed)
        self.followed += len(rows)
        entries = max(self.network.cell.matrix_entries, _LEAST_ENTRIES)
        if self.followed * entries > _MOST_WORK:
            return f"{len(rows):,} prefixes of length {self.length + 1} are too many to follow"
        if self.runner and len(rows):
            self.states = self._step(self.runner, rows, tokens)
        self.trail, self.at = self.trail.longer(rows, tokens), after[rows, tokens]
        return None

    def _reject(self, no: Truths, after: Whole) -> None:
        """Look at what the rejected prefixes lead to, one for each configuration, in the order of the alphabet."""
        self.rejections.advance()
        rows, tokens = np.nonzero(no)
        _, first = np.unique(after[rows, tokens], return_index=True)
        for at in map(int, np.sort(first)):
            row, token = int(rows[at]), int(tokens[at])
            reached = self.met[int(after[row, token])]
            if self.futures.is_live(reached) and not self.rejections.is_hopeless(self.length + 1):
                self.rejections.add((*self._string(row), self.network.alphabet[token]), reached)

    def _step(self, runner: Runner, rows: Places, tokens: Places) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the states of the prefixes with one more token, in their order."""
        order = np.argsort(tokens, kind="stable")
        parts = [
            runner.step(chosen(self.states, rows[tokens == place]), self.inputs[place])
            for place in map(int, np.unique(tokens))
        ]
        return chosen(joined(parts), np.argsort(order))
