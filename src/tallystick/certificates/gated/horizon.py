"""How long can a GRU or an LSTM be trusted? Bounds from below, failing strings from above; where they meet, the verdict is exact.

Real arithmetic only: the weights are read exactly, and all that is computed is kept between bounds (`boxes`). From below, boxes
around the states of groups of strings prove a length right on every string (`proof`). From above, strings that fail in
float64 (`suspects`) count as failing once their own boxes leave no doubt. REFUTED says that a string fails and that every
shorter counted length is proved; where lengths are left between the two, the outcome is BOUNDED and names the string.
"""

from tallystick.certificates.gated.proof import LIMIT, WORK, Bounded, Reached, proved
from tallystick.certificates.gated.suspects import suspects
from tallystick.certificates.verdict import REAL, Failure, Lengths, Outcome, Verdict
from tallystick.errors import BadInput
from tallystick.models import GatedModel

GATED_BOXES = "gated boxes"
"""The method's name in verdicts."""

DEFAULT_LIMIT = 1000
_TRIED = 20
"""How many suspects are tried in boxes, the shortest first."""


def certify_gated(model: GatedModel, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict:
    """Return the verdict on a gated model: REFUTED with a shortest failing string, or BOUNDED."""
    if arithmetic != REAL:
        raise BadInput(
            f"arithmetic: {arithmetic!r} is for cells without gates; each library adds up a gate's terms in an order of its own, "
            f"so a GRU or an LSTM is decided in {REAL} arithmetic"
        )
    limit = DEFAULT_LIMIT if limit is None else limit
    bounded = Bounded.of(model)
    known = _known_failure(bounded, model, lengths, limit)
    below = proved(bounded, lengths, limit if known is None else known.length - 1)
    known = below.failure or known
    if known is not None and known.length == below.length + lengths.stride:
        reason = f"a string of length {known.length} gets {known.found} instead of {known.right}; no shorter counted one fails"
        return Verdict(model, lengths, arithmetic, Outcome.REFUTED, below.length, known, GATED_BOXES, reason)
    reason = _reason(below, known, lengths, limit)
    return Verdict(model, lengths, arithmetic, Outcome.BOUNDED, below.length, None, GATED_BOXES, reason, known)


def _known_failure(bounded: Bounded, model: GatedModel, lengths: Lengths, limit: int) -> Failure | None:
    counted = (string for string in suspects(model, limit) if len(string) in lengths.upto(limit))
    tried = (bounded.failure(string) for _, string in zip(range(_TRIED), counted, strict=False))
    return next(filter(None, tried), None)


def _reason(below: Reached, known: Failure | None, lengths: Lengths, limit: int) -> str:
    stops = {
        LIMIT: f"every counted length to {limit} is right; the search went no further",
        WORK: f"every counted length to {below.length} is right; the boxes beyond it are too many",
    }
    undecided = f"the boxes around the states do not decide length {below.length + lengths.stride}"
    above = "no string is known to fail" if known is None else f"a string of length {known.length} fails"
    return f"{stops.get(below.stop, undecided)}, and {above}"
