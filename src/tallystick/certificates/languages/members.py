"""How far a network is right on the members of its language: aⁿbⁿ for n = 0, 1, 2, ...

n counts the lengths that members have: for aⁿbⁿcⁿ it is the n of that name, for Dyck-1 half the length, where all members of the
length must be right. It starts from 0 where the empty string is a member, else from 1.
"""

from dataclasses import dataclass
from math import log

from tallystick.certificates.languages.member_runs import MemberRun, named_after, run_members
from tallystick.certificates.languages.prefixes import Position
from tallystick.certificates.verdict import REAL, Failure
from tallystick.errors import BadInput, check_whole
from tallystick.languages.counter_machine import Configuration
from tallystick.languages.tasks import MembershipClass, Task
from tallystick.networks import Network
from tallystick.networks.steps import STEPWISE, THRESHOLD
from tallystick.numbers import FORMATS, standard_floats

MOST_MEMBERS = 1_000_000
_LOOKED_AT, _MOST_CONFIGURATIONS = 24, 20_000
"""How long the members are from which the lengths of others are guessed, and how many configurations that may take."""

_FEW_MORE, _MOST_PREFIXES = 8, 1_000_000
"""Where prefixes are more than so many times as many with every dozen tokens, no more than so many are run."""

_MOST_PER_N = 64
"""Members of an n that would be longer than this many times n are not looked for."""


@dataclass(frozen=True)
class Members:
    """What is right of the members of a language.

    Attributes:
        network: the network.
        arithmetic: `real`, or the floating point it is executed in.
        upto: the largest n that was asked for.
        members: how many members there are up to it.
        wrong: how many of them are wrong.
        right_upto: the largest n such that its members and those of all smaller n are right; the first n less 1 if none is.
        first_wrong: the least n of which a member is wrong; None where all are right.
        ranges: the first and the last n of each range in which every n has a wrong member.
        failure: how the first wrong member fails: the member itself with `threshold`, else its prefix after which the answer is
            wrong.
    """

    network: Network
    arithmetic: str
    upto: int
    members: int
    wrong: int
    right_upto: int
    first_wrong: int | None
    ranges: tuple[tuple[int, int], ...]
    failure: Failure | None


@standard_floats()
def members(network: Network, upto: int, arithmetic: str = REAL) -> Members:
    """Run a network on all members up to some n, and say which of them it gets right.

    With `threshold` a member is right if it is accepted. With `next` and `support` it is right if every answer along it is that
    the language asks for. In real arithmetic every answer is certain; in floating point it is that of the cell's own step.

    Args:
        network: one that answers after every token.
        upto: the largest n.
        arithmetic: `real`, `float16`, `bfloat16`, `float32` or `float64`.
    """
    if network.readout.decision not in STEPWISE:
        raise BadInput(
            f"network: members are for networks that answer after every token ({', '.join(STEPWISE)}), and this one decides by "
            f"{network.readout.decision}; certify takes it"
        )
    if arithmetic not in (REAL, *FORMATS):
        raise BadInput(f"arithmetic: {arithmetic!r} is not one of {', '.join((REAL, *FORMATS))}")
    check_whole(upto, "upto", least=1, most=MOST_MEMBERS)
    run, found, lengths, upto = _run_upto(network, arithmetic, upto)
    first = _first(lengths)
    number = {length: n for n, length in enumerate(lengths[: upto - first + 1], start=first)}
    asked = [(number[at.length], at, wrong) for at, wrong in found if at.length in number]
    failing = sorted((n, wrong, at) for n, at, wrong in asked if wrong is not None)
    failure = None
    if failing:
        _, wrong, at = failing[0]
        failure = _failure(run, arithmetic, at, wrong)
    ranges = _ranges(sorted({n for n, _, _ in failing}))
    first_wrong = ranges[0][0] if ranges else None
    right_upto = upto if first_wrong is None else first_wrong - 1
    return Members(network, arithmetic, upto, len(asked), len(failing), right_upto, first_wrong, ranges, failure)


def _run_upto(
    network: Network, arithmetic: str, upto: int
) -> tuple[MemberRun, list[tuple[Position, int | None]], list[int], int]:
    """Run the members up to an n, or of all n where a language has not so many; return their lengths and the largest n too."""
    longest = _length_of(network.task, upto)
    _check_number(network.task, upto, longest)
    while True:
        run, found = run_members(network, arithmetic, longest)
        lengths = sorted({at.length for at, _ in found})
        if len(lengths) > upto - _first(lengths):
            return run, found, lengths, upto
        if longest > _MOST_PER_N * (upto + _LOOKED_AT):
            break
        longest *= 2
    if not lengths:
        raise BadInput(f"task: {network.task.name!r} has no members of up to {longest} tokens")
    return run, found, lengths, _first(lengths) + len(lengths) - 1


def _check_number(task: Task, upto: int, longest: int) -> None:
    """Refuse members whose number multiplies with every token, as that of Dyck-1 does, where they would be too many to run."""
    ways, before = {task.machine.start: 1}, 1
    for length in range(1, min(longest, _LOOKED_AT) + 1):
        following: dict[Configuration, int] = {}
        for here, number in ways.items():
            for after in task.futures.live_steps(here).values():
                following[after] = following.get(after, 0) + number
        ways = following
        total = sum(ways.values())
        if length == _LOOKED_AT // 2:
            before = total
        if not ways or len(ways) > _MOST_CONFIGURATIONS:
            return
    growth = sum(ways.values()) / before  # in half as many tokens as were looked at
    if growth > _FEW_MORE and log(before) + log(growth) * longest / (_LOOKED_AT // 2) > log(_MOST_PREFIXES):
        raise BadInput(
            f"upto: {task.name!r} has too many members up to n = {upto:,} to run each; ask for fewer, or certify, which is about "
            "all strings"
        )


def _first(lengths: list[int]) -> int:
    return 0 if lengths[:1] == [0] else 1


def _length_of(task: Task, n: int) -> int:
    """Return about the length of the members of an n, as the lengths of short members let one guess."""
    lengths: list[int] = []
    reached = {task.machine.start}
    for length in range(_LOOKED_AT + 1):
        if any(map(task.machine.accepts_configuration, reached)):
            lengths.append(length)
        reached = {after for here in reached for after in task.futures.live_steps(here).values()}
        if len(reached) > _MOST_CONFIGURATIONS:
            break
    if len(lengths) < 2:  # noqa: PLR2004 -- a distance needs two
        return 2 * _LOOKED_AT + n
    more = n - (len(lengths) - (lengths[0] == 0))
    return lengths[-1] + more * (lengths[-1] - lengths[-2]) if more > 0 else lengths[n - (lengths[0] > 0)]


def _failure(run: MemberRun, arithmetic: str, at: Position, wrong: int) -> Failure:
    network = run.network
    if network.readout.decision == THRESHOLD:
        return Failure(run.runs.string(at, network.alphabet), MembershipClass.REJECTED, MembershipClass.ACCEPTED)
    runs = run.runs.string(run.runs.prefix(at, wrong), network.alphabet)
    string = Failure(runs, "", "").tokens
    found = network.name_of(named_after(network, arithmetic, string))
    return Failure(runs, found, network.right_class(string) or "")


def _ranges(numbers: list[int]) -> tuple[tuple[int, int], ...]:
    """Return the first and last of each range of whole numbers.

    >>> _ranges([1, 2, 3, 7, 9, 10])
    ((1, 3), (7, 7), (9, 10))
    """
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return tuple(found)
