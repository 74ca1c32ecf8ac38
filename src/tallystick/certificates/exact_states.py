"""Networks with few exact states, such as counters made by hand of ReLU units: every state that is reached is looked at once.

What a network does after a string depends on its state alone, and what is right depends on the machine's configuration. So all
strings that lead to one state and one configuration go on alike, and a pair that was reached by a shorter string needs no
second look. A counter reaches a few new pairs with every token, where boxes see nothing but ties; where no new pair is reached at
all, every length is decided. A network whose states are all different reaches twice as many each time; it is left to the other
deciders as soon as that is seen.

The outputs of a network whose states are rational may be no rationals, such as a tanh of one. They are compared in balls.

A network that is asked after every token for the next one is only asked about prefixes of members, so that only their pairs are
followed.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tallystick.cells import inputs_of
from tallystick.certificates.languages.more_digits import CloserOutputs, class_of_order
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.progress import report
from tallystick.certificates.verdict import ANY_ORDERS, REAL, Failure, Lengths, Outcome, Verdict, arithmetic_of, runs_of
from tallystick.languages.counter_machine import Configuration
from tallystick.networks import Network
from tallystick.networks.steps import THRESHOLD, said_places
from tallystick.numbers import FUSED
from tallystick.numbers.balls import ball_of
from tallystick.numbers.values import map_states

METHOD = "exact states"

_FEW, _PER_TOKEN = 8, 4
"""So many new pairs are few, and so many more for each token of the strings that lead there, or for each configuration."""

_MOST_PAIRS = 300_000
"""With more pairs than this, a network over any alphabet is decided as far as the search has come; some seconds."""


class _Pair(NamedTuple):
    """What everything that follows depends on.

    Attributes:
        state: the network's.
        configuration: the machine's.
        when: 1 if the length is odd, else 0. Negative for a string that is too short to count, by so many tokens: what such a
            string leads to may have to be looked at when a longer one leads there too.
    """

    state: Any
    configuration: Configuration
    when: int


def decide_by_states(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Go through the pairs of a network in real numbers, or as executed if its order is said; None where they are too many."""
    if arithmetic != REAL and (not network.cell.has_order or arithmetic.endswith(FUSED)):
        return None
    return decide_language_by_states(network, Scope(lengths, 1, arithmetic, limit))


def decide_language_by_states(network: Network, scope: Scope) -> Verdict | None:
    """Go through the pairs of a network over any alphabet; None where they are too many, or its states are not exact numbers."""
    if network.readout.decision == THRESHOLD or network.cell.is_padded or scope.arithmetic in ANY_ORDERS:
        return None
    if scope.arithmetic == REAL and not network.cell.is_rational:
        return None
    executed = _Executed(network, scope.arithmetic)
    pairs = _Pairs(executed.network, scope.first)
    try:
        return _search(executed, pairs, scope)
    except _OpenError:
        return None


def _search(executed: "_Executed", pairs: "_Pairs", scope: Scope) -> Verdict | None:
    """Go through the lengths, up to a limit."""
    limit = scope.reach
    counted, reached = scope.lengths.upto(limit, scope.first), scope.start
    stop = f"every counted length to {limit} is right; the search went no further"
    try:
        while True:
            if not pairs.latest:
                return _prove(executed, scope, pairs)
            if pairs.length in counted:
                failing = [pair for pair in pairs.latest if executed.is_wrong(pair)]
                if failing:
                    return _refute(executed, scope, pairs, failing)
                reached = pairs.length
            if not pairs.are_few:
                return None
            if pairs.length:
                report(pairs.length, limit, f"right to length {reached}, with {pairs.number:,} states")
            if pairs.length == limit:
                break
            if pairs.number > _MOST_PAIRS and not executed.asked.is_usual:
                stop = f"every counted length to {reached} is right; the states beyond it are too many"
                break
            pairs.read_token()
    except KeyboardInterrupt:
        stop = f"interrupted: every counted length to {reached} is right, the ones beyond it were not decided"
    reason = f"{stop}, and it came to {pairs.number:,} different states"
    return _verdict(executed, scope, Outcome.BOUNDED, reached, None, reason)


