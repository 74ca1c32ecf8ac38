r"""Convert a network of tech-srl/counting_dimensions, whose parameters DyNet wrote as text, into a network file.

    python examples/convert_dynet.py trained_rnns/anbn_GRU.data network.json --cell gru --alphabet ab --task anbn \
        --threshold 0.005

Each parameter has a line that begins with #Parameter# and has its shape in braces, then a line of numbers, column by column.
Their order is that in which the authors' code makes them: the readout's matrix and bias; for each gate the matrix of x, the
matrix of h and the bias (LSTM: i, f, o, g; GRU: z, r, n); the states to start from; and the embeddings, last in the file. Their
GRU computes a reset gate and does not use it, so it is a `gru` without one.
"""

import argparse
import re
import struct
import sys
from fractions import Fraction
from pathlib import Path

from convert_torch import write_file

from tallystick.errors import BadInput

HEAD = re.compile(r"#(Lookup)?Parameter# \S+ \{(\d+)(?:,(\d+))?\}")
GATES = {"lstm": "ifog", "gru": "zrn"}
KEPT = {"lstm": "ifgo", "gru": "zn"}
"""The gates in the order of a network file."""


def read_parameters(text: str) -> list[list]:
    """Return the parameters of a file: vectors as lists, matrices as lists of rows, embeddings as one list per token."""
    lines, found = text.splitlines(), []
    for head, numbers in zip(lines[::2], lines[1::2], strict=False):
        shape = HEAD.match(head)
        if shape is None:
            raise BadInput(
                f"{head[:40]!r} is not the head of a parameter, such as #Parameter# /_1 {{3,10}} 481 ZERO_GRAD"
            )
        lookup, rows, columns = shape[1], int(shape[2]), int(shape[3] or 1)
        values = [float32(number) for number in numbers.split()]
        if len(values) != rows * columns:
            raise BadInput(f"{head[:40]!r}: {len(values)} numbers follow, not {rows * columns}")
        vectors = [values[rows * column : rows * (column + 1)] for column in range(columns)]
        if not lookup:
            vectors = [list(row) for row in zip(*vectors, strict=True)] if shape[3] else vectors[0]
        found.append(vectors)
    return found


def float32(number: str) -> float:
    """Return the float32 that DyNet reads for a number."""
    return struct.unpack("f", struct.pack("f", float(number)))[0]


def weights_of(parameters: list[list], cell: str) -> dict[str, list]:
    """Name the parameters: V and vb, W, U and b of each gate, h0 (and c0), and E."""
    names = [
        "V",
        "vb",
        *(letter + gate for gate in GATES[cell] for letter in "WUb"),
        "h0",
        *(["c0"] if cell == "lstm" else []),
    ]
    if len(parameters) != len(names) + 1:
        raise BadInput(
            f"{len(parameters)} parameters; {cell} with one layer has {len(names) + 1}: {', '.join(names)}, E"
        )
    return dict(zip([*names, "E"], parameters, strict=True))


def dynet_network(
    weights: dict[str, list], cell: str, alphabet: str, threshold: Fraction, task: str
) -> dict[str, object]:
    """Return a network file: a token whose probability is at or below the threshold rejects the string for good."""

    def stack(letter: str) -> list:
        return [row for gate in KEPT[cell] for row in weights[letter + gate]]

    start = {"h": weights["h0"], **({"c": weights["c0"]} if cell == "lstm" else {})}
    layer = {"cell": cell, "input_weight": stack("W"), "recurrent_weight": stack("U"), "input_bias": stack("b")}
    variant = {"reset": False} if cell == "gru" else {}
    return {
        "tokens": dict(zip(alphabet, weights["E"], strict=False)),
        "layers": [{**layer, **variant, "initial_state": start}],
        "readout": {"weight": weights["V"], "bias": weights["vb"]},
        "answer": {"kind": "threshold", "outputs": [*alphabet, "<EOS>"], "end": "<EOS>", "threshold": threshold},
        "task": task,
    }


def main() -> None:
    """Convert one file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cell", required=True, choices=GATES)
    parser.add_argument(
        "--alphabet", required=True, help="the tokens in their order, such as ab; the end symbol follows them"
    )
    parser.add_argument("--task", required=True, help="a ready task, such as anbn or anbncn")
    parser.add_argument(
        "--threshold", required=True, type=float, help="the double at or below which a probability rejects"
    )
    given = parser.parse_args()
    try:
        weights = weights_of(read_parameters(given.source.read_text(encoding="utf-8")), given.cell)
        network = dynet_network(weights, given.cell, given.alphabet, Fraction(given.threshold), given.task)
        write_file({"about": {"source": f"tech-srl/counting_dimensions, {given.source.name}"}, **network}, given.out)
    except OSError as error:
        sys.exit(f"{given.source}: {error.strerror}")
    except (BadInput, ValueError) as error:
        sys.exit(f"{given.source}: {error}")


if __name__ == "__main__":
    main()
