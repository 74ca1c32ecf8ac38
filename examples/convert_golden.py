"""Convert a network that was written down by hand, unit by unit, into a network file.

    python examples/convert_golden.py golden.txt network.json --task anbn --alphabet ab

The file holds one Python literal (it is read, not run), in the manner of taucompling's golden networks: units 0 to k − 1 are the
inputs, one per symbol, k to 2k − 1 the outputs, and whatever follows is hidden. A connection is (target, weight), and weights are
whole numbers or texts such as "-7/3", so that a third is a third. For aⁿbⁿ, with the symbols #, a and b:

    {"forward": {1: [(6, 2)], 2: [(4, -3)], 6: [(5, 1)]}, "recurrent": {6: [(6, 1)]},
     "biases": {3: -15, 4: "7/3", 6: -1}, "activations": {3: "sigmoid", 5: "step", 6: "relu"}}
"""

import argparse
import ast
import sys
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from convert_torch import write_file

from tallystick.errors import BadInput

ACTIVATIONS = ("identity", "relu", "sigmoid", "tanh", "square", "step")
PARTS = ("forward", "recurrent", "biases", "activations")


def graph_layer(units: dict, symbols: int) -> tuple[dict[str, object], dict]:
    """Return a graph cell of units by name, and the place of each: a unit comes after those that feed it in the same step.

    A unit has an `activation`, a `bias`, and weights: `input` of symbols by their place, `forward` of units in the same step, by
    name, and `recurrent` of units as they were one step earlier.
    """
    try:
        order = list(TopologicalSorter({name: unit["forward"] for name, unit in units.items()}).static_order())
    except CycleError as error:
        raise BadInput(f"forward: the units {error.args[1]} feed each other in a circle") from None
    places = {name: place for place, name in enumerate(order)}

    def numbered(weights: dict) -> dict[str, object]:
        return {str(places[name]): weight for name, weight in weights.items() if weight}

    listed = [
        {
            **units[name],
            "input": [units[name]["input"].get(symbol, 0) for symbol in range(symbols)],
            "forward": numbered(units[name]["forward"]),
            "recurrent": numbered(units[name]["recurrent"]),
        }
        for name in order
    ]
    return {"cell": "graph", "units": listed}, places


def graph_network(units: dict, outputs: list, symbols: str, task: str, answer: str = "next") -> dict[str, object]:
    """Return a network file: the first symbol is read first and, as an output, ends the string.

    The answer is `next`, where the greatest output wins, or `support`, where every token with a positive output may follow.
    """
    layer, places = graph_layer(units, len(symbols))
    rows = [[int(place == places[name]) for place in range(len(units))] for name in outputs]
    vectors = [[int(row == column) for row in range(len(symbols))] for column in range(len(symbols))]
    return {
        "tokens": dict(zip(symbols, vectors, strict=True)),
        "start": symbols[0],
        "layers": [layer],
        "readout": {"weight": rows, "bias": [0] * len(outputs)},
        "answer": {"kind": answer, "outputs": list(symbols), "end": symbols[0]},
        "task": task,
        **({"empty": False} if answer == "next" else {}),
    }


def new_unit(activation: str, bias: object = 0) -> dict:
    """Return a unit that nothing feeds yet."""
    return {"activation": activation, "bias": bias, "input": {}, "forward": {}, "recurrent": {}}


def golden_units(description: dict, symbols: int) -> dict:
    """Return the units of a network that is written down, by their numbers; an input that is remembered is a unit too."""
    for part in description:
        if part not in PARTS:
            raise BadInput(f"{part}: not one of {', '.join(PARTS)}")
    forward, recurrent, biases, activations = (description.get(part, {}) for part in PARTS)
    for number, activation in activations.items():
        if activation not in ACTIVATIONS:
            raise BadInput(f"activations: unit {number}: {activation!r} is not one of {', '.join(ACTIVATIONS)}")
    targets = {target for sources in (forward, recurrent) for ends in sources.values() for target, _ in ends}
    numbers = {*range(symbols, 2 * symbols), *forward, *recurrent, *biases, *activations, *targets}
    remembered = [number for number in recurrent if number < symbols]
    units = {}
    for number in sorted({number for number in numbers if number >= symbols} | set(remembered)):
        units[number] = new_unit(activations.get(number, "identity"), Fraction(biases.get(number, 0)))
        units[number]["input"] = {number: 1} if number < symbols else {}
    for kind, sources in (("forward", forward), ("recurrent", recurrent)):
        for source, ends in sources.items():
            for target, weight in ends:
                place = "input" if kind == "forward" and source < symbols else kind
                units[target][place][source] = Fraction(weight)
    return units


def main() -> None:
    """Convert one file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--task", required=True, help="a ready task, such as anbn, or anbncn")
    parser.add_argument("--alphabet", required=True, help="its tokens in the order of the inputs, such as ab")
    parser.add_argument("--end", default="#", help="the symbol in front of them, which starts and ends a string")
    parser.add_argument(
        "--answer",
        choices=("next", "support"),
        default="next",
        help="support where several tokens may follow, as in dyck1",
    )
    given = parser.parse_args()
    try:
        symbols = given.end + given.alphabet
        units = golden_units(ast.literal_eval(given.source.read_text(encoding="utf-8")), len(symbols))
        outputs = list(range(len(symbols), 2 * len(symbols)))
        network = graph_network(units, outputs, symbols, given.task, given.answer)
        write_file({"about": {"source": given.source.name}, **network}, given.out)
    except OSError as error:
        sys.exit(f"{given.source}: {error.strerror}")
    except (BadInput, SyntaxError, ValueError, TypeError, AttributeError) as error:
        sys.exit(f"{given.source}: {error}")


if __name__ == "__main__":
    main()
