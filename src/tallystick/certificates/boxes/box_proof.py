"""Verdicts on cells with several units: bounds from below, failing strings from above; exact where the two meet.

Real arithmetic only: the weights are read exactly, and everything that is computed is kept between bounds (`numbers.boxes`).

**From below**, boxes around the states of groups of strings prove a length right on every string. A group holds the strings of
one length with the same last k tokens and as many closing brackets before those, and there is one box around all their states.
A token more leads from two groups to one: the oldest of the k tokens is forgotten, and the new box is the hull of two images.
Up to length k every string is a group of its own; with more tokens kept, hulls are closer and the groups more.

**From above**, strings that fail in float64 (`suspects`) count as failing once their own boxes leave no doubt. REFUTED says
that a string fails and that every shorter counted length is proved; where lengths are left between the two, the outcome is
BOUNDED and names the string.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import GraphCell
from tallystick.certificates.boxes.box_groups import BoxedCell, Groups, empty_string, groups_to
from tallystick.certificates.boxes.suspects import suspects
from tallystick.certificates.progress import report
from tallystick.certificates.verdict import REAL, Failure, Lengths, Outcome, Verdict, runs_of
from tallystick.errors import BadInput
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.languages.tasks import Task
from tallystick.networks import Network, Readout
from tallystick.networks.readout import Form
from tallystick.numbers import ANY_ORDER, FUSED, exact
from tallystick.numbers.boxes import Box, box_of, choose
from tallystick.numbers.values import Vector, layer

_String = TypeVar("_String", str, tuple[str, ...])

METHOD = "gated boxes"
"""The method's name in certificates."""

DEFAULT_LIMIT = 1000
_TRIED = 20
"""How many suspects are tried in boxes, the shortest first."""

Test = tuple[Any, Any]
"""Where a comparison surely holds and where it surely fails: truths, or arrays of them."""

UNSURE = -1
"""In the place of a class's index: the box lies in more than one class, or its bounds do not tell."""

SUFFIXES = (1, 4, 8, 11, 14, 16)
"""How many last tokens are told apart: few at first, and more where the boxes do not decide."""

MOST_WORK = 25 * 10**7
"""Boxes times weights in one pass; some seconds."""

_FEW_WEIGHTS, _FEW_GROUPS, _WEIGHTS_AT_ONCE = 128, 1024, 16
"""With more weights, the rest of a step counts too: fewer groups take as long, and so many weights of a matrix as one alone."""

_FAR_LESS = 4

LIMIT, WORK, UNDECIDED, FAILED, INTERRUPTED = "limit", "work", "undecided", "failed", "interrupted"


