"""Two linear units that never compute the count, and are right on every string of every length."""

from itertools import product

import matplotlib.pyplot as plt

import tallystick as ts

layer = ts.LinearLayer(
    input_weight=((1, -1), (1, -1)), recurrent_weight=((1, 0), (0, 0.5)), input_bias=(0, 0), recurrent_bias=(0, 0)
)
network = ts.Network(layer, ts.Readout(weight=((1, ts.exact("-1/5")),), bias=(-0.5,)))
print(ts.certify(network).answer)
print("Outputs of () and )(:", *(float(network.outputs(string)[0]) for string in ("()", ")(")))

strings = ["".join(tokens) for length in range(1, 11) for tokens in product("()", repeat=length)]
counts = [string.count("(") - string.count(")") for string in strings]
outputs = [float(network.outputs(string)[0]) for string in strings]
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axes.axhline(0, color="#D55E00", linestyle="--", label="positive above this line")
axes.plot(counts, outputs, "_", color="#0072B2", markersize=16, label="a string of up to 10 tokens")
axes.set(xlabel="true count", ylabel="output", xlim=(-4.5, 4.5), ylim=(-5, 4.5), xticks=range(-4, 5))
axes.legend()
figure.savefig("right_without_counting.png", dpi=100)
