"""A setting: what is trained on what, how, and in which arithmetic."""

from dataclasses import dataclass, replace

import numpy as np

from tallystick.cells import CELLS, KINDS, LAYERS, Cell, GatedCell, ReluCell
from tallystick.errors import BadInput, check_whole
from tallystick.languages.brackets import BB, SEMI_DYCK1, BracketLanguage
from tallystick.languages.tasks import COUNT, TASKS, Task
from tallystick.training.descent import OPTIMISERS, SCHEDULES, SQUARED_ERROR, Objective
from tallystick.training.methods import Method, method_named
from tallystick.training.weights import has_readout_bias

PRECISIONS = {"float32": np.dtype(np.float32), "float64": np.dtype(np.float64)}
STARTS = ("drawn", "exact")
OWN = "own"
"""Stands for the method's own schedule or optimiser, or for the weights' own precision."""

_STRONGEST = 1_000_000
_LARGEST_SCALE = 1000


@dataclass(frozen=True)
class Setting:
    """One row of the paper's grid, or one of the user's own.

    Attributes:
        task: binary, ternary or count.
        bias: whether the cell has a bias (and the binary readout).
        train_length: the longest training strings.
        cell: the kind of cell.
        method: how it is trained, a name in `METHODS`.
        precision: the arithmetic of the weights.
        epochs: passes over the training set.
        learning_rate: Adam's learning rate.
        schedule: how the learning rate changes, a name in `SCHEDULES`; the default is the method's own.
        gradients: the arithmetic of loss and gradient; the default is that of the weights.
        strength: λ, the factor on a penalty or on multipliers; 0 stands for the method's own.
        start: drawn weights, or exact counters whose step is the power of two near the drawn ones.
        snap: whether trained weights near an exact counter are rounded to it.
        initial_scale: the factor on the drawn weights.
        optimiser: a name in `OPTIMISERS`; the default is the method's own.
        units: how many units the cell has.
    """

    task: str
    bias: bool
    train_length: int
    cell: str = "linear"
    method: str = "published"
    precision: str = "float32"
    epochs: int = 100
    learning_rate: float = 0.005
    schedule: str = OWN
    gradients: str = OWN
    strength: float = 0.0
    start: str = "drawn"
    snap: bool = False
    initial_scale: float = 1.0
    optimiser: str = OWN
    units: int = 1

    def __post_init__(self) -> None:
        """Refuse a setting that cannot be trained, and name the field."""
        method_named(self.method)
        for field in ("bias", "snap"):
            if not isinstance(getattr(self, field), bool):
                raise BadInput(f"{field}: {getattr(self, field)!r} is neither True nor False")
        check_whole(self.train_length, "train_length", least=1)
        _check_names(self)
        check_whole(self.epochs, "epochs", least=1)
        check_whole(self.units, "units", least=1)
        if self.units > self.kind.most_units:
            raise BadInput(f"units: {self.units} is more than a {self.cell} cell can have, {self.kind.most_units}")
        if self.units % self.kind.units_step:
            raise BadInput(
                f"units: {self.units} is not a multiple of {self.kind.units_step}, as a {self.cell} cell needs; "
                "each of its complex numbers counts as two"
            )
        _check_numbers(self)
        _check_sense(self)

    @property
    def kind(self) -> type[Cell]:
        """The class of the cell: one unit of its own, or the layer of that name."""
        return KINDS[self.units > 1][self.cell]

    @property
    def goal(self) -> Task:
        """The task itself."""
        return TASKS[self.task]

    @property
    def procedure(self) -> Method:
        """The method, with the schedule, the optimiser and the strength that were asked for."""
        method = method_named(self.method)
        if self.optimiser != OWN:
            method = replace(method, momenta=OPTIMISERS[self.optimiser])
        if self.schedule != OWN:
            method = replace(method, schedule=self.schedule)
        return replace(method, strength=float(self.strength)) if self.strength else method

    @property
    def objective(self) -> Objective:
        """What training minimises."""
        return self.procedure.losses.of(self.goal)

    @property
    def dtype(self) -> np.dtype:
        """The precision as a NumPy type."""
        return PRECISIONS[self.precision]

    @property
    def gradient_dtype(self) -> np.dtype:
        """The gradients' precision as a NumPy type."""
        return self.dtype if self.gradients == OWN else PRECISIONS[self.gradients]

    @property
    def readout_bias(self) -> bool:
        """Whether the readout has a bias."""
        return has_readout_bias(self.goal, bias=self.bias)

    @property
    def language(self) -> BracketLanguage:
        """The language whose count is asked for: a ReLU cell asked for the count gives κ of semi-Dyck-1, any other n − m."""
        return SEMI_DYCK1 if self.kind is ReluCell and self.goal is COUNT else BB

    def answers(self, strings: list[str]) -> np.ndarray:
        """Return the right answer for each string: 0 or 1 for each class, or the count."""
        return self.goal.targets_of_counts(np.array([self.language.count(string) for string in strings]))


