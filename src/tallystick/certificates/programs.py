"""A cell's step as a program: it is run once per token on numbers that write down what is done to them.

A certificate holds the program of a cell that its format does not know, so that the checker can run any cell; `checker/models.py`
says what the operations are. In real arithmetic sums and multiples are joined, so that a layer is one sum; as executed each
operation stands for itself, since each is rounded. For any order sums are joined too, and each of their terms stays what it is. A
step that looks at its numbers, or does what no operation is for, has no program.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, NoReturn

from tallystick.cells import Recurrence, Stack, inputs_of
from tallystick.errors import BadInput
from tallystick.languages.brackets import ALPHABET
from tallystick.numbers import (
    Number,
    exact,
    hyperbolic_tangent,
    positive_part,
    sigmoid,
    square,
    unit_step,
    weighted_mean,
)
from tallystick.numbers.values import exact_number, map_states, numbers_of

MOST_NUMBERS, MOST_OPERATIONS, MOST_TERMS = 1024, 4096, 1 << 15
"""The most numbers of a state, operations of a program and terms of its sums that the checker reads."""

_ONE = Fraction(1)


class Rounding(Enum):
    """What a program's numbers are: exact, rounded after every operation, or rounded in an order that nobody knows."""

    NONE = "none"
    EACH = "each"
    ANY_ORDER = "any order"


def program_of(recurrence: Recurrence, rounding: Rounding, alphabet: tuple[str, ...] = ALPHABET) -> dict[str, object]:
    """Return a recurrence as programs: the start, the step of each token, and what the readout sees.

    What a stack reads before every string is one program per vector; what short strings are filled up with is one too.

    >>> from tallystick.cells import ReluCell
    >>> program_of(ReluCell(1, -1, 2), Rounding.NONE)["step"][")"]
    {'operations': [['sum', [[2, 0]], -1], ['positive_part', 1]], 'results': [2]}
    """
    start = [exact_number(exact(number), "initial_state") for number in numbers_of(_start(recurrence))]
    try:
        _check_size(len(start), MOST_NUMBERS, "numbers in its state")
        steps = {
            name: _record(recurrence, rounding, lambda cell, state, token=token: cell.step(state, token))
            for name, token in inputs_of(alphabet).items()
        }
        hidden = _record(recurrence, rounding, lambda cell, state: cell.hidden(state))
        first = [
            _record(recurrence, rounding, lambda cell, state, place=place: cell.read(state, cell.first[place]))
            for place in range(len(recurrence.first) if isinstance(recurrence, Stack) else 0)
        ]
        padding = {}
        if isinstance(recurrence, Stack) and recurrence.is_padded:
            filled = _record(recurrence, rounding, lambda cell, state: cell.read(state, cell.padding))
            padding = {"padding": {"program": filled, "to": recurrence.padded_to}}
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
        raise BadInput(
            f"cell: a certificate holds the step of a {recurrence.name} cell as a program of +, −, × and what tallystick.numbers "
            f"has, without a look at any number, and that fails: {error}"
        ) from None
    return {"start": start, **({"first": first} if first else {}), **padding, "step": steps, "hidden": hidden}


def _start(recurrence: Recurrence) -> Any:  # noqa: ANN401 -- each recurrence has its own kind of state
    """Return the state before anything is read, which is rational."""
    return recurrence.start if isinstance(recurrence, Stack) else recurrence.initial_state


def _record(recurrence: Recurrence, rounding: Rounding, act: Callable[[Any, Any], Any]) -> dict[str, object]:
    """Write down what is done to a state."""
    program = Recording(len(numbers_of(_start(recurrence))), rounding)
    results = [number.place() for number in recorded_numbers(recurrence, program, act)]
    return {"operations": program.operations, "results": results}


def recorded_numbers(recurrence: Recurrence, program: "Recording", act: Callable[[Any, Any], Any]) -> list["Recorded"]:
    """Do something to a state whose numbers write it down; return the numbers that come of it."""
    places = iter(range(program.size))

    def variable(_: Number) -> Recorded:
        return Recorded(program, {next(places): _ONE})

    def constant(weight: Number, name: str) -> Recorded:
        return Recorded(program, {}, exact(weight, name))

    found = act(recurrence.map_weights(constant), map_states(variable, _start(recurrence)))
    return [program.number(number) for number in numbers_of(found)]


@dataclass(eq=False)
class Recording:
    """A program as it is written.

    Attributes:
        size: how many numbers it begins with.
        rounding: where operations are rounded each, they stay apart from each other.
        operations: what has been done so far.
        terms: how many terms the sums among them have.
    """

    size: int
    rounding: Rounding
    operations: list[list[object]] = field(default_factory=list[list[object]])
    terms: int = 0

    def put(self, name: str, *taken: object) -> "Recorded":
        """Write an operation down; return the number that it gives."""
        self.operations.append([name, *taken])
        _check_size(len(self.operations), MOST_OPERATIONS, "operations")
        return Recorded(self, {self.size + len(self.operations) - 1: _ONE})

    def number(self, value: Number) -> "Recorded":
        """Return a number as one that writes down what is done to it."""
        if isinstance(value, Recorded):
            return value
        # A float would make floats of rationals, and a rational doubles of other floats: the step would leave its arithmetic.
        if type(value) is not int and (self.rounding is not Rounding.NONE or not isinstance(value, Fraction)):
            raise TypeError(f"{value!r} in the step is not a whole number")
        return Recorded(self, {}, Fraction(value))


