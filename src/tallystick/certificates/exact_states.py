"""Networks with few exact states, such as counters made by hand of ReLU units: every state that is reached is looked at once.

What a network does after a string depends on its state alone, and what is right depends on the machine's configuration. So all
strings that lead to one state and one configuration go on alike, and a pair that was reached by a shorter string needs no
second look. A counter reaches two new pairs with every token, where boxes see nothing but ties. A network whose states are
all different reaches twice as many each time; it is left to the other deciders as soon as that is seen.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tallystick.cells import ONE_HOT
from tallystick.certificates.progress import report
from tallystick.certificates.verdict import REAL, Failure, Lengths, Outcome, Verdict, runs_of
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.counter_machine import Configuration
from tallystick.networks import Network

METHOD = "exact states"

DEFAULT_LIMIT = 1000
_FEW, _PER_TOKEN = 8, 4
"""So many new pairs are few, and so many more for each token of the strings that lead there."""


class _Pair(NamedTuple):
    """What everything that follows depends on: the network's state, the machine's configuration, whether the length is odd."""

    state: Any
    configuration: Configuration
    is_odd: bool


_Found = dict[_Pair, tuple[_Pair | None, str]]
"""Every pair that was reached, with the token that led there and the pair before it; None stands for the empty string.

The empty string's own pair is not among them, since no class is asked for there: a longer string may be the first to reach it."""


def decide_by_states(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Go through the pairs of a rational network in real numbers; None where they are too many."""
    if arithmetic != REAL or not network.cell.shows_rationals:
        return None
    exact, limit = network.in_arithmetic("rational"), DEFAULT_LIMIT if limit is None else limit
    start = _Pair(exact.cell.initial_state, exact.task.machine.start, is_odd=False)
    found: _Found = {}
    latest, reached = [start], 0
    try:
        for length in range(1, limit + 1):
            latest = list(_new_pairs(exact, latest, found, is_first=length == 1))
            if length in lengths.upto(limit):
                failing = [
                    (_string_to(pair, found), pair) for pair in latest if _class(exact, pair) != _right(exact, pair)
                ]
                if failing:
                    return _refute(network, lengths, exact, *min(failing, key=lambda one: one[0]))
                reached = length
            if len(latest) > _FEW + _PER_TOKEN * length:
                return None
            report(length, limit, f"right to length {length}, with {len(found):,} states")
        stop = f"every counted length to {limit} is right; the search went no further"
    except KeyboardInterrupt:
        stop = f"interrupted: every counted length to {reached} is right, the ones beyond it were not decided"
    reason = f"{stop}, and it came to {len(found):,} different states"
    return Verdict(network, lengths, arithmetic, Outcome.BOUNDED, reached, None, METHOD, reason)


def _new_pairs(network: Network, latest: list[_Pair], found: _Found, *, is_first: bool) -> Iterator[_Pair]:
    """Go on from the latest pairs with every token; return the pairs that were not reached before."""
    for pair in latest:
        for token in ALPHABET:
            state = network.cell.step(pair.state, ONE_HOT[token])
            configuration = network.task.machine.step(pair.configuration, token).after
            after = _Pair(state, configuration, not pair.is_odd)
            if after not in found:
                found[after] = None if is_first else pair, token
                yield after


def _class(network: Network, pair: _Pair) -> int:
    return int(network.readout.class_index(network.cell.hidden(pair.state)))


def _right(network: Network, pair: _Pair) -> int:
    return network.task.question(network.task.machine, pair.configuration)


def _string_to(pair: _Pair | None, found: _Found) -> str:
    """Walk back to the empty string."""
    tokens: list[str] = []
    while pair is not None:
        pair, token = found[pair]
        tokens.append(token)
    return "".join(reversed(tokens))


def _refute(network: Network, lengths: Lengths, exact: Network, string: str, pair: _Pair) -> Verdict:
    classes = network.task.classes
    failure = Failure(runs_of(string), classes[_class(exact, pair)], classes[_right(exact, pair)])
    horizon = failure.length - lengths.stride
    reason = f"a string of length {failure.length} gets {failure.found} instead of {failure.right}; no shorter counted one fails"
    return Verdict(network, lengths, REAL, Outcome.REFUTED, horizon, failure, METHOD, reason)
