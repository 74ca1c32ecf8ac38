"""All strings to the horizon of a network whose step is a program, in boxes around the states of groups of strings.

A group holds the strings of one length with the same count and the same last tokens. One box per number holds the states of them
all: the boxes of a longer group are the least around what leads into it. A length is right if the boxes of every group lie in
the right class. The more last tokens are told apart, the closer the boxes and the longer the work.
"""

from collections.abc import Callable, Iterator

from .answers import TooCostly, Undecided, number_text, require
from .any_order import ANY_ORDER, AnyOrder
from .arithmetic import SQUASHED, Arithmetic, Boxes
from .boxes import BoxedNetwork, hull
from .claims import Claim, Counterexample, Network, Task
from .effort import Limit
from .executed import Executed
from .floating import FORMATS
from .rounded import Rounded

_SUFFIXES = (1, 4, 8, 11, 14, 16)
_PLACES = (96, 384, 1536, 6144)
_MOST_BOXES = 1 << 23
"""As many as fit into the memory of any machine, at about 150 bytes each."""

Groups = dict[tuple[int, int], Boxes]
"""By the number of `(`, or κ, and the last tokens as a binary number."""


def check_groups(claim: Claim, network: Network, limit: Limit) -> None:
    """The counterexample follows the horizon and fails, and every counted length to the horizon is right.

    Where boxes do not tell, they are drawn closer: by more digits if only rounding made them wide, else by smaller groups.
    """
    example = claim.counterexample
    if example is not None:
        _decide(claim, network, lambda boxed, _: _check_counterexample(claim, boxed, example, limit))
    _decide(claim, network, lambda boxed, suffix: _check_lengths(claim, network, boxed, suffix, limit))


def _arithmetics(claim: Claim, network: Network) -> Iterator[Arithmetic]:
    """Go through the arithmetics: one for floats; for real numbers several of more and more digits, or at last of all digits."""
    if claim.arithmetic.endswith(ANY_ORDER):
        yield AnyOrder(claim.arithmetic)
        return
    if claim.arithmetic != "real":
        yield Executed(FORMATS[claim.arithmetic])
        return
    operations = [operation for program in (*network.steps, network.hidden) for operation in program.operations]
    squashed = any(operation.name in SQUASHED for operation in operations)
    yield from map(Rounded, _PLACES if squashed else (_PLACES[0], None))


def _decide(claim: Claim, network: Network, verify: Callable[[BoxedNetwork, int], None]) -> None:
    """Verify something in boxes that are drawn ever closer."""
    arithmetics, suffixes = _arithmetics(claim, network), iter(_SUFFIXES)
    boxed, suffix = BoxedNetwork(network, next(arithmetics)), next(suffixes)
    while True:
        try:
            return verify(boxed, suffix)
        except Undecided as undecided:
            arithmetic = next(arithmetics, None) if undecided.narrow else boxed.arithmetic
            suffix = suffix if undecided.narrow else next(suffixes, None)
        if arithmetic is None or suffix is None:
            raise TooCostly("the boxes around the states do not decide")
        boxed = boxed if arithmetic is boxed.arithmetic else BoxedNetwork(network, arithmetic)


def _check_counterexample(claim: Claim, boxed: BoxedNetwork, example: Counterexample, limit: Limit) -> None:
    length = example.length
    require(length == claim.horizon + claim.stride, "the counterexample does not follow the horizon")
    require(claim.right_class(example.runs) == example.right, "the right class is not the string's")
    limit.allow(length * boxed.time(), f"a string of length {number_text(length)}")
    state = boxed.start
    for place, token in enumerate(example.tokens(), start=1):
        limit.go_on(place, length)
        state = boxed.step(state, token)
    found = boxed.class_of(state)
    if found is None:
        raise Undecided
    require(found == example.given != example.right, "the counterexample does not fail as it is said to")


def _check_lengths(claim: Claim, network: Network, boxed: BoxedNetwork, suffix: int, limit: Limit) -> None:
    limit.allow(2 * _groups_to(claim.horizon, suffix) * boxed.time(), f"length {number_text(claim.horizon)}")
    if _groups_at(claim.horizon, suffix) * len(boxed.start) * boxed.arithmetic.weight > _MOST_BOXES:
        raise TooCostly(f"length {number_text(claim.horizon)} has too many groups of strings for the memory")
    groups, task = {(0, 0): boxed.start}, network.task
    for length in range(1, claim.horizon + 1):
        groups = _longer(groups, boxed, task, suffix, lambda length=length: limit.go_on(length, claim.horizon))
        for (group, _), state in groups.items() if length % claim.stride == 0 else ():
            found, right = boxed.class_of(state), task.right_class(group, length)
            require(found in (right, None), f"a string of length {length} fails")
            if found is None:
                raise Undecided(narrow=length <= suffix or boxed.is_narrow(state))


def _longer(groups: Groups, boxed: BoxedNetwork, task: Task, suffix: int, go_on: Callable[[], None]) -> Groups:
    longer: Groups = {}
    kept, group_after = (1 << suffix) - 1, task.group_after
    for (group, last), state in groups.items():
        go_on()
        for token in (0, 1):
            target, image = (group_after(group, token), (last << 1 | token) & kept), boxed.step(state, token)
            longer[target] = hull(longer[target], image) if target in longer else image
    return longer


def _groups_at(length: int, suffix: int) -> int:
    """How many groups a length has, at most."""
    return 1 << length if length <= suffix else (length - suffix + 1) << suffix


def _groups_to(horizon: int, suffix: int) -> int:
    """How many groups the lengths below the horizon have, at most."""
    longer = max(0, horizon - suffix)
    return (1 << min(horizon, suffix)) - 1 + (longer * (longer + 1) // 2 << suffix)
