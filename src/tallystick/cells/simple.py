"""Layers without gates: PyTorch's nn.RNN of any size, with tanh or ReLU, and the same without either.

A layer with U = 0 has no memory: it is the feed-forward layer f(W·x + b) of what the layer below it shows.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import final

from tallystick.cells.cell import Input
from tallystick.cells.conditions import LAYER_COUNTING
from tallystick.cells.vector import AFFINE_DECIDERS, TensorCell
from tallystick.numbers import Number, hyperbolic_tangent, positive_part
from tallystick.numbers.values import Vector, add


@dataclass(frozen=True)
class SimpleLayer(TensorCell):
    """h' = f(W·x + b_x + U·h + b_h), unit by unit; the state is h.

    With one unit it is also the cell of the same name, whose steps are a = W_open + b_x + b_h and b = W_close + b_x + b_h.
    """

    most_units = 64

    @staticmethod
    @abstractmethod
    def squash(x: Number) -> Number:
        """Return f(x)."""

    @property
    def initial_state(self) -> Vector:
        """Zeros."""
        return (0,) * self.units

    def step(self, state: Vector, token: Input) -> Vector:
        """Return h'."""
        (from_token,), (from_hidden,) = self._from_token(token), self._from_hidden(state)
        return tuple(map(self.squash, add(from_token, from_hidden)))

    def hidden(self, state: Vector) -> Vector:
        """Return h."""
        return state


@final
@dataclass(frozen=True)
class LinearLayer(SimpleLayer):
    """h' = W·x + b_x + U·h + b_h.

    >>> LinearLayer(((1, -1), (0, 1)), ((1, 0), (0, 1)), (0, 0), (0, 0)).trace("(()")
    [(0, 0), (1, 0), (2, 0), (1, 1)]
    """

    name = "linear"
    deciders = AFFINE_DECIDERS
    counting = LAYER_COUNTING

    @property
    def is_affine(self) -> bool:
        """True."""
        return True

    @staticmethod
    def squash(x: Number) -> Number:
        """Return x."""
        return x


@final
@dataclass(frozen=True)
class ReluLayer(SimpleLayer):
    """h' = max(0, W·x + b_x + U·h + b_h): an nn.RNN with nonlinearity="relu".

    >>> up_and_down = ReluLayer(((1, -1), (-1, 1)), ((1, -1), (-1, 1)), (0, 0), (0, 0))
    >>> [up - down for up, down in up_and_down.trace("())(")]
    [0, 1, 0, -1, 0]
    """

    name = "relu"
    deciders = ("exact states", "gated boxes")

    @staticmethod
    def squash(x: Number) -> Number:
        """Return max(0, x)."""
        return positive_part(x)


@final
@dataclass(frozen=True)
class TanhLayer(SimpleLayer):
    """h' = tanh(W·x + b_x + U·h + b_h): an nn.RNN.

    >>> layer = TanhLayer(((0.5, -0.5),), ((1.0,),), (0.0,), (0.0,))
    >>> [round(h, 3) for (h,) in layer.trace("()")]
    [0, 0.462, -0.038]
    """

    name = "tanh"
    is_rational = False

    @staticmethod
    def squash(x: Number) -> Number:
        """Return tanh x."""
        return hyperbolic_tangent(x)
