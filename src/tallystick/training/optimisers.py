"""Optimisers by name: Adam with other numbers than a method's own. The loop is written for Adam, and these are what it can be.

−η·m̂/(√ŝ + ε), m the mean of the gradients over about 1/(1 − β₁) steps, s that of their squares over 1/(1 − β₂)
"""

from tallystick.training.adam import PUBLISHED_MOMENTA, Momenta
from tallystick.training.methods import CALM

OPTIMISERS: dict[str, Momenta] = {
    "adam": PUBLISHED_MOMENTA,
    "calm": CALM,
    "short": Momenta(square_decay=0.99),
    "rmsprop": Momenta(decay=0.0),
    "sign": Momenta(decay=0.0, square_decay=0.0),
}
"""adam: the paper's. calm: half a step's memory, small gradients left small. short: squares forgotten ten times as fast. rmsprop:
no mean of gradients. sign: every weight moves by η, against the sign of its slope."""
