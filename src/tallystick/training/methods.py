"""The methods of training: each is one line in a table of what it minimises and how.

A method says which loss the outputs have and at which tokens, how the learning rate goes, Adam's own numbers, which numbers
are trained, what is added to the loss, where the weights are moved after an update, and in which order strings come. The loop
is one and the same (`loop.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass

from tallystick.cells import Cell
from tallystick.errors import BadInput
from tallystick.training.adam import PUBLISHED_MOMENTA, Momenta
from tallystick.training.objectives import COUNT_REGRESSION, ORDINARY_LOSSES, PUBLISHED_LOSSES, Objectives
from tallystick.training.parametrisations import FREE, TIED, TIED_UNIT, UNIT, Parametrisation
from tallystick.training.projections import onto_conditions
from tallystick.training.regularisers import LAGRANGIAN, PENALTY, Regulariser
from tallystick.training.schedules import SCHEDULES
from tallystick.training.weights import Weights


@dataclass(frozen=True)
class Method:
    """How networks are trained.

    Attributes:
        summary: what it does, in a line.
        losses: what the outputs are scored with, by task.
        every_token: whether each prefix of a string is scored, or the whole string alone.
        schedule: how the learning rate goes, a name in `SCHEDULES`.
        momenta: Adam's β₁, β₂ and ε.
        parametrisation: which numbers are trained.
        regulariser: what is added to the loss.
        strength: λ, how much of it.
        projection: where the weights are moved after each update.
        curriculum: whether the short strings come first, longer ones joining them by and by.
    """

    summary: str
    losses: Objectives = ORDINARY_LOSSES
    every_token: bool = False
    schedule: str = "constant"
    momenta: Momenta = PUBLISHED_MOMENTA
    parametrisation: Parametrisation = FREE
    regulariser: Regulariser | None = None
    strength: float = 1.0
    projection: Callable[[type[Cell], Weights], Weights] | None = None
    curriculum: bool = False

    def __post_init__(self) -> None:
        """Refuse a schedule that does not exist."""
        if self.schedule not in SCHEDULES:
            raise BadInput(f"schedule: {self.schedule!r} is not one of {', '.join(SCHEDULES)}")

    @property
    def uses_conditions(self) -> bool:
        """Whether the method needs to know what makes the cell count."""
        return not (self.parametrisation.is_free and self.regulariser is None and self.projection is None)


CALM = Momenta(decay=0.5, epsilon=0.01)
"""Half a step's memory, and gradients below a hundredth left small: near a zero of the loss Adam then comes to rest, where the
paper's numbers blow the gradients' rounding up to full steps."""

METHODS: dict[str, Method] = {
    "published": Method("the paper's: softmax twice in the ternary task", PUBLISHED_LOSSES),
    "corrected": Method("ordinary cross-entropy"),
    "decayed": Method("ordinary cross-entropy, the learning rate falling to 0", schedule="cosine"),
    "count": Method("squared error on the count after the last token", COUNT_REGRESSION, schedule="cosine"),
    "count-tokens": Method("the same after every token", COUNT_REGRESSION, every_token=True, schedule="cosine"),
    "count-calm": Method(
        "the same with a calmer Adam", COUNT_REGRESSION, every_token=True, schedule="cosine", momenta=CALM
    ),
    "count-penalty": Method(
        "the same with the squared conditions added: it revives dead ReLU cells",
        COUNT_REGRESSION,
        every_token=True,
        schedule="cosine",
        momenta=CALM,
        regulariser=PENALTY,
        strength=10.0,
    ),
    "penalty": Method("the squared conditions added to the loss", schedule="cosine", regulariser=PENALTY),
    "lagrangian": Method("the same with multipliers", schedule="cosine", regulariser=LAGRANGIAN),
    "tied": Method("b = −a by construction", schedule="cosine", parametrisation=TIED),
    "unit": Method("U = 1 by construction", schedule="cosine", parametrisation=UNIT),
    "tied-unit": Method("both by construction", schedule="cosine", parametrisation=TIED_UNIT),
    "projected": Method("moved onto the conditions after each step", schedule="cosine", projection=onto_conditions),
    "curriculum": Method("short strings first", schedule="cosine", curriculum=True),
}
"""Every method by its name in commands and files; a new one is tested by being listed here."""


def method_named(name: str) -> Method:
    """Return the method of that name."""
    if not isinstance(name, str) or name not in METHODS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"method: {name!r} is not one of {', '.join(METHODS)}")
    return METHODS[name]
