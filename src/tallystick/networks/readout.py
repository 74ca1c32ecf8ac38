"""From a state to a class: a matrix that makes outputs of h, and comparisons between outputs that make classes of them.

    sign    one output     positive iff it is above 0, which over the reals is sigmoid(y) > 1/2
    class   k outputs      the greatest wins; of equal ones the first
    zero    one output     accepted iff it is 0, as a counter machine accepts
    count   one output     the answer is the nearest whole number; halfway between two there is none

and `threshold`, `next` and `support`, which look at the outputs after every token (`networks.steps`).

In floating point p > 1/2 and y > 0 can differ: for an output of 5e-8 a float32 sigmoid gives 1/2 itself. The sign of the
output is what decides here. Whatever else is said of a readout follows from its comparisons: the linear forms in h that make
a class, the intervals of h that get it, margins, and the index of the class for single numbers and whole arrays alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple, cast, final

from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY, TERNARY, Task
from tallystick.languages.tasks import COUNT as COUNT_TASK
from tallystick.networks.steps import STEPWISE, THRESHOLD, Steps
from tallystick.numbers import Number, check_number
from tallystick.numbers.values import Matrix, Vector, check_shape, layer, map_nested

NOTHING = -1
"""In the place of an output: the number 0."""


class Comparison(NamedTuple):
    """One output is above another, or equal to it where the comparison is not strict."""

    greater: int
    less: int
    strict: bool


class Form(NamedTuple):
    """A comparison as a linear form: weight·h + bias must be above 0, or at least 0 where it is not strict."""

    weight: Vector
    bias: Number
    strict: bool


Comparisons = tuple[tuple[Comparison, ...], ...]
"""For each class all that must hold; a class without any comparison gets whatever no other class gets."""


@dataclass(frozen=True)
class Decision:
    """A way to make classes of outputs.

    Attributes:
        kind: the readout's name in files.
        outputs: how many outputs there are.
        comparisons: what makes each class, in the order of the classes; none where the answer is a number.
        task: what such a readout is usually asked for; None is membership in the language that the cell can accept, or for
            outputs of another number than one and three whatever the network says.
        has_weights: whether the outputs always have weights; a readout that says none looks at h itself.
    """

    kind: str
    outputs: int
    comparisons: Comparisons
    task: Task | None
    has_weights: bool = True


_ABOVE, _NOT_ABOVE = Comparison(0, NOTHING, True), Comparison(NOTHING, 0, False)


def _greatest_of(outputs: int) -> Comparisons:
    """Return what makes each output the greatest; of equal ones the first wins."""
    places = range(outputs)
    return tuple(tuple(Comparison(one, other, other < one) for other in places if other != one) for one in places)


SIGN, GREATEST, ZERO, COUNT = "sign", "class", "zero", "count"
DECISIONS: dict[str, Decision] = {
    ZERO: Decision("zero", 1, ((), (Comparison(0, NOTHING, False), _NOT_ABOVE)), None, has_weights=False),
    SIGN: Decision("binary", 1, ((_NOT_ABOVE,), (_ABOVE,)), BINARY),
    GREATEST: Decision("ternary", 3, _greatest_of(3), TERNARY),
}
"""Every decision between classes by its name. The first that has weights and as many outputs as a readout has is the default.

