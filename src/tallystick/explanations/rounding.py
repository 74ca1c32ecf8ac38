"""How large the gradient is along training, and how much of it is rounding.

At the weights that a float32 run goes through, the gradient on each string is worked out twice, in float32 as the run has it
and in float64. The root mean square over strings of the one is the signal, that of their difference the noise. Adam divides by
the size of what it sees: where noise outgrows signal it goes on taking full steps, and takes them at random.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import Token
from tallystick.datasets.encoding import encode
from tallystick.training.ensemble import paths
from tallystick.training.gradients import gradient_of
from tallystick.training.lessons import targets_of
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights


@dataclass(frozen=True)
class Noise:
    """Signal and noise of the gradient, with the axes epoch and seed; epoch 0 is the start.

    Attributes:
        signal: root mean square over strings of the gradient's length, in float64.
        noise: the same of its error in float32.
    """

    signal: np.ndarray
    noise: np.ndarray

    def taken_over(self) -> np.ndarray:
        """Return for each seed the first epoch at which noise is half the signal or more, and −1 where it never is."""
        large = 2 * self.noise >= self.signal
        return np.where(large.any(axis=0), large.argmax(axis=0), -1)


def gradient_noise(setting: Setting, initial: Weights, strings: list[str]) -> Noise:
    """Measure signal and noise along the training of some seeds; the setting's precision is float32."""
    along = paths(setting, initial, strings)
    epochs, seeds = along.inputs[0].shape
    flat = jax.tree.map(lambda array: array.reshape(-1), along)
    encoded, targets = encode(strings), targets_of(setting, strings, 0)
    gradient = jax.jit(gradient_of(setting.kind, setting.objective, every_token=setting.procedure.every_token))
    signal, noise = np.zeros(epochs * seeds), np.zeros(epochs * seeds)
    for opening, closing, wanted in zip(*encoded, targets, strict=True):
        rough, fine = (_gradient(gradient, flat, (opening, closing), wanted, kind) for kind in (np.float32, np.float64))
        signal += (fine**2).sum(axis=0)
        noise += ((rough - fine) ** 2).sum(axis=0)
    return Noise(*(np.sqrt(total / len(strings)).reshape(epochs, seeds) for total in (signal, noise)))


def _gradient(gradient, weights, tokens, targets, kind) -> np.ndarray:  # noqa: ANN001 -- JAX's trees
    """Return the gradient on one string as rows, a weight each, worked out in one precision."""
    with jax.enable_x64(kind is np.float64):
        as_kind = jax.tree.map(lambda array: jnp.asarray(array, kind), weights)
        string = Token(*(jnp.asarray(part, kind) for part in tokens))
        slope, _ = gradient(as_kind, string, tuple(jnp.asarray(target, kind) for target in targets.T))
        return np.stack([np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(slope)])
