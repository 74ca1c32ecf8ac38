"""The strings of a claim: its counterexample, all strings to length 2 of an exact counter, all lengths of any other cell."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import cast

from .answers import TooCostly, Undecided, number_text, require
from .claims import Claim, Counterexample, Model
from .effort import Limit, total_time
from .floating import FORMATS, FUSED, Floating, FloatTanh
from .machines import Ends, Exact, Machine, RealTanh
from .sorted_strings import class_of_sorted, sortable

_TANH_PLACES = (128, 512, 2048, 8192)
_MOST_STATES = 2 * 10**6
_LONG_STATE = 1024
"""Bits from which a state counts for several, since all are kept in memory."""


def machines(model: Model, arithmetic: str) -> Iterator[Machine]:
    """Go through the machines for a model: one, but for tanh in real numbers several, of rising precision."""
    if arithmetic != "real":
        form, fused = FORMATS[arithmetic.removesuffix(FUSED)], arithmetic.endswith(FUSED)
        yield FloatTanh(model, form, fused) if model.cell == "tanh" else Floating(model, form, fused)
    elif model.cell == "tanh":
        yield from (RealTanh(model, places) for places in _TANH_PLACES)
    else:
        yield Exact(model)


def judge(claim: Claim, verify: Callable[[Machine], None]) -> None:
    """Verify something on a machine, and again on a more precise one as long as bounds do not decide."""
    for machine in machines(_model(claim), claim.arithmetic):
        try:
            return verify(machine)
        except Undecided:
            continue
    raise TooCostly("the bounds on tanh do not decide")


def _model(claim: Claim) -> Model:
    return cast("Model", claim.model)  # programs are checked by `groups`


# --- Single strings ---------------------------------------------------------------------------------------------------------


def check_counterexample(claim: Claim, example: Counterexample, limit: Limit) -> None:
    """The counterexample follows the horizon, gets the class that is claimed, and should get another one."""
    length = example.length
    require(length == claim.horizon + claim.stride, "the counterexample does not follow the horizon")
    require(example.given != example.right, "the counterexample does not fail")
    if sortable(claim) and len(example.runs) <= len("()") and example.trace is None:
        found, right = class_of_sorted(_model(claim), example.runs, limit), claim.right_class(example.runs)
        require((found, right) == (example.given, example.right), "the classes are not the string's")
        return
    require(claim.right_class(example.runs) == example.right, "the right class is not the string's")
    judge(claim, lambda machine: _run(machine, example, length, limit))


def check_short(claim: Claim, limit: Limit) -> None:
    """Every string of a counted length to 2 is right."""
    for length in range(claim.stride, 3, claim.stride):
        for tokens in product((0, 1), repeat=length):
            runs = [(token, 1) for token in tokens]
            string = Counterexample(runs, claim.right_class(runs), -1, None)
            judge(claim, lambda machine, string=string, length=length: _run(machine, string, length, limit))


def _run(machine: Machine, string: Counterexample, length: int, limit: Limit) -> None:
    """Refuse a string that does not get the class that is given, or whose states are not its trace."""
    limit.allow(total_time(machine.time, length), f"a string of length {number_text(length)}")
    trace, ends = string.trace, (0, 0)
    require(trace is None or trace[0] == 0, "the trace is not the string's")
    for place, token in enumerate(string.tokens(), start=1):
        limit.go_on(place, length)
        machine.advance()
        ends = machine.image(ends, token)
        require(trace is None or _is_state(trace[place], ends[0], machine.scale), "the trace is not the string's")
    found = machine.class_between(ends)
    if found is None:
        raise Undecided
    require(found == string.given, f"a string of length {length} gets another class")


def _is_state(h: Fraction, units: int, scale: int) -> bool:
    return h.numerator * scale == units * h.denominator


# --- Exact counters: right on every string to length 2, and so at every length, or to the depth to which floats are exact -----


def check_theorem(claim: Claim, limit: Limit) -> None:
    """In real numbers, a cell whose closing map inverts its opening map is right at every length if it is to length 2.

    P·Q = 1 and b = −Q·a make h a function of the count d alone, with h_(d+1) − h_d = a·P^d: for P > 0 it is monotone, for
    P < 0, P ≠ −1 it is on even d, and 0 for d = 0 alone. Every comparison of a readout is monotone in h, and lengths 1
    and 2 fix its signs at d = 0 and on both sides of it, if these differ. A ReLU cell with U = 1 and b = −a < 0 has h = a·κ.
    """
    _, (P, Q), (a, b), readout, _ = model = _model(claim)
    zero_check = readout.kind == "zero"
    require(claim.arithmetic == "real", "no theorem holds in floating point")
    require(P * Q == 1 and b == -Q * a and a != 0 and P != -1, "the closing map does not invert the opening map")
    require(P > 0 or zero_check or claim.stride == 2, "h is not monotone in the count")  # noqa: PLR2004
    require(model.cell != "relu" or (zero_check and a > 0 and P == 1), "the ReLU cell does not count")
    require(model.is_usual, "the theorem does not speak of this readout and task")
    check_short(claim, limit)


def check_depth(claim: Claim, limit: Limit) -> None:
    """In floating point, a counter with U = 1 and b = −a is right as long as it is exact, if it is right to length 2.

    Every state is d·a, or κ·a for ReLU. With a = s·2^e and s odd it is a number of the format while |d|·s ≤ 2^digits and
    nothing overflows. Rounding keeps every output monotone in h, and two whose slopes are not of one sign change places once.
    """
    require(claim.arithmetic != "real", "exact depth bounds a counter in floating point")
    form, model = FORMATS[claim.arithmetic.removesuffix(FUSED)], _model(claim)
    P, Q, a, b = map(form.nearest, (*model.weights, *model.steps))
    require(P == Q == 1 << form.places and b == -a != 0, "no exact counter")
    require(model.cell != "relu" or (model.readout.kind == "zero" and a > 0), "no exact counter")
    require(model.is_usual, "an exact depth does not speak of this readout and task")
    slopes = [form.nearest(v) for v, _ in model.lines]
    require(all(v * w <= 0 for v, w in combinations(slopes, 2)), "two outputs may change places more than once")
    odd = abs(a) // (a & -a)
    exact = claim.horizon * odd <= 1 << form.digits and claim.horizon * abs(a) <= form.greatest
    require(exact, "the counter is not exact to this depth")
    check_short(claim, limit)


# --- All lengths, one after the other: any cell, any arithmetic ----------------------------------------------------------------


def check_lengths(claim: Claim, limit: Limit) -> None:
    """Every counted length to the horizon is right.

    Strings are grouped by their number of `(`, or by κ: either decides what is right. A group's ends follow from those of
    the groups one token shorter that lead into it, and it is right if all between them has the right class.
    """
    judge(claim, lambda machine: _check_groups(claim, machine, limit))


def _check_groups(claim: Claim, machine: Machine, limit: Limit) -> None:
    whole = total_time(lambda length: (length + 1) * machine.time(length), claim.horizon)
    limit.allow(whole, f"length {number_text(claim.horizon)}")
    states = _States(claim, limit)
    row: list[Ends] = [(0, 0)]
    for length in range(1, claim.horizon + 1):
        machine.advance()
        row = _longer(row, machine, limit, claim.horizon)
        for group, ends in enumerate(row if length % claim.stride == 0 else ()):
            limit.go_on(length, claim.horizon)
            found, right = machine.class_between(ends), claim.model.task.right_class(group, length)
            require(found in (right, None), f"a string of length {length} fails")
            if found is None and machine.enclosing:
                raise Undecided
            if found is None:
                # The ends are states of strings; what lies between them may be none.
                fine = all(machine.class_between((h, h)) == right for h in ends)
                require(fine, f"a string of length {length} fails")
                states.check(length, group, right)


def _longer(row: list[Ends], machine: Machine, limit: Limit, horizon: int) -> list[Ends]:
    """Return the ends of the groups one token longer: each group is the union of what leads into it."""
    longer: dict[int, Ends] = {}
    group_after = machine.model.task.group_after
    for group, ends in enumerate(row):
        limit.go_on(len(row), horizon)
        for token in (0, 1):
            target, (low, high) = group_after(group, token), machine.image(ends, token)
            least, greatest = longer.get(target, (low, high))
            longer[target] = (min(least, low), max(greatest, high))
    return [longer[group] for group in range(len(row) + 1)]


class _States:
    """Every state of every string, listed length by length, for groups whose ends do not tell."""

    def __init__(self, claim: Claim, limit: Limit) -> None:
        self.machine, self.limit, self.horizon = next(machines(_model(claim), claim.arithmetic)), limit, claim.horizon
        self.length = self.listed = 0
        self.groups = {0: {0}}

    def check(self, length: int, group: int, right: int) -> None:
        """Refuse a group that holds a state of another class than the right one."""
        while self.length < length:
            self._lengthen()
        for h in self.groups[group]:
            self.limit.go_on(length, self.horizon)
            require(self.machine.class_between((h, h)) == right, f"a string of length {length} fails")

    def _lengthen(self) -> None:
        self.machine.advance()
        weight = 1 + self.machine.scale.bit_length() // _LONG_STATE
        longer: dict[int, set[int]] = {}
        for group, states in self.groups.items():
            for token in (0, 1):
                target = longer.setdefault(self.machine.model.task.group_after(group, token), set())
                for h in states:
                    self.limit.go_on(self.length, self.horizon)
                    target.add(self.machine.step(h, token))
        self.length, self.groups = self.length + 1, longer
        self.listed += sum(map(len, longer.values())) * weight
        if self.listed > _MOST_STATES:
            raise TooCostly(f"too many states to list at length {self.length}")
