"""Does this recurrent network really count?

>>> import tallystick as ts
>>> ts.conditions(ts.LinearCell(open_step=1, close_step=-1, recurrent_weight=0.99))[1].finding
'U = about 0.99, off by about -0.01'
"""

from importlib import import_module
from typing import TYPE_CHECKING

from tallystick.cells import (
    Cell,
    GraphCell,
    GruCell,
    LinearCell,
    LinearLayer,
    LruLayer,
    LstmCell,
    MatrixLayer,
    NoResetGruCell,
    ReluCell,
    ReluLayer,
    ResetBeforeGruCell,
    SelectiveCell,
    SelectiveLayer,
    Stack,
    TanhCell,
    TanhLayer,
    Unit,
)
from tallystick.cells.conditions import Condition
from tallystick.certificates.certificate import write_certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.languages.members import Members, members
from tallystick.certificates.one_unit.ensemble import horizons
from tallystick.certificates.one_unit.exact_accuracy import ExactAccuracy, accuracy_curve, exact_accuracy
from tallystick.certificates.one_unit.failing_strings import extreme_failures, random_failures
from tallystick.certificates.running.library_functions import check_library
from tallystick.certificates.verdict import Verdict
from tallystick.checker import check_file as check_certificate
from tallystick.conversion import Extraction, extract, to_cell, to_machine
from tallystick.errors import BadInput
from tallystick.indicators import Indicators, conditions, indicators
from tallystick.languages.brackets import BB, DYCK1, SEMI_DYCK1
from tallystick.languages.counter_machine import CounterMachine
from tallystick.languages.machine_files import read_task
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.languages.tasks import READY_TASKS, Task, task_of_machine
from tallystick.networks import Network, Readout, Unreadable, from_torch, read_network, write_network
from tallystick.networks.int8 import quantise
from tallystick.networks.steps import Steps
from tallystick.numbers import ARITHMETICS, exact

if TYPE_CHECKING:
    from tallystick.runs.runner import train
    from tallystick.studies.reproduce import reproduce
    from tallystick.training.ensemble import Ensemble
    from tallystick.training.setting import Setting

__version__ = "0.1.0"

# These need JAX, which takes a second to load; a verdict or a proof does not, so they are imported when first asked for.
_ON_DEMAND = {
    "Ensemble": "tallystick.training.ensemble",
    "Setting": "tallystick.training.setting",
    "reproduce": "tallystick.studies.reproduce",
    "train": "tallystick.runs.runner",
}


def __getattr__(name: str) -> object:
    if name in _ON_DEMAND:
        return getattr(import_module(_ON_DEMAND[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "ARITHMETICS",
    "BB",
    "DYCK1",
    "READY_MACHINES",
    "READY_TASKS",
    "SEMI_DYCK1",
    "BadInput",
    "Cell",
    "Condition",
    "CounterMachine",
    "Ensemble",
    "ExactAccuracy",
    "Extraction",
    "GraphCell",
    "GruCell",
    "Indicators",
    "LinearCell",
    "LinearLayer",
    "LruLayer",
    "LstmCell",
    "MatrixLayer",
    "Members",
    "Network",
    "NoResetGruCell",
    "Readout",
    "ReluCell",
    "ReluLayer",
    "ResetBeforeGruCell",
    "SelectiveCell",
    "SelectiveLayer",
    "Setting",
    "Stack",
    "Steps",
    "TanhCell",
    "TanhLayer",
    "Task",
    "Unit",
    "Unreadable",
    "Verdict",
    "accuracy_curve",
    "certify",
    "check_certificate",
    "check_library",
    "conditions",
    "exact",
    "exact_accuracy",
    "extract",
    "extreme_failures",
    "from_torch",
    "horizons",
    "indicators",
    "members",
    "quantise",
    "random_failures",
    "read_network",
    "read_task",
    "reproduce",
    "task_of_machine",
    "to_cell",
    "to_machine",
    "train",
    "write_certificate",
    "write_network",
]
