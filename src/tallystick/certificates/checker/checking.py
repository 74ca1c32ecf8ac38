"""The check as a whole: read the claim, run its counterexample, go through its lengths."""

from pathlib import Path

from .claim import Claim, GatedClaim
from .counters import check_depth, check_theorem
from .finding import Finding, Refused, require
from .gated import check_gated
from .lengths import check_lengths
from .reading import read
from .sorted_strings import check_sorted
from .strings import check_counterexample

_METHODS = {
    "theorem": check_theorem,
    "exact depth": check_depth,
    "sorted strings": check_sorted,
    "search": check_lengths,
    "enclosures": check_lengths,
}


def check_file(path: Path | str) -> Finding:
    """Check the certificate in a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        return Finding(False, f"cannot be read: {error}")
    return check(text)


def check(text: str) -> Finding:
    """Check a certificate: its form, its digest and its claim."""
    try:
        return Finding(True, _verify(read(text)))
    except Refused as refusal:
        return Finding(False, str(refusal))
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError) as error:
        return Finding(False, f"malformed: {error!r}"[:200])


def _verify(claim: Claim | GatedClaim) -> str:
    """Return in words what holds."""
    if isinstance(claim, GatedClaim):
        check_gated(claim)
    else:
        _check_method(claim)
    if claim.verdict == "PROVED":
        return "PROVED: the theorem's conditions hold, and every counted string to length 2 is right"
    beyond = ", the next one fails" if claim.verdict == "REFUTED" else ""
    return f"{claim.verdict}: every counted length to {claim.horizon} is right{beyond}"


def _check_method(claim: Claim) -> None:
    require((claim.verdict == "PROVED") == (claim.method == "theorem"), "a theorem proves, and nothing else does")
    if claim.counterexample is not None:
        check_counterexample(claim, claim.counterexample)
    _METHODS[claim.method](claim)
