"""Linear recurrent units with complex factors, as in LRU, S4D and S5 layers: each unit turns and shrinks by its own λ."""

from dataclasses import dataclass
from typing import final

from tallystick.cells.affine import AffineLayer
from tallystick.cells.cell import TOKENS, Input, Shape
from tallystick.errors import BadInput
from tallystick.numbers.values import Vector


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

    def __post_init__(self) -> None:
        """Refuse weights that do not fit together, naming them."""
        if self.units % 2:
            raise BadInput(f"input_bias: {self.units} numbers; a complex unit has two, its real and its imaginary part")
        super().__post_init__()

    @classmethod
    def shapes(cls, units: int, inputs: int = TOKENS) -> dict[str, Shape]:
        """Return the shapes; `units` is even, two for each complex unit."""
        return {"input_weight": (units, inputs), "recurrent_weight": (2, units // 2), "input_bias": (units,)}

    def step(self, state: Vector, token: Input) -> Vector:
        """Return the parts of λ·z + B·x + b."""
        terms, size = token.weigh(self.input_weight, self.input_bias), len(state) // 2
        parts = list(zip(*self.recurrent_weight, state[:size], state[size:], strict=True))
        real = (a * x - b * y for a, b, x, y in parts)
        imaginary = (b * x + a * y for a, b, x, y in parts)
        return tuple(part + term for part, term in zip((*real, *imaginary), terms, strict=True))
