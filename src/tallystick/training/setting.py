"""A setting: what is trained on what, how, and in which arithmetic."""

from dataclasses import dataclass

import numpy as np

from tallystick.cells import CELLS, Cell
from tallystick.datasets.tasks import Task, task_named
from tallystick.errors import BadInput, check_whole
from tallystick.training.objectives import Objective, objective_of

PRECISIONS = {"float32": np.dtype(np.float32), "float64": np.dtype(np.float64)}


@dataclass(frozen=True)
class Setting:
    """One row of the paper's grid, or one of the user's own.

    Attributes:
        task: binary, ternary or count.
        bias: whether the cell has a bias (and the binary readout).
        train_length: the longest training strings.
        cell: the kind of cell.
        method: how the task is scored.
        precision: the arithmetic of weights, loss and gradient.
        epochs: passes over the training set.
        learning_rate: Adam's.
    """

    task: str
    bias: bool
    train_length: int
    cell: str = "linear"
    method: str = "published"
    precision: str = "float32"
    epochs: int = 100
    learning_rate: float = 0.005

    def __post_init__(self) -> None:
        """Refuse what cannot be trained, naming it."""
        objective_of(self.method, task_named(self.task))
        if not isinstance(self.bias, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"bias: {self.bias!r} is neither True nor False")
        check_whole(self.train_length, "train_length", least=1)
        for field, value, allowed in (("cell", self.cell, CELLS), ("precision", self.precision, PRECISIONS)):
            if value not in allowed:
                raise BadInput(f"{field}: {value!r} is not one of {', '.join(allowed)}")
        check_whole(self.epochs, "epochs", least=1)
        if not isinstance(self.learning_rate, int | float) or not 0 < self.learning_rate < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"learning_rate: {self.learning_rate!r} is not between 0 and 1")

    @property
    def kind(self) -> type[Cell]:
        """The class of the cell."""
        return CELLS[self.cell]

    @property
    def scored_as(self) -> Task:
        """The task itself."""
        return task_named(self.task)

    @property
    def objective(self) -> Objective:
        """What training minimises."""
        return objective_of(self.method, self.scored_as)

    @property
    def dtype(self) -> np.dtype:
        """The precision as a NumPy type."""
        return PRECISIONS[self.precision]
