"""The methods of training: each is one entry of a table of what it minimises, under which conditions, and how.

A method says which loss the outputs have and at which tokens, how the learning rate changes, Adam's own numbers, which numbers
are trained, what is added to the loss, where the weights are moved after an update, in which order strings come, and how sharp
the gates become. The loop is the same for all of them (`loop.py`).

There are three ways of bringing the weights to the conditions of a cell's counting theorem (`Cell.counting`).

A parametrisation lets conditions hold by construction, since it decides which numbers are trained:

    free        every weight
    tied        α, with a = α and b = −α           (relu: a = |α|; selective: b = −Q·α)
    unit        everything but U, which is 1       (selective: σ, with P = e^σ and Q = e^−σ)
    tied-unit   both

In a layer α is a vector, U is made from a trained matrix so that U·u = u for u = (a − b)/2, and a selective layer has its
conditions unit by unit. An LRU's λ are always made of other numbers, by which they lie inside the unit circle.

A regulariser adds to the loss a term that draws the residuals r of the conditions to zero:

    penalty       λ·Σ r²
    lagrangian    Σ μ·r + λ·Σ r², where each multiplier μ grows by λ·η·r at every step

With a penalty alone the task's loss keeps r away from zero; a multiplier grows until it balances the loss at r = 0. Gated cells
have no such theorem; their penalty is on the recurrent weights (`RECURRENT_PENALTY`).

A projection moves the weights after each update to a point that meets the conditions.

Where a and b are made from α or projected, a bias of the cell would only shift them apart: it stays in the network as a zero.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from tallystick.cells import Cell
from tallystick.cells.conditions import RecurrentForm
from tallystick.errors import BadInput
from tallystick.languages.tasks import Task
from tallystick.training.descent import (
    CALM,
    COUNT_REGRESSION,
    ORDINARY_LOSSES,
    PUBLISHED_LOSSES,
    PUBLISHED_MOMENTA,
    SCHEDULES,
    Momenta,
    Objective,
    Objectives,
    with_memory,
)
from tallystick.training.weights import AnyWeights

# --- Conditions that the weights meet -----------------------------------------------------------------------------------------

Trained = optax.Params
"""The numbers that are trained: any tree of arrays."""


@dataclass(frozen=True)
class Parametrisation:
    """Which conditions hold by construction.

    Attributes:
        tied: the steps undo each other.
        unit: the recurrent weights undo each other.
    """

    tied: bool = False
    unit: bool = False

    @property
    def is_free(self) -> bool:
        """Whether every weight is trained."""
        return not (self.tied or self.unit)

    def start(self, kind: type[Cell], weights: AnyWeights) -> Trained:
        """Return the trained numbers that initial weights stand for; what is not trained is left out."""
        form = self._form(kind)
        if form is not None:
            weights = weights._replace(recurrent=form.start(weights.factors))
        return weights._replace(inputs=(weights.steps[0],), bias=()) if self.tied else weights

    def weights(self, kind: type[Cell], trained: Trained, like: AnyWeights) -> AnyWeights:
        """Return the network's weights; `like` gives the shape of what was left out."""
        form, weights = self._form(kind), cast("AnyWeights", trained)
        a = _opening_step(kind, weights) if self.tied else None
        if form is not None:
            direction = (weights.steps[0] - weights.steps[1]) / 2 if a is None else a
            weights = weights.with_factors(form.weights(weights.recurrent, direction, like.factors))
        if a is None:
            return weights
        assert kind.counting is not None, "a setting with tied steps has a cell with conditions"
        return weights._replace(bias=like.bias).with_steps(a, kind.counting.closing_step(a, weights.factors))

    def pull_back(
        self, kind: type[Cell], trained: Trained, like: AnyWeights
    ) -> tuple[AnyWeights, Callable[[AnyWeights], Trained]]:
        """Return the weights, and the map from a slope by the weights to one by the trained numbers."""
        if self.is_free and kind.recurrent_form is None:
            return cast("AnyWeights", trained), lambda slope: slope
        weights, back = jax.vjp(lambda numbers: self.weights(kind, numbers, like), trained)
        return weights, lambda slope: back(slope)[0]

    def _form(self, kind: type[Cell]) -> RecurrentForm | None:
        """Return what the recurrent weights are made of: what meets their condition, or the cell's own numbers."""
        return kind.counting.unit if self.unit and kind.counting else kind.recurrent_form


