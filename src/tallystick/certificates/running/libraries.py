"""A network as a library runs it: built of the library's own parts, and called with many strings at once.

    numpy   the cell's own step, on arrays with one entry per string
    jax     the same step, compiled, in a scan over the tokens
    torch   nn.LSTM, nn.GRU and nn.RNN where there is one for the cell, and nn.Linear for the readout; products of matrices for a
            linear layer; for every other cell its own step, on tensors

The weights are rounded to the format once, and all that is computed has that format.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Cell, Recurrence, Stack
from tallystick.certificates.running.library_arrays import (
    Array,
    doubles_of,
    join_arrays,
    library_array,
    library_mode,
    load_library,
)
from tallystick.certificates.running.library_layers import library_layer, weights_in
from tallystick.errors import BadInput
from tallystick.networks import Network
from tallystick.networks.readout import COUNT, ZERO
from tallystick.numbers.floats import FloatFormat
from tallystick.numbers.values import Matrix
from tallystick.numbers.values import layer as outputs_of_layer


class Parts(NamedTuple):
    """A network in parts: layers, the states that they start from, and the vectors that are read."""

    layers: tuple[Cell, ...]
    start: tuple[Any, ...]
    tokens: Matrix
    first: Matrix
    last: Matrix


def _parts(cell: Recurrence) -> Parts:
    if isinstance(cell, Stack) and not cell.is_padded:
        return Parts(cell.layers, cell.start, cell.tokens, cell.first, cell.last)
    if not isinstance(cell, Cell):
        raise BadInput(f"run_by: a {cell.name} that is padded, or has no layers, is not built in a library")
    one_hot = tuple(tuple(int(one == other) for other in range(cell.inputs)) for one in range(cell.inputs))
    return Parts((cell,), (cell.initial_state,), one_hot, (), ())


@dataclass(eq=False)
class Build:
    """A network built in a library, to be called with an array of the places of tokens, (batch, length).

    Attributes:
        network: what is built.
        library: its name.
        form: the format.
    """

    network: Network
    library: str
    form: FloatFormat

    def __post_init__(self) -> None:
        """Build it."""
        readout = self.network.readout
        if readout.steps is not None or readout.decision == COUNT:
            raise BadInput(
                f"run_by: a readout that decides by {readout.decision} is not run; it is for classes of strings"
            )
        load_library(self.library)
        self.__qualname__ = f"{self.network.cell.name} built in {self.library} in {self.form.said}"
        parts = _parts(self.network.cell)
        with library_mode(self.library, self.form):
            self._layers = [
                library_layer(*both, self.library, self.form) for both in zip(parts.layers, parts.start, strict=True)
            ]
            self._tokens, self._weight, self._bias = (
                self._array(part) for part in (parts.tokens, readout.weight, readout.bias)
            )
            self._first, self._last = (
                [self._array((vector,)) for vector in vectors] for vectors in (parts.first, parts.last)
            )
        self._run, self._step = self._run_strings, self._read_token
        if self.library == "jax":
            self._run, self._step = map(load_library("jax").jit, (self._run, self._step))

    def _run_strings(self, indices: Array) -> tuple[Array, Array]:
        """Return what the readout sees after each token of whole strings, and the outputs there."""
        first, last = ([_repeat(end, len(indices)) for end in ends] for ends in (self._first, self._last))
        vectors = [*first, self._tokens[indices], *last]
        shown = vectors[0] if len(vectors) == 1 else join_arrays(self.library, vectors, 1)
        for layer in self._layers:
            shown = layer.run(shown)
        return shown, self._outputs(shown)

    def start(self, batch: int) -> "States":
        """Return the states of all layers before the first token, once what stands before every string is read."""
        with library_mode(self.library, self.form), np.errstate(all="ignore"):
            states = tuple(layer.start(batch) for layer in self._layers)
            for vector in self._first:
                states, _ = self._read(states, _repeat(vector, batch)[:, 0])
            return states

    def step(self, states: "States", indices: NDArray[np.int64]) -> tuple["States", NDArray[Any]]:
        """Read a token for each string, by its place; return the next states, and the outputs if the string ends there."""
        with library_mode(self.library, self.form), np.errstate(all="ignore"):
            given = load_library("torch").from_numpy(indices) if self.library == "torch" else indices
            states, outputs = self._step(states, given)
            found = doubles_of(outputs)
        return states, found == 0 if self.network.readout.decision == ZERO else found

    def _read_token(self, states: "States", indices: Array) -> tuple["States", Array]:
        states, shown = self._read(states, self._tokens[indices])
        after = states
        for vector in self._last:
            after, shown = self._read(after, _repeat(vector, len(indices))[:, 0])
        return states, self._outputs(shown)

    def _read(self, states: "States", shown: Array) -> tuple["States", Array]:
        """Read a vector for each string, layer by layer."""
        after: list[Any] = []
        for layer, state in zip(self._layers, states, strict=True):
            state, shown = layer.step(state, shown)  # noqa: PLW2901 -- the next state takes its place
            after.append(state)
        return tuple(after), shown

    def __call__(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        """Return the outputs of strings; for a zero check whether they are accepted."""
        _, outputs = self.along(indices)
        return outputs[:, -1] == 0 if self.network.readout.decision == ZERO else outputs[:, -1]

    def along(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what the readout sees after each token, (batch, length, units), and the outputs there, as doubles."""
        with library_mode(self.library, self.form), np.errstate(all="ignore"):
            given = load_library("torch").from_numpy(indices) if self.library == "torch" else self._fill(indices)
            hidden, outputs = (doubles_of(found)[: len(indices)] for found in self._run(given))
            longer = given.shape[1] - indices.shape[1]
            return (hidden[:, :-longer], outputs[:, :-longer]) if longer else (hidden, outputs)

    def _fill(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Fill a batch up with strings and tokens that change nothing, since JAX compiles for each size anew."""
        if self.library != "jax":
            return indices
        batch, length = indices.shape
        size = next(size for size in (1, 64, 4096, batch) if size >= batch)
        # What follows a token does not change what comes after it; but nothing may stand before what ends every string.
        added = 0 if getattr(self.network.cell, "last", ()) else -length % 32
        return np.pad(indices, ((0, size - batch), (0, added)))

    def _array(self, values: Any) -> Array:  # noqa: ANN401 -- a vector or a matrix of weights
        return library_array(self.library, weights_in(self.form, values), self.form)

    def _outputs(self, hidden: Array) -> Array:
        if self.library == "torch":
            return load_library("torch").nn.functional.linear(hidden, self._weight, self._bias)
        if self.library == "jax":
            return hidden @ self._weight.T + self._bias
        # NumPy multiplies matrices of bfloat16 in float32, and leaves the product there.
        return np.stack(outputs_of_layer(self._weight, self._bias, tuple(np.moveaxis(hidden, -1, 0))), -1)


States = tuple[Any, ...]
"""The states of all layers, each in a form of its own, with one entry or row per string."""


def _repeat(vectors: Array, batch: int) -> Array:
    return vectors[None].expand(batch, -1, -1) if hasattr(vectors, "expand") else vectors[None].repeat(batch, 0)
