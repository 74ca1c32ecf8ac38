"""What the explorer says of a network over any alphabet: its verdict, how many prefixes live, and a string as it is read."""

from functools import partial
from typing import Literal

from typing_extensions import TypedDict  # pydantic cannot read those of typing before Python 3.12

from tallystick.cells import Stack
from tallystick.certificates.certify import certify
from tallystick.certificates.languages.live_prefixes import live_counts
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import Lengths
from tallystick.errors import BadInput, check_tokens
from tallystick.explore.answers import Judgement, as_float, judgement
from tallystick.languages.tasks import MembershipClass
from tallystick.networks import Network
from tallystick.networks.steps import STEPWISE, THRESHOLD, said_places
from tallystick.numbers import standard_floats

LONGEST_READING = 600
"""Tokens of a string that is read here: after each prefix the language is asked what is right."""

LONGEST_SEARCH = 200
"""To which length prefixes are followed here; `tallystick certify` goes on."""

_REPEATS = 4
_SHOWN_IN = "float64"


class LanguageAnswer(TypedDict):
    """A network over any alphabet: its verdict in real numbers, and a string to play: a shortest failing one, or a member.

    `has_steps` says whether it answers after every token, so that some prefixes live and others do not.
    """

    kind: Literal["language"]
    cell: str
    units: int
    task: str
    answer: str
    alphabet: list[str]
    all: Judgement
    has_steps: bool
    tokens: list[str]


class Reading(TypedDict):
    """A string read token by token; every list begins before the first token.

    `units` has the hidden units after each token, in float64. `says` is what the network answers after each prefix and `right`
    what it should; null where every answer is right.
    """

    tokens: list[str]
    units: list[list[float | None]]
    says: list[str]
    right: list[str | None]


def language(network: Network) -> LanguageAnswer:
    """Return the verdict on a network, and what is drawn of it."""
    steps = network.readout.decision in STEPWISE
    verdict = certify(network, limit=LONGEST_SEARCH if steps else None)
    failure = verdict.failure or verdict.known_failure
    short = failure is not None and failure.length <= LONGEST_READING
    return {
        "kind": "language",
        "cell": network.cell.name,
        "units": network.cell.units,
        "task": network.task.name,
        "answer": network.readout.decision,
        "alphabet": list(network.alphabet),
        "all": judgement(verdict),
        "has_steps": steps,
        "tokens": list(failure.tokens if failure and short else _some_member(network)),
    }


class Live(TypedDict):
    """How many prefixes of each length live, from 0 on, in float64.

    They are those that a network with the answer `threshold` has not rejected, and with `next` and `support` those of members.
    """

    counts: list[int]


def live(network: Network) -> Live:
    """Count the prefixes that live, until one fails."""
    if network.readout.decision not in STEPWISE:
        raise BadInput(f"answer: {network.readout.decision} is given at the end alone, so that no prefix is rejected")
    return {"counts": live_counts(network, Scope(Lengths.ALL, network.first_length, _SHOWN_IN, LONGEST_SEARCH))}


def reading(network: Network, tokens: tuple[str, ...]) -> Reading:
    """Return the units, what the network says and what is right before the first token and after each."""
    check_tokens(tokens, network.alphabet)
    executed = network.in_arithmetic(_SHOWN_IN)
    with standard_floats():
        states = executed.trace(tokens)
        units = [[as_float(value) for value in executed.cell.hidden(state)] for state in states]
        says = _answers_along(executed, tokens, states)
    prefixes = (tokens[:length] for length in range(len(tokens) + 1))
    return {
        "tokens": list(tokens),
        "units": units,
        "says": says,
        "right": [network.right_class(one) for one in prefixes],
    }


def _text(answer: str | None) -> str | None:
    return None if answer is None else str(answer)


def _answers_along(network: Network, tokens: tuple[str, ...], states: list[object]) -> list[str]:
    """Return what a network says after each prefix."""
    steps, alphabet = network.readout.steps, network.alphabet
    if steps is None:
        padded = network.cell.padded_to if isinstance(network.cell, Stack) else 0
        return [
            str(network.class_of(tokens[:length]) if length < padded else network.class_of_state(state))
            for length, state in enumerate(states)
        ]
    said = partial(said_places, network.readout.decision, steps, alphabet)
    named = [said(network.outputs_of_state(state)) for state in states]
    if network.readout.decision != THRESHOLD:
        return [steps.names(places, alphabet) for places in named]
    found: list[str] = []
    is_followed = True
    for place, places in enumerate(named):
        accepted = is_followed and len(alphabet) in places
        found.append(str(MembershipClass.ACCEPTED if accepted else MembershipClass.REJECTED))
        is_followed = is_followed and place < len(tokens) and alphabet.index(tokens[place]) in places
    return found


def _some_member(network: Network) -> tuple[str, ...]:
    """Return a short string that the language accepts: one that begins with the first token a few times, where there is one."""
    futures, machine = network.task.futures, network.task.machine
    for repeats in range(_REPEATS, 0, -1):
        tokens = (network.alphabet[0],) * repeats
        after = machine.start
        for token in tokens:
            after = machine.step(after, token).after
        rest = futures.completion(after)
        if rest is not None:
            return tokens + rest
    return ()
