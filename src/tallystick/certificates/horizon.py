"""How long can this model be trusted? The verdict over **all** strings, in a named arithmetic.

What is right: for a linear or selective cell, and for every binary or ternary readout, the class of the count n − m. A
ReLU cell cannot go below zero, so its zero check answers for semi-Dyck-1, as in Theorem 3.

Real arithmetic reads the weights exactly and decides in rationals:

- **Two lengths decide the zero check of a linear or selective cell** (Theorems 1 and 2). Also when only even lengths count:
  `()` gives b = −Q·a, `)(` gives a = −P·b, so P·Q = 1 unless a = b = 0, which `((` excludes together with P = −1.
- **Two lengths decide a cell whose closing map inverts its opening map** (P·Q = 1, b = −Q·a; P = Q = 1 for a linear one),
  with any readout. h is then a function h_d of the count d alone, with h_(d+1) − h_d = a·P^d. For P > 0 it is monotone in d. Each
  comparison of a readout is the sign of w·h + c, monotone in h, and at lengths 1 and 2 it has the wanted signs at
  d = 0 and on either side of it; so it has them for every d. For P < 0, P ≠ −1, h_(d+2) − h_d = a·(1 + P)·P^d is of one sign
  for even d, so the same holds for even lengths; with odd ones 0 lies between h₁ and h₂ (P < −1), or between h₋₁ and h₋₂
  (P > −1), which kills the ternary readout, and likewise the binary one: such a cell fails at length 1 or 2.
- **U ≤ 0 fails by length 2.** With s = a − b the states of `))`, `()`, `)(` and `((` are g, g + U·s, g + s and g + s + U·s.
  For U < 0 the balanced ones lie on both sides of `))`; for U = 0 `()` ends where `))` does. That settles the ternary readout; a
  binary one needs v·(a − b) > 0 to tell `((` from `()`, and U·v·(a − b) > 0 to tell it from `)(`.
- **Other linear cells** are decided completely by `linear_horizon`.
- **ReLU with a > 0, U = 1 and b = −a** has h = a·κ and is right on semi-Dyck-1 at every length (Theorem 3).
- A **tanh cell** is searched with its states between bounds, which are drawn closer where they do not decide. No tanh cell
  with rational weights passes a zero check: tanh of a rational other than 0 is transcendental (Lindemann), so U·tanh a + b is
  not 0 and `()` is rejected, unless a = 0 or U = b = 0, where `(` or `)` is accepted.
- Whatever remains is searched length by length, up to a limit.

Floating point as executed is searched the same way, by the cell's own step. No theorem holds there for all lengths, so
the best outcome is BOUNDED: by the search, or for an exact counter by the depth to which it is exact, if that is more.
What a tanh gives is no matter of IEEE 754; its states are again kept between bounds (`tanh_enclosures`).
"""

from fractions import Fraction

from tallystick.arithmetic import standard_floats
from tallystick.cells import Cell, LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates.certainty import steady
from tallystick.certificates.depth import exact_depth
from tallystick.certificates.executions import execution
from tallystick.certificates.gated.horizon import certify_gated
from tallystick.certificates.linear_horizon import first_failure
from tallystick.certificates.search import Reached, search
from tallystick.certificates.verdict import (
    ENCLOSURES,
    FLOATS,
    REAL,
    Failure,
    Lengths,
    Outcome,
    Verdict,
    arithmetic_of,
    lengths_of,
)
from tallystick.errors import BadInput, check_whole
from tallystick.models import GatedModel, Model
from tallystick.readouts import ZeroCheck

LIMITS = {REAL: 200} | dict.fromkeys(FLOATS, 1000)
"""How far a search goes unless told otherwise; its effort grows with the square, in real arithmetic with the cube."""

_TANH_DIGITS = (128, 256, 512, 1024)
_SHORT = 2


@standard_floats()
def certify(
    model: Model | GatedModel, lengths: str = "all", arithmetic: str = REAL, limit: int | None = None
) -> Verdict:
    """Return the verdict on a model: PROVED, REFUTED with a shortest failing string, or BOUNDED.

    Args:
        model: a linear, selective, ReLU or tanh cell with any readout, or a GRU or LSTM (`certificates.gated`).
        lengths: `all`, or `even` as in the paper's data.
        arithmetic: `real`, or `float16`, `bfloat16`, `float32` or `float64` as executed, `-fused` or not; the weights are
            rounded to it first, once.
        limit: how far to search where nothing else decides.

    >>> certify(Model(LinearCell(1, -1, 1), ZeroCheck())).outcome
    <Outcome.PROVED: 'PROVED'>
    >>> verdict = certify(Model(LinearCell(1, -1, 0.5), ZeroCheck()))
    >>> verdict.horizon, verdict.failure.string, verdict.trace()
    (1, '()', [0, Fraction(1, 1), Fraction(-1, 2)])
    """
    arithmetic_of(arithmetic)
    counted = lengths_of(lengths)
    if limit is not None:
        check_whole(limit, "limit", least=_SHORT)
    if isinstance(model, GatedModel):
        return certify_gated(model, counted, arithmetic, limit)
    limit = LIMITS[arithmetic] if limit is None else limit
    if not is_decidable(type(model.cell)):
        raise BadInput(f"cell: a {type(model.cell).__name__} is outside what can be decided")
    decided = (
        _in_real_numbers(model, counted) if arithmetic == REAL else _as_executed(model, counted, arithmetic, limit)
    )
    outcome, horizon, failure, method, reason = decided or _searched(model, counted, arithmetic, limit)
    return Verdict(model, counted, arithmetic, outcome, horizon, failure, method, reason)


