"""A network as a library runs it: built of the library's own parts, and called with many strings at once.

    numpy   the cell's own step, on arrays with one entry per string
    jax     the same step, compiled, in a scan over the tokens
    torch   nn.LSTM, nn.GRU and nn.RNN where there is one for the cell, and nn.Linear for the readout; products of matrices for a
            linear layer; for every other cell its own step, on tensors

The weights are rounded to the format once, and all that is computed has that format.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Cell, GatedCell, GruCell, LstmCell, Recurrence, ReluCell, ScalarCell, Stack, TanhCell
from tallystick.cells.simple import LinearLayer, ReluLayer, TanhLayer
from tallystick.cells.stack import Reading
from tallystick.errors import BadInput
from tallystick.networks import Network
from tallystick.networks.readout import COUNT, ZERO
from tallystick.numbers import FORMATS, positive_part, sigmoid, unit_step
from tallystick.numbers.floats import FloatFormat, nearest
from tallystick.numbers.values import Matrix, Vector, exact, map_states
from tallystick.numbers.values import layer as outputs_of_layer

Array = Any
"""An array of the library."""

LIBRARIES = {"numpy": "float64", "torch": "float32", "jax": "float32"}
"""Every library, and the format that it computes in where nothing is said."""


def load_library(name: str) -> Any:  # noqa: ANN401 -- a module
    """Return a library; ask for one that is not there."""
    if name not in LIBRARIES:
        raise BadInput(f"run_by: {name!r} is not one of {', '.join(LIBRARIES)}")
    try:
        return importlib.import_module(name)
    except ImportError:
        raise BadInput(f"run_by: {name} is not installed; install it, as with pip install {name}") from None


def library_mode(name: str, form: FloatFormat) -> AbstractContextManager[Any]:
    """Return a context in which a library computes in a format: without gradients, and in JAX with float64 if that is it."""
    library = load_library(name)
    if name == "jax":
        return library.enable_x64(form.name == "float64")
    return library.no_grad() if name == "torch" else nullcontext()


def library_array(name: str, values: Any, form: FloatFormat) -> Array:  # noqa: ANN401 -- doubles
    """Return numbers of a format, which doubles hold, as an array of a library."""
    library, doubles = load_library(name), np.asarray(values, np.float64)
    if name == "torch":
        return library.from_numpy(np.array(doubles)).to(getattr(library, form.name))
    return library.numpy.asarray(doubles.astype(form.kind)) if name == "jax" else doubles.astype(form.kind)


def doubles_of(array: Array) -> NDArray[np.float64]:
    """Return an array of a library as doubles."""
    return array.double().numpy() if hasattr(array, "double") else np.asarray(array).astype(np.float64)


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
        self.__qualname__ = f"{self.network.cell.name} built in {self.library} in {self.form.name}"
        parts = _parts(self.network.cell)
        with library_mode(self.library, self.form):
            made: list[Layer] = [self._layer(*both) for both in zip(parts.layers, parts.start, strict=True)]
            tokens, V, c = (
                self._array(_doubles(part, self.form)) for part in (parts.tokens, readout.weight, readout.bias)
            )
            ends = [self._array(_doubles((vector,), self.form)) for vector in (*parts.first, *parts.last)]

        def run(indices: Array) -> tuple[Array, Array]:
            vectors = [_repeat(end, len(indices)) for end in ends]
            vectors.insert(len(parts.first), tokens[indices])
            shown = vectors[0] if len(vectors) == 1 else self._join(vectors)
            for layer in made:
                shown = layer(shown)
            return shown, self._outputs(shown, V, c)

        self._run = load_library("jax").jit(run) if self.library == "jax" else run

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

    def _array(self, values: NDArray[np.float64]) -> Array:
        return library_array(self.library, values, self.form)

    def _number(self, value: object, field: str = "number") -> Array:
        return self._array(np.array(nearest(exact(value, field), self.form, field), np.float64))[()]

    def _join(self, arrays: list[Array]) -> Array:
        """Put vectors one after the other along the tokens."""
        if self.library == "torch":
            return load_library("torch").cat(arrays, 1)
        return _names(self.library).concatenate(arrays, 1)

    def _outputs(self, hidden: Array, weight: Array, bias: Array) -> Array:
        if self.library == "torch":
            return load_library("torch").nn.functional.linear(hidden, weight, bias)
        if self.library == "jax":
            return hidden @ weight.T + bias
        # NumPy multiplies matrices of bfloat16 in float32, and leaves the product there.
        return np.stack(outputs_of_layer(weight, bias, tuple(np.moveaxis(hidden, -1, 0))), -1)

    def _layer(self, cell: Cell, start: Any) -> "Layer":  # noqa: ANN401 -- each cell has its own kind of state
        start = map_states(self._number, start)
        if self.library == "torch" and isinstance(cell, tuple(_MODULES)):
            return _torch_layer(cell, start, self._array, self.form)
        if self.library == "torch":
            _register_tensors()
        step = cell.map_weights(self._number)
        return partial(_scanned if self.library == "jax" else _looped, step, start, self.library)


Layer = Callable[[Array], Array]
"""From the vectors that a layer reads, (batch, length, width), to those that it shows."""


def _doubles(matrix: Matrix | Vector, form: FloatFormat) -> NDArray[np.float64]:
    """Return numbers as doubles, rounded to a format once."""

    def number(value: object) -> float:
        return float(nearest(exact(value), form))  # type: ignore[arg-type]  # a NumPy number of a real kind

    return np.array(map_states(number, matrix), np.float64)


def _repeat(vectors: Array, batch: int) -> Array:
    return vectors[None].expand(batch, -1, -1) if hasattr(vectors, "expand") else vectors[None].repeat(batch, 0)


def _names(library: str) -> Any:  # noqa: ANN401 -- a module with NumPy's names
    return load_library(library).numpy if library == "jax" else np


def _states(start: Any, library: str, like: Array) -> Any:  # noqa: ANN401
    """Return one state per string."""

    def repeated(number: Array) -> Array:
        return like[:, 0, 0] * 0 + number if library == "torch" else _names(library).full(len(like), number, like.dtype)

    return map_states(repeated, start)


def _looped(cell: Cell, start: Any, library: str, read: Array) -> Array:  # noqa: ANN401
    """Go through the tokens by the cell's own step."""
    state, shown = _states(start, library, read), list[Array]()
    stack = load_library("torch").stack if library == "torch" else np.stack
    for place in range(read.shape[1]):
        state = cell.step(state, Reading(tuple(read[:, place, entry] for entry in range(read.shape[2]))))
        shown.append(stack([*cell.hidden(state)], -1))
    return stack(shown, 1)


