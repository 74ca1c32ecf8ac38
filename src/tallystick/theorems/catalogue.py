"""All theorems, in the order in which a reader meets them."""

from tallystick.theorems.dyck1_state import DYCK1_STATE
from tallystick.theorems.linear import SIX_STRINGS, THEOREM_1
from tallystick.theorems.proof import Theorem
from tallystick.theorems.relu import RELU
from tallystick.theorems.selective import SELECTIVE

THEOREMS: dict[str, Theorem] = {t.name: t for t in (THEOREM_1, SIX_STRINGS, SELECTIVE, RELU, DYCK1_STATE)}
