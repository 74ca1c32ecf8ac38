"""Convert a network of 0xnurl/mdlrnn-torch, a small graph of units that `torch.save` wrote whole, into a network file.

    python examples/convert_mdlrnn.py models/an_bn.pt network.json --task anbn --alphabet ab

Such a network is a few layers of units with a weight matrix between some of them, and a memory that layers write and read one
step later. In a network file all of that is one `graph` cell: every unit and every entry of the memory is a unit of the graph.
PyTorch's order of additions is kept, since it matters in floating point: a sum that is rounded on its own is a unit of its own.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from convert_golden import graph_network, new_unit
from convert_torch import Record, read_pickle, write_file

from tallystick.errors import BadInput

RECORDS = ("mdlrnn.MDLRNN", "torch.nn.modules.linear.Linear", "torch.nn.modules.container.ModuleList")
ACTIVATIONS = ("identity", "relu", "sigmoid", "tanh", "square")
"""By their numbers in mdlrnn.py."""

Matrix = dict[str, list]
"""A linear map: its weight W, a list of rows, and its bias b."""


def mdlrnn_units(
    forward: list[tuple[int, int, Matrix]],
    to_memory: Mapping[int, Matrix],
    from_memory: Mapping[int, Matrix],
    activations: Mapping[int, Mapping[int, Iterable[int]]],
    symbols: int,
) -> tuple[dict, list]:
    """Return the units of a network by name, and which of them are its outputs.

    Args:
        forward: for each matrix the layer that it reads, the layer that it feeds, and itself.
        to_memory: for each layer that writes the memory its matrix.
        from_memory: for each layer that reads the memory its matrix.
        activations: for each layer the units that have each activation.
        symbols: how many there are; the first layer holds the token, one-hot.
    """
    units: dict = {}
    first, last = min(activations), max(activations)
    at_work = sorted({source for source, _, _ in forward} | set(to_memory))
    memory = [("memory", entry) for entry in range(len(next(iter(to_memory.values()))["b"]))]
    if any(map(any, from_memory.get(first, {"W": []})["W"])) or any(
        activations[first].get(number) for number in (1, 2, 3, 4)
    ):
        raise BadInput(f"layer {first}, the input, reads the memory or has an activation, which is not converted")
    values: dict[int, list] = {first: list(range(symbols))}

    def product(matrix: Matrix, row: int, source: int) -> tuple:
        return matrix["W"][row], matrix["b"][row], "input" if source == first else "forward", values[source]

    for layer in sorted({*at_work, last} - {first}):
        kinds = activation_names(activations[layer])
        values[layer] = [(f"layer {layer}", unit) for unit in range(len(kinds))]
        for row, (kind, name) in enumerate(zip(kinds, values[layer], strict=True)):
            terms = [product(matrix, row, source) for source, target, matrix in forward if target == layer]
            if layer in at_work and layer in from_memory:
                terms.append((from_memory[layer]["W"][row], from_memory[layer]["b"][row], "recurrent", memory))
            add_unit(units, name, kind, terms)
    for entry, name in enumerate(memory):
        add_unit(
            units, name, "identity", [product(matrix, entry, layer) for layer, matrix in sorted(to_memory.items())]
        )
    if last not in at_work:
        return units, values[last]
    outputs = [
        ("output", unit) for _, unit in values[last]
    ]  # mdlrnn.py applies the activations of such a layer once more
    for kind, name, value in zip(activation_names(activations[last]), outputs, values[last], strict=True):
        add_unit(units, name, kind, [([1.0], 0.0, "forward", [value])])
    return units, outputs


def activation_names(numbers: Mapping[int, Iterable[int]]) -> list[str]:
    """Return the activation of each unit of a layer."""
    named = {unit: ACTIVATIONS[number] for number, units in numbers.items() for unit in units}
    return [named[unit] for unit in range(len(named))]


def add_unit(units: dict, name: object, activation: str, terms: list) -> None:
    """Add a unit whose argument is a sum of terms: a row of weights, a bias, and of what the weights are."""
    unit = new_unit(activation, 0.0)
    for place, (row, bias, kind, sources) in enumerate(terms):
        weights = {source: weight for source, weight in zip(sources, row, strict=True) if weight}
        if place and (bias or len(weights) > 1):  # PyTorch rounds this sum before it adds it to the others
            add_unit(units, (name, place), "identity", [(row, bias, kind, sources)])
            unit["forward"][name, place] = 1.0
        else:
            unit["bias"] += bias
            unit[kind].update(weights)
    units[name] = unit


def read_mdlrnn(path: Path) -> tuple:
    """Read what `mdlrnn_units` takes from a model, none of whose code is run."""
    model = read_pickle(path, RECORDS)
    if not isinstance(model, Record) or model.kind != RECORDS[0]:
        raise BadInput(f"holds no {RECORDS[0]}; examples/convert_torch.py converts state dicts")

    def matrix(linear: Record) -> Matrix:
        return {"W": linear["weight"], "b": linear["bias"]}

    def by_layer(name: str) -> dict[int, Matrix]:
        return {layer: matrix(linear) for layer, linear in model[name].items()}

    graph = model["_computation_graph"].items()
    forward = [(source, target, matrix(linear)) for source, ends in graph for target, linear in ends]
    memory = by_layer("layer_to_memory_weights"), by_layer("_memory_to_layer_weights")
    return forward, *memory, model["_layer_to_activation_to_units"]


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
        units, outputs = mdlrnn_units(*read_mdlrnn(given.source), len(symbols))
        network = graph_network(units, outputs, symbols, given.task, given.answer)
        write_file({"about": {"source": f"0xnurl/mdlrnn-torch, {given.source.name}"}, **network}, given.out)
    except (BadInput, KeyError, ValueError) as error:
        sys.exit(f"{given.source}: {error}")


if __name__ == "__main__":
    main()
