"""Linear recurrent units with complex factors, as in LRU, S4D and S5 layers: each unit turns and shrinks by its own λ."""

from dataclasses import dataclass
from math import pi
from typing import Any, final

from tallystick.cells.cell import TOKENS, Input, Shape
from tallystick.cells.conditions import Recurrent, RecurrentForm
from tallystick.cells.vector import AffineLayer
from tallystick.errors import BadInput
from tallystick.numbers.values import Vector

LEAST_RADIUS, GREATEST_RADIUS, GREATEST_PHASE = 0.9, 0.999, pi / 10
"""The part of a ring where training starts, as Orvieto et al. (2023) choose it: |λ|² and the phase are uniform."""


def _polar(recurrent: Recurrent) -> Recurrent:
    """Return ν = log(−log |λ|) and θ, the phase of λ."""
    real, imaginary = recurrent[0]
    xp = real.__array_namespace__()
    return xp.log(-xp.log(real * real + imaginary * imaginary) / 2), xp.atan2(imaginary, real)


def _inside_the_circle(numbers: Recurrent, direction: Any, like: Recurrent) -> Recurrent:  # noqa: ANN401 -- an array
    """Return λ = exp(−exp ν)·e^(iθ), whose size is below 1 whatever ν is."""
    del direction, like
    nu, theta = numbers
    xp = nu.__array_namespace__()
    radius = xp.exp(-xp.exp(nu))
    return (xp.stack((radius * xp.cos(theta), radius * xp.sin(theta))),)


@final
@dataclass(frozen=True)
class LruLayer(AffineLayer):
    """z' = λ∘z + B·x + b with complex z, λ, B and b; the state is the real parts of z and then its imaginary parts.

    A complex unit counts as two, since the readout sees both its parts: Re(C·z) is the row (Re C, −Im C).

    Attributes:
        input_weight: B, the rows of its real parts and then those of its imaginary parts.
        recurrent_weight: λ, the vector of its real parts and that of its imaginary parts.
        input_bias: b, its real parts and then its imaginary parts.

    >>> quarter_turn = LruLayer(((1, 0), (0, 0)), ((0,), (1,)), (0, 0))
    >>> quarter_turn.trace("()))")
    [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)]
    """

    name = "lru"
    recurrent_form = RecurrentForm(_polar, _inside_the_circle)
    units_step = 2

    def __post_init__(self) -> None:
        """Refuse weights that do not fit together, naming them."""
        if self.units % 2:
            raise BadInput(f"input_bias: {self.units} numbers; a complex unit has two, its real and its imaginary part")
        super().__post_init__()

    @classmethod
    def shapes(cls, units: int, inputs: int = TOKENS) -> dict[str, Shape]:
        """Return the shapes; `units` is even, two for each complex unit."""
        return {"input_weight": (units, inputs), "recurrent_weight": (2, units // 2), "input_bias": (units,)}

    @classmethod
    def initial_recurrent(cls, draws: Any, bound: float) -> Any:  # noqa: ANN401 -- an array
        """Return λ in a part of a ring inside the unit circle."""
        del bound
        xp = draws.__array_namespace__()
        across, along = (1 + draws) / 2
        radius = xp.sqrt(LEAST_RADIUS**2 + across * (GREATEST_RADIUS**2 - LEAST_RADIUS**2))
        phase = GREATEST_PHASE * along
        return xp.stack((radius * xp.cos(phase), radius * xp.sin(phase)))

    def step(self, state: Vector, token: Input) -> Vector:
        """Return the parts of λ·z + B·x + b."""
        terms, size = token.weigh(self.input_weight, self.input_bias), len(state) // 2
        parts = list(zip(*self.recurrent_weight, state[:size], state[size:], strict=True))
        real = (a * x - b * y for a, b, x, y in parts)
        imaginary = (b * x + a * y for a, b, x, y in parts)
        return tuple(part + term for part, term in zip((*real, *imaginary), terms, strict=True))
