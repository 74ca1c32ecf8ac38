"""Every cell of the tables, with gates or without, seen alike: what the one contract is held against."""

import random
from dataclasses import dataclass, fields
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tallystick.training.gated.ensemble import train_gated_weights
from tallystick.training.gated.gradients import gated_gradient_of
from tallystick.training.gated.initial_weights import fresh_gated_weights
from tallystick.training.gated.setting import GatedSetting

from tallystick.cells import CELLS, Token
from tallystick.cells.gated import GATED_CELLS
from tallystick.languages.tasks import TERNARY
from tallystick.training.ensemble import train
from tallystick.training.gradients import gradient_of
from tallystick.training.initial_weights import fresh_weights
from tallystick.training.objectives import CROSS_ENTROPY
from tallystick.training.setting import Setting

UNITS = 2


@dataclass(frozen=True)
class Example:
    """A cell by its name in a table."""

    name: str

    @property
    def gated(self):
        """Whether it has gates, and so a vector of states."""
        return self.name in GATED_CELLS

    @property
    def kind(self):
        """Its class."""
        return GATED_CELLS[self.name] if self.gated else CELLS[self.name]

    def cell(self, seed=0, value=None):
        """A cell of rationals: small multiples of 1/2, so that short strings are exact even in bfloat16, or all one value."""
        generator = random.Random(f"{self.name}{seed}")

        def numbers(*shape):
            if shape:
                return tuple(numbers(*shape[1:]) for _ in range(shape[0]))
            return Fraction(generator.randint(-2, 2), 2) if value is None else value

        if not self.gated:
            return self.kind(*numbers(len(fields(self.kind))))
        rows = self.kind.gates * UNITS
        return self.kind(numbers(rows, 2), numbers(rows, UNITS), numbers(rows), numbers(rows))

    def hidden(self, state):
        """Return what the readout sees of a state, as a tuple of numbers."""
        return state.hidden if self.gated else (state,)

    def trace(self, cell, string):
        """Return what the readout sees before the first token and after each one."""
        return [self.hidden(state) for state in cell.trace(string)]

    def drawn(self, seeds, dtype="float32", units=UNITS):
        """Initial weights of networks with biases and the ternary readout."""
        arguments = {"bias": True, "dtype": np.dtype(dtype)}
        if self.gated:
            return fresh_gated_weights(self.kind, units, TERNARY, np.asarray(seeds), **arguments)
        return fresh_weights(self.kind, TERNARY, np.asarray(seeds), **arguments)

    def trained(self, seeds, strings, block):
        """Trained weights; gated networks have one unit, which takes half as long to compile, and blocks of one width."""
        taught = Setting("ternary", True, 2, "linear" if self.gated else self.name, "corrected", epochs=2)
        if self.gated:
            start = self.drawn(seeds, units=1)
            return train_gated_weights(GatedSetting(self.name, 1, taught), start, strings).weights
        return train(taught, self.drawn(seeds), strings, block=block).weights

    def outputs(self, weights, string):
        """The outputs of networks after each token of a string, by the cell's own step."""
        states = self.trace(weights.cell(self.kind), string)[1:]
        return [weights.outputs(hidden if self.gated else hidden[0]) for hidden in states]

    def gradient(self, weights, string, *, every_token):
        """The gradient that training follows."""
        find = (gated_gradient_of if self.gated else gradient_of)(self.kind, CROSS_ENTROPY, every_token=every_token)
        tokens = Token(*(jnp.array([token == bracket for token in string], float) for bracket in "()"))
        targets = targets_along(string)
        return find(weights, tokens, tuple(jnp.array(targets.T if every_token else targets[-1])))[0]


def targets_along(string):
    """The right answer after each token."""
    return TERNARY.targets([string[:length] for length in range(1, len(string) + 1)])


def weights_in_doubles(example, units=UNITS):
    """Initial weights as JAX arrays of float64."""
    return jax.tree.map(jnp.array, example.drawn(range(3), "float64", units))


EVERY_CELL = {name: Example(name) for name in (*CELLS, *GATED_CELLS)}
every_cell = pytest.mark.parametrize("example", EVERY_CELL.values(), ids=EVERY_CELL)
