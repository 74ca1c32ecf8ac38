"""A verdict in words: the answer first, then its formal part, the reason where that adds something, and the trace.

    Right on every string up to length 8.
    Fails on `((((())))` (9 tokens): says 'not positive', should say 'positive'.
    REFUTED, horizon 8, all lengths, real arithmetic

The command line, notebooks and the explorer all say what this module says.
"""

import re
import textwrap
from decimal import Decimal
from fractions import Fraction
from typing import cast

from tallystick.certificates.verdict import AS_EXECUTED, REAL, Failure, Lengths, Outcome, Verdict
from tallystick.errors import printable
from tallystick.languages.machine_text import has_long_names, string_text
from tallystick.languages.tasks import MembershipClass, Task
from tallystick.networks import Network
from tallystick.networks.steps import THRESHOLD, Steps
from tallystick.numbers import ANY_ORDER, FUSED, Number, float_format

WIDTH = 80
"""The columns of a terminal, to which traces and long strings are cut."""

_PLAIN_STRING = 60  # tokens; a longer string is shown as runs of equal tokens
_LONGEST_TRACED = 24
_DIGITS = 12  # of a float that is shown as it is
_FEW_UNITS = (8, 4, 3, 2, 1)
_FEW_STATES = 4
_VERBS = {MembershipClass.ACCEPTED: "accept", MembershipClass.REJECTED: "reject"}
_NO_SHORTER = r"(?:(?:, run alone)?(?:;|, and) no shorter [\w ]*fails|, run alone)?"
"""What a reason says after naming a shortest failing string."""


def describe(verdict: Verdict) -> list[str]:
    """Return everything that a terminal shows of a verdict, line by line."""
    reason, trace, hint = reason_beyond(verdict), trace_text(verdict), verdict.hint
    lines = [
        *answer(verdict),
        formal_part(verdict),
        *([f"{'Note' if verdict.failure else 'Why'}: {reason}"] if reason else []),
        *([trace] if trace else []),
        *([f"Hint: {hint}"] if hint else []),
    ]
    return [part for line in lines for part in wrap(line)]


