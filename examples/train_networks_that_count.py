"""Train two hundred linear networks in each of three ways, and certify every one of them.

python examples/train_networks_that_count.py
"""

import numpy as np

import tallystick as ts
from tallystick.certificates.one_unit.ensemble import UNLIMITED

WAYS = {
    "as in the paper": {"method": "published"},
    "by the count at every token": {"method": "count-calm"},
    "as in the paper, then snapped": {"method": "published", "snap": True},
}
LONG = ["(" * 30 + ")" * 30, "(" * 31 + ")" * 29, ")" * 29 + "(" * 31, "()" * 29 + "((", "))" + "()" * 29]

print(f"{'200 networks trained':<32}{'proved':>8}{'median horizon':>16}{'right on five long strings':>28}")
for way, options in WAYS.items():
    networks = ts.train("binary", train_length=8, seeds=200, bias=True, **options)
    found = ts.horizons(networks.networks()).all
    median = "unlimited" if (middle := np.median(found)) == UNLIMITED else f"{middle:.0f}"
    print(f"{way:<32}{(found == UNLIMITED).mean():>8.0%}{median:>16}{networks.accuracy(LONG).mean():>26.0f} %")
