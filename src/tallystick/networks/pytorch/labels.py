"""Labels: beside a tensor of numbers, an int64 tensor of the same shape that says which number is which.

A label names a signal (`signals`), a string, a time and a feature, as one whole number: each signal has a block of
labels, strings × times × features. A tensor without labels is a constant, and gets them only once it is computed with.
"""

import sys
from collections.abc import Callable, Iterator
from math import prod
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from tallystick.networks.pytorch.signals import CONST, PRODUCT, SUM, Column, Floats, Signal, Signals, Unreadable
from tallystick.networks.pytorch.sums import Sums

Torch = Any
"""A tensor or something else of PyTorch's, which has no types here."""

Ints = NDArray[np.int64]

_MATRIX = 2


class Rows(NamedTuple):
    """What a signal is computed of: the same columns for each string and time, and which those are, row by row."""

    columns: tuple[Column, ...]
    strings: Ints
    times: Ints


class Labels:
    """The labels of all tensors in one run of a module.

    Attributes:
        torch: PyTorch.
        signals: what the labels name.
        place: the module that is running, for messages.
        doing: the function that is running, for messages.
    """

    def __init__(self, batch: int, length: int, tokens: int) -> None:
        """Begin a run on so many strings of one length."""
        self.torch: Torch = sys.modules["torch"]  # which the module that is read has brought along
        self.batch, self.length = batch, length
        self.signals = Signals(tokens)
        self.sums = Sums(self.signals.tokens)
        self.place, self.doing = "module", ""
        self._labels: dict[int, tuple[Torch, Torch]] = {}  # with the tensor itself, so that its id stays its own
        self._order: list[Signal] = []
        self._starts: list[int] = []
        self._start_of: dict[Signal, int] = {}

    def refuse(self, reason: str) -> NoReturn:
        """Refuse what the module is doing."""
        raise Unreadable(f"{self.place}: {self.doing} {reason}")

    # --- Tensors in nests of lists and tuples ---------------------------------------------------------------------------------

    def tensors(self, found: object) -> Iterator[Torch]:
        """Go through all tensors in a nest of lists, tuples and dictionaries."""
        if isinstance(found, self.torch.Tensor):
            yield found
        elif isinstance(found, dict):
            yield from self.tensors(list(cast("dict[Any, Any]", found).values()))
        elif isinstance(found, list | tuple):
            for one in cast("list[Any]", found):
                yield from self.tensors(one)

    def map(self, found: Any, act: Callable[[Any], Any]) -> Any:  # noqa: ANN401 -- a nest
        """Return the same nest with act(value) for each value in it."""
        if isinstance(found, dict):
            return {name: self.map(one, act) for name, one in cast("dict[str, Any]", found).items()}
        if isinstance(found, list | tuple):
            parts = [self.map(one, act) for one in cast("list[Any]", found)]
            return parts if isinstance(found, list) else tuple(parts)
        return act(found)

    # --- Labels of tensors ----------------------------------------------------------------------------------------------------

    def has(self, found: object) -> bool:
        """Say whether something depends on the strings: a tensor with labels, or a nest that holds one."""
        return any(id(tensor) in self._labels for tensor in self.tensors(found))

    def is_constant(self, tensor: Torch) -> bool:
        """Say whether a tensor is the same for every string and time, with labels or without."""
        if not self.has(tensor):
            return True
        places: list[int] = np.unique(self.decode(self.of(tensor).numpy().ravel())[0]).tolist()
        return all(self._order[place].is_constant for place in places)

    def is_of_many_times(self, value: Torch) -> bool:
        """Say whether a tensor holds numbers of several tokens, as a state does not."""
        if not self.has(value):
            return False
        which, _, times, _ = self.decode(np.unique(self.of(value).numpy()))
        timeless = np.array([signal.is_constant for signal in self._order])[which]
        return len(set(times[~timeless].tolist())) > 1

    def attach(self, tensors: Torch, labels: Torch) -> Torch:
        """Give labels to a tensor, or to each in a nest of them, and return it."""
        if isinstance(tensors, list | tuple):
            for one, its_labels in zip(cast("list[Any]", tensors), labels, strict=True):
                self.attach(one, its_labels)
        else:
            self._labels[id(tensors)] = tensors, self.torch.as_tensor(labels).reshape(tensors.shape)
        return cast("Torch", tensors)

    def of(self, value: Torch, axes: int = 1) -> Torch:
        """Return the labels of a tensor; each different row of a constant along its last axis, or last axes, is a signal."""
        if self.has(value):
            return self._labels[id(value)][1]
        numbers = self.numbers(value)
        rows = numbers.reshape(-1, prod(numbers.shape[-axes:]))
        labels = np.zeros(rows.shape, np.int64)
        nowhere = Rows((), np.zeros(1, np.int64), np.zeros(1, np.int64))
        for row in {row.tobytes(): row for row in rows}.values():
            labels[(rows == row).all(axis=1)] = self.new(CONST, np.zeros((len(row), 0)), row[:, None], nowhere)
        return self.torch.as_tensor(labels.reshape(numbers.shape))

    def of_state(self, value: Torch) -> Torch:
        """Return the labels of a tensor that is computed with number by number.

        Where a constant is the same for each string of a batch, as a state before the first token is, all its other axes tell its
        numbers apart.
        """
        several = not self.has(value) and isinstance(value, self.torch.Tensor) and value.ndim > _MATRIX
        if several and len(value) == self.batch and (value == value[:1]).all():
            return self.of(value, value.ndim - 1)
        return self.of(value)

    def numbers(self, value: Torch) -> Floats:
        """Return a constant as doubles."""
        if isinstance(value, self.torch.Tensor):
            if self.has(value):
                self.refuse("has weights that are computed, or depend on the string; weights that are stored are read")
            if type(value) not in (self.torch.Tensor, self.torch.nn.Parameter) or value.is_complex():
                self.refuse(f"has weights of {type(value).__name__}, {value.dtype}, which is not read")
            value = value.detach().double().numpy()
        return np.asarray(value, np.float64)

    # --- Labels of signals ----------------------------------------------------------------------------------------------------

    def new(self, operation: str, weight: Floats, biases: Floats, rows: Rows, size: int = 0) -> Ints:
        """Return the labels of f(W·x + b): its features, one row per string and time."""
        (time,) = times if len(times := set(rows.times.tolist())) == 1 else (-1,)
        signal = self.signals.put(
            Signal(operation, size or len(weight), weight, biases, rows.columns, self.place, self.doing), time
        )
        signal.times |= times
        if signal not in self._start_of:
            ends = self._starts[-1] + self.batch * self.length * self._order[-1].size if self._order else 0
            self._start_of[signal] = ends
            self._starts.append(ends)
            self._order.append(signal)
        places = rows.strings * self.length + rows.times
        return self._start_of[signal] + places[:, None] * signal.size + np.arange(signal.size)

    def decode(self, labels: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the place of the signal (see `columns`), the string, the time and the feature of each label."""
        which = np.searchsorted(np.array(self._starts), labels, side="right") - 1
        sizes = np.array([signal.size for signal in self._order])[which]
        places, features = np.divmod(labels - np.array(self._starts)[which], sizes)
        return which, places // self.length, places % self.length, features

    def columns(self, found: Ints) -> tuple[Column, ...]:
        """Return columns given as the place of a signal, a shift and a feature."""
        entries: list[list[int]] = found.tolist()
        return tuple((self._order[which], shift, feature) for which, shift, feature in entries)

    def has_one_row(self, labels: Torch) -> bool:
        """Say whether all rows along the last axis have the same columns."""
        columns = self._relative(labels.numpy().reshape(-1, labels.shape[-1]))[0]
        return bool((columns == columns[:1]).all())

    def rows(self, labels: Torch) -> Rows:
        """Return the columns that all rows along the last axis share."""
        found = labels.numpy()
        columns, strings, times = self._relative(found.reshape(-1, found.shape[-1]))
        if (columns != columns[:1]).any():
            self.refuse("reads other numbers at one time than at another")
        return Rows(self.columns(columns[0]), strings, times)

    def _relative(self, labels: Ints) -> tuple[Ints, Ints, Ints]:
        """Return signal, shift and feature for each label of each row, and the string and time of each row."""
        which, strings, times, features = self.decode(labels)
        timeless = np.array([signal.is_constant for signal in self._order])[which]
        time, string = (np.where(timeless, -1, found).max(axis=-1) for found in (times, strings))
        if (~timeless & (strings != string[..., None])).any():
            self.refuse("joins numbers of different strings; what is read goes string by string")
        shifts = np.where(timeless, 0, times - time[..., None])
        return np.stack([which, shifts, features], axis=-1), np.maximum(string, 0), np.maximum(time, 0)

    def entrywise(self, operation: str, *parts: tuple[Torch, Torch]) -> Torch:
        """Return the labels of f(w·x + …), number by number; each part is the labels of x and the numbers w.

        Each combination of columns and numbers w that occurs is a feature of the new signal, wherever in the tensors it lies.
        """
        tensors = self.torch.broadcast_tensors(*(self.torch.as_tensor(one) for part in parts for one in part))
        labels, factors = (np.stack([one.numpy() for one in tensors[start::2]], axis=-1) for start in (0, 1))
        columns, strings, times = self._relative(labels)
        count = len(parts)
        bits = np.ascontiguousarray(factors, np.float64).view(np.int64)
        found = np.concatenate([columns.reshape(-1, 3 * count), bits.reshape(-1, count)], axis=1)
        features, places = np.unique(found, axis=0, return_inverse=True)
        weight = np.ascontiguousarray(features[:, 3 * count :]).view(np.float64)
        if operation != PRODUCT:  # whose columns come in pairs
            rows, weight = weight, np.zeros((len(features), len(features) * count))
            for place, row in enumerate(rows):
                weight[place, place * count : (place + 1) * count] = row
        named = self.columns(features[:, : 3 * count].reshape(-1, 3))
        made = self.new(operation, weight, np.zeros((len(weight), 0)), Rows(named, strings.ravel(), times.ravel()))
        return self.torch.as_tensor(np.take_along_axis(made, places.reshape(-1, 1), axis=1).reshape(tensors[0].shape))

    def affine(self, labels: Torch, weight: Floats, bias: Torch = None) -> Torch:
        """Return the labels of W·x + b, where x lies along the last axis."""
        biases = np.zeros((len(weight), 0)) if bias is None else self.numbers(bias).reshape(-1, 1)
        made = self.new(SUM, weight, biases, self.rows(labels))
        return self.torch.as_tensor(made.reshape(*labels.shape[:-1], len(weight)))
