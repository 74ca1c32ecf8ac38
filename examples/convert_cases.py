"""Convert a file of published networks, their weights as C hex floats, into a folder of network files.

    python examples/convert_cases.py published-networks/cases.json networks

Each network keeps where it is from and how it is asked. What its authors claim is in the list below, with where they say so.
"""

import argparse
import json
import sys
from fractions import Fraction
from pathlib import Path

from convert_dynet import dynet_network
from convert_golden import graph_network
from convert_mdlrnn import mdlrnn_units
from convert_torch import state_dict_network, write_file

from tallystick.errors import BadInput

CLAIMS = {
    "weiss_anbn_gru": {
        "claim": "the notebook has n < 100 for training and draws the units along n = 1,000; the paper: GRUs do not count",
        "tested": "2000",
    },
    "weiss_anbncn_lstm": {
        "claim": "the notebook has n < 50 for training and draws the units along n = 100; the paper: LSTMs can count",
        "tested": "300",
    },
    "mdlrnn_an_bn": {"claim": "README at 7a1de71: 100 % of the strings with n ≤ 5,000", "tested": "10000"},
    "mdlrnn_an_bn_cn": {"claim": "README at 7a1de71: 99.7 % of the strings with n ≤ 5,000", "tested": "15000"},
    "elnaggar_10epochs": {"claim": "even lengths to 10 in training; the logs state no accuracy", "tested": "10"},
    "elnaggar_20epochs": {"claim": "even lengths to 10 in training; the logs state no accuracy", "tested": "10"},
}
PADDED_TO = 10  # as the authors of the networks that classify brackets do
TASKS = {"a^n b^n": "anbn", "a^n b^n c^n": "anbncn"}


def floats(value: object) -> object:
    """Return nested lists and objects with hex floats read."""
    if isinstance(value, dict):
        return {name: floats(part) for name, part in value.items()}
    if isinstance(value, list):
        return [floats(part) for part in value]
    return float.fromhex(value) if isinstance(value, str) else value


def network_of(case: dict) -> dict[str, object]:
    """Return the network file of a case, which is of one of three kinds."""
    weights, task = floats(case["weights"]), TASKS.get(case["language"].split(",")[0])
    if "forward" in weights:
        symbols = "".join(case["alphabet"])
        activations = {layer: dict(kinds) for layer, kinds in weights["activations"]}
        memory = dict(weights["to_memory"]), dict(weights["from_memory"])
        return graph_network(*mdlrnn_units(weights["forward"], *memory, activations, len(symbols)), symbols, task)
    if "E" in weights:
        kind, threshold = "gru" if "Wz" in weights else "lstm", Fraction(float.fromhex(case["protocol"]["threshold"]))
        named = {name.replace("c", "g") if name[0] in "WUb" else name: value for name, value in weights.items()}
        return dynet_network(named, kind, "".join(case["alphabet"]), threshold, task)
    parts = state_dict_network(weights, "lstm", "lstm", "fc1", "fc2")
    answer = {"kind": "class", "classes": case["protocol"]["classes"]}
    tokens = dict(zip(case["alphabet"], parts.pop("vectors"), strict=True))
    padding = {"left": parts.pop("blank"), "to": PADDED_TO}
    return {"tokens": tokens, **parts, "answer": answer, "task": "dyck1-prefix", "padding": padding}


def main() -> None:
    """Convert all cases of a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    try:
        given.out.mkdir(parents=True, exist_ok=True)
        for case in json.loads(given.source.read_text(encoding="utf-8"))["cases"]:
            source, name = case["source"], case["id"]
            about = {
                "source": f"{source['repo']}, {source['path']}, commit {source['commit'][:7]}",
                "protocol": case["protocol"].get("rule") or case["protocol"]["meaning"],
                **CLAIMS.get(name, {}),
            }
            write_file({"about": about, **network_of(case)}, given.out / f"{name}.json")
    except (OSError, json.JSONDecodeError) as error:
        sys.exit(f"{given.source}: {error}")
    except BadInput as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