def _check_names(setting: Setting) -> None:
    for field, allowed in (
        ("task", TASKS),
        ("cell", CELLS | LAYERS),
        ("precision", PRECISIONS),
        ("schedule", (OWN, *SCHEDULES)),
        ("gradients", (OWN, *PRECISIONS)),
        ("start", STARTS),
        ("optimiser", (OWN, *OPTIMISERS)),
    ):
        value = getattr(setting, field)
        if not isinstance(value, str) or value not in allowed:
            raise BadInput(f"{field}: {value!r} is not one of {', '.join(allowed)}")
    if (setting.precision, setting.gradients) == ("float64", "float32"):
        raise BadInput("gradients: 'float32' is coarser than the float64 of the weights")


def _check_numbers(setting: Setting) -> None:
    for field, is_allowed, rule in (
        ("learning_rate", lambda rate: 0 < rate < 1, "between 0 and 1"),
        ("strength", lambda strength: 0 <= strength <= _STRONGEST, f"from 0 to {_STRONGEST:,}"),
        ("initial_scale", lambda scale: 0 < scale <= _LARGEST_SCALE, f"above 0 and at most {_LARGEST_SCALE:,}"),
    ):
        value = getattr(setting, field)
        if not isinstance(value, int | float) or not is_allowed(value):
            raise BadInput(f"{field}: {value!r} is not {rule}")


def _check_sense(setting: Setting) -> None:
    """Refuse a method that makes no sense for the cell or the task."""
    if setting.strength and setting.procedure.regulariser is None:
        raise BadInput(
            f"strength: {setting.strength!r} is for a method that adds something to the loss, not for {setting.method!r}"
        )
    for field, needed in (
        ("method", setting.procedure.uses_conditions),
        ("start", setting.start == "exact"),
        ("snap", setting.snap),
    ):
        asked = f"{field}: {getattr(setting, field)!r}"
        if needed and setting.kind.counting is None:
            raise BadInput(f"{asked} needs the conditions of a counting theorem, and a {setting.cell} cell has none")
        if needed and setting.kind is ReluCell and setting.goal is not COUNT:
            raise BadInput(f"{asked} makes a relu cell count as semi-Dyck-1 does; only the task count asks for that")
    if setting.procedure.uses_gates and not issubclass(setting.kind, GatedCell):
        raise BadInput(
            f"method: {setting.method!r} needs gates, and a {setting.cell} cell has none; lstm and gru have them"
        )
    if setting.procedure.memory and not (issubclass(setting.kind, GatedCell) and setting.kind.has_memory):
        raise BadInput(
            f"method: {setting.method!r} regresses the memory c, and a {setting.cell} has none; "
            "an lstm does, and 'saturating-labels' needs none"
        )
    if setting.kind is ReluCell and setting.goal is not COUNT and setting.objective is SQUARED_ERROR:
        raise BadInput(
            f"method: {setting.method!r} would have a relu cell count below zero; only the task count suits it"
        )
