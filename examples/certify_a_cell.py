"""How long can a cell with these weights be trusted? Give a, b and U, as decimals, fractions or C hex floats.

python examples/certify_a_cell.py 1 -1.04 0.98
"""

import sys

import tallystick as ts

a, b, U = (ts.exact(number) for number in sys.argv[1:] or ("1", "-1.04", "0.98"))
cell = ts.LinearCell(open_step=a, close_step=b, recurrent_weight=U)
# Positive if h is above half a step, in a's direction.
network = ts.Network(cell, ts.Readout.binary(weight=a, bias=-a * a / 2))

print("The theorem asks for two things:")
for condition in ts.conditions(cell):
    print(f"  {condition.formula}: {'holds' if condition.holds else 'fails'}, {condition.finding}")

for arithmetic in ("real", "float32"):
    verdict = ts.certify(network, arithmetic=arithmetic)
    horizon = "unlimited" if verdict.horizon is None else f"{verdict.horizon:,}"
    print(f"In {arithmetic} arithmetic: {verdict.outcome}, horizon {horizon}, because {verdict.reason}.")
    if verdict.failure and verdict.failure.length < 40:
        print(f"  h along {verdict.failure.string}:", ", ".join(f"{float(h):.3g}" for h in verdict.trace()))

for length in (10, 20, 40):
    print(f"Right among all strings of length {length}: {float(ts.exact_accuracy(network, length).accuracy):.2%}")