The greatest may also be chosen among two outputs, or more than three (`decision_of`)."""

_COUNT = Decision(COUNT, 1, (), COUNT_TASK)

MOST_OUTPUTS = 64


def decision_of(name: str, outputs: int) -> Decision | None:
    """Return the decision of that name over so many outputs; None where it is not for so many.

    >>> decision_of(GREATEST, 2).comparisons[1]
    (Comparison(greater=1, less=0, strict=True),)
    """
    if name in STEPWISE:
        return _stepwise(name, outputs) if outputs > 1 else None
    found = _COUNT if name == COUNT else DECISIONS.get(name)
    if found is not None and found.outputs == outputs:
        return found
    return _greatest(outputs) if name == GREATEST and outputs > 1 else None


def usual_outputs(name: str) -> int:
    """Return how many outputs the decision of that name is usually over."""
    return DECISIONS[name].outputs if name in DECISIONS else 1


@cache
def _greatest(outputs: int) -> Decision:
    return Decision(GREATEST, outputs, _greatest_of(outputs), None)


@cache
def _stepwise(name: str, outputs: int) -> Decision:
    return Decision(name, outputs, (), None)


@final
@dataclass(frozen=True)
class Readout:
    """Outputs V·h + c, and the decision that makes a class of them.

    Attributes:
        weight: V, one row per output and one column per unit.
        bias: c, one number per output.
        decision: `sign`, `class`, `zero` or `count`; the default is the sign of a single output and the greatest of several. Or
            `threshold`, `next` or `support`, which need `steps`.
        steps: what each output stands for, where the decision is made after every token.

    >>> Readout.binary(2).class_index((0.0,)), Readout.ternary((-2, 0, 2), (-1, 0, -1)).class_index((1,))
    (0, 2)
    >>> Readout.zero().class_index((0,)), Readout.zero().class_index((1e-8,))
    (1, 0)
    >>> [Readout(((0.5,),), (0,), "count").class_index((h,)) for h in (3, 3.5, 4)]
    [1.5, 2.0, 2.0]
    """

    weight: Matrix
    bias: Vector
    decision: str = ""
    steps: Steps | None = None

    @classmethod
    def zero(cls) -> "Readout":
        """Return the zero check of one unit: accept iff h = 0."""
        return cls(((1,),), (0,), ZERO)

    @classmethod
    def binary(cls, weight: Number, bias: Number = 0) -> "Readout":
        """Return the readout of one unit that is positive iff v·h + c > 0."""
        check_number(weight, "weight")  # by the name that the caller knows
        check_number(bias, "bias")
        return cls(((weight,),), (bias,), SIGN)

    @classmethod
    def ternary(cls, weight: Vector, bias: Vector = (0, 0, 0)) -> "Readout":
        """Return the readout of one unit whose class is the greatest of three outputs: negative, zero, positive."""
        for field, values in (("weight", weight), ("bias", bias)):
            if not isinstance(values, tuple) or len(values) != 3:  # noqa: PLR2004 # pyright: ignore[reportUnnecessaryIsInstance]
                raise BadInput(f"{field}: {values!r} is not a tuple of three numbers, one a class")
            check_shape(values, field, 3)
        return cls(tuple((value,) for value in weight), bias, GREATEST)

    def __post_init__(self) -> None:
        """Refuse anything but a layer whose outputs a decision can be made from, naming what is wrong."""
        for field in ("weight", "bias"):
            values = getattr(self, field)
            if not isinstance(values, tuple) or not 0 < len(cast("Vector", values)) <= MOST_OUTPUTS:
                raise BadInput(f"{field}: {values!r} is not a tuple with one entry per output, of 1 to {MOST_OUTPUTS}")
        outputs = len(self.bias)
        self._check_steps(outputs)
        fitting = {
            name: found for name in (*DECISIONS, COUNT, *STEPWISE) if (found := decision_of(name, outputs)) is not None
        }
        if not self.decision:
            usual = next((name for name, found in fitting.items() if found.has_weights), GREATEST)
            object.__setattr__(self, "decision", usual)
        if self.decision not in fitting:
            raise BadInput(f"decision: {self.decision!r} is not one of {', '.join(fitting)}")
        if not isinstance(self.weight[0], tuple) or not self.weight[0]:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"weight[0]: {self.weight[0]!r} is not a tuple of numbers, one a unit")
        check_shape(self.weight, "weight", len(self.bias), self.units)
        check_shape(self.bias, "bias", len(self.weight))

    def _check_steps(self, outputs: int) -> None:
        if (self.decision in STEPWISE) != (self.steps is not None):
            raise BadInput(f"steps: the decisions {', '.join(STEPWISE)} need them, and no other has them")
        if self.steps is None:
            return
        if len(self.steps.outputs) != outputs:
            raise BadInput(f"outputs: {len(self.steps.outputs)} names for {outputs} outputs")
        if (self.decision == THRESHOLD) != (self.steps.threshold is not None):
            raise BadInput("threshold: the decision threshold needs one, and no other has one")

    @property
    def units(self) -> int:
        """How many units it reads."""
        return len(self.weight[0])

    @property
    def has_weights(self) -> bool:
        """Whether its weights are to be said; a zero check of h itself has none."""
        first, bias = self.weight[0][0], self.bias[0]
        is_number = self.units == 1 and isinstance(first, int | Fraction) and isinstance(bias, int | Fraction)
        return self.rule.has_weights or not is_number or (first, bias) != (1, 0)

    @cached_property
    def rule(self) -> Decision:
        """The decision for as many outputs as there are."""
        found = decision_of(self.decision, len(self.bias))
        assert found is not None, "a readout is checked when it is made"
        return found

    @property
    def kind(self) -> str:
        """The readout's name in files: `binary`, `ternary`, `zero` or `count`; `class` for two outputs, or more than three."""
        return self.rule.kind

    @property
    def comparisons(self) -> Comparisons:
        """What makes each class, by its index."""
        return self.rule.comparisons

    def outputs(self, hidden: Vector) -> list[Number]:
        """Return V·h + c, output by output."""
        return layer(self.weight, self.bias, hidden)

    def class_index(self, hidden: Vector) -> Number:
        """Return the index of the class for h, or an array of them where its entries are arrays.

        Comparisons joined with & rather than argmax, so that rationals, floats and arrays take the same path. Where the answer is
        a number, it is that number: the whole number nearest to the output, or the output itself halfway between two.
        """
        if not self.comparisons:
            return _nearest(*self.outputs(hidden))
        outputs = [*self.outputs(hidden), 0]  # NOTHING is the last
        first, *others = self.comparisons[1:]  # the class 0 gets the rest
        total = _all(first, outputs) * 1
        for index, needed in enumerate(others, start=2):
            total = total + _all(needed, outputs) * index
        return total

    def forms(self, index: int) -> list[Form]:
        """Return the comparisons that make a class as linear forms in h."""
        return [
            Form(
                tuple(map(_difference, self._row(one.greater), self._row(one.less))),
                _difference(*((None if place == NOTHING else self.bias[place]) for place in one[:2])),
                one.strict,
            )
            for one in self.comparisons[index]
        ]

    def _row(self, output: int) -> tuple[Any, ...]:
        return (None,) * self.units if output == NOTHING else self.weight[output]

    def map_weights(self, number: Callable[..., Number]) -> "Readout":
        """Return this readout with number(weight, name) in the place of each weight; those of h itself are 1 and 0 everywhere."""
        if not self.has_weights:
            return self
        weight, bias = map_nested(self.weight, number, "weight"), map_nested(self.bias, number, "bias")
        return Readout(weight, bias, self.decision, self.steps)


def _nearest(output: Number) -> Number:
    """Return the whole number that is nearest to an output, or the output itself halfway between two."""
    below = output // 1
    part = output - below
    return below + (part > 0.5) + part * (part == 0.5)  # noqa: PLR2004


def _all(needed: tuple[Comparison, ...], outputs: list[Number]) -> Number:
    """Say whether all comparisons hold."""
    first, *others = (
        outputs[greater] > outputs[less] if strict else outputs[greater] >= outputs[less]
        for greater, less, strict in needed
    )
    for one in others:
        first = first & one
    return first


def _difference(first: Number | None, second: Number | None) -> Number:
    """Return first − second, where None stands for nothing to add or to take away."""
    if second is None:
        return first
    return -second if first is None else first - second
