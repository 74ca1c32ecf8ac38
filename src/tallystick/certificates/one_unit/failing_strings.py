"""Strings of a length that fail, for use as tests: the extreme ones, and random ones.

Extreme: in every group of strings whose least or greatest h gets a wrong class, the string that attains it.

Random: where failing strings are common, each is drawn with the same chance, by drawing strings and keeping those that
fail. Where they are rare, strings are grown token by token: a token is drawn among those after which some string of the
length still fails. Whether one does is told by the extremes of h from the present state on, which are attained, so growing
never ends in a dead end; and every string that could be told by an extreme has a chance.
"""

import random
from collections.abc import Iterator

from tallystick.cells import ScalarCell
from tallystick.certificates.one_unit.executions import Execution, execution
from tallystick.certificates.one_unit.extremes import ByOpenings, Ends, Grouping, first_row
from tallystick.certificates.one_unit.search import failure_of, grouping_of, rows_of, string_to, wrong_ends
from tallystick.certificates.verdict import REAL, Failure
from tallystick.errors import check_whole
from tallystick.languages.brackets import ALPHABET
from tallystick.networks import Network
from tallystick.numbers import standard_floats

LONGEST = 400
_MOST_RANDOM = 10_000
"""The most random failing strings at once; some seconds."""

_TRIES = 20
"""How many strings are drawn for each one wanted before failing strings count as rare."""


@standard_floats()
def extreme_failures(model: Network, length: int, arithmetic: str = REAL) -> list[Failure]:
    """Return the failing strings that attain an extreme of h in their group, each once.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.networks import Readout
    >>> [failure.string for failure in extreme_failures(Network(LinearCell(1, -1, 2), Readout.binary(1)), 4)]
    ['()))', '(())', ')(((']
    """
    run, grouping = _ready(model, length, arithmetic)
    history = list(rows_of(run, grouping, length))
    network = run.model_at(length)
    places = wrong_ends(network.readout, grouping.right_classes(network.task, length), history[-1])
    strings = dict.fromkeys(string_to(run, grouping, history, *place) for place in places)
    return [failure for string in strings if (failure := failure_of(run, grouping, string))]


@standard_floats()
def random_failures(model: Network, length: int, number: int, seed: int = 0, arithmetic: str = REAL) -> list[Failure]:
    """Return so many random failing strings, repeats included; none where no string of the length is known to fail."""
    check_whole(number, "number", least=0, most=_MOST_RANDOM)
    run, grouping = _ready(model, length, arithmetic)
    generator = random.Random(seed)
    found = list(_keep_failing(run, grouping, length, number, generator))
    if len(found) == number:
        return found
    grown = (_grow(run, grouping, length, generator) for _ in range(number))
    return [failure for string in grown if string and (failure := failure_of(run, grouping, string))]


def _ready(model: Network, length: int, arithmetic: str) -> tuple[Execution, Grouping]:
    model.require_usual()
    check_whole(length, "length", least=1, most=LONGEST)
    run = execution(model, arithmetic)
    return run, grouping_of(run.model_at(0))


def _keep_failing(
    run: Execution, grouping: Grouping, length: int, number: int, generator: random.Random
) -> Iterator[Failure]:
    wanted = number
    for _ in range(_TRIES * number):
        if not wanted:
            return
        failure = failure_of(run, grouping, "".join(generator.choices(ALPHABET, k=length)))
        if failure:
            wanted -= 1
            yield failure


def _grow(run: Execution, grouping: Grouping, length: int, generator: random.Random) -> str | None:
    """Grow a failing string, or return None where the extremes tell of none."""
    string, group, ends = "", 0, first_row(run.model_at(0).scalar_cell)
    if not _can_fail(run, grouping, {group: ends}, 0, length):
        return None
    while len(string) < length:
        for token in generator.sample(ALPHABET, k=len(ALPHABET)):
            after, target = ends.after(_cell(run, len(string) + 1), token), grouping.target(group, token)
            if _can_fail(run, grouping, {target: after}, len(string) + 1, length):
                string, group, ends = string + token, target, after
                break
        else:  # bounds that no longer tell
            return None
    return string


def _can_fail(run: Execution, grouping: Grouping, groups: dict[int, Ends], length: int, longest: int) -> bool:
    """Say whether an extreme of some group is wrong once the strings have been read to the end."""
    if isinstance(grouping, ByOpenings):
        ((group, ends),) = groups.items()
        return _can_fail_by_openings(run, grouping, group, ends, range(length + 1, longest + 1))
    for size in range(length + 1, longest + 1):
        longer: dict[int, Ends] = {}
        for group, ends in groups.items():
            for token in ALPHABET:
                target, image = grouping.target(group, token), ends.after(_cell(run, size), token)
                longer[target] = longer[target].union(image) if target in longer else image
        groups = longer
    network = run.model_at(longest)
    right = grouping.right_classes(network.task, longest)
    return any(any(wrong_ends(network.readout, right[group : group + 1], ends)) for group, ends in groups.items())


def _can_fail_by_openings(run: Execution, grouping: Grouping, group: int, ends: Ends, lengths: range) -> bool:
    """The same for all groups at once: those after k more tokens are the k + 1 that follow the present one."""
    for length in lengths:
        ends = grouping.advance(ends, _cell(run, length))
    longest = lengths.stop - 1
    network = run.model_at(longest)
    right = grouping.right_classes(network.task, longest)[group : group + len(ends.least)]
    return any(wrong_ends(network.readout, right, ends))


def _cell(run: Execution, length: int) -> ScalarCell:
    return run.model_at(length).scalar_cell
