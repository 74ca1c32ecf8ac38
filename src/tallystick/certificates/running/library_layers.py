"""The layers of a network as a library runs them, each on many strings at once, over whole strings or token by token.

A layer is the library's own module where there is one, or else the cell's own step on the library's arrays. Where the numbers of
a state are kept in less than is computed in, they are rounded after every token, which no module does, so it is the cell's step.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Cell, GatedCell, GruCell, LstmCell, ReluCell, ScalarCell, TanhCell
from tallystick.cells.simple import LinearLayer, ReluLayer, TanhLayer
from tallystick.cells.stack import Reading
from tallystick.certificates.running.library_arrays import (
    Array,
    library_array,
    load_library,
    names_of,
    stack_arrays,
)
from tallystick.numbers import positive_part, sigmoid, unit_step
from tallystick.numbers.floats import FloatFormat, nearest
from tallystick.numbers.values import Matrix, Vector, exact, map_states


class Layer(Protocol):
    """A layer of a library."""

    def start(self, batch: int) -> Any:  # noqa: ANN401 -- each layer has its own kind of state
        """Return the state before the first token, for so many strings."""
        ...

    def step(self, state: Any, read: Array) -> tuple[Any, Array]:  # noqa: ANN401
        """Read a vector for each string, (batch, width); return the next state, and what it shows, (batch, units)."""
        ...

    def run(self, read: Array) -> Array:
        """Read whole strings, (batch, length, width); return what is shown after each token."""
        ...


def library_layer(cell: Cell, start: Any, library: str, form: FloatFormat) -> Layer:  # noqa: ANN401
    """Build a layer that begins in a state."""
    if library == "torch" and isinstance(cell, tuple(_MODULES)) and form.state.digits >= form.digits:
        return _LinearProducts(cell, start, form) if isinstance(cell, LinearLayer) else _Module(cell, start, form)
    if library == "torch":
        _register_tensors()
    return _OwnStep(cell, start, library, form)


def weights_in(form: FloatFormat, matrix: Matrix | Vector) -> NDArray[np.float64]:
    """Return weights as doubles, each rounded to the format that weights are kept in, once."""
    kept = form.weights or form

    def number(value: object) -> float:
        return float(nearest(exact(value), kept))  # type: ignore[arg-type]  # a NumPy number of a real kind

    return np.array(map_states(number, matrix), np.float64)


class _OwnStep:
    """The cell's own step, on arrays with one entry per string; in JAX in a scan."""

    def __init__(self, cell: Cell, start: Any, library: str, form: FloatFormat) -> None:  # noqa: ANN401
        self._library, self._form = library, form
        self._cell, self._start = cell.map_weights(self._number), map_states(self._number, start)

    def _number(self, value: object, field: str = "number") -> Array:
        kept = self._form.weights or self._form
        rounded = np.array(nearest(exact(value, field), kept, field), np.float64)
        return library_array(self._library, rounded, self._form)[()]

    def start(self, batch: int) -> Any:  # noqa: ANN401
        """Return one state per string."""

        def repeat(number: Array) -> Array:
            if self._library == "torch":
                return number.expand(batch)
            return names_of(self._library).full(batch, number, number.dtype)

        return self._keep(map_states(repeat, self._start))

    def step(self, state: Any, read: Array) -> tuple[Any, Array]:  # noqa: ANN401
        """Read a vector for each string."""
        state = self._keep(self._cell.step(state, Reading(tuple(read[:, entry] for entry in range(read.shape[1])))))
        return state, stack_arrays(self._library, [*self._cell.hidden(state)], -1)

    def run(self, read: Array) -> Array:
        """Read whole strings."""
        state = self.start(len(read))
        if self._library == "jax":
            scan = load_library("jax").lax.scan
            return scan(self.step, state, read.swapaxes(0, 1))[1].swapaxes(0, 1)
        shown: list[Array] = []
        for place in range(read.shape[1]):
            state, found = self.step(state, read[:, place])
            shown.append(found)
        return stack_arrays(self._library, shown, 1)

    def _keep(self, state: Any) -> Any:  # noqa: ANN401
        """Round the numbers of a state to the format that they are kept in."""
        if self._form.state.digits >= self._form.digits:
            return state
        forms = self._form.state, self._form

        def keep(number: Array) -> Array:
            for form in forms:
                torch = load_library("torch") if self._library == "torch" else None
                number = number.to(getattr(torch, form.name)) if torch else number.astype(form.kind)
            return number

        return map_states(keep, state)


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


