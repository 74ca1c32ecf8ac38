"""Does this recurrent network really count?

>>> import tallystick as ts
>>> ts.conditions(ts.LinearCell(open_step=1, close_step=-1, recurrent_weight=0.99))[1].finding
'U = about 0.99, off by about -0.01'
"""

from importlib import import_module
from typing import TYPE_CHECKING

from tallystick.errors import missing_extra_named

if TYPE_CHECKING:
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
    from tallystick.counting_conditions import Indicators, conditions, indicators
    from tallystick.errors import BadInput
    from tallystick.languages.brackets import BB, DYCK1, SEMI_DYCK1
    from tallystick.languages.counter_machine import CounterMachine
    from tallystick.languages.machine_files import read_task
    from tallystick.languages.ready_machines import READY_MACHINES
    from tallystick.languages.tasks import READY_TASKS, Task, task_of_machine
    from tallystick.networks import Network, Readout, read_network, write_network
    from tallystick.networks.int8 import quantise
    from tallystick.networks.pytorch import Unreadable, from_torch
    from tallystick.networks.steps import Steps
    from tallystick.numbers import ARITHMETICS, exact
    from tallystick.runs.runner import train
    from tallystick.studies.reproduce import reproduce
    from tallystick.training.ensemble import Ensemble
    from tallystick.training.setting import Setting

__version__ = "0.2.0"

# A name is imported when it is first asked for, so that a verdict need not wait for JAX nor a proof for NumPy.
_HOMES = {
    "tallystick.cells": (
        "Cell",
        "GraphCell",
        "GruCell",
        "LinearCell",
        "LinearLayer",
        "LruLayer",
        "LstmCell",
        "MatrixLayer",
        "NoResetGruCell",
        "ReluCell",
        "ReluLayer",
        "ResetBeforeGruCell",
        "SelectiveCell",
        "SelectiveLayer",
        "Stack",
        "TanhCell",
        "TanhLayer",
        "Unit",
    ),
    "tallystick.cells.conditions": ("Condition",),
    "tallystick.certificates.certificate": ("write_certificate",),
    "tallystick.certificates.certify": ("certify",),
    "tallystick.certificates.languages.members": ("Members", "members"),
    "tallystick.certificates.one_unit.ensemble": ("horizons",),
    "tallystick.certificates.one_unit.exact_accuracy": ("ExactAccuracy", "accuracy_curve", "exact_accuracy"),
    "tallystick.certificates.one_unit.failing_strings": ("extreme_failures", "random_failures"),
    "tallystick.certificates.running.library_functions": ("check_library",),
    "tallystick.certificates.verdict": ("Verdict",),
    "tallystick.checker": ("check_file",),
    "tallystick.conversion": ("Extraction", "extract", "to_cell", "to_machine"),
    "tallystick.errors": ("BadInput",),
    "tallystick.counting_conditions": ("Indicators", "conditions", "indicators"),
    "tallystick.languages.brackets": ("BB", "DYCK1", "SEMI_DYCK1"),
    "tallystick.languages.counter_machine": ("CounterMachine",),
    "tallystick.languages.machine_files": ("read_task",),
    "tallystick.languages.ready_machines": ("READY_MACHINES",),
    "tallystick.languages.tasks": ("READY_TASKS", "Task", "task_of_machine"),
    "tallystick.networks": ("Network", "Readout", "read_network", "write_network"),
    "tallystick.networks.int8": ("quantise",),
    "tallystick.networks.pytorch": ("Unreadable", "from_torch"),
    "tallystick.networks.steps": ("Steps",),
    "tallystick.numbers": ("ARITHMETICS", "exact"),
    "tallystick.runs.runner": ("train",),
    "tallystick.studies.reproduce": ("reproduce",),
    "tallystick.training.ensemble": ("Ensemble",),
    "tallystick.training.setting": ("Setting",),
}
_OTHER_NAMES = {"check_certificate": "check_file"}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    at_home = _OTHER_NAMES.get(name, name)
    with missing_extra_named():
        globals()[name] = found = getattr(import_module(_HOME_OF[at_home]), at_home)
    return found


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