def _check_size(size: int, most: int, what: str) -> None:
    if size > most:
        raise ValueError(f"the step has more than {most:,} {what}")


def _look(*_: object) -> NoReturn:
    raise TypeError("the step looks at a number")


@dataclass(frozen=True, eq=False)
class Recorded:
    """A number w·x + … + c, where each x is one that a program has at a place; rounded each time it is one x alone, or c."""

    program: Recording
    terms: dict[int, Fraction]
    constant: Fraction = Fraction(0)

    # NumPy would otherwise take it for an object to go through entry by entry.
    __array_ufunc__ = None
    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __int__ = __index__ = _look

    def place(self) -> int:
        """Return the place of this number, written down as a sum where it has none yet."""
        if list(self.terms.values()) == [1] and not self.constant:
            return next(iter(self.terms))
        self.program.terms += len(self.terms)
        _check_size(self.program.terms, MOST_TERMS, "terms in its sums")
        terms = [[exact_number(weight, "step"), place] for place, weight in self.terms.items()]
        return self.program.put("sum", terms, exact_number(self.constant, "step")).place()

    def apart(self) -> "Recorded":
        """Return this number as one that has a place, in which nothing is joined."""
        return Recorded(self.program, {self.place(): _ONE})

    def _summed(self) -> "Recorded":
        """Return this number as a sum of its own, also where it has a place already."""
        if not self.terms or self.constant or list(self.terms.values()) != [1]:
            return self.apart()
        self.program.terms += 1
        return self.program.put("sum", [[1, next(iter(self.terms))]], 0)

    def _settle(self) -> "Recorded":
        return self.apart() if self.program.rounding is Rounding.EACH and self.terms else self

    def _plus(self, other: "Recorded") -> "Recorded":
        rounding = self.program.rounding
        if rounding is Rounding.EACH and not self.terms and not other.terms:
            return self.apart()._plus(other)  # the sum of two constants is rounded too
        if rounding is Rounding.ANY_ORDER and (self.terms.keys() & other.terms or (self.constant and other.constant)):
            other = other._summed()  # whatever would be joined into one term
        terms = dict(self.terms)
        for place, weight in other.terms.items():
            terms[place] = terms.get(place, 0) + weight
        return Recorded(self.program, terms, self.constant + other.constant)._settle()

    def _factor(self, other: "Recorded") -> "Recorded":
        """Return a factor for any order: sums are added up first, also where they are multiplied by 1."""
        if self.terms:
            return self.apart()
        return self.apart() if abs(self.constant) == 1 and other._is_sum else self

    @property
    def _is_sum(self) -> bool:
        first, size = next(iter(self.terms)), self.program.size
        return (
            len(self.terms) > 1
            or bool(self.constant)
            or (first >= size and self.program.operations[first - size][0] == "sum")
        )

    def _times(self, factor: Fraction) -> "Recorded":
        terms = {place: factor * weight for place, weight in self.terms.items()}
        return Recorded(self.program, terms, factor * self.constant)

    def __add__(self, other: Number) -> "Recorded":
        return self if _is(other, 0) else self._plus(self.program.number(other))

    __radd__ = __add__

    def __neg__(self) -> "Recorded":
        return self._times(Fraction(-1))._settle()

    def __sub__(self, other: Number) -> "Recorded":
        return self._plus(self.program.number(other)._times(Fraction(-1)))

    def __rsub__(self, other: Number) -> "Recorded":
        return self.program.number(other) - self

    def __mul__(self, other: Number) -> Number:
        if _is(other, 0) or _is(other, 1):  # as a one-hot token takes a weight or leaves it
            return self if other else 0
        x, y = self, self.program.number(other)
        if self.program.rounding is not Rounding.NONE and not x.terms and not y.terms:
            x = x.apart()
        if self.program.rounding is Rounding.ANY_ORDER:
            x, y = x._factor(y), y._factor(x)
        if x.terms and y.terms:
            return self.program.put("product", x.place(), y.place())
        return (x._times(y.constant) if x.terms else y._times(x.constant))._settle()

    __rmul__ = __mul__


def _is(value: object, whole: int) -> bool:
    return type(value) is int and value == whole


@positive_part.register
def _(x: Recorded) -> Recorded:
    return x.program.put("positive_part", x.place())


@hyperbolic_tangent.register
def _(x: Recorded) -> Recorded:
    return x.program.put("tanh", x.place())


@sigmoid.register
def _(x: Recorded) -> Recorded:
    if x.program.rounding is Rounding.EACH:
        raise ValueError("nothing says how exact an executed sigmoid is; certify in real arithmetic")
    return x.program.put("sigmoid", x.place())


@square.register
def _(x: Recorded) -> Recorded:
    return x.program.put("square", x.place())


@unit_step.register
def _(x: Recorded) -> Recorded:
    return x.program.put("step", x.place())


@weighted_mean.register
def _(share: Recorded, first: Number, second: Number) -> Recorded:
    places = [share.program.number(number).place() for number in (share, first, second)]
    return share.program.put("mean", *places)
