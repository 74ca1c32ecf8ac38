"""A cell that leaks a little: right on every string of up to 8 tokens, and wrong on one of 9."""

import matplotlib.pyplot as plt

import tallystick as ts

leaky = ts.LinearCell(open_step=1, close_step=-1.04, recurrent_weight=0.98)
network = ts.Network(leaky, ts.Readout.binary(weight=2, bias=-1))  # positive if h > 1/2
verdict = ts.certify(network)
print(verdict.answer.replace(". ", ".\n"))

string = verdict.failure.string
count = ts.LinearCell(open_step=1, close_step=-1, recurrent_weight=1).trace(string)
figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.plot(count, "o-", color="0.6", label="true count")
axes.plot([float(h) for h in verdict.trace()], "o-", color="#0072B2", label="state h of the cell")
axes.axhline(0.5, color="#D55E00", linestyle="--", label="positive above this line")
axes.set(xlabel="tokens read", xticks=range(1, len(string) + 1), title=f"The shortest failing string: {string}")
axes.legend()
figure.savefig("leaky_cell.png", dpi=100)
