"""The search through the prefixes of a network that answers after every token, one length after the other.

Each prefix is followed in its own enclosure here; `prefix_groups` follows fewer of them, or many of them in one.
"""

from functools import partial
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import inputs_of
from tallystick.certificates.any_order.executions import said_of
from tallystick.certificates.boxes.box_proof import LIMIT, UNDECIDED, WORK
from tallystick.certificates.languages.machine_arrays import Facts, MetConfigurations, Whole
from tallystick.certificates.languages.more_digits import MOST_DIGITS, Deeper
from tallystick.certificates.languages.prefixes import Trail
from tallystick.certificates.languages.rejections import Rejections, is_member, membership_failure
from tallystick.certificates.languages.runners import Runner, chosen, joined, runner_of
from tallystick.certificates.languages.said import Said, Truths, nothing_said
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.progress import report
from tallystick.certificates.verdict import ANY_ORDERS, REAL, Failure, runs_of
from tallystick.languages.counter_machine import Configuration
from tallystick.networks import Network
from tallystick.networks.steps import THRESHOLD

_MOST_WORK, _LEAST_ENTRIES = 1 << 28, 64
"""How many weights are gone through in all, prefix by prefix, and how many a prefix counts for at least; some seconds."""

_MOST_DEEPER = 50_000
"""How many prefixes are decided with more digits; some seconds."""

PAUSED = "paused"

Places = NDArray[np.intp]


class Stopped(NamedTuple):
    """Why a search ended before there was a failing string: the kind of reason, and the same in words."""

    why: str
    words: str


