"""An LSTM whose gates saturate: in floating point it counts exactly, up to what the format can hold."""

import matplotlib.pyplot as plt

import tallystick as ts
from tallystick.numbers import ARITHMETICS

rows = ((60, 60), (60, 60), (60, -60), (60, 60))  # of the gates i, f, g and o: a sigmoid or tanh of 60 rounds to 1
cell = ts.LstmCell(rows, ((1,),) * 4, (0,) * 4, (0,) * 4)
network = ts.Network(cell, ts.Readout.binary(1, -0.5))
for arithmetic in ("bfloat16", "float16", "float32"):
    print(ts.certify(network, arithmetic=f"{arithmetic}-any-order").answer.replace(". ", ".\n"))

string = "(" * 257 + ")" * 256
states = cell.map_weights(ARITHMETICS["bfloat16"]).trace(string)
figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
axes.plot([*range(258), *range(256, 0, -1)], color="0.6", label="true count: ends at 1")
axes.plot([float(state.memory[0]) for state in states], color="#0072B2", label="memory c in bfloat16: ends at 0")
axes.set(xlabel="tokens read", ylim=(-15, 330), title="257 opening brackets, then 256 closing ones")
peak = axes.inset_axes((0.4, 0.1, 0.24, 0.42), xlim=(250, 264), ylim=(250, 259))
for line in axes.lines:
    peak.plot(*line.get_data(), color=line.get_color())
axes.indicate_inset_zoom(peak)
axes.legend(loc="upper left", ncols=2)
figure.savefig("saturated_lstm.png", dpi=100)
