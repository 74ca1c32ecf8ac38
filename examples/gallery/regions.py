"""Where training ends: 500 trained cells, and the regions of cells that are right on every string to length N."""

import matplotlib.pyplot as plt
import numpy as np

import tallystick as ts
from tallystick.certificates.one_unit.regions import outline

networks = ts.train("binary", train_length=8, seeds=500)  # as the paper trains them, on strings of up to 8 tokens
horizons = ts.horizons(networks.networks()).even
for length in (8, 20):
    share = float(np.mean(horizons >= length))
    print(f"Right on every string of even length up to {length}: a share of {share:.2f}")

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
weights = np.linspace(0.85, 1.18, 600)
for length, shade in ((8, "#dcedf5"), (10, "#a6d3e6"), (20, "#5aaed1"), (50, "#1f78a4")):
    sides = outline(weights, length, "even")
    axes.fill_betweenx(weights, sides.left, sides.right, color=shade, label=f"right to length {length}", linewidth=0)
cells = networks.cell()
ratio = cells.open_step / cells.close_step
axes.plot(ratio, cells.recurrent_weight, ".", color="#D55E00", markersize=3, label="a trained cell")
axes.plot(-1, 1, "*", color="black", markersize=10, label="the exact counter")
axes.set(xlabel="a/b, the step of ( over the step of )", ylabel="U, the recurrent weight")
axes.set(xlim=(-1.03, -0.55), ylim=(0.88, 1.14))
axes.legend(loc="upper right", fontsize=9)
figure.savefig("regions.png", dpi=100)
