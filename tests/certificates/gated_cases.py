"""Tanh cells and layers, GRUs and LSTMs, most of them near a counter, for claims in real numbers."""

from brute_force import READOUTS, SCALAR_CELLS
from edge_models import edge_model
from edge_vector_networks import edge_vector_network
from vector_networks import VECTOR_CELLS, counting_gru, counting_lstm, random_model, ternary, with_noise

from tallystick.cells import TanhLayer

LIMIT = 14
"""How far networks are looked at: strings to this length can be told apart by their last tokens."""


def _tanh_unit(generator):
    return edge_model(SCALAR_CELLS["tanh"], generator.choice(READOUTS), "real", generator)


def _two_units(generator):
    kind = generator.choice([*VECTOR_CELLS.values(), TanhLayer])
    return random_model(kind, 2, generator.choice([1, 3]), generator.randrange(2**32))


NETWORKS = {
    "lstm": lambda generator: with_noise(counting_lstm(4), 0.1, generator.randrange(2**32)),
    "gru": lambda generator: with_noise(counting_gru(0.9), 0.05, generator.randrange(2**32)),
    "three classes": lambda generator: ternary(with_noise(counting_lstm(5), 0.05, generator.randrange(2**32))),
    "two units": _two_units,
    "edge": edge_vector_network,
    "tanh": _tanh_unit,
}


def some_gated(generator):
    """A network of some kind."""
    return NETWORKS[generator.choice(list(NETWORKS))](generator)