class _Pairs:
    """The pairs that strings lead to, one length after the other.

    Attributes:
        length: of the strings.
        latest: the pairs that strings of this length are the first to reach.
    """

    def __init__(self, network: Network, first: int) -> None:
        self._network, self._first = network, first
        self._inputs = inputs_of(network.alphabet)
        self.length = 0
        self.latest = [_Pair(network.cell.initial_state, network.task.machine.start, self._when)]
        # With each pair the one before it and the token that led there.
        self._found: dict[_Pair, tuple[_Pair | None, str]] = {self.latest[0]: (None, "")}
        self._too_short = len(self.latest) if first else 0

    @property
    def number(self) -> int:
        """How many pairs were found, by strings that are long enough to count."""
        return len(self._found) - self._too_short

    @property
    def are_few(self) -> bool:
        """Whether it is worth while to go on."""
        configurations = len({pair.configuration for pair in self.latest})
        return len(self.latest) <= _FEW + _PER_TOKEN * max(self.length, configurations - 1)

    @property
    def _when(self) -> int:
        return self.length - self._first if self.length < self._first else self.length % 2

    def read_token(self) -> None:
        """Go on from the latest pairs with every token; keep the pairs that were not reached before."""
        self.length += 1
        self.latest = list(self._new_pairs())
        if self.length < self._first:
            self._too_short += len(self.latest)

    def _new_pairs(self) -> Iterator[_Pair]:
        network, when, found = self._network, self._when, self._found
        for pair in self.latest:
            for token, read in self._inputs.items():
                configuration = network.task.machine.step(pair.configuration, token).after
                if network.readout.steps is not None and not network.task.futures.is_live(configuration):
                    continue
                after = _Pair(network.cell.step(pair.state, read), configuration, when)
                if after not in found:
                    found[after] = pair, token
                    yield after

    def string_to(self, pair: _Pair) -> tuple[str, ...]:
        """Return a shortest string that leads to a pair."""
        tokens: list[str] = []
        before, token = self._found[pair]
        while before is not None:
            tokens.append(token)
            before, token = self._found[before]
        return tuple(reversed(tokens))


class _OpenError(Exception):
    """No number of digits that is tried tells what the answer is."""


class _Executed:
    """A network in the arithmetic that it is asked about."""

    def __init__(self, network: Network, arithmetic: str) -> None:
        self.asked = network
        self.network = network.in_arithmetic(arithmetic_of(arithmetic))
        self._closer = CloserOutputs(network) if arithmetic == REAL and not network.cell.shows_rationals else None

    def is_wrong(self, pair: _Pair) -> bool:
        """Say whether the network is wrong at a pair; where nothing is asked it never is."""
        right = self.asked.right_answer(pair.configuration)
        return right is not None and self.answer(pair) != right

    def answer(self, pair: _Pair) -> Any:  # noqa: ANN401 -- the index of a class, or the places of tokens
        """Return what the network answers at a pair."""
        network, readout = self.network, self.network.readout
        outputs: Any = None
        if self._closer is not None:
            outputs = self._closer.order(lambda balls: balls.outputs_of_state(map_states(ball_of, pair.state)))
            if outputs is None:
                raise _OpenError
        if readout.steps is None:
            hidden = network.cell.hidden
            return int(readout.class_index(hidden(pair.state)) if outputs is None else class_of_order(readout, outputs))
        outputs = network.outputs_of_state(pair.state) if outputs is None else outputs
        return said_places(readout.decision, readout.steps, network.alphabet, outputs)


def _prove(executed: _Executed, scope: Scope, pairs: _Pairs) -> Verdict:
    reason = f"only {pairs.number:,} different states are ever reached, and the network is right at each of them"
    return _verdict(executed, scope, Outcome.PROVED, None, None, reason)


def _refute(executed: _Executed, scope: Scope, pairs: _Pairs, failing: list[_Pair]) -> Verdict:
    """Return the verdict by the first failing string in the order of the alphabet."""
    places = executed.asked.alphabet.index
    string, pair = min(((pairs.string_to(pair), pair) for pair in failing), key=lambda one: [*map(places, one[0])])
    answers = executed.answer(pair), executed.asked.right_answer(pair.configuration)
    failure = Failure(runs_of(string), *map(executed.asked.name_of, answers))
    horizon = scope.lengths.before(failure.length)
    return _verdict(executed, scope, Outcome.REFUTED, horizon, failure, failure.reason())


def _verdict(
    executed: _Executed, scope: Scope, outcome: Outcome, horizon: int | None, failure: Failure | None, reason: str
) -> Verdict:
    lengths, arithmetic = scope.lengths, scope.arithmetic
    return Verdict(executed.asked, lengths, arithmetic, outcome, horizon, failure, METHOD, reason, first=scope.first)
