"""What the functions of PyTorch that compute something make of labels: a new signal, or a refusal.

Each method takes the arguments of a function, and returns the labels of its result. What moves numbers needs none of this
(`tracing`).
"""

from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np

from tallystick.errors import BadInput
from tallystick.networks.pytorch.contractions import Contractions
from tallystick.networks.pytorch.labels import Labels, Torch
from tallystick.networks.pytorch.signals import OF_TOKENS, SUM, Floats, Unreadable

_CELLS = {"rnn_tanh": "tanh", "rnn_relu": "relu", "gru": "gru", "lstm": "lstm"}
_MATRIX = 2
_HALF = 0.5


class Functions:
    """The functions that are read, by their names.

    Attributes:
        by_name: each takes the arguments of the function and returns the labels of its result.
        of_constants: those that are also read where everything is constant, since what they make of it stays exact.
    """

    def __init__(self, labels: Labels) -> None:
        """Make labels of labels in one run."""
        self._labels = labels
        self._contractions = Contractions(labels)
        cells = {f"{name}_cell": partial(self._cell_call, kind) for name, kind in _CELLS.items()}
        sequences = {name: partial(self._sequence, kind) for name, kind in _CELLS.items()}
        products = {"linear": self._linear, "addmm": self._addmm, **self._contractions.by_name}
        products |= dict.fromkeys(("matmul", "__matmul__", "mm", "mv"), self._matrix_product)
        sums: dict[str, Callable[..., Torch]] = {
            **dict.fromkeys(("add", "__add__", "__radd__"), self._add),
            **dict.fromkeys(("sub", "subtract", "__sub__"), partial(self._add, sign=-1.0)),
            **dict.fromkeys(("rsub", "__rsub__"), self._subtract_from),
            **dict.fromkeys(("mul", "multiply", "__mul__", "__rmul__"), self._multiply),
            **dict.fromkeys(("div", "divide", "true_divide", "__truediv__"), self._divide),
            **dict.fromkeys(("neg", "negative", "__neg__"), partial(self._multiply, -1.0)),
        }
        self.of_constants = frozenset({**cells, **sequences, **products, **sums})
        self.by_name: dict[str, Callable[..., Torch]] = {
            **cells,
            **sequences,
            **products,
            **sums,
            **{name: partial(self._unary, name) for name in ("tanh", "relu", *OF_TOKENS)},
            "expit": partial(self._unary, "sigmoid"),
            **dict.fromkeys(("clamp", "clip", "clamp_min"), self._clamp),
            **{name: partial(self._softmax, name) for name in ("softmax", "log_softmax")},
            "sum": self._contractions.sum,
            "embedding": self._embedding,
            "one_hot": self._one_hot,
            "dropout": self._dropout,
        }

    # --- Number by number -----------------------------------------------------------------------------------------------------

    def _unary(self, operation: str, tensor: Torch, inplace: bool = False) -> Torch:
        del inplace  # the tensor is then the result, and gets its labels
        return self._labels.entrywise(operation, (self._labels.of_state(tensor), 1.0))

    def _clamp(self, tensor: Torch, min: object = None, max: object = None) -> Torch:  # noqa: A002 -- PyTorch's names
        if min != 0 or max is not None:
            self._labels.refuse("bounds numbers by something else than 0 from below")
        return self._unary("relu", tensor)

    def _add(self, first: Torch, second: Torch, *, alpha: float = 1, sign: float = 1) -> Torch:
        return self._labels.entrywise(
            SUM, (self._labels.of_state(first), 1.0), (self._labels.of_state(second), sign * float(alpha))
        )

    def _subtract_from(self, first: Torch, second: Torch, *, alpha: float = 1) -> Torch:
        return self._labels.entrywise(
            SUM, (self._labels.of_state(first), -float(alpha)), (self._labels.of_state(second), 1.0)
        )

    def _multiply(self, first: Torch, second: Torch) -> Torch:
        """Return weights times numbers; where neither is a weight for sure, as with a state before the first token, a product."""
        for value, factor in ((first, second), (second, first)):
            if self._is_weight(factor) or (not self._labels.has(factor) and self._labels.is_of_many_times(value)):
                return self._labels.entrywise(SUM, (self._labels.of_state(value), self._labels.numbers(factor)))
        return self._contractions.multiply(first, second)

    def _is_weight(self, factor: Torch) -> bool:
        torch = self._labels.torch
        return not isinstance(factor, torch.Tensor) or (
            isinstance(factor, torch.nn.Parameter) and not self._labels.has(factor)
        )

    def _divide(self, first: Torch, second: Torch, rounding_mode: str | None = None) -> Torch:
        if self._labels.has(second) or rounding_mode:
            self._labels.refuse("divides by a number that depends on the string, or rounds")
        divisor = self._labels.numbers(second)
        if (np.abs(np.frexp(divisor)[0]) != _HALF).any():
            self._labels.refuse("divides by what is not a power of two, so that 1/x is rounded; multiply instead")
        return self._multiply(first, 1 / divisor)

    def _dropout(self, tensor: Torch, p: float = _HALF, training: bool = True, inplace: bool = False) -> Torch:
        del inplace  # without training nothing is changed
        self._check_dropout(p if training else 0)
        return self._labels.of_state(tensor)

    def _check_dropout(self, p: float) -> None:
        if p:
            raise BadInput(
                f"{self._labels.place}: dropout is switched on, so answers are random; call module.eval() first"
            )

    # --- Vectors --------------------------------------------------------------------------------------------------------------

    def _linear(self, read: Torch, weight: Torch, bias: Torch = None) -> Torch:
        return self._labels.affine(self._labels.of(read), self._labels.numbers(weight), bias)

    def _addmm(self, bias: Torch, first: Torch, second: Torch) -> Torch:
        return self._labels.affine(self._labels.of(first), self._labels.numbers(second).T, bias)

    def _matrix_product(self, first: Torch, second: Torch) -> Torch:
        if self._labels.has(first) and self._labels.has(second):
            return self._contractions.matrix_product(first, second)
        turned = self._labels.has(second)
        value, weight = (second, self._labels.numbers(first)) if turned else (first, self._labels.numbers(second))
        labels = self._labels.of(value)
        if weight.ndim > _MATRIX or (turned and weight.ndim != _MATRIX):
            return self._contractions.matrix_product(first, second)
        if not turned and labels.ndim > 1 and weight.ndim == 1 and not self._labels.has_one_row(labels):
            return self._contractions.matrix_product(first, second)  # a matrix of the token times a constant state
        if not turned:
            return self._labels.affine(labels, np.ascontiguousarray(weight.reshape(len(weight), -1).T))
        if labels.ndim == 1:
            return self._labels.affine(labels, weight)
        return self._labels.affine(labels.transpose(-1, -2), weight).transpose(-1, -2)

    def _softmax(self, operation: str, tensor: Torch, dim: int | None = None, *_: object, **__: object) -> Torch:
        if dim is None:
            self._labels.refuse("does not say its dim")
        labels = self._labels.of(tensor).movedim(dim, -1)
        rows = self._labels.rows(labels)
        size = len(rows.columns)
        made = self._labels.new(operation, np.eye(size), np.zeros((size, 0)), rows).reshape(labels.shape)
        return self._labels.torch.as_tensor(made).movedim(-1, dim)

    # --- Tables ---------------------------------------------------------------------------------------------------------------

    def _embedding(
        self,
        indices: Torch,
        weight: Torch,
        padding_idx: object = None,
        max_norm: object = None,
        *_: object,
        **__: object,
    ) -> Torch:
        del padding_idx  # its row is read like any other
        if max_norm is not None:
            self._labels.refuse("changes its own weights (max_norm)")
        return self._look_up(indices, self._labels.numbers(weight))

    def _one_hot(self, tensor: Torch, num_classes: int = -1) -> Torch:
        if num_classes < 0:
            self._labels.refuse("has as many classes as the string; say num_classes")
        return self._look_up(tensor, np.eye(num_classes))

    def _look_up(self, indices: Torch, table: Floats) -> Torch:
        """Return the labels of the rows that indices point to, which the token alone must decide."""
        labels = self._labels
        rows = labels.rows(labels.of(indices)[..., None])
        (column,) = rows.columns
        try:
            (form,) = labels.sums.rows(np.ones((1, 1)), np.zeros((1, 0)), [column])
            values = labels.sums.values(form)
        except Unreadable:
            labels.refuse("is asked for something else than the token")
        for value in values:
            if value.denominator != 1 or not 0 <= value < len(table):
                raise BadInput(f"{labels.place}: {value} is not one of its {len(table)} indices; say other tokens=")
        weight = np.ascontiguousarray(table[[int(value) for value in values]].T)
        made = labels.new(
            SUM, weight, np.zeros((len(weight), 0)), rows._replace(columns=labels.signals.token_columns())
        )
        return labels.torch.as_tensor(made)

    def look_up(self, table: Torch, indices: Torch) -> Torch:
        """Return the labels of table[indices], where the token alone decides the indices."""
        numbers = table.detach().double().numpy()
        return self._look_up(indices, numbers.reshape(len(numbers), -1))

    # --- Recurrent modules ----------------------------------------------------------------------------------------------------

    def _step(self, kind: str, read: Torch, state: list[Torch], weights: list[Torch]) -> list[Torch]:
        """Return the labels of the next state: h, and c of an LSTM."""
        torch, labels = self._labels.torch, self._labels.torch.cat([read, *state], dim=-1)
        inputs, recurrent, *biases = (self._labels.numbers(weight) for weight in weights if weight is not None)
        biases = biases or [np.zeros(len(inputs))] * 2
        weight, units = np.concatenate([inputs, recurrent], axis=1), recurrent.shape[1]
        made = self._labels.new(kind, weight, np.stack(biases, axis=1), self._labels.rows(labels), len(state) * units)
        return list(torch.as_tensor(made).reshape(*labels.shape[:-1], -1).split(units, dim=-1))

    def _states(self, state: Torch) -> list[Torch]:
        parts = cast("list[Torch]", state) if isinstance(state, list | tuple) else [state]
        return [self._labels.of(one) for one in parts]

    def _cell_call(self, kind: str, read: Torch, state: Torch, *weights: Torch) -> Torch:
        after = self._step(kind, self._labels.of(read), self._states(state), list(weights))
        return after if len(after) > 1 else after[0]

    def _sequence(self, kind: str, read: Torch, state: Torch, weights: Torch, *options: Torch) -> list[Torch]:
        """Return the labels of what an nn.RNN, nn.GRU or nn.LSTM gives: all steps of the last layer, and the last of each."""
        if not isinstance(weights, list | tuple):
            self._labels.refuse("reads a packed sequence")
        has_biases, layers, dropout, training, both_ways, batch_first = options
        each = 4 if has_biases else 2
        if both_ways:
            self._labels.refuse("reads the string in both directions")
        matrices = cast("list[Torch]", weights)
        if len(matrices) != each * layers:
            self._labels.refuse("projects its state (proj_size)")
        self._check_dropout(dropout if training and layers > 1 else 0)
        torch, axis = self._labels.torch, int(batch_first)
        steps, starts = list(self._labels.of(read).unbind(axis)), self._states(state)
        ends: list[list[Torch]] = []
        for layer in range(layers):
            current = [start[layer] for start in starts]
            for place, step in enumerate(steps):
                current = self._step(kind, step, current, list(matrices[each * layer : each * (layer + 1)]))
                steps[place] = current[0]
            ends.append(current)
        return [torch.stack(steps, axis), *(torch.stack(parts) for parts in zip(*ends, strict=True))]