def _module_weights(cell: Cell, form: FloatFormat) -> list[Array]:
    """Return the weights as PyTorch's modules have them: W, U, b_x and b_h."""
    return [library_array("torch", weights_in(form, part), form) for part in _tensors(cell)]


def _tensors(cell: Cell) -> Iterator[Matrix | Vector]:
    if isinstance(cell, ScalarCell):
        yield from (((cell.open_step, cell.close_step),), ((*cell.recurrent_weights,),), (0,), (0,))
    else:
        yield from cell.tensors().values()


def _start_vectors(cell: Cell, start: Any, form: FloatFormat) -> list[Array]:  # noqa: ANN401
    """Return the initial state as vectors: h, and c where there is one."""
    parts: Any = start if isinstance(cell, GatedCell) else (start if isinstance(start, tuple) else (start,),)
    return [library_array("torch", weights_in(form, part), form) for part in parts if part]


class _Module:
    """One of PyTorch's modules."""

    def __init__(self, cell: Cell, start: Any, form: FloatFormat) -> None:  # noqa: ANN401
        torch, weights = load_library("torch"), _module_weights(cell, form)
        name, options = _MODULES[type(cell)]
        self._module = getattr(torch.nn, name)(
            cell.inputs, cell.units, batch_first=True, dtype=weights[0].dtype, **options
        )
        for own, weight in zip(self._module.parameters(), weights, strict=True):
            own.copy_(weight)
        self._module.eval()
        self._has_memory = name == "LSTM"
        self._start = _start_vectors(cell, start, form)

    def start(self, batch: int) -> Any:  # noqa: ANN401
        """Return the vectors of the state, one row per string."""
        return tuple(part.expand(batch, -1) for part in self._start)

    def step(self, state: Any, read: Array) -> tuple[Any, Array]:  # noqa: ANN401
        """Read a vector for each string."""
        shown, found = self._call(read[:, None], state)
        parts: tuple[Array, ...] = found if self._has_memory else (found,)
        return tuple(part[0] for part in parts), shown[:, 0]

    def run(self, read: Array) -> Array:
        """Read whole strings."""
        return self._call(read, self.start(len(read)))[0]

    def _call(self, read: Array, state: tuple[Array, ...]) -> tuple[Array, Any]:
        begun = [part[None].contiguous() for part in state]
        return self._module(read, tuple(begun) if self._has_memory else begun[0])


class _LinearProducts:
    """h' = W·x + b_x + U·h + b_h, by products of matrices."""

    def __init__(self, cell: Cell, start: Any, form: FloatFormat) -> None:  # noqa: ANN401
        self._linear: Callable[..., Array] = load_library("torch").nn.functional.linear
        self._weights, (self._start,) = _module_weights(cell, form), _start_vectors(cell, start, form)

    def start(self, batch: int) -> Any:  # noqa: ANN401
        """Return h, one row per string."""
        return (self._start.expand(batch, -1),)

    def step(self, state: Any, read: Array) -> tuple[Any, Array]:  # noqa: ANN401
        """Read a vector for each string."""
        W, _, b_x, _ = self._weights
        hidden = self._after(state[0], self._linear(read, W, b_x))
        return (hidden,), hidden

    def run(self, read: Array) -> Array:
        """Read whole strings; what the tokens add is one product for all."""
        W, _, b_x, _ = self._weights
        from_tokens, (hidden,), shown = self._linear(read, W, b_x), self.start(len(read)), list[Array]()
        for place in range(read.shape[1]):
            hidden = self._after(hidden, from_tokens[:, place])
            shown.append(hidden)
        return stack_arrays("torch", shown, 1)

    def _after(self, hidden: Array, from_token: Array) -> Array:
        _, U, _, b_h = self._weights
        return from_token + self._linear(hidden, U, b_h)


def _tensor_step(x: Any) -> Array:  # noqa: ANN401 -- a tensor
    return (x > 0).to(x.dtype)


@cache
def _register_tensors() -> None:
    """Say how PyTorch's tensors do what a step is made of; tanh they have as a method."""
    torch = load_library("torch")
    sigmoid.register(torch.Tensor, torch.sigmoid)
    positive_part.register(torch.Tensor, torch.relu)
    unit_step.register(torch.Tensor, _tensor_step)
