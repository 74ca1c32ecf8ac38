"""GRUs and LSTMs of one unit that are hard to judge: nearly counters, with gates that saturate and weights that are nearly 0."""

from vector_networks import VECTOR_CELLS, counting_gru, counting_lstm, random_model, ternary, with_noise

from tallystick.networks import Network

_TINY = (0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1e-160)
_LARGE = (40.0, -40.0, 800.0, -800.0)
_HUGE = (1e150, -1e150)
_CHOICES = {"input_weight": _TINY + _LARGE + _HUGE, "bias": _TINY + _LARGE, "recurrent_weight": _TINY}
"""Huge recurrent weights would make noise of every rounding error, in the oracle too; and huge terms of one gate that cancel
out would leave nothing of its others, in doubles."""

_NOISES = (0.0, 1e-16, 1e-8, 1e-3, 0.1)


def edge_vector_network(generator):
    """A counter by hand or a random network, with noise, and some of its weights at the edges."""
    seed = generator.randrange(2**32)
    model = generator.choice(
        [
            lambda: counting_lstm(generator.uniform(1, 12)),
            lambda: counting_gru(generator.uniform(0.5, 0.999)),
            lambda: random_model(generator.choice([*VECTOR_CELLS.values()]), 1, 1, seed),
        ]
    )()
    model = with_noise(ternary(model) if generator.random() < 0.5 else model, generator.choice(_NOISES), seed)
    share = generator.choice([0, 0.05, 0.3])

    def at_an_edge(value, field):
        return generator.choice(_CHOICES[field]) if generator.random() < share else value

    return Network(model.cell.map_weights(at_an_edge), model.readout)