def wrap(line: str, width: int = WIDTH) -> list[str]:
    """Return a line as those that fit into a terminal, all but the first indented."""
    return textwrap.wrap(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def answer(verdict: Verdict) -> list[str]:
    """Return the answer in one to three sentences.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.certificates.certify import certify
    >>> from tallystick.networks import Readout
    >>> for cell in (LinearCell(1, -1, 1), LinearCell(1, -1, 0.5)):
    ...     print(*answer(certify(Network(cell, Readout.zero()))))
    Right on every string of every length.
    Right on every string of length 1. Fails on `()` (2 tokens): rejects it, should accept it.
    """
    first, *others = _sentences(verdict)
    return [_in_arithmetic(first, verdict), *others]


def _sentences(verdict: Verdict) -> list[str]:
    horizon, failure = verdict.horizon, verdict.failure
    if horizon is None:
        return [f"Right on {_every_length(verdict)}."]
    counted = verdict.lengths.upto(horizon, verdict.first)
    if failure is not None:
        if not counted:
            return [failure_sentence(failure, verdict, "already ")]
        return [f"Right on {_strings_of(counted, verdict)}.", failure_sentence(failure, verdict)]
    right = [f"Right on {_strings_of(counted, verdict, 'at least ')}."] if counted else []
    known = verdict.known_failure
    if known is None:
        return [*right, "Longer strings are open."] if right else ["Open: no length could be decided."]
    between = verdict.lengths.upto(known.length - 1, max(verdict.first, horizon + 1))
    return [*right, failure_sentence(known, verdict), *([_open(between)] if between else [])]


def _open(between: range) -> str:
    """Say that the lengths before a known failing string are open."""
    if len(between) == 1:
        return f"Length {between[0]:,} is open."
    return f"The {'even ' if between.step > 1 else ''}lengths {between[0]:,} to {between[-1]:,} are open."


def _in_arithmetic(sentence: str, verdict: Verdict) -> str:
    """Say in which floating point an answer holds; an answer without a word about it is about real numbers."""
    if verdict.arithmetic == REAL:
        return sentence
    return f"{_arithmetic_in_words(verdict.arithmetic)}, {sentence[0].lower()}{sentence[1:]}"


def _arithmetic_in_words(arithmetic: str) -> str:
    if arithmetic == AS_EXECUTED:
        return "As run here"
    said = float_format(arithmetic).said
    if arithmetic.endswith(FUSED):
        return f"In {said} with fused multiply-add"
    return f"In {said} with operations in any order" if arithmetic.endswith(ANY_ORDER) else f"In {said}"


def _every_length(verdict: Verdict) -> str:
    kind = "every even length" if verdict.lengths is Lengths.EVEN else "every length"
    if verdict.first == 0:
        return f"every string of {kind}, the empty one included"
    return f"every string of {kind}" + (f" from {verdict.first:,} on" if verdict.first > 1 else "")


def _strings_of(counted: range, verdict: Verdict, at_least: str = "") -> str:
    """Say which strings have the lengths of a range that is not empty."""
    first, last = counted[0], counted[-1]
    if last == 0:
        return "the empty string"
    if first == last:
        return f"every string of length {last:,}" + (", at least" if at_least else "")
    if verdict.first > 1:
        kind = "even length from" if counted.step > 1 else "lengths"
        return f"every string of {kind} {first:,} to {at_least}{last:,}"
    upto = f"of even length up to {at_least}" if counted.step > 1 else f"up to {at_least}length "
    return f"every string {upto}{last:,}" + (", the empty one included" if first == 0 else "")


def failure_sentence(failure: Failure, verdict: Verdict, already: str = "") -> str:
    """Return how a network fails on a string."""
    model = verdict.model
    steps = model.readout.steps if isinstance(model, Network) and model.readout.decision != THRESHOLD else None
    string = quote_string(failure, model.alphabet)
    where = ("before the first token" if not failure.length else f"after {string}") if steps else f"on {string}"
    return f"Fails {already}{where}: {mistake(failure, model.task, steps)}."


def mistake(failure: Failure, task: Task, steps: Steps | None = None) -> str:
    """Return what a network says of a string, and what it should say."""
    found, right = failure.found, failure.right
    if steps is not None:
        return f"expects {_tokens(found, steps)} next, should expect {_tokens(right, steps)}"
    if task.is_membership:
        return f"{_VERBS[MembershipClass(found)]}s it, should {_VERBS[MembershipClass(right)]} it"
    if not task.classes:
        return printable(f"says {found}, should say {right}")
    return printable(f"says '{task.in_words(found)}', should say '{task.in_words(right)}'")


def _tokens(names: str, steps: Steps) -> str:
    """Return tokens that stand side by side as `a`, `b` or the end."""
    if names not in steps.outputs and any(" " in name for name in steps.outputs):
        return f"`{printable(names)}`"
    listed = [names] if names in steps.outputs else names.split(" ")
    if listed == ["nothing"] and "nothing" not in steps.outputs:
        return "nothing"
    return " or ".join("the end" if name == steps.end else f"`{printable(name)}`" for name in listed)


def quote_string(failure: Failure, alphabet: tuple[str, ...]) -> str:
    """Return a failing string and its size; one that is long as runs of equal tokens, `(^5 )^4`."""
    if failure.length == 0:
        return "the empty string"
    if failure.length <= _PLAIN_STRING and not (has_long_names(alphabet) and failure.length > _LONGEST_TRACED):
        text = string_text(failure.tokens, alphabet)
    else:
        text = _fit([f"{token}^{size}" if size > 1 else token for token, size in failure.runs], WIDTH, " ")[0]
    return f"`{printable(text)}` ({failure.length:,} token{'' if failure.length == 1 else 's'})"


def formal_part(verdict: Verdict) -> str:
    """Return the outcome, the horizon, the lengths that count and the arithmetic, in the words of files."""
    at_least = "at least " if verdict.outcome is Outcome.BOUNDED else ""
    horizon = "unlimited" if verdict.horizon is None else f"{at_least}{verdict.horizon}"
    lengths = f"{verdict.lengths} lengths" + ("" if verdict.first == 1 else f" from {verdict.first} on")
    arithmetic = verdict.arithmetic + ("" if verdict.arithmetic == AS_EXECUTED else " arithmetic")
    return f"{verdict.outcome}, horizon {horizon}, {lengths}, {arithmetic}"


def reason_beyond(verdict: Verdict) -> str:
    """Return what the reason of a verdict says beyond the answer; nothing where that is all."""
    failure, reason = verdict.failure, verdict.reason
    if failure is None:
        return reason
    named = re.escape(f"{failure.found} instead of {failure.right}")
    again = rf"a string of length {failure.length} (?:gets|is followed by) {named}{_NO_SHORTER}"
    more = "; ".join(part for piece in re.split(again, reason, maxsplit=1) if (part := piece.strip(" ;:,")))
    if more.startswith("(") and more.endswith(")"):
        more = more[1:-1]
    return f"holds {more}" if more.startswith("in ") else more


def trace_text(verdict: Verdict, width: int = WIDTH) -> str:
    """Return the states along a shortest failing string, cut to a width; nothing where there is no short one."""
    if verdict.failure is None or not 0 < verdict.failure.length <= _LONGEST_TRACED:
        return ""
    trace = verdict.trace()
    if not trace:
        return ""
    label = "h along it: " if isinstance(verdict.model, Network) else "outputs along it: "
    text, shown = _fit([_state(state) for state in trace], width - len(label), ", ")
    for units in _FEW_UNITS:
        if shown >= min(_FEW_STATES, len(trace)):
            break
        text, shown = _fit([_state(state, units) for state in trace], width - len(label), ", ")
    return label + text


def _fit(parts: list[str], width: int, between: str) -> tuple[str, int]:
    """Join parts, and say how many are there; where all are too wide, `…` stands for some before the last."""
    whole = between.join(parts)
    if len(whole) <= width:
        return whole, len(parts)
    end, kept, used = f"…{between}{parts[-1]}", 0, 0
    while kept < len(parts) - 2 and used + len(parts[kept]) + len(between) + len(end) <= width:
        used += len(parts[kept]) + len(between)
        kept += 1
    return between.join([*parts[:kept], end]), kept + 1


def _state(h: Number, units: int | None = None) -> str:
    """Return a float as it is, where that is short; a rational, or what is longer, to six digits; units in brackets."""
    if isinstance(h, tuple):
        numbers = cast("tuple[Number, ...]", h)
        more = ["…"] if units is not None and len(numbers) > units else []
        return _state(numbers[0]) if len(numbers) == 1 else f"({', '.join([*map(_state, numbers[:units]), *more])})"
    if isinstance(h, Fraction):  # which may lie beyond what a float holds
        text = f"{Decimal(h.numerator) / Decimal(h.denominator):.6g}"
        return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return f"{float(h):.6g}" if len(str(h)) > _DIGITS else str(h)
