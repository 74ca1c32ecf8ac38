"""What the explorer says of a network of any kind: what it is, its verdict, and how many prefixes live."""

from typing_extensions import TypedDict  # pydantic cannot read those of typing before Python 3.12

from tallystick.certificates.certify import certify
from tallystick.certificates.languages.live_prefixes import live_counts
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import REAL, Lengths
from tallystick.errors import BadInput
from tallystick.explore.answers import Judgement, judgement
from tallystick.explore.linear_answers import has_picture
from tallystick.explore.readings import Layer, layer_record, layers_of
from tallystick.networks import Network
from tallystick.networks.steps import STEPWISE

LONGEST_SEARCH = 200
"""To which length prefixes are followed here; `tallystick certify` goes on."""

_REPEATS = 4
_SHOWN_IN = "float64"


class NetworkAnswer(TypedDict):
    """What a network is, which takes no time to say.

    `lengths` are those that it is worth deciding by: even ones where brackets are counted. `has_steps` says whether it answers
    after every token, so that some prefixes live and others do not, and `has_picture` whether eigenvalues explain it. `tokens`
    is a string to begin with.
    """

    cell: str
    units: int
    layers: list[Layer]
    task: str
    answer: str
    alphabet: list[str]
    lengths: list[str]
    has_steps: bool
    has_picture: bool
    tokens: list[str]


def describe(network: Network) -> NetworkAnswer:
    """Return what a network is."""
    return {
        "cell": network.cell.name,
        "units": network.cell.units,
        "layers": [layer_record(layer) for layer in layers_of(network.cell)],
        "task": network.task.name,
        "answer": network.readout.decision,
        "alphabet": list(network.alphabet),
        "lengths": [str(lengths) for lengths in (Lengths if network.is_usual else (Lengths.ALL,))],
        "has_steps": network.readout.decision in STEPWISE,
        "has_picture": has_picture(network),
        "tokens": list(_some_string(network)),
    }


def judge(network: Network, lengths: str, upto: int | None = None) -> Judgement:
    """Return the verdict on a network in real numbers, searching to a length where nothing else decides."""
    limit = LONGEST_SEARCH if upto is None and network.readout.decision in STEPWISE else upto
    return judgement(certify(network, lengths, REAL, limit=limit))


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


def _some_string(network: Network) -> tuple[str, ...]:
    """Return a short string that begins with the first token a few times, and that the language accepts if it has such a one."""
    tokens = (network.alphabet[0],) * _REPEATS
    if network.is_usual:
        return tokens + (network.alphabet[1],) * _REPEATS
    futures, machine = network.task.futures, network.task.machine
    for repeats in range(_REPEATS, 0, -1):
        after = machine.start
        for token in tokens[:repeats]:
            after = machine.step(after, token).after
        rest = futures.completion(after)
        if rest is not None:
            return tokens[:repeats] + rest
    return ()
