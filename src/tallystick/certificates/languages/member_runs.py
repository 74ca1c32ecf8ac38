"""Which members of a language a network gets right: aⁿbⁿ for every n up to some thousands, or all members up to a length.

All members run together. A prefix waits for each token that may follow it, and all that wait for one token read it together, the
first tokens of the alphabet first: so aⁿ is read once for every n, and then all n go through their b together.

A prefix is known by its last run of equal tokens and its length. What is wrong at a prefix is wrong for all members that begin
with it. Which tokens may follow is told by the abstract machine of `Futures` where it allows one alone, and else by the
members that were found to go on with them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import inputs_of
from tallystick.certificates.languages.machine_arrays import Configurations, MachineArrays, joined_configurations
from tallystick.certificates.languages.more_digits import MOST_DIGITS, numbers_of_digits
from tallystick.certificates.languages.prefixes import Position, PrefixRuns
from tallystick.certificates.languages.runners import Balled, Runner, chosen, joined, quick_rows, runner_of
from tallystick.certificates.languages.said import Said, Truths
from tallystick.certificates.progress import report
from tallystick.certificates.verdict import REAL
from tallystick.errors import BadInput
from tallystick.languages.counter_machine import Configuration
from tallystick.networks import Network
from tallystick.networks.steps import NEXT, SUPPORT, THRESHOLD

MOST_PREFIXES = 300_000_000
"""How many prefixes are run in all; in balls a thousandth of it."""

Whole = NDArray[np.int64]


class Open(Exception):
    """An answer that the numbers at hand leave open."""


class Question(NamedTuple):
    """What was said at a prefix after which several tokens may be allowed."""

    at: Position
    configuration: Configuration
    possible: tuple[bool, ...]
    yes: tuple[bool, ...]
    no: tuple[bool, ...]


class _Batch(NamedTuple):
    """Prefixes that end in the same token: their states, configurations, last runs and lengths."""

    states: Any
    at: Configurations
    runs: Whole
    lengths: Whole


@dataclass
class MemberRun:
    """All members up to a length, run in one kind of number.

    Attributes:
        runs: the prefixes that were read.
        members: the last run and the length of each member, and whether the network does not let it end, batch by batch.
        questions: the prefixes whose allowed tokens are yet to be told.
    """

    network: Network
    runner: Runner
    longest: int
    most: int
    runs: PrefixRuns = field(default_factory=PrefixRuns)
    members: list[tuple[Whole, Whole, Truths]] = field(default_factory=list[tuple[Whole, Whole, Truths]])
    questions: list[Question] = field(default_factory=list[Question])

    def __post_init__(self) -> None:
        """Prepare the machine."""
        self.machine = MachineArrays(self.network.task.futures)
        self.decision = self.network.readout.decision
        self.waiting: list[list[_Batch]] = [[] for _ in self.network.alphabet]

    def run(self) -> None:
        """Read all prefixes of members up to the length; raise `Open` where an answer is."""
        tokens = list(inputs_of(self.network.alphabet).values())
        start = _Batch(self.runner.start(), self.machine.start, np.zeros(1, np.int64), np.zeros(1, np.int64))
        self._look(start, token=None)
        followed = 1
        while (token := next((place for place, one in enumerate(self.waiting) if one), None)) is not None:
            batch, self.waiting[token] = _joined(self.waiting[token]), []
            followed += len(batch.runs)
            if followed > self.most:
                raise BadInput(f"upto: more than {self.most:,} prefixes to run; ask for fewer members")
            states = self.runner.step(batch.states, tokens[token])
            self._look(batch._replace(states=states), token)
            report(followed, 0, f"{followed:,} prefixes of members")

    def _look(self, batch: _Batch, token: int | None) -> None:
        """Look at what is said after prefixes that end in a token, and let them wait for the tokens that may follow."""
        said, possible = self.runner.said(batch.states), self.machine.possible(batch.at)
        accepted = possible[:, -1]
        if self.decision != THRESHOLD:
            self._ask(batch, said, possible)
        elif (accepted & ~said.yes[:, -1] & ~said.no[:, -1]).any():
            raise Open
        rows = np.flatnonzero(accepted)
        if len(rows):
            ends_wrongly = said.no[rows, -1] & (self.decision == THRESHOLD)
            self.members.append((batch.runs[rows], batch.lengths[rows], ends_wrongly))
        for place in range(len(self.network.alphabet)):
            rows = np.flatnonzero(possible[:, place])
            if len(rows):
                self._follow(batch, said, rows, place, goes_on=place == token)

    def _follow(self, batch: _Batch, said: Said, rows: NDArray[np.intp], token: int, *, goes_on: bool) -> None:
        """Let prefixes wait for a token, but those that cannot be completed in time; some go on with their last run."""
        size, quick = len(batch.runs), quick_rows(rows, len(batch.runs))
        at, lengths = self.machine.after(batch.at.of(quick), token), batch.lengths[quick] + 1
        fits = lengths + self.machine.least_tokens(at) <= self.longest
        if not fits.any():
            return
        if not fits.all():
            rows, at, lengths = rows[fits], at.of(np.flatnonzero(fits)), lengths[fits]
            quick = quick_rows(rows, size)
        runs = batch.runs[quick] if goes_on else self.runs.begin(batch.runs[quick], lengths - 1, token)
        if self.decision == THRESHOLD:
            rejected = said.no[rows, token]
            if not (rejected | said.yes[rows, token]).all():
                raise Open
            self.runs.mark(runs[rejected], lengths[rejected])
        self.waiting[token].append(_Batch(chosen(batch.states, quick), at, runs, lengths))

    def _ask(self, batch: _Batch, said: Said, possible: Truths) -> None:
        """Compare with the one token that is allowed; leave it for later where there may be several."""
        allowed = possible.sum(axis=1)
        alone = allowed == 1
        is_known = said.yes | said.no
        matter = possible if self.decision == NEXT else np.ones_like(possible)
        if (matter & ~is_known)[alone].any():
            raise Open
        wrong = alone & ((matter & (possible != said.yes)).any(axis=1))
        self.runs.mark(batch.runs[wrong], batch.lengths[wrong])
        for row in np.flatnonzero(allowed > 1).tolist():
            self.questions.append(
                Question(
                    Position(int(batch.runs[row]), int(batch.lengths[row])),
                    self.machine.configuration(batch.at, row),
                    *(tuple(part[row].tolist()) for part in (possible, said.yes, said.no)),
                )
            )

    def first_wrong(self) -> Iterator[tuple[Position, int | None]]:
        """Go through the members; each with the length of its first wrong prefix, or None where all is right."""
        if not self.members:
            return
        parts = [np.concatenate(arrays) for arrays in zip(*self.members, strict=True)]
        self.runs.finish(parts[0], parts[1])
        for question in self.questions:
            if self.runs.is_live(question.at):
                self._settle(question)
        for run, length, ends_wrongly in zip(*(part.tolist() for part in parts), strict=True):
            wrong = self.runs.first_mark(Position(run, length))
            yield Position(run, length), length if wrong is None and ends_wrongly else wrong

    def _settle(self, question: Question) -> None:
        """Find out which tokens are allowed after a prefix, and compare."""
        machine, futures = self.network.task.machine, self.network.task.futures
        right = list(question.possible)
        for place, token in enumerate(machine.alphabet):
            if right[place] and not self.runs.goes_on(question.at, place):
                right[place] = futures.is_live(machine.step(question.configuration, token).after)
        if self.decision != SUPPORT and sum(right) > 1:
            return
        pairs = list(zip(right, question.yes, question.no, strict=True))
        if any(not yes and not no for wanted, yes, no in pairs if wanted or self.decision == SUPPORT):
            raise Open
        if any(no if wanted else yes for wanted, yes, no in pairs):
            self.runs.mark(np.array([question.at.run]), np.array([question.at.length]))


def _joined(parts: list[_Batch]) -> _Batch:
    if len(parts) == 1:
        return parts[0]
    states, at, runs, lengths = zip(*parts, strict=True)
    return _Batch(joined(list(states)), joined_configurations(list(at)), np.concatenate(runs), np.concatenate(lengths))


def run_members(network: Network, arithmetic: str, longest: int) -> tuple[MemberRun, list[tuple[Position, int | None]]]:
    """Run all members up to a length, in real arithmetic with as many digits as it takes."""
    for runner in _runners(network, arithmetic):
        run = MemberRun(network, runner, longest, MOST_PREFIXES // (1000 if isinstance(runner, Balled) else 1))
        try:
            run.run()
            return run, list(run.first_wrong())
        except Open:
            continue
    raise BadInput(
        f"members: {MOST_DIGITS:,} binary digits do not tell what the network says after some prefix, which may be a tie; "
        "ask for fewer members with upto=, or for an arithmetic such as float32"
    )


def named_after(network: Network, arithmetic: str, string: tuple[str, ...]) -> list[int]:
    """Return the places of the tokens that are named after a string, in real arithmetic with as many digits as it takes."""
    tokens, named = inputs_of(network.alphabet), np.zeros(0, np.bool_)
    for runner in _runners(network, arithmetic):
        states = runner.start()
        for token in string:
            states = runner.step(states, tokens[token])
        said = runner.said(states)
        named = said.yes[0]
        if (said.yes | said.no).all():
            break
    return np.flatnonzero(named).tolist()


def _runners(network: Network, arithmetic: str) -> Iterator[Runner]:
    quick = runner_of(network, arithmetic)
    if quick is not None:
        yield quick
    if arithmetic == REAL:
        yield from (Balled(network, bits) for bits in numbers_of_digits())
