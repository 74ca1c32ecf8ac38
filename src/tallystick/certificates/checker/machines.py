"""The machine for an arithmetic."""

from collections.abc import Callable, Iterator

from .claim import Model
from .finding import Refused, Undecided
from .floating import Floating, FloatTanh
from .formats import FORMATS, FUSED
from .machine import Machine
from .real import Exact, RealTanh

_TANH_PLACES = (128, 512, 2048)


def machines(model: Model, arithmetic: str) -> Iterator[Machine]:
    """Go through the machines for a model: one, but for tanh in real numbers several, of rising precision."""
    if arithmetic != "real":
        form, fused = FORMATS[arithmetic.removesuffix(FUSED)], arithmetic.endswith(FUSED)
        yield FloatTanh(model, form, fused) if model.cell == "tanh" else Floating(model, form, fused)
    elif model.cell == "tanh":
        yield from (RealTanh(model, places) for places in _TANH_PLACES)
    else:
        yield Exact(model)


def judge(model: Model, arithmetic: str, verify: Callable[[Machine], None]) -> None:
    """Verify something on a machine, and again on a more precise one as long as bounds do not decide."""
    for machine in machines(model, arithmetic):
        try:
            return verify(machine)
        except Undecided:
            continue
    raise Refused("the bounds on tanh do not decide")