def is_decidable(kind: type[Cell]) -> bool:
    """Say whether there are verdicts on this kind of cell: its maps are monotone in h, and it is known how they are run."""
    return issubclass(kind, LinearCell | SelectiveCell | ReluCell | TanhCell)


_Decision = tuple[Outcome, int | None, Failure | None, str, str]


def _in_real_numbers(model: Model, lengths: Lengths) -> _Decision | None:
    """Decide by theorem; None where only a search is left."""
    if isinstance(model.cell, TanhCell):
        return None
    exact_model = model.in_arithmetic("rational")
    short = search(execution(exact_model, REAL), lengths, _SHORT)
    if isinstance(short, Failure):
        return _refuted(short, lengths, "search")
    if _theorem_applies(exact_model):
        return (
            Outcome.PROVED,
            None,
            None,
            "theorem",
            f"the cell counts exactly, and every string of length {_short(lengths)} is right",
        )
    if isinstance(exact_model.cell, LinearCell):
        failure = first_failure(exact_model, lengths)
        assert failure is not None, "only an exact counter has no failing string"
        return _refuted(failure, lengths, "sorted strings")
    return None


def _short(lengths: Lengths) -> str:
    return "1 and 2" if lengths is Lengths.ALL else "2"


def _theorem_applies(model: Model) -> bool:
    """Say whether being right to length 2 makes a model right at every length."""
    zero_check, cell = isinstance(model.readout, ZeroCheck), model.cell
    if isinstance(cell, ReluCell):
        return zero_check and cell.open_step > 0 and cell.recurrent_weight == 1 and cell.close_step == -cell.open_step
    if zero_check:
        return True
    P, Q = _recurrent_weights(cell)
    return P * Q == 1 and P != -1 and cell.close_step == -Q * cell.open_step


def _recurrent_weights(cell: Cell) -> tuple[Fraction, Fraction]:
    if isinstance(cell, SelectiveCell):
        return cell.open_recurrent_weight, cell.close_recurrent_weight
    assert isinstance(cell, LinearCell)
    return cell.recurrent_weight, cell.recurrent_weight


def _as_executed(model: Model, lengths: Lengths, arithmetic: str, limit: int) -> _Decision | None:
    """Bound an exact counter by the depth to which no operation rounds, where that is further than a search would go.

    There h = d·a, monotone in d; each comparison of a steady readout is monotone in h, so lengths 1 and 2 decide. A ReLU
    cell has h = a·κ.
    """
    depth = exact_depth(model.cell, arithmetic)
    executed = model.in_arithmetic(arithmetic)
    if depth is None or depth < limit or not steady(executed.readout):
        return None
    if isinstance(model.cell, ReluCell) and not isinstance(model.readout, ZeroCheck):
        return None
    short = search(execution(model, arithmetic), lengths, _SHORT)
    if isinstance(short, Failure):
        return _refuted(short, lengths, "search")
    reached = depth - depth % lengths.stride
    reason = (
        f"every multiple of the step is exact in {arithmetic} to depth {depth}, "
        f"and every string of length {_short(lengths)} is right"
    )
    return Outcome.BOUNDED, reached, None, "exact depth", reason


def _searched(model: Model, lengths: Lengths, arithmetic: str, limit: int) -> _Decision:
    method = ENCLOSURES if isinstance(model.cell, TanhCell) else "search"
    found = search(execution(model, arithmetic), lengths, limit)
    for digits in _TANH_DIGITS if method == ENCLOSURES and arithmetic == REAL else ():
        if isinstance(found, Failure) or found.length >= limit - limit % lengths.stride:
            break
        found = search(execution(model, arithmetic, digits), lengths, limit)
    if isinstance(found, Reached):
        return Outcome.BOUNDED, found.length, None, method, found.reason
    return _refuted(found, lengths, method)


def _refuted(failure: Failure, lengths: Lengths, method: str) -> _Decision:
    horizon = failure.length - lengths.stride
    reason = (
        f"a string of length {failure.length} gets {failure.found} instead of {failure.right}; "
        f"no shorter one{'' if lengths is Lengths.ALL else ' of even length'} fails"
    )
    return Outcome.REFUTED, horizon, failure, method, reason
