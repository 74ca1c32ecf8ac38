"""Does this recurrent network really count?

>>> import tallystick as ts
>>> ts.conditions(ts.LinearCell(open_step=1, close_step=-1, recurrent_weight=0.99))[1].finding
'U = about 0.99, off by about -0.01'
"""

from tallystick.arithmetic import ARITHMETICS, exact
from tallystick.cells import Cell, LinearCell, ReluCell, SelectiveCell
from tallystick.conversion import to_cell, to_machine
from tallystick.errors import BadInput
from tallystick.indicators import Condition, Indicators, conditions, indicators
from tallystick.languages.brackets import BB, DYCK1, SEMI_DYCK1
from tallystick.languages.counter_machine import CounterMachine
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.readouts import BinaryReadout, Readout, TernaryReadout, ZeroCheck

__version__ = "0.1.0"

__all__ = [
    "ARITHMETICS",
    "BB",
    "DYCK1",
    "READY_MACHINES",
    "SEMI_DYCK1",
    "BadInput",
    "BinaryReadout",
    "Cell",
    "Condition",
    "CounterMachine",
    "Indicators",
    "LinearCell",
    "Readout",
    "ReluCell",
    "SelectiveCell",
    "TernaryReadout",
    "ZeroCheck",
    "conditions",
    "exact",
    "indicators",
    "to_cell",
    "to_machine",
]
