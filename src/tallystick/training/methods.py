"""The methods of training: each is one entry of a table of what it minimises, and how.

A method says which loss the outputs have and at which tokens, how the learning rate changes, Adam's own numbers, which numbers
are trained, what is added to the loss, where the weights are moved after an update, in which order strings come, and how sharp
the gates become. The loop is the same for all of them (`loop.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float

from tallystick.cells import Cell
from tallystick.errors import BadInput
from tallystick.languages.tasks import Task
from tallystick.training.constraints import (
    FREE,
    LAGRANGIAN,
    PENALTY,
    RECURRENT_PENALTY,
    TIED,
    TIED_UNIT,
    UNIT,
    Parametrisation,
    Regulariser,
    project,
)
from tallystick.training.descent import (
    CALM,
    COUNT_REGRESSION,
    ORDINARY_LOSSES,
    PUBLISHED_LOSSES,
    PUBLISHED_MOMENTA,
    Momenta,
    Objective,
    Objectives,
    with_memory,
)
from tallystick.training.weights import AnyWeights

Schedule = Callable[[Float[Array, ""]], Float[Array, ""]]
"""From the share of the steps that are done, in [0, 1), to the factor on the learning rate."""


def constant(done: Float[Array, ""]) -> Float[Array, ""]:
    """Return 1 throughout, as in the paper."""
    return jnp.ones_like(done)


def cosine(done: Float[Array, ""]) -> Float[Array, ""]:
    """Return ½(1 + cos πx): a half-wave from 1 down to 0, flat at both ends."""
    return (1 + jnp.cos(jnp.pi * done)) / 2


def linear(done: Float[Array, ""]) -> Float[Array, ""]:
    """Return 1 − x: straight down to 0."""
    return 1 - done


def late_cosine(done: Float[Array, ""]) -> Float[Array, ""]:
    """Return 1 over the first half, then a half-wave down to 0."""
    return cosine(jnp.maximum(2 * done - 1, 0))


RISE = (0.3, 0.9)
"""Between which shares of the steps a temperature rises, in a straight line."""


def risen(done: Float[Array, ""], end: float) -> Float[Array, ""]:
    """Return the temperature: 1 at first, so that a network learns as ever, and `end` at last, so that it settles."""
    first, last = RISE
    return 1 + (end - 1) * jnp.clip((done - first) / (last - first), 0, 1)


SCHEDULES: dict[str, Schedule] = {
    "constant": constant,
    "cosine": cosine,
    "linear": linear,
    "late-cosine": late_cosine,
}


@dataclass(frozen=True)
class Method:
    """How networks are trained.

    Attributes:
        summary: what it does, in one line.
        losses: the objective for each kind of task.
        every_token: whether every prefix of a string is scored, or only the whole string.
        schedule: how the learning rate changes, a name in `SCHEDULES`.
        momenta: Adam's β₁, β₂ and ε.
        parametrisation: which numbers are trained.
        regulariser: what is added to the loss.
        strength: λ, the factor on the regulariser.
        projection: where the weights are moved after each update.
        curriculum: whether training begins with the short strings and longer ones join them step by step.
        temperature: what the inputs of all gates are multiplied by in the end; it rises from 1 (`risen`).
        memory: the factor on the squared error of each unit's memory c against the count, which is added to the loss.
    """

    summary: str
    losses: Objectives = ORDINARY_LOSSES
    every_token: bool = False
    schedule: str = "constant"
    momenta: Momenta = PUBLISHED_MOMENTA
    parametrisation: Parametrisation = FREE
    regulariser: Regulariser | None = None
    strength: float = 1.0
    projection: Callable[[type[Cell], AnyWeights], AnyWeights] | None = None
    curriculum: bool = False
    temperature: float = 1.0
    memory: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a schedule that does not exist."""
        if self.schedule not in SCHEDULES:
            raise BadInput(f"schedule: {self.schedule!r} is not one of {', '.join(SCHEDULES)}")

    @property
    def uses_conditions(self) -> bool:
        """Whether the method needs to know what makes the cell count."""
        regularised = self.regulariser is not None and self.regulariser.uses_conditions
        return not self.parametrisation.is_free or regularised or self.projection is not None

    @property
    def sharpens(self) -> bool:
        """Whether a temperature rises."""
        return self.temperature != 1

    @property
    def uses_gates(self) -> bool:
        """Whether the method needs a cell with gates."""
        return self.sharpens or self.memory > 0

    def objective(self, task: Task) -> Objective:
        """Return what a string's outputs are scored by; where the memory is regressed, it follows the outputs."""
        objective = self.losses.of(task)
        return with_memory(objective, self.memory, task.outputs) if self.memory else objective


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
    "count-exact": Method(
        "the same, the conditions a hundred times as strong and the learning rate falling later",
        COUNT_REGRESSION,
        every_token=True,
        schedule="late-cosine",
        momenta=CALM,
        regulariser=PENALTY,
        strength=1000.0,
    ),
    "penalty": Method("the squared conditions added to the loss", schedule="cosine", regulariser=PENALTY),
    "lagrangian": Method("the same with multipliers", schedule="cosine", regulariser=LAGRANGIAN),
    "tied": Method("b = −a by construction", schedule="cosine", parametrisation=TIED),
    "unit": Method("U = 1 by construction", schedule="cosine", parametrisation=UNIT),
    "tied-unit": Method("both by construction", schedule="cosine", parametrisation=TIED_UNIT),
    "projected": Method("moved onto the conditions after each step", schedule="cosine", projection=project),
    "curriculum": Method("short strings first", schedule="cosine", curriculum=True),
    "saturating": Method(
        "ever sharper gates, the memory regressed on the count, and recurrent weights drawn to zero",
        every_token=True,
        schedule="cosine",
        regulariser=RECURRENT_PENALTY,
        strength=0.1,
        temperature=32.0,
        memory=1.0,
    ),
    "saturating-labels": Method(
        "cross-entropy after the last token, gates sharper still, and recurrent weights drawn to zero",
        schedule="cosine",
        regulariser=RECURRENT_PENALTY,
        strength=0.1,
        temperature=512.0,
    ),
}
"""Every method by its name in commands and files; a new one is tested by being listed here."""

UNGATED = tuple(name for name, method in METHODS.items() if not method.uses_gates)
"""The methods that suit cells without gates, too."""


def method_named(name: str) -> Method:
    """Return the method of that name."""
    if not isinstance(name, str) or name not in METHODS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"method: {name!r} is not one of {', '.join(METHODS)}")
    return METHODS[name]
