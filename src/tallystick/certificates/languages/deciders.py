"""What decides a network that is asked about a language: any alphabet, any counter machine, any way of answering.

A **decider** here goes from a network and what is asked of it to a verdict, or None where it cannot tell. They are asked in turn.
"""

from collections.abc import Callable
from typing import NamedTuple

from tallystick.certificates.verdict import Lengths, Verdict
from tallystick.errors import BadInput
from tallystick.networks import Network


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


LanguageDecider = Callable[[Network, Scope], Verdict | None]

DECIDERS: dict[str, LanguageDecider] = {}
"""Every decider by the name of its method in certificates, in the order in which they are asked."""


def certify_language(network: Network, scope: Scope) -> Verdict:
    """Ask the deciders in turn."""
    for decide in DECIDERS.values():
        verdict = decide(network, scope)
        if verdict is not None:
            return verdict
    raise BadInput(
        f"task: {network.task.name!r} is outside what can be decided of this network in {scope.arithmetic} arithmetic"
    )
