"""Claims about tanh cells, GRUs and LSTMs in real numbers, and forgeries of them, for the proven checker beside the Python one.

Run alone it compares the two on six networks for each seed, each with its forgeries:

    python tests/certificates/gated_cases.py 100 [FIRST_SEED]
"""

import random
import sys
from collections import Counter

from brute_force import READOUTS, SCALAR_CELLS
from edge_models import edge_model
from edge_vector_networks import edge_vector_network
from executed_cases import proven_answer
from forged import issued, sealed, with_example, with_model
from vector_networks import VECTOR_CELLS, counting_gru, counting_lstm, random_model, ternary, with_noise

from tallystick.checker.checking import check

LIMIT = 12


def networks(seed):
    """A network of each kind."""
    kind = list(VECTOR_CELLS.values())[seed % len(VECTOR_CELLS)]
    return {
        "lstm": with_noise(counting_lstm(4), 0.1, seed),
        "gru": with_noise(counting_gru(0.9), 0.05, seed),
        "three classes": ternary(with_noise(counting_lstm(5), 0.05, seed)),
        "two units": random_model(kind, 2, 1 + 2 * (seed % 2), seed),
        "edge": edge_vector_network(random.Random(seed)),
        "tanh": edge_model(SCALAR_CELLS["tanh"], READOUTS[seed % 3], "real", random.Random(seed)),
    }


def forgeries(content):
    """The same claim, further than it holds, and with other weights and classes."""
    yield {**content, "horizon": content["horizon"] + 1}
    if content["counterexample"]:
        found, right = (content["counterexample"][name] for name in ("class", "right_class"))
        yield with_example(content, **{"class": right, "right_class": found})
    if "input_bias" in content["model"]:
        yield with_model(content, input_bias=["1/3", *content["model"]["input_bias"][1:]])


if __name__ == "__main__":
    tally = Counter()
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for seed in range(first, first + int(sys.argv[1])):
        for network in networks(seed).values():
            content = issued(network, lengths=random.Random(seed).choice(["all", "even"]), limit=LIMIT)
            for is_forged, claim in [(False, content), *((True, one) for one in forgeries(content))]:
                python, (proven, line) = check(sealed(claim)), proven_answer(sealed(claim))
                tally["forged" if is_forged else "issued", python.valid, proven] += 1
                if (python.valid is True) != (proven is True) or (proven is False and python.valid is not False):
                    print(sealed(claim), python, line, sep="\n")  # noqa: T201
    for pair, size in tally.items():
        print(*pair, size)  # noqa: T201
