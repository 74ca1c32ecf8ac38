"""A published network for aⁿbⁿcⁿ, reported at 99.7 % up to n = 5,000: in float32 it is wrong from n = 17 on, in bands.

The weights are those of models/an_bn_cn.pt in 0xnurl/mdlrnn-torch (commit d58ea10, MIT licence), written out unit by unit.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

import tallystick as ts

third, seven_thirds = "0x1.555556p-2", "0x1.2aaaaap+1"  # as float32 holds them
units = [
    {"activation": "identity", "input": [0, 0, 0, 1]},
    {"activation": "identity", "bias": third, "input": [0, 0, 0, -2], "recurrent": {"0": 1, "1": 1}},
    {"activation": "relu", "bias": -1, "input": [0, 2, 0, 0], "recurrent": {"2": 1}},
    {"activation": "identity", "forward": {"1": -1}},
    {"activation": "relu", "input": [1, seven_thirds, 0, 0]},
    {"activation": "tanh", "forward": {"2": 3}},
    {"activation": "sigmoid", "bias": -15},
]
one_hot = {token: [int(token == other) for other in "#abc"] for token in "#abc"}
pick = [[int(unit == output) for unit in range(len(units))] for output in (3, 4, 5, 6)]
document = {
    "tokens": one_hot,
    "start": "#",
    "layers": [{"cell": "graph", "units": units}],
    "readout": {"weight": pick},
    "answer": {"kind": "next", "outputs": list("#abc"), "end": "#"},
    "task": "anbncn",
    "empty": False,
}
with TemporaryDirectory() as folder:
    path = Path(folder, "network.json")
    path.write_text(json.dumps(document), encoding="utf-8")
    network = ts.read_network(path)
for arithmetic in ("real", "float32"):
    print(ts.certify(network, arithmetic=arithmetic).answer.replace(". ", ".\n"))
members = ts.members(network, upto=2000, arithmetic="float32")
print(f"Wrong in float32: {members.wrong:,} of the n up to {members.upto:,}, the first at n = {members.first_wrong}")

figure, axes = plt.subplots(figsize=(6.4, 1.9), layout="constrained")
for first, last in members.ranges:
    axes.axvspan(first, last, color="#D55E00")
    axes.text((first * last) ** 0.5, 0.5, f"{first}\nto\n{last}", ha="center", va="center", color="white")
axes.set(xscale="log", xlim=(1, members.upto), yticks=[], xlabel="n", title="aⁿbⁿcⁿ in float32: wrong where shaded")
figure.savefig("published_network.png", dpi=100)
