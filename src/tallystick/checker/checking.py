"""The check as a whole: read the claim, run its counterexample, go through its lengths."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from .answers import Answer, Refused, TooCostly, Undecided, number_text, require
from .claims import Claim, Network
from .counters import METHOD as MATRICES
from .counters import check_matrices
from .effort import MINUTES, Limit
from .forms import claim_of
from .groups import check_groups
from .language_checks import check_language
from .language_claims import LanguageClaim
from .limits import check_all_lengths
from .paths import METHOD as PATHS
from .paths import check_fading, check_paths
from .reading import Unreadable, parse, read_text
from .saturation import METHOD as SATURATION
from .saturation import check_saturation
from .sorted_strings import check_sorted
from .sorting import METHOD as SORTING
from .sorting import check_sorting
from .strings import check_counterexample, check_depth, check_lengths, check_theorem
from .zero_check import METHOD as ZERO_CHECK
from .zero_check import check_zero

_METHODS = {
    "theorem": check_theorem,
    "exact depth": check_depth,
    "sorted strings": check_sorted,
    "search": check_lengths,
    "enclosures": check_lengths,
}

_NETWORK_METHODS = {
    (SORTING, True): check_all_lengths,
    (SORTING, False): check_sorting,
    (ZERO_CHECK, True): check_zero,
    (ZERO_CHECK, False): check_zero,
    (MATRICES, True): check_matrices,
    (PATHS, True): check_fading,
    (PATHS, False): check_paths,
    (SATURATION, False): check_saturation,
}
"""By method, and whether all lengths are proved; every other claim about a program is checked in boxes."""

Report = Callable[[str], None]
"""Is told from time to time how far a long check has come."""


def check_file(path: Path | str, minutes: Fraction | int = MINUTES, report: Report | None = None) -> Answer:
    """Check the certificate in a file; one that cannot be read does not hold."""
    try:
        return answer_file(path, minutes, report)
    except Unreadable as error:
        return Answer(False, str(error))


def answer_file(path: Path | str, minutes: Fraction | int = MINUTES, report: Report | None = None) -> Answer:
    """Check the certificate in a file; raise `Unreadable` for one that cannot be read."""
    limit = Limit(minutes, report)
    return _answer(read_text(path), limit)


def check(text: str, minutes: Fraction | int = MINUTES, report: Report | None = None) -> Answer:
    """Check a certificate: its form, its digest and its claim.

    Args:
        text: the certificate, which is JSON.
        minutes: how long the check may take; where that is not enough, the answer's `valid` is None.
        report: is told from time to time how far a long check has come.
    """
    limit = Limit(minutes, report)
    try:
        return _answer(text, limit)
    except Unreadable as error:
        return Answer(False, str(error))


def _answer(text: str, limit: Limit) -> Answer:
    try:
        claim = _claim(text)
        return Answer(True, check_language(claim, limit) if isinstance(claim, LanguageClaim) else _verify(claim, limit))
    except Refused as refusal:
        return Answer(False, str(refusal))
    except TooCostly as cost:
        return Answer(None, str(cost))
    except Undecided:
        return Answer(None, "the bounds of a state do not decide what is said")
    except (MemoryError, OverflowError):
        return Answer(None, "there is not enough memory for this")


def _claim(text: str) -> Claim | LanguageClaim:
    content = parse(text)
    try:
        return claim_of(content)
    except (ValueError, TypeError, LookupError, ZeroDivisionError) as error:
        raise Refused(f"malformed: {error!r}"[:200]) from None


def _verify(claim: Claim, limit: Limit) -> str:
    """Return in words what holds."""
    if isinstance(claim.model, Network):
        _NETWORK_METHODS.get((claim.method, claim.verdict == "PROVED"), check_groups)(claim, claim.model, limit)
    else:
        _check_method(claim, limit)
    if claim.verdict == "PROVED" and claim.method == MATRICES:
        return "PROVED: the outputs follow the count, and every counted length is right"
    if claim.verdict == "PROVED" and claim.method == SORTING:
        why = "the outputs count" if claim.tail is None else "what brackets add converges"
        return f"PROVED: {why}, and every counted length is right"
    if claim.verdict == "PROVED" and claim.method == PATHS:
        return "PROVED: what tokens leave fades, and every counted length is right"
    if claim.verdict == "PROVED" and claim.method == ZERO_CHECK:
        return "PROVED: balanced strings end at 0, and no others do"
    if claim.verdict == "PROVED":
        return "PROVED: the theorem's conditions hold, and every counted string to length 2 is right"
    beyond = ", the next one fails" if claim.verdict == "REFUTED" else ""
    return f"{claim.verdict}: every counted length to {number_text(claim.horizon)} is right{beyond}"


def _check_method(claim: Claim, limit: Limit) -> None:
    require((claim.verdict == "PROVED") == (claim.method == "theorem"), "a theorem proves, and nothing else does")
    if claim.counterexample is not None:
        check_counterexample(claim, claim.counterexample, limit)
    _METHODS[claim.method](claim, limit)
