"""A stack of cells: tokens as vectors of any length, layers one above the other, and a state that each may start from.

Each layer reads what the layer below it shows after the same token; the lowest reads the token's own vector. The stack is
itself a recurrence, so whatever runs, certifies, evaluates or draws one cell does the same with a stack.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, Self, cast, final

from tallystick.cells.cell import Cell, Input, Recurrence, mixture
from tallystick.cells.vector import AFFINE_DECIDERS
from tallystick.errors import BadInput, check_whole
from tallystick.numbers import Number, check_number
from tallystick.numbers.values import (
    Matrix,
    Vector,
    check_shape,
    dot,
    is_filled,
    map_nested,
    map_states,
    numbers_of,
)
from tallystick.numbers.values import layer as outputs_of_layer

ONE_HOT_VECTORS: Matrix = ((1, 0), (0, 1))
LONGEST_PADDING = 10_000


class Reading(NamedTuple):
    """A vector x of any length, as a layer reads it."""

    numbers: Vector

    def choose(self, *weights: Number) -> Number:
        """Return the product of a row of weights with x."""
        return dot(weights, self.numbers)

    def weigh(self, weight: Matrix, bias: Vector) -> list[Number]:
        """Return W·x + b, row by row."""
        return outputs_of_layer(weight, bias, self.numbers)

    def mixture(self, matrices: tuple[Matrix, ...]) -> Matrix:
        """Return the sum of matrices, each multiplied by its entry of x."""
        return mixture(matrices, self.choose)


@final
@dataclass(frozen=True)
class Stack(Recurrence):
    """Layers of cells over tokens that are vectors.

    Attributes:
        layers: the cells, the lowest first. Each reads a vector as long as the one that the layer below it shows.
        tokens: the vector of each token, in the order of the alphabet; the default is one-hot `(` and `)`.
        start: the state that each layer starts from, in the form of its cell's own initial state; the default is zeros.
        first: vectors that are read before every string, such as that of <BOS>.
        last: vectors that are read after every string, such as that of <EOS>; the readout sees what they lead to.
        padding: the vector that short strings are filled up with on the left, before `first`; none where they are not.
        padded_to: the length to which they are filled up.

    >>> from tallystick.cells import LinearCell
    >>> below = LinearCell(1, -1, 1)
    >>> Stack((below,), tokens=((2, 0), (0, 2)), start=(5,)).trace("(()")
    [(5,), (7,), (9,), (7,)]
    """

    layers: tuple[Cell, ...]
    tokens: Matrix = ONE_HOT_VECTORS
    start: tuple[Any, ...] = ()
    first: Matrix = ()
    last: Matrix = ()
    padding: Vector = ()
    padded_to: int = 0

    name = "stack"
    deciders = AFFINE_DECIDERS  # of which the last two are for any stack

    def __post_init__(self) -> None:
        """Refuse layers that do not fit together, naming the first that does not."""
        if not is_filled(self.layers) or not all(isinstance(layer, Cell) for layer in self.layers):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"layers: {self.layers!r} is not a tuple of cells")
        if not is_filled(self.tokens) or not is_filled(self.tokens[0]):
            raise BadInput(f"tokens: {self.tokens!r} is not a tuple of vectors, one per token")
        check_shape(self.tokens, "tokens", len(self.tokens), len(self.tokens[0]))
        check_whole(self.padded_to, "padded_to", least=0, most=LONGEST_PADDING)
        if bool(self.padding) != bool(self.padded_to):
            raise BadInput("padding: a vector to fill up with and a length to fill up to go together")
        if self.padding:
            check_shape(self.padding, "padding", len(self.tokens[0]))
        for field in ("first", "last"):
            if getattr(self, field) != ():
                check_shape(getattr(self, field), field, len(getattr(self, field)), len(self.tokens[0]))
        below, what = len(self.tokens[0]), "a token"
        for place, layer in enumerate(self.layers):
            if layer.inputs != below:
                raise BadInput(f"layers[{place}]: reads vectors of {layer.inputs} numbers, but {what} has {below}")
            below, what = layer.units, f"layers[{place}]"
        object.__setattr__(self, "start", self.start or tuple(layer.initial_state for layer in self.layers))
        self._check_start()

    def _check_start(self) -> None:
        if len(self.start) != len(self.layers):
            raise BadInput(f"start: {len(self.start)} states for {len(self.layers)} layers")
        for place, (layer, state) in enumerate(zip(self.layers, self.start, strict=True)):
            if _form(state) != _form(layer.initial_state):
                raise BadInput(f"start[{place}]: {state!r} has not the form of {layer.initial_state!r}")
            for number in numbers_of(state):
                check_number(number, f"start[{place}]")

    @property
    def is_rational(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride] -- it depends on the layers
        """Whether rational weights make rational states: each layer reads what the one below it shows."""
        *below, uppermost = self.layers
        return uppermost.is_rational and all(layer.shows_rationals for layer in below)

    @property
    def shows_rationals(self) -> bool:
        """Whether the uppermost layer shows rationals too."""
        return self.is_rational and self.layers[-1].shows_rationals

    @property
    def units(self) -> int:
        """The units of the uppermost layer."""
        return self.layers[-1].units

    @property
    def is_padded(self) -> bool:
        """Whether short strings are filled up."""
        return bool(self.padding)

    @property
    def matrix_entries(self) -> int:
        """Those of all layers, and of the tokens' vectors."""
        return len(self.tokens) * len(self.tokens[0]) + sum(layer.matrix_entries for layer in self.layers)

    @property
    def inputs(self) -> int:
        """One entry per token: a step reads a one-hot token and looks up its vector."""
        return len(self.tokens)

    @property
    def is_affine(self) -> bool:
        """Whether all layers are."""
        return all(layer.is_affine for layer in self.layers)

    @property
    def initial_state(self) -> tuple[Any, ...]:
        """One state per layer, once `first` is read."""
        return self.start_of(self.padded_to)

    def start_of(self, length: int) -> tuple[Any, ...]:
        """Return the state before the first token of a string of that length: once the padding and `first` are read."""
        padded = reduce(self.read, (self.padding,) * (self.padded_to - length), self.start)
        return reduce(self.read, self.first, padded)

    def step(self, state: tuple[Any, ...], token: Input) -> tuple[Any, ...]:
        """Return the next state of every layer."""
        return self.read(state, tuple(token.choose(*entries) for entries in zip(*self.tokens, strict=True)))

    def read(self, state: tuple[Any, ...], read: Vector) -> tuple[Any, ...]:
        """Return the next state of every layer after a vector."""
        after: list[Any] = []
        for place, (layer, before) in enumerate(zip(self.layers, state, strict=True)):
            if place:  # what the uppermost layer shows may be no rational, and nothing reads it here
                read = self.layers[place - 1].hidden(after[-1])
            after.append(layer.step(before, Reading(read)))
        return tuple(after)

    def hidden(self, state: tuple[Any, ...]) -> Vector:
        """Return what the uppermost layer shows, once `last` is read."""
        return self.layers[-1].hidden(reduce(self.read, self.last, state)[-1])

    def map_weights(self, number: Callable[..., Number]) -> Self:
        """Return this stack with number(weight, name) in the place of each weight, token entry and number of a state."""

        def in_state(value: Number) -> Number:
            return number(value, "start")

        start = tuple(map_states(in_state, state) for state in self.start)
        layers = tuple(layer.map_weights(number) for layer in self.layers)
        names = ("tokens", "first", "last", "padding")
        tokens, first, last, padding = (map_nested(getattr(self, field), number, field) for field in names)
        return type(self)(layers, tokens, start, first, last, padding, self.padded_to)


def _form(state: Any) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
    """Return how the numbers of a state are nested."""
    return tuple(_form(part) for part in cast("tuple[Any, ...]", state)) if isinstance(state, tuple) else None
