"""How a program wants to be called and what its outputs are, found by running it on a few strings.

The strings are run together and each alone. A program that takes the batch for the length gives them other outputs together than
alone, and so does one that is random or that mixes the strings of a batch: no such way of calling it is taken.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.running.calling import NotRun, exposes_state, is_callable, modules_run
from tallystick.certificates.running.executable import Executable, Way
from tallystick.certificates.running.program_outputs import Arrays, Form
from tallystick.certificates.running.string_blocks import Rows, all_rows, strings_of, suffix_length
from tallystick.certificates.running.token_codes import held_tensors
from tallystick.errors import BadInput
from tallystick.networks.declaration import Declaration
from tallystick.networks.pytorch import is_module
from tallystick.networks.pytorch.plain_modules import check_eval, check_forward
from tallystick.networks.pytorch.ways import one_hot_sizes
from tallystick.numbers import check_number

_LENGTHS = {1: 3, 2: 4}
"""How long the strings are, by the stride of the lengths that count."""
_BATCHES = (5, 7, 11)
"""How many there are: a number that is neither their length nor that of the classes."""
_SPREAD = 0.01
"""How far the outputs of a string may depend on the batch, as a share of how far those of the strings lie apart."""
_ROUNDING, _HALF_ROUNDING = 2e-6, 1e-2
"""And as a share of the greatest output, for rounding in single and in half precision."""
_HALF_BYTES = 2
_LONGEST, _MOST_STRINGS = 8, 256
"""How long and how many of a length the strings are on which two ways of calling are compared."""


def executable(function: Any, declaration: Declaration, threshold: float | None, stride: int = 1) -> Executable:  # noqa: ANN401
    """Return a program with the way to call it and the form of its outputs; lengths count in steps of the stride."""
    if threshold is not None:
        check_number(threshold, "threshold")
    if is_module(function):
        check_eval(function)
        if not exposes_state(function):
            check_forward(function)
    embeds = is_module(function) and any("Embedding" in type(part).__name__ for part in function.modules())
    refusals: list[tuple[bool, int, bool, BadInput]] = []
    for way in _ways(function, declaration):
        with modules_run() as run:
            try:
                found = _probe(Executable(function, declaration, threshold, way), stride)
            except BadInput as error:
                refusals.append((not isinstance(error, NotRun), len(run), embeds == (way.width == 0), error))
                continue
        _check_outputs(found)
        _check_other_ways(found, stride)
        return found
    raise max(refusals, key=lambda refusal: refusal[:3])[3]  # of the way that came furthest, or else the likelier one


def _ways(function: Any, declaration: Declaration) -> Iterator[Way]:  # noqa: ANN401
    """Go through the ways in which a program may be called, best first."""
    codes = (*declaration.tokens.values(), *declaration.first, *declaration.last)
    indices = [code for code in codes if isinstance(code, int)]
    widths = (0, *(one_hot_sizes(function, indices) if is_module(function) and indices else ()))
    if exposes_state(function):
        yield from (Way(width, by_state=True) for width in widths)
    if is_callable(function):
        for length_first in (False, True) if is_module(function) else (False,):
            yield from (Way(width, length_first) for width in widths)


def _probe(program: Executable, stride: int) -> Executable:
    """Return the program with its form; one that reads only shorter strings is asked for the shortest that count."""
    try:
        return _probe_length(program, _LENGTHS[stride], stride)
    except NotRun:
        return _probe_length(program, stride, stride)


def _probe_length(program: Executable, length: int, stride: int) -> Executable:
    taken = (len(program.task.classes), length + program.codes.added)
    rows = _spread_rows(len(program.alphabet), length, next(size for size in _BATCHES if size not in taken))
    arrays = program.answers(rows)
    form = _form_among(program, arrays, rows, stride)
    held = held_tensors(program.function) if is_module(program.function) else ()
    half = _HALF_BYTES in (arrays[form.place].dtype.itemsize, *(tensor.element_size() for tensor in held))
    found = replace(program, form=form._replace(rounding=_HALF_ROUNDING if half else _ROUNDING))
    _check_alone(found, rows)
    if program.way.by_state and not found.keeps_states(rows):
        raise BadInput(
            f"{program.kind}: {program.name}.step changes the state that it is handed; return a new one instead"
        )
    return found


def _spread_rows(tokens: int, length: int, size: int) -> Rows:
    """Return so many strings from all over those of a length; some are the same where there are too few."""
    last = tokens**length - 1
    numbers = [last * place // (size - 1) for place in range(size)]
    return np.array([[number // tokens**power % tokens for power in reversed(range(length))] for number in numbers])


def _form_among(program: Executable, arrays: Arrays, rows: Rows, stride: int) -> Form:
    """Tell which of several arrays holds the outputs, by their number; ask where more than one can be meant."""
    if not arrays:
        raise BadInput(f"{program.kind}: {program.name} returns no numbers; return (batch,) or (batch, outputs)")
    if len(arrays) == 1:
        return _form(program, arrays, 0, rows, stride)
    forms: list[Form] = []
    for place in range(len(arrays)):
        with suppress(BadInput):
            forms.append(_form(program, arrays, place, rows, stride))
    if not forms:
        return _form(program, arrays, 0, rows, stride)  # which refuses it
    classes = len(program.task.classes)
    fitting = [form for form in forms if form.outputs == classes or (form.outputs, classes) == (1, 2)] or forms[:1]
    read = [replace(program, form=form).outputs_in(arrays, rows) for form in fitting]
    if not all(np.array_equal(read[0], other) for other in read[1:]):
        raise BadInput(
            f"{program.kind}: {program.name} returns {len(fitting)} different arrays that could be the answer; return one of them"
        )
    return fitting[0]


def _form(program: Executable, arrays: Arrays, place: int, rows: Rows, stride: int) -> Form:
    """Tell what outputs are by their shape."""
    answers = arrays[place]
    size, length, bools = len(rows), rows.shape[1] + program.codes.added, answers.dtype.kind == "b"
    match _strings_first(program, answers, size, length):
        case (number,) | (number, 1) if number == size:
            return Form(1, bools=bools, place=place)
        case (number, outputs) if number == size and outputs != length:
            return Form(outputs, bools=bools, place=place)
        case (number, outputs) if number == size:
            every_step = _has_steps(program, place, rows, stride)
            return Form(1 if every_step else outputs, every_step, bools, place)
        case (number, steps, outputs) if (number, steps) == (size, length):
            return Form(outputs, every_step=True, bools=bools, place=place)
        case _:
            raise BadInput(
                f"{program.kind}: {program.name} returns an array of shape {answers.shape} for {size} strings of {length} tokens "
                f"as {program.called_with}; return (batch,), (batch, outputs) or (batch, length, outputs)"
            )


def _strings_first(program: Executable, answers: NDArray[Any], size: int, length: int) -> tuple[int, ...]:
    """Return the shape of outputs with the strings along the first axis."""
    shape = answers.shape
    return (size, length, *shape[2:]) if program.way.length_first and shape[:2] == (length, size) else shape


def _has_steps(program: Executable, place: int, rows: Rows, stride: int) -> bool:
    """Say whether as many outputs as tokens are one after each: longer strings then have more."""
    longer = np.hstack([rows, rows[:, :stride]])
    try:
        shape = program.answers(longer)[place].shape
    except NotRun:
        raise BadInput(
            f"{program.kind}: {program.name} returns as many outputs as there are tokens, which may be one after each token or "
            "one for each class; return (batch, outputs) or (batch, length, outputs)"
        ) from None
    return longer.shape[1] + program.codes.added in shape


def _check_alone(program: Executable, rows: Rows) -> None:
    """Refuse outputs that depend on what else stands in the batch; of several outputs it is the differences that count."""
    together = program.outputs(rows)
    alone = np.vstack([program.outputs(row[None]) for row in rows])
    seen, again = (one if program.form.outputs == 1 else one - one[:, :1] for one in (together, alone))
    allowed = _SPREAD * np.ptp(seen, axis=0).max() + program.form.rounding * np.abs(together).max()
    far = np.abs(seen - again).max(axis=1) > allowed
    if far.any():
        place = int(far.argmax())
        (string,) = strings_of(rows[place : place + 1], program.alphabet)
        raise BadInput(
            f"{program.kind}: {program.name} returns {together[place].tolist()} for {string!r} among {len(rows)} strings and "
            f"{alone[place].tolist()} alone; answer each string of a batch for itself, without chance"
        )


def _check_other_ways(program: Executable, stride: int) -> None:
    """Refuse a program that can also be run in another way, and then answers otherwise.

    One that exposes its state can also be called, and a module may take either axis for the length.
    """
    for way in _ways(program.function, program.declaration):
        mirrored = way.width == program.way.width and way.length_first and not program.way.length_first
        if way.by_state or not (program.way.by_state or mirrored):
            continue
        try:
            other = _probe(replace(program, way=way), stride)
            string = _first_difference(program, other, stride)
        except BadInput:
            continue
        if string is None:
            return
        if program.way.by_state:
            raise BadInput(
                f"{program.kind}: {program.name} answers otherwise for {string!r} when it is called than by start, step and "
                "outputs; let them agree, or take them away"
            )
        raise BadInput(
            f"module: {program.name} reads (batch, length) as well as (length, batch), and answers otherwise for {string!r}; "
            "hand over a function that says which, such as lambda x: module(torch.from_numpy(x))"
        )


def _first_difference(program: Executable, other: Executable, stride: int) -> str | None:
    """Return a first string that is answered otherwise in another way, as far as there are few strings and both read them."""
    tokens = len(program.alphabet)
    for length in range(stride, suffix_length(tokens, _LONGEST, _MOST_STRINGS) + 1, stride):
        rows = all_rows(tokens, length)
        differs = np.not_equal(*(one.classes(one.outputs(rows)) for one in (program, other)))
        if differs.any():
            return strings_of(rows[int(differs.argmax())][None], program.alphabet)[0]
    return None


def _check_outputs(program: Executable) -> None:
    """Ask which output is which class; refuse outputs that do not tell the classes apart, and a threshold that nothing uses."""
    program.declaration.check_outputs(program.form.outputs)
    if program.threshold is not None and (program.form.outputs > 1 or program.form.bools):
        what = "bools" if program.form.bools else f"{program.form.outputs} outputs, of which the greatest wins"
        raise BadInput(f"threshold: is for one output; {program.name} returns {what}, so leave it out")
