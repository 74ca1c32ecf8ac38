"""A network as any library may execute it in a floating-point format: its states lie in boxes whose ends are such numbers.

Between two tokens every number of a state is there, added up and rounded; within a step it is a `Span`, which keeps sums
together whose order nobody knows. So what a step takes and gives are boxes, as in real arithmetic, and whatever groups strings by
boxes works on these too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Input, Recurrence, inputs_of
from tallystick.certificates.boxes.box_proof import Test, classes_of, shape_of
from tallystick.errors import BadInput
from tallystick.languages.counter_machine import String
from tallystick.networks import Network, Readout
from tallystick.networks.int8 import MATRICES, check_int8
from tallystick.networks.readout import Comparison
from tallystick.numbers import ANY_ORDER, Number, float_format
from tallystick.numbers.any_order import SATURATED, SINGLE, ULPS, Span, span_between, span_of
from tallystick.numbers.boxes import Box
from tallystick.numbers.floats import FloatFormat
from tallystick.numbers.scaled_weights import scaled_weight
from tallystick.numbers.values import exact_number, layer, map_states


@dataclass(frozen=True)
class Executions:
    """A network with its weights rounded to a format, as spans."""

    recurrence: Recurrence
    readout: Readout
    inputs: Mapping[str, Input]
    form: FloatFormat

    @classmethod
    def of(cls, network: Network, arithmetic: str) -> "Executions":
        """Round the weights, as a library does when it loads them."""
        form = float_format(arithmetic)
        if form.state.digits < form.digits:
            _check_one_layer(network, arithmetic)
        if form.weights is None:
            check_int8(network)
        number = partial(_weight, form)
        return cls(
            network.cell.map_weights(number), network.readout.map_weights(number), inputs_of(network.alphabet), form
        )

    @property
    def initial_state(self) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """The state before the first token, in boxes."""
        return self._boxes(self.recurrence.initial_state)

    @property
    def matrix_entries(self) -> int:
        """How many weights a step multiplies with."""
        return self.recurrence.matrix_entries

    def step(self, state: Any, token: Input) -> Any:  # noqa: ANN401
        """Return the boxes of the state after one more token."""
        return self._boxes(self.recurrence.step(self._spans(state), token))

    @property
    def padded_to(self) -> int:
        """The length to which shorter strings are filled up on the left."""
        return getattr(self.recurrence, "padded_to", 0)

    def start_of(self, length: int) -> Any:  # noqa: ANN401
        """Return the boxes of the state before the first token of strings of a length."""
        return self._boxes(self.recurrence.start_of(length))

    def final_state(self, string: String, alphabet: tuple[str, ...] = ()) -> Any:  # noqa: ANN401
        """Return the boxes of the state after a string; the alphabet is the network's."""
        del alphabet
        state = self.start_of(len(string))
        for token in string:
            state = self.step(state, self.inputs[token])
        return state

    def outputs(self, state: Any) -> list[Box]:  # noqa: ANN401
        """Return the boxes of the outputs."""
        hidden = self.recurrence.hidden(self._spans(state))
        return [_box(output) for output in layer(self.readout.weight, self.readout.bias, hidden)]

    def classes(self, state: Any) -> NDArray[np.int64]:  # noqa: ANN401
        """Return the index of the class that every execution gives, or `UNSURE`, for an array of states."""
        outputs = [*self.outputs(state), Box(0.0, 0.0)]  # NOTHING is the last
        tests = [[_holds_or_fails(outputs, one) for one in needed] for needed in self.readout.comparisons]
        return classes_of(tests, shape_of(outputs))

    def _spans(self, state: Any) -> Any:  # noqa: ANN401
        def span(box: Box) -> Span:
            return span_between(box, self.form)

        return map_states(span, state)

    def _boxes(self, state: Any) -> Any:  # noqa: ANN401
        return map_states(_stored, state)


def _weight(form: FloatFormat, value: object, field: str = "number") -> Span:
    """Return a weight as it is kept; of one with a scale only the entries of matrices have it."""
    is_scaled = form.weights is None and field in MATRICES
    return scaled_weight(value, form, field) if is_scaled else span_of(value, form, field)


def _check_one_layer(network: Network, arithmetic: str) -> None:
    """Refuse a stack whose states are kept in less than it computes in: the next layer may see a number before it is rounded."""
    if len(getattr(network.cell, "layers", ())) > 1:
        form = float_format(arithmetic).state.name
        raise BadInput(
            f"arithmetic: {arithmetic!r} is for one layer, since nothing says whether the next one sees a state before it is "
            f"rounded; certify in {form}{ANY_ORDER}, which holds for both"
        )


def _box(number: Number) -> Box:
    return number.box if isinstance(number, Span) else Box(float(number), float(number))


def _stored(number: Number) -> Box:
    return number.stored if isinstance(number, Span) else _box(number)


def _holds_or_fails(outputs: list[Box], comparison: Comparison) -> Test:
    """Say where a comparison of two outputs holds in every execution, and where it fails in every one."""
    x, y = outputs[comparison.greater], outputs[comparison.less]
    return (x.low > y.high, x.high <= y.low) if comparison.strict else (x.low >= y.high, x.high < y.low)


def said_of(arithmetic: str) -> str:
    """Say what a verdict in any order holds for."""
    form = float_format(arithmetic)
    narrow = f", states rounded to {form.name} after every token" if form.digits < SINGLE.digits else ""
    return (
        f"{form.said}{narrow}, in whatever order a library adds, with or without fused multiply-add, its products not those of "
        f"TF32, its tanh and sigmoid within {ULPS} units in the last place"
    )


def assumed_of(arithmetic: str) -> dict[str, object]:
    """Return what a verdict in any order assumes of a library's functions, as its certificate says it."""
    tanh, sigmoid = (exact_number(Fraction(point)) for point in SATURATED[float_format(arithmetic).name])
    return {"ulps": ULPS, "tanh_is_1_from": tanh, "sigmoid_is_1_from": sigmoid}
