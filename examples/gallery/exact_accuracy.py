"""Exact accuracy over length: counted over all 2^N strings, it stays high long after the first failing string."""

import matplotlib.pyplot as plt

import tallystick as ts

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
lengths = range(1, 41)
for recurrent_weight, colour in ((0.995, "#009E73"), (0.98, "#0072B2"), (0.95, "#D55E00")):
    cell = ts.LinearCell(open_step=1, close_step=-1, recurrent_weight=ts.exact(str(recurrent_weight)))
    network = ts.Network(cell, ts.Readout.binary(weight=2, bias=-1))
    horizon = ts.certify(network).horizon
    right = [100 * float(point.accuracy) for point in ts.accuracy_curve(network, lengths[-1])]
    print(f"U = {recurrent_weight}: right on every string up to length {horizon}, on {right[-1]:.2f} % of length 40")
    axes.plot(lengths, right, ".-", color=colour, label=f"U = {recurrent_weight}, horizon {horizon}")
    axes.axvline(horizon, color=colour, linestyle=":")
axes.set(xlabel="length", ylabel="right, % of all strings")
axes.legend()
figure.savefig("exact_accuracy.png", dpi=100)
