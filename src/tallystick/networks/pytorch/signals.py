"""Signals: what a module computes at every position of a string, as found by tracing it, and the layers that they make.

A signal is a vector per string and time, f(W·x + b), of columns x: features of other signals, at the same time or one step
before. Loops come unrolled, the first step from a constant state and each later one from the step before. Once the second
step turns out to be the first with its own result in the constant's place, the two are one signal, a recurrence.

    tokens              the one-hot vector of the token: indices, vectors, embeddings and one-hot inputs are sums of it
    const               a vector that is the same for every string and time
    sum, relu, tanh     f(W·x + b)
    product             of two columns each; what the token alone decides may be one of the two
    exp, sigmoid, …     functions that are read of what the token alone decides, rounded to doubles
    gru, lstm           the cells, whose columns are x, h and, for an LSTM, c; an LSTM has the features h and then c
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput

TOKENS, CONST, SUM, PRODUCT = "tokens", "const", "sum", "product"

OF_TOKENS = (
    "exp",
    "expm1",
    "log",
    "log1p",
    "sigmoid",
    "softplus",
    "silu",
    "gelu",
    "cos",
    "sin",
    "sqrt",
    "square",
    "abs",
)
"""Functions of single numbers that are read where the token alone decides what they give."""

Floats = NDArray[np.float64]
Column = tuple["Signal", int, int]
"""A signal, how many steps before (0 or −1), and which of its features."""


class Unreadable(BadInput):
    """The structure of this module is not one that is read exactly; it can still be run on every string.

    Attributes:
        reason: the first step that is not read, and where it is.
    """

    def __init__(self, reason: str) -> None:
        """Say why, and the way out."""
        super().__init__(f"{reason}; ts.certify(module, task=..., tokens=..., upto=N) runs it on every string instead")
        self.reason = reason


@dataclass(eq=False)
class Signal:
    """A vector per string and time.

    Attributes:
        operation: f, or the name of what else it is.
        size: how many features it has.
        weight: W, one row per feature or gate.
        biases: b as one or more columns that are to be added.
        columns: x.
        place: the part of the module in which it was computed, for messages.
        function: what computed it, for messages.
        times: at which times, so far.
        start: the features before the first token, where it is a recurrence.
        is_constant: whether it is the same for every string and time.
    """

    operation: str
    size: int
    weight: Floats
    biases: Floats
    columns: tuple[Column, ...] = ()
    place: str = ""
    function: str = ""
    times: set[int] = field(default_factory=set[int])
    start: tuple[Fraction, ...] | None = None
    is_constant: bool = field(init=False)

    def __post_init__(self) -> None:
        """Look once whether anything in it depends on a string."""
        self.is_constant = self.operation != TOKENS and all(one.is_constant for one, _, _ in self.columns)

    @property
    def computation(self) -> tuple[object, ...]:
        """What is computed, apart from the columns that it is computed of."""
        return (self.operation, self.weight.shape, self.weight.tobytes(), self.biases.tobytes())

    @property
    def key(self) -> tuple[object, ...]:
        """What tells this signal from others."""
        return (*self.computation, *((id(signal), shift, feature) for signal, shift, feature in self.columns))

    @property
    def units(self) -> int:
        """How many features the next layer may read."""
        return self.size // 2 if self.operation == "lstm" else self.size

    def refuse(self, reason: str) -> Unreadable:
        """Return the refusal of this signal, naming its place."""
        return Unreadable(f"{self.place}: {reason}")


class Signals:
    """All signals of a module, each once."""

    def __init__(self, tokens: int) -> None:
        """Begin with the one-hot token."""
        nothing = np.zeros((tokens, 0))
        self.tokens = Signal(TOKENS, tokens, nothing, nothing)
        self.all = [self.tokens]
        self._by_key: dict[tuple[object, ...], Signal] = {}
        self._by_first_step: dict[tuple[object, ...], Signal] = {}

    def token_columns(self) -> tuple[Column, ...]:
        """Return the entries of the one-hot token as columns."""
        return tuple((self.tokens, 0, token) for token in range(self.tokens.size))

    def put(self, new: Signal, time: int) -> Signal:
        """Return the signal that this one is: one that is there already, a recurrence that it continues, or itself."""
        key = new.key
        found = self._by_key.get(key)
        if found is None and time == 0:
            found = self._by_first_step.get(key)  # a recurrence that is run once more on the same
        if found is None:
            found = self._continued(new, time) or new
            self._by_key[key] = found
            if found is new:
                self.all.append(new)
        found.times.add(time)
        return found

    def _continued(self, step: Signal, time: int) -> Signal | None:
        """Return the signal whose second step this is, which becomes a recurrence."""
        if time != 1:
            return None
        for seed in self.all:
            if (
                seed.start is None
                and not seed.is_constant
                and seed.times == {0}
                and seed.computation == step.computation
            ):
                start: dict[int, Fraction] = {}
                if _match(step.columns, seed.columns, seed, start, {}) and start:
                    self._by_first_step[seed.key] = self._by_key.pop(seed.key)
                    seed.columns = step.columns
                    seed.start = tuple(start.get(feature, Fraction(0)) for feature in range(seed.size))
                    return seed
        return None


def exact_weight(value: float) -> Fraction:
    """Return the rational that a weight is."""
    try:
        return Fraction(*value.as_integer_ratio())
    except (OverflowError, ValueError):
        raise BadInput(f"module: {value} among its weights is not a finite number") from None


def _constant(signal: Signal, feature: int) -> Fraction | None:
    """Return the value of a feature that is a constant, or made of constants by sums and factors alone."""
    if signal.operation not in (CONST, SUM) or not signal.is_constant:
        return None
    total = sum(map(exact_weight, signal.biases[feature].tolist()), Fraction(0))
    for factor, (below, _, place) in zip(signal.weight[feature].tolist(), signal.columns, strict=True):
        value = _constant(below, place) if factor else Fraction(0)
        if value is None:
            return None
        total += exact_weight(factor) * value
    return total


def _match(
    step: tuple[Column, ...],
    first: tuple[Column, ...],
    seed: Signal,
    start: dict[int, Fraction],
    known: dict[tuple[Signal, int, Signal, int], bool],
    shifts: tuple[int, int] = (0, 0),
) -> bool:
    """Say whether a step is the first step with `seed` of one time before in the place of constants, which go into `start`."""
    for (new, new_shift, new_feature), (old, old_shift, old_feature) in zip(step, first, strict=True):
        shift, before = shifts[0] + new_shift, shifts[1] + old_shift
        if new is seed and shift == -1 and (value := _constant(old, old_feature)) is not None:
            if start.setdefault(new_feature, value) != value:
                return False
            continue
        if new_feature != old_feature:
            return False
        if new is old and (shift == before or new.is_constant):
            continue
        pair = (new, shift, old, before)
        if pair not in known:
            known[pair] = False
            known[pair] = new.computation == old.computation and _match(
                new.columns, old.columns, seed, start, known, (shift, before)
            )
        if not known[pair]:
            return False
    return True
