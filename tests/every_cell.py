"""Every cell of the table, with one unit or several, seen alike: what the one contract is held against."""

import random
from dataclasses import dataclass
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import CELLS, Cell, ScalarCell, Token
from tallystick.languages.tasks import TERNARY
from tallystick.training.descent import CROSS_ENTROPY
from tallystick.training.ensemble import train
from tallystick.training.gradients import gradient_of
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

UNITS = 2
"""How many units a cell has here that may have several."""


@dataclass(frozen=True)
class Example:
    """A kind of cell, and what is asked of it."""

    kind: type[Cell]

    @property
    def is_scalar(self):
        """Whether it has one unit, whose state is a number."""
        return issubclass(self.kind, ScalarCell)

    def cell(self, seed=0, value=None):
        """A cell of rationals: small multiples of 1/2, so that short strings are exact even in bfloat16, or all one value."""
        generator = random.Random(f"{self.kind.name}{seed}")

        def numbers(*shape):
            if shape:
                return tuple(numbers(*shape[1:]) for _ in range(shape[0]))
            return Fraction(generator.randint(-2, 2), 2) if value is None else value

        return self.kind.from_tensors({name: numbers(*shape) for name, shape in self.kind.shapes(UNITS).items()})

    def trace(self, cell, string):
        """Return what the readout sees before the first token and after each one."""
        return [cell.hidden(state) for state in cell.trace(string)]

    def drawn(self, seeds, dtype="float32", units=UNITS):
        """Initial weights of networks with biases and the ternary readout."""
        return fresh_weights(
            self.kind,
            TERNARY,
            np.asarray(seeds),
            bias=True,
            dtype=np.dtype(dtype),
            units=1 if self.is_scalar else units,
        )

    def trained(self, seeds, strings, block):
        """Trained weights; GRUs and LSTMs have one unit, which takes half as long to compile."""
        setting = Setting("ternary", True, 2, self.kind.name, "corrected", epochs=2)
        return train(setting, self.drawn(seeds, units=1), strings, block=block).weights

    def outputs(self, weights, string):
        """The outputs of networks after each token of a string, by the cell's own step."""
        return [weights.outputs(hidden) for hidden in self.trace(weights.cell(self.kind), string)[1:]]

    def gradient(self, weights, string, *, every_token):
        """The gradient that training follows."""
        find = gradient_of(self.kind, CROSS_ENTROPY, every_token=every_token)
        tokens = Token(*(jnp.array([token == bracket for token in string], float) for bracket in "()"))
        targets = targets_along(string)
        return find(weights, tokens, tuple(jnp.array(targets.T if every_token else targets[-1])))[0]


def targets_along(string):
    """The right answer after each token."""
    return TERNARY.targets([string[:length] for length in range(1, len(string) + 1)])


def weights_in_doubles(example, units=UNITS):
    """Initial weights as JAX arrays of float64."""
    return jax.tree.map(jnp.array, example.drawn(range(3), "float64", units))


EVERY_CELL = {name: Example(kind) for name, kind in CELLS.items()}
every_cell = pytest.mark.parametrize("example", EVERY_CELL.values(), ids=EVERY_CELL)