def _opening_step(kind: type[Cell], trained: AnyWeights) -> Array:
    (alpha,) = trained.inputs
    return jnp.abs(alpha) if kind.counting and kind.counting.only_counts_up else alpha


FREE = Parametrisation()
TIED = Parametrisation(tied=True)
UNIT = Parametrisation(unit=True)
TIED_UNIT = Parametrisation(tied=True, unit=True)

Multipliers = tuple[Array, ...]
"""One number per condition and seed, or none where a regulariser keeps nothing from step to step."""


def residuals(kind: type[Cell], weights: AnyWeights) -> tuple[Array, Array]:
    """Return what the conditions ask to be zero: for the linear cell a + b and U − 1; for a layer, one row per unit."""
    conditions, arrays = kind.counting, (weights.steps, weights.factors)
    assert conditions is not None, "a setting with a regulariser has a cell with conditions"
    return conditions.step_residual(*arrays), conditions.recurrent_residual(*arrays)


@dataclass(frozen=True)
class Regulariser:
    """A term that is added to the loss.

    Attributes:
        start: the multipliers before the first step, in the shape of a residual.
        term: the term for residuals, multipliers and the strength λ.
        advance: the multipliers after a step of the size λ·η.
        residuals: what is drawn to zero.
    """

    start: Callable[[Array], Multipliers]
    term: Callable[[tuple[Array, ...], Multipliers, Array], Array]
    advance: Callable[[tuple[Array, ...], Multipliers, Array], Multipliers]
    residuals: Callable[[type[Cell], AnyWeights], tuple[Array, ...]] = residuals

    @property
    def uses_conditions(self) -> bool:
        """Whether what is drawn to zero are the conditions of a counting theorem."""
        return self.residuals is residuals

    def slope(self, kind: type[Cell], weights: AnyWeights, multipliers: Multipliers, strength: Array) -> AnyWeights:
        """Return the derivative of the term by every weight."""

        def total(weights: AnyWeights) -> Array:
            return self.term(self.residuals(kind, weights), multipliers, strength).sum()

        return jax.grad(total)(weights)


def _squares(found: tuple[Array, ...]) -> Array:
    return sum((residual**2 for residual in found[1:]), start=found[0] ** 2)


PENALTY = Regulariser(
    start=lambda _: (),
    term=lambda found, _, strength: strength * _squares(found),
    advance=lambda _, multipliers, __: multipliers,
)

LAGRANGIAN = Regulariser(
    start=lambda residual: (jnp.zeros_like(residual), jnp.zeros_like(residual)),
    term=lambda found, multipliers, strength: (
        strength * _squares(found) + multipliers[0] * found[0] + multipliers[1] * found[1]
    ),
    advance=lambda found, multipliers, size: tuple(m + size * r for m, r in zip(multipliers, found, strict=True)),
)

RECURRENT_PENALTY = replace(PENALTY, residuals=lambda _, weights: (weights.recurrent,))
"""λ·Σ U²: the gates learn to look at the token alone, so that they saturate whatever h is."""


def project(kind: type[Cell], weights: AnyWeights) -> AnyWeights:
    """Move steps and recurrent weights to a point that meets the conditions; a cell's bias goes into the steps."""
    assert kind.counting is not None, "a setting with a projection has a cell with conditions"
    steps, recurrent = kind.counting.met_by(weights.steps, weights.factors)
    return weights.with_factors(recurrent).with_steps(*steps)


# --- The table of methods -----------------------------------------------------------------------------------------------------

RISE = (0.3, 0.9)
"""Between which shares of the steps a temperature rises, in a straight line."""


def risen(done: Float[Array, ""], end: float) -> Float[Array, ""]:
    """Return the temperature: 1 at first, so that a network learns as ever, and `end` at last, so that it settles."""
    first, last = RISE
    return 1 + (end - 1) * jnp.clip((done - first) / (last - first), 0, 1)


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