def _scanned(cell: Cell, start: Any, library: str, read: Array) -> Array:  # noqa: ANN401
    """Go through the tokens by the cell's own step, in one scan."""
    jax = load_library("jax")

    def step(state: Any, vectors: Array) -> tuple[Any, Array]:  # noqa: ANN401
        state = cell.step(state, Reading(tuple(vectors.T)))
        return state, jax.numpy.stack([*cell.hidden(state)], -1)

    return jax.lax.scan(step, _states(start, library, read), read.swapaxes(0, 1))[1].swapaxes(0, 1)


_MODULES: dict[type[Cell], tuple[str, dict[str, str]]] = {
    LstmCell: ("LSTM", {}),
    GruCell: ("GRU", {}),
    TanhLayer: ("RNN", {"nonlinearity": "tanh"}),
    ReluLayer: ("RNN", {"nonlinearity": "relu"}),
    TanhCell: ("RNN", {"nonlinearity": "tanh"}),
    ReluCell: ("RNN", {"nonlinearity": "relu"}),
    LinearLayer: ("", {}),
}
"""PyTorch's module for each cell that has one, and its options; a linear layer is two products of matrices."""


def _torch_layer(cell: Cell, start: Any, array: Callable[..., Array], form: FloatFormat) -> Layer:  # noqa: ANN401
    torch = load_library("torch")
    weights = [array(_doubles(part, form)) for part in _tensors(cell)]
    parts: Any = start if isinstance(cell, GatedCell) else (start if isinstance(start, tuple) else (start,),)
    state = [torch.stack([*part]) for part in parts if part]
    name, options = _MODULES[type(cell)]
    if not name:
        return partial(_linear, weights, state[0])
    module = getattr(torch.nn, name)(cell.inputs, cell.units, batch_first=True, dtype=weights[0].dtype, **options)
    for own, weight in zip(module.parameters(), weights, strict=True):
        own.copy_(weight)
    module.eval()

    def run(read: Array) -> Array:
        begun = tuple(part.expand(1, len(read), -1).contiguous() for part in state)
        return module(read, begun if name == "LSTM" else begun[0])[0]

    return run


def _tensors(cell: Cell) -> Iterator[Matrix | Vector]:
    """Return the weights as PyTorch's modules have them: W, U, b_x and b_h."""
    if isinstance(cell, ScalarCell):
        yield from (((cell.open_step, cell.close_step),), ((*cell.recurrent_weights,),), (0,), (0,))
    else:
        yield from cell.tensors().values()


def _linear(weights: list[Array], start: Array, read: Array) -> Array:
    """Return h' = W·x + b_x + U·h + b_h after each token, by products of matrices."""
    torch = load_library("torch")
    W, U, b_x, b_h = weights
    from_tokens, hidden, shown = torch.nn.functional.linear(read, W, b_x), start.expand(len(read), -1), list[Array]()
    for place in range(read.shape[1]):
        hidden = from_tokens[:, place] + torch.nn.functional.linear(hidden, U, b_h)
        shown.append(hidden)
    return torch.stack(shown, 1)


def _tensor_step(x: Any) -> Array:  # noqa: ANN401 -- a tensor
    return (x > 0).to(x.dtype)


@cache
def _register_tensors() -> None:
    """Say how PyTorch's tensors do what a step is made of; tanh they have as a method."""
    torch = load_library("torch")
    sigmoid.register(torch.Tensor, torch.sigmoid)
    positive_part.register(torch.Tensor, torch.relu)
    unit_step.register(torch.Tensor, _tensor_step)


def format_for(library: str, arithmetic: str | None) -> FloatFormat:
    """Return the format that a library computes in, by its name; without one, the library's own default."""
    load_library(library)
    name = LIBRARIES[library] if arithmetic is None else arithmetic
    if name not in FORMATS:
        raise BadInput(f"arithmetic: {name!r} is not one of {', '.join(FORMATS)}, which {library} runs a network in")
    return FORMATS[name]