class LiveSearch:
    """The prefixes of one length, and what is known of the shorter ones.

    Attributes:
        trail: the prefixes.
        at: the number of the configuration that each leads to.
        states: those of the network after the prefixes.
        reached: the largest length that counts up to which all strings are right.
    """

    followed_as = "prefixes"

    def __init__(self, network: Network, scope: Scope) -> None:
        """Start with the empty string."""
        self.network, self.scope = network, scope
        self.limit = scope.reach
        self.by_threshold = network.readout.decision == THRESHOLD
        self.inputs = [inputs_of(network.alphabet)[token] for token in network.alphabet]
        self.trail, self.followed = Trail(), 1
        self.met, self.at = MetConfigurations(network.task), np.zeros(1, np.int64)
        self._is_member = Facts(self.met, partial(is_member, network.task))
        self._is_live = Facts(self.met, network.task.futures.is_live)
        self._wanted = Facts(self.met, self._right_places, len(network.alphabet) + 1)
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

    def run(self, pause: int | None = None) -> Failure | Stopped | None:
        """Return a shortest failing string, why the search ended before there was one, or None where nothing is left.

        Before it follows more than `pause` prefixes it stops, and goes on from there when it runs again.
        """
        while True:
            if pause is not None and len(self.at) > pause:
                return Stopped(PAUSED, f"{len(self.at):,} {self.followed_as} are many to follow")
            stop = self.rejections.failure(self.length) or self._look_at_answers()
            if stop is not None:
                return stop
            if not self._is_left():
                return self.rejections.best
            report(
                self.length,
                self.limit,
                f"right to length {self.reached}, {len(self.at):,} {self.followed_as} of the next",
            )

    def may_reach(self, length: int) -> bool:
        """Say whether a length is within reach, if the prefixes go on to grow in number as they do now."""
        before = 1 if self.trail.before is None else len(self.trail.before.tokens)
        growth = len(self.at) / before
        if growth <= 1:
            return True
        left = _MOST_WORK / self._entries - self.followed
        return left > 0 and self.length + log(1 + left * (growth - 1) / len(self.at)) / log(growth) >= length

    # --- The answers after the prefixes -------------------------------------------------------------------------------------

    def _look_at_answers(self) -> Failure | Stopped | None:
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
            return Stopped(LIMIT, "the search went no further")
        return self._grow(said)

    def _right_answers(self) -> Truths:
        """Say what is right after each prefix, place by place: nothing where nothing is asked, with `threshold` the end alone."""
        right = np.zeros((len(self.at), len(self.network.alphabet) + 1), bool)
        if not len(self.at) or not self.scope.counts(self.length):
            return right
        if self.by_threshold:
            right[:, -1] = self._is_member(self.at)
            return right
        return self._wanted(self.at)

    def _right_places(self, configuration: Configuration) -> list[bool]:
        named = self.network.right_answer(configuration) or ()
        return [place in named for place in range(len(self.network.alphabet) + 1)]

    def _said(self, right: Truths) -> tuple[Said, Truths]:
        """Return what is said after each prefix, and which of what is needed is open, even with more digits."""
        needed = self._needed(right)
        said = self.runner.said(self.states) if self.runner and len(self.at) else nothing_said(needed.shape)
        unsaid = np.flatnonzero((needed & ~said.yes & ~said.no).any(axis=1))
        for row in self._strings_of(unsaid) if self.scope.arithmetic == REAL else ():
            said.yes[row], said.no[row] = self.deeper.said(self.trail, int(row), needed[row])
            if (needed[row] & ~said.yes[row] & ~said.no[row]).any() or self.deeper.asked > _MOST_DEEPER:
                break
        return said, needed & ~said.yes & ~said.no

    def _strings_of(self, rows: Places) -> Places:
        """Return those of some rows that are a single prefix, which more digits may decide."""
        return rows

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

    def _tie(self, is_open: Truths) -> Stopped:
        if self.deeper.asked > _MOST_DEEPER:
            words = f"at length {self.length} too many prefixes need more digits than doubles have"
            return Stopped(WORK, words)
        row = int(np.flatnonzero(is_open.any(axis=1))[0])
        runs = " ".join(f"{token}^{size}" for token, size in runs_of(self._string(row))) or "the empty string"
        words = f"{MOST_DIGITS:,} binary digits do not tell what it says after {runs}, which may be a tie"
        if self.scope.arithmetic != REAL:
            words = f"libraries may differ in what it says after {runs}"
        return Stopped(UNDECIDED, words)

    # --- One token more -----------------------------------------------------------------------------------------------------

    def _is_left(self) -> bool:
        return bool(len(self.at) or self.rejections.waiting)

    @property
    def _entries(self) -> int:
        return max(self.network.cell.matrix_entries, _LEAST_ENTRIES)

    def _grow(self, said: Said) -> Stopped | None:
        """Go on to the prefixes with one more token; return why that is too much, where it is."""
        after = self.met.after(self.at)
        if self.by_threshold:
            self._reject(said.no[:, :-1], after)
        rows, tokens = np.nonzero(self._followed(said, after))
        self.followed += len(rows)
        if self.followed * self._entries > _MOST_WORK:
            return Stopped(WORK, f"{len(rows):,} {self.followed_as} of length {self.length + 1} are too many to follow")
        if self.runner and len(rows):
            self.states = self._step(self.runner, rows, tokens)
        self.at = after[rows, tokens]
        self._go_to(rows, tokens)
        return None

    def _followed(self, said: Said, after: Whole) -> Truths:
        """Say by which tokens each prefix goes on."""
        return said.yes[:, :-1] if self.by_threshold else self._is_live(after)

    def _go_to(self, rows: Places, tokens: Places) -> None:
        """Take prefixes with one more token for those that are followed; their states and configurations are there."""
        self.trail = self.trail.longer(rows, tokens)

    def _reject(self, no: Truths, after: Whole) -> None:
        """Look at what the rejected prefixes lead to, one for each configuration, in the order of the alphabet."""
        self.rejections.advance()
        rows, tokens = np.nonzero(no)
        _, first = np.unique(after[rows, tokens], return_index=True)
        for at in map(int, np.sort(first)):
            row, token = int(rows[at]), int(tokens[at])
            reached = self.met[int(after[row, token])]
            if self.network.task.futures.is_live(reached) and not self.rejections.is_hopeless(self.length + 1):
                self.rejections.add((*self._string(row), self.network.alphabet[token]), reached)

    def _step(self, runner: Runner, rows: Places, tokens: Places) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the states of the prefixes with one more token, in their order."""
        order = np.argsort(tokens, kind="stable")
        parts = [
            runner.step(chosen(self.states, rows[tokens == place]), self.inputs[place])
            for place in map(int, np.unique(tokens))
        ]
        return chosen(joined(parts), np.argsort(order))
