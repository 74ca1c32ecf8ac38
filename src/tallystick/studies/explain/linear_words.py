"""One linear network in words: which eigenvalues its readout sees, what brackets add, and why it is right or where it fails."""

from collections.abc import Iterable, Iterator

import numpy as np

from tallystick.certificates.linear.path_picture import PathOutput
from tallystick.certificates.linear.picture import Mode, OutputPicture
from tallystick.certificates.verdict import Lengths, Runs, Verdict, runs_of
from tallystick.studies.explain.linear import LinearExplanation

_FEW = 4
"""How many eigenvalues and terms are written out."""

_SAME = 1e-9
_SHOWN_STRING, _SHOWN_RUNS, _SHOWN_DIGITS = 40, 6, 12


def as_text(one: LinearExplanation) -> str:
    """Return the explanation in a few lines."""
    network, verdict = one.network, one.verdict
    units = f"{network.cell.units} unit{'s' if network.cell.units > 1 else ''}"
    lengths = "every length" if verdict.lengths is Lengths.ALL else "even lengths"
    lines = [f"{network.cell.name} network of {units}, {network.task.name}, {lengths}", f"  {_outcome(verdict)}"]
    for output in one.outputs:
        above, below = output.name.split(" against ")
        lines.append(f"  the output y, above 0 for {above} and not for {below}:")
        lines += [f"    {sentence}" for sentence in reasons(output, one)]
    return "\n".join(lines)


def _outcome(verdict: Verdict) -> str:
    if verdict.failure is None:
        reach = "" if verdict.horizon is None else f" to length {verdict.horizon}"
        return f"{verdict.outcome}: right on all strings{reach}; {verdict.reason}"
    failure = verdict.failure
    return (
        f"{verdict.outcome}: right on all strings to length {verdict.horizon}; "
        f"{string_text(failure.runs)} is called {failure.found}, should be {failure.right}"
    )


def string_text(runs: Runs) -> str:
    """Write a string, a long one by its runs of equal tokens.

    >>> string_text((("(", 40), (")", 41)))
    '(×40 )×41'
    """
    length = sum(size for _, size in runs)
    if length <= _SHOWN_STRING:
        return "".join(token * size for token, size in runs)
    shown = " ".join(f"{token}×{size}" if size > 1 else token for token, size in runs[:_SHOWN_RUNS])
    return shown + (f" … ({length} tokens)" if len(runs) > _SHOWN_RUNS else "")


def reasons(output: OutputPicture | PathOutput, one: LinearExplanation) -> Iterator[str]:
    """Say what an output sees, what brackets add to it, and what follows."""
    if isinstance(output, PathOutput):
        yield from _factors_text(output, one)
        yield from _margin_text(output, one)
        return
    yield _seen_text(output)
    yield _terms_text(output)
    if output.is_nearly_settled:
        yield "so some length must fail, but it may be a very long one: no eigenvalue that the readout sees is exactly 1"
    elif output.limit is None or output.limit <= 0:
        yield "so some length must fail: only δ_k with a limit above 0 can tell counts apart at every length"
    elif not output.is_constant:
        deviation, room = output.deviation or 0.0, output.room(one.verdict.lengths) or 0.0
        rule = "there is room" if deviation <= room * (1 + _SAME) else "so some length must fail"
        most = f"{_room_text(output, one.verdict.lengths)} = {number(room)}"
        yield f"Σ|δ_k − L| = {number(deviation)}, and may be at most {most}: {rule}"
    drift = 0.0 if output.limit is None else 2 * float(output.drifts[-1]) + float(output.limit)
    if output.limit and abs(drift) > _SAME * float(abs(output.limit)):
        yield f"each further pair of an opening and a closing bracket adds {number(drift)}, so balanced strings drift away"
    yield _function_text(output)
    yield from _margin_text(output, one)


def _factors_text(output: PathOutput, one: LinearExplanation) -> Iterator[str]:
    if not output.factors:
        yield "the matrices share too few eigenvectors to tell which factors the readout sees"
        return
    parts = [f"({_complex_text(pair.opening)}, {_complex_text(pair.closing)})" for pair in output.factors[:_FEW]]
    parts += [f"{len(output.factors) - _FEW} of less weight"] if len(output.factors) > _FEW else []
    yield f"the readout sees the factors (P, Q) = {_joined(parts)}: P on the state at (, Q at )"
    scaled = [pair for pair in output.factors if abs(pair.opening * pair.closing - 1) > _SAME]
    if not scaled:
        yield "P·Q = 1 throughout, so that a closing bracket undoes what an opening one did to the state"
    else:
        by = _joined([_complex_text(pair.opening * pair.closing) for pair in scaled[:_FEW]])
        yield f"a pair of brackets multiplies what came before it by P·Q = {by}, where a counter needs 1"
    shown = string_text(runs_of(output.string))
    which = "string that fails" if one.verdict.failure is not None else f"worst string of {len(output.string)} tokens"
    yield f"the {which}, {shown}, ends at y = {number(output.end)}"