def decide_by_boxes(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Return the verdict on a network in real numbers: REFUTED with a shortest failing string, or BOUNDED."""
    if network.task.machine is not BB_COUNTER:  # strings are grouped by the count n − m
        return None
    if any(isinstance(layer, GraphCell) for layer in getattr(network.cell, "layers", (network.cell,))):
        return None  # steps of 0 and 1 leave boxes open where a string by itself is decided, as for any language
    if arithmetic != REAL:
        raise BadInput(
            f"arithmetic: {arithmetic!r} is for cells without gates, since each library adds up a gate's terms in an order of "
            f"its own; certify in {REAL} arithmetic, or in {arithmetic.removesuffix(FUSED)}{ANY_ORDER}, for any order"
        )
    limit = DEFAULT_LIMIT if limit is None else limit
    bounded = Bounded.of(network)
    try:
        known = known_failure(suspects(network, limit), lengths.upto(limit), bounded.failure)
    except KeyboardInterrupt:
        known, below = None, Reached(0, INTERRUPTED)
    else:
        below = prove(bounded, lengths, limit if known is None else known.length - 1)
    return verdict_between(Verdict(network, lengths, REAL, Outcome.BOUNDED, 0, None, METHOD, ""), below, known, limit)


def verdict_between(asked: Verdict, below: "Reached", known: Failure | None, limit: int) -> Verdict:
    """Fill in a verdict from how far a proof went and a string that is known to fail: REFUTED where the two meet."""
    lengths, known = asked.lengths, below.failure or known
    if known is not None and lengths.before(known.length) == below.length:
        return replace(asked, outcome=Outcome.REFUTED, horizon=below.length, failure=known, reason=known.reason())
    reason = _reason(below, known, lengths, limit)
    return replace(asked, horizon=below.length, reason=reason, known_failure=known)


def known_failure(
    strings: Iterable[_String], counted: range, failure: Callable[[_String], Failure | None]
) -> Failure | None:
    """Try the first few strings whose length counts; return how the first of them fails that does."""
    fitting = (string for string in strings if len(string) in counted)
    return next(filter(None, map(failure, islice(fitting, _TRIED))), None)


def _reason(below: "Reached", known: Failure | None, lengths: Lengths, limit: int) -> str:
    stops = {
        LIMIT: f"every counted length to {limit} is right; the search went no further",
        WORK: f"every counted length to {below.length} is right; the boxes beyond it are too many",
        INTERRUPTED: f"interrupted: every counted length to {below.length} is right, the ones beyond it were not decided",
    }
    undecided = f"the boxes around the states do not decide length {below.length + lengths.stride}"
    above = "no string is known to fail" if known is None else f"a string of length {known.length} fails"
    return f"{stops.get(below.stop, undecided)}, and {above}"


@dataclass(frozen=True)
class Bounded:
    """A network made ready for boxes.

    In real arithmetic every weight is enclosed, exactly where it is a double, and a comparison of two outputs is one linear form,
    (vⱼ − vᵢ)·h + cⱼ − cᵢ, whose weights are subtracted exactly, so that what the outputs have in common widens nothing.

    Attributes:
        cell: its step on boxes.
        classes: from states in boxes to the index of the class that all of them get, or `UNSURE`.
        task: what is right.
    """

    cell: BoxedCell
    classes: Callable[[Any], NDArray[np.int64]]
    task: Task

    @classmethod
    def of(cls, network: Network) -> "Bounded":
        """Enclose the weights."""
        cell, forms = network.cell.map_weights(box_of), boxed_forms(network.readout)
        return cls(cell, lambda state: sure_classes(forms, cell.hidden(state)), network.task)

    def failure(self, string: str) -> Failure | None:
        """Run one string in boxes; return how it fails, or None if it does not fail for certain."""
        found = int(self.classes(self.cell.final_state(string)))
        right = self.task.index_of_count(self.task.count(string))
        if found in (UNSURE, right):
            return None
        return Failure(runs_of(string), self.task.classes[found], self.task.classes[right])


def boxed_forms(readout: Readout) -> tuple[tuple[Form, ...], ...]:
    """Return the forms that make each class of a readout, their weights as boxes."""
    rational = readout.map_weights(exact)
    return tuple(
        tuple(Form(tuple(map(box_of, weight)), box_of(bias), strict) for weight, bias, strict in rational.forms(index))
        for index in range(len(rational.comparisons))
    )


def sure_classes(forms: tuple[tuple[Form, ...], ...], hidden: Vector) -> NDArray[np.int64]:
    """Return the index of the class that every h in a box gets, or `UNSURE`, for an array of boxes."""
    tests = [[_holds_or_fails(form, hidden) for form in needed] for needed in forms]
    return classes_of(tests, shape_of(hidden))


def classes_of(tests: Sequence[Sequence[Test]], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the index of the class all of whose tests hold, or `UNSURE`, for an array of boxes."""
    found, excluded = np.full(shape, UNSURE), np.ones(shape, np.bool_)
    for index, needed in enumerate(tests):
        if needed:
            holds, fails = reduce(lambda one, other: (one[0] & other[0], one[1] | other[1]), needed)
            found, excluded = choose(holds, index, found), excluded & fails
    # A class without tests gets what no other class gets, so every other one must be out of the question.
    for index in (index for index, needed in enumerate(tests) if not needed):
        found = choose(excluded, index, found)
    return found


def _holds_or_fails(form: Form, hidden: Vector) -> Test:
    """Say where a comparison holds for every h in a box, and where it fails for every one."""
    value: Box
    (value,) = layer((form.weight,), (form.bias,), hidden)
    holds = value.low > 0 if form.strict else value.low >= 0
    return holds, value.high <= 0 if form.strict else value.high < 0


def shape_of(hidden: Iterable[object]) -> tuple[int, ...]:
    """Return the shape of the boxes; a unit that is the same for every string has a single box, or is a plain number."""
    return np.broadcast_shapes(*(np.shape(unit.low) for unit in hidden if isinstance(unit, Box)))


@dataclass(frozen=True)
class Reached:
    """How far a proof went: every counted length up to `length` is right, and what stopped it there."""

    length: int
    stop: str
    failure: Failure | None = None


def prove(network: Bounded, lengths: Lengths, limit: int) -> Reached:
    """Prove length after length up to a limit, with closer boxes as long as they decide more."""
    passes = (_prove_with_suffix(network, lengths, limit, suffix) for suffix in _suffixes(network.cell, limit))
    return furthest(passes, Reached(0, UNDECIDED), limit)


def furthest(passes: Iterable[Iterator[Reached]], best: Reached, limit: int) -> Reached:
    """Go through passes, each with closer boxes than the one before, until one decides; Ctrl-C ends them where they are."""
    found = best
    try:
        for one in passes:
            for found in one:
                best = found if found.length >= best.length else best
                report(found.length, limit, f"proved to length {found.length}, at most {limit} is asked for")
            if found.stop != UNDECIDED:
                break
    except KeyboardInterrupt:
        return Reached(best.length, INTERRUPTED)
    return best


def _suffixes(cell: BoxedCell, limit: int) -> Iterator[int]:
    """Go through the numbers of last tokens to tell apart.

    Where every string can have a box of its own up to the limit, that comes last, and before it only what takes far less work.
    """
    alone = groups_to(limit, min(limit, MOST_WORK.bit_length()))
    if work_of(cell, alone) > MOST_WORK:
        yield from SUFFIXES
        return
    yield from (suffix for suffix in SUFFIXES if _FAR_LESS * groups_to(limit, suffix) < alone)
    yield limit


def work_of(cell: BoxedCell, groups: int) -> int:
    """Return the work of the two steps of some groups: that of their weights, less where matrices of them are multiplied."""
    weights = cell.matrix_entries
    if weights <= _FEW_WEIGHTS:
        return 2 * groups * weights
    return 2 * max(groups, _FEW_GROUPS) * max(_FEW_WEIGHTS, weights // _WEIGHTS_AT_ONCE)


def _prove_with_suffix(network: Bounded, lengths: Lengths, limit: int, suffix: int) -> Iterator[Reached]:
    """Go through the lengths that are proved; the last says what stopped it."""
    groups, work, reached = empty_string(network.cell), 0, 0
    while groups.length < limit:
        work += work_of(network.cell, groups.size)
        if work > MOST_WORK:
            yield Reached(reached, WORK)
            return
        groups = groups.longer(network.cell, suffix)
        if groups.length not in lengths.upto(limit):
            continue
        found = network.classes(groups.state)
        wrong = found != network.task.right_classes(groups.counts)
        if wrong.any():
            failure = _failing_string(network, groups, wrong & (found != UNSURE))
            yield Reached(reached, FAILED if failure else UNDECIDED, failure)
            return
        reached = groups.length
        yield Reached(reached, UNDECIDED)
    yield Reached(reached, LIMIT)


def _failing_string(network: Bounded, groups: Groups, failing: NDArray[np.bool_]) -> Failure | None:
    """Return a string of a group that fails as a whole, if there is one: its tokens before the suffix in sorted order."""
    if not failing.any():
        return None
    closings, suffix = map(int, np.argwhere(failing)[0])
    return network.failure(groups.example(closings, suffix))