def _complex_text(value: complex) -> str:
    return _value_text(Mode(complex(value.real, abs(value.imag)), 0))


def _room_text(output: OutputPicture, lengths: Lengths) -> str:
    return {1: "L/2", 2: "L", 4: "2·L"}[output.gap * lengths.stride]


def _seen_text(output: OutputPicture) -> str:
    if not output.has_weights:
        values = ", ".join(_value_text(mode) for mode in _halves(output.modes)[:_FEW])
        return f"U has the eigenvalues {values}, and too few eigenvectors to give each a weight"
    seen = sorted(_halves(output.seen), key=lambda mode: -abs(mode.weight))
    shown = [f"{_value_text(mode)} (weight {_weight_text(mode)})" for mode in seen[:_FEW]]
    shown += [f"{len(seen) - _FEW} of less weight"] if len(seen) > _FEW else []
    if not seen:
        return "the readout sees no eigenvalue: no bracket adds anything"
    return f"the readout sees the eigenvalue{'s' if len(seen) > 1 else ''} {_joined(shown)}"


def _joined(parts: list[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _halves(modes: Iterable[Mode]) -> list[Mode]:
    """Leave one of each pair of complex eigenvalues."""
    return [mode for mode in modes if mode.value.imag >= 0]


def _value_text(mode: Mode) -> str:
    value = mode.value
    if value.imag <= _SAME * abs(value):
        return number(value.real)
    return f"{number(value.real)} ± {number(value.imag)}i of size {number(abs(value))}"


def _weight_text(mode: Mode) -> str:
    """Write c of a real eigenvalue, and the size of 2·c for a pair of complex ones: the most that both add together."""
    return number(mode.weight.real if mode.value.imag <= _SAME * abs(mode.value) else 2 * abs(mode.weight))


def _terms_text(output: OutputPicture) -> str:
    if output.is_constant:
        return (
            f"a bracket adds δ_k = {number(output.openings[0])} more if it opens than if it closes, {_whatever(output)}"
        )
    terms = ", ".join(map(number, output.openings[:_FEW]))
    if output.is_nearly_settled:
        end = "and then hardly changes"
    elif output.limit is None:
        largest = max(abs(mode.value) for mode in output.seen)
        end = "without end" if largest > 1 + _SAME or not output.has_weights else "and never settles"
    elif output.limit == 0:
        end = "and tends to 0: the readout forgets"
    else:
        end = f"and tends to L = {output.limit if len(str(output.limit)) < _SHOWN_DIGITS else number(float(output.limit))}"
    return f"a bracket with k tokens after it adds δ_k = {terms}, … more if it opens than if it closes, {end}"


def _whatever(output: OutputPicture) -> str:
    return "whatever follows" if output.limit is not None else "whatever follows, as far as doubles tell"


def _function_text(output: OutputPicture) -> str:
    """Say whether y depends on the count alone, by two strings of the same count where it does not."""
    if output.is_constant:
        return f"so y depends on the count and the length alone{', as far as doubles tell' if output.limit is None else ''}"
    k = int(np.argmax(np.abs(output.openings[1:] - output.openings[0]) > _SAME)) + 1
    base = output.constant + output.drifts[: k + 1].sum()
    # The first bracket opens and the others close, and the last opens and the others close.
    early, late = base + output.openings[k], base + output.openings[0]
    strings = f"({')' * k}", f"{')' * k}("
    return f"so y is no function of the count: {strings[0]} ends at y = {number(early)}, {strings[1]} at y = {number(late)}"


def _margin_text(output: OutputPicture | PathOutput, one: LinearExplanation) -> Iterator[str]:
    counted = np.arange(1, one.length + 1) % one.verdict.lengths.stride == 0
    least, greatest = (np.where(counted, values, np.nan) for values in (output.least, output.greatest))
    if np.isnan(least).all() or np.isnan(greatest).all():
        return
    where = [int(np.nanargmin(least)) + 1, int(np.nanargmax(greatest)) + 1]
    yield (
        f"to length {one.length}, y is at least {number(np.nanmin(least))} where it should be above 0 (length {where[0]}), "
        f"and at most {number(np.nanmax(greatest))} where it should not (length {where[1]})"
    )


def number(value: float) -> str:
    """Write a number in a few digits, with a true minus sign.

    >>> number(-0.25), number(1 / 3), number(-0.0)
    ('−0.25', '0.3333', '0')
    """
    return f"{value + 0.0:.4g}".replace("-", "−")
