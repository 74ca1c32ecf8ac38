"""How a program wants to be called and what its outputs are, found by running it on a few strings.

The strings are run together and each alone. A program that takes the batch for the length gives them other outputs together than
alone, and so does one that is random or that mixes the strings of a batch: no such way of calling it is taken.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.running.calling import NotRun, exposes_state, held_tensors
from tallystick.certificates.running.executable import Executable, Form, Way
from tallystick.certificates.running.string_blocks import Rows, strings_of
from tallystick.errors import BadInput
from tallystick.networks.declaration import Declaration
from tallystick.networks.pytorch import is_module
from tallystick.networks.pytorch.plain_modules import check_eval
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


def executable(function: Any, declaration: Declaration, threshold: float | None, stride: int = 1) -> Executable:  # noqa: ANN401
    """Return a program with the way to call it and the form of its outputs; lengths count in steps of the stride."""
    if threshold is not None:
        check_number(threshold, "threshold")
    if not callable(function) and not exposes_state(function):
        raise BadInput(f"function: {function!r} cannot be called, and has no methods start, step and outputs")
    if is_module(function):
        check_eval(function)
    refusals: list[BadInput] = []
    for way in _ways(function, declaration):
        try:
            found = _probe(Executable(function, declaration, threshold, way), stride)
        except BadInput as error:
            refusals.append(error)
        else:
            _check_outputs(found)
            _check_order(found, stride)
            return found
    raise next((error for error in refusals if not isinstance(error, NotRun)), refusals[0])


def _ways(function: object, declaration: Declaration) -> Iterator[Way]:
    """Go through the ways in which a program may be called, best first."""
    module = is_module(function)
    indices = all(isinstance(code, int) for code in declaration.tokens.values())
    for length_first in (False, True) if module and not exposes_state(function) else (False,):
        for one_hot in (False, True) if module and indices else (False,):
            yield Way(one_hot, length_first)


def _probe(program: Executable, stride: int) -> Executable:
    """Return the program with its form; one that reads only shorter strings is asked for the shortest that count."""
    try:
        return _probe_length(program, _LENGTHS[stride], stride)
    except NotRun:
        return _probe_length(program, stride, stride)


def _probe_length(program: Executable, length: int, stride: int) -> Executable:
    taken = (len(program.task.classes), length + program.codes.added)
    rows = _spread_rows(len(program.alphabet), length, next(size for size in _BATCHES if size not in taken))
    answers = program.answers(rows)
    held = held_tensors(program.function) if is_module(program.function) else ()
    half = _HALF_BYTES in (answers.dtype.itemsize, *(tensor.element_size() for tensor in held))
    form = _form(program, answers, rows, stride)
    found = replace(program, form=form._replace(rounding=_HALF_ROUNDING if half else _ROUNDING))
    _check_alone(found, rows)
    if exposes_state(program.function) and not found.keeps_states(rows):
        raise BadInput(
            f"{program.kind}: {program.name}.step changes the state that it is handed; return a new one instead"
        )
    return found


def _spread_rows(tokens: int, length: int, size: int) -> Rows:
    """Return so many strings from all over those of a length; some are the same where there are too few."""
    last = tokens**length - 1
    numbers = [last * place // (size - 1) for place in range(size)]
    return np.array([[number // tokens**power % tokens for power in reversed(range(length))] for number in numbers])


def _form(program: Executable, answers: NDArray[Any], rows: Rows, stride: int) -> Form:
    """Tell what outputs are by their shape."""
    size, length, bools = len(rows), rows.shape[1] + program.codes.added, answers.dtype.kind == "b"
    match _strings_first(program, answers, size, length):
        case (number,) | (number, 1) if number == size:
            return Form(1, bools=bools)
        case (number, outputs) if number == size and outputs != length:
            return Form(outputs, bools=bools)
        case (number, outputs) if number == size:
            every_step = _has_steps(program, rows, stride)
            return Form(1 if every_step else outputs, every_step, bools)
        case (number, steps, outputs) if (number, steps) == (size, length):
            return Form(outputs, every_step=True, bools=bools)
        case _:
            raise BadInput(
                f"{program.kind}: {program.name} returns an array of shape {answers.shape} for {size} strings of {length} tokens "
                f"as {program.called_with}; return (batch,), (batch, outputs) or (batch, length, outputs)"
            )


def _strings_first(program: Executable, answers: NDArray[Any], size: int, length: int) -> tuple[int, ...]:
    """Return the shape of outputs with the strings along the first axis."""
    shape = answers.shape
    return (size, length, *shape[2:]) if program.way.length_first and shape[:2] == (length, size) else shape


def _has_steps(program: Executable, rows: Rows, stride: int) -> bool:
    """Say whether as many outputs as tokens are one after each: longer strings then have more."""
    longer = np.hstack([rows, rows[:, :stride]])
    try:
        shape = program.answers(longer).shape
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


def _check_order(program: Executable, stride: int) -> None:
    """Refuse a module that can be run with either axis first, and answers otherwise."""
    if not is_module(program.function) or exposes_state(program.function) or program.way.length_first:
        return
    try:
        other = _probe(replace(program, way=program.way._replace(length_first=True)), stride)
        rows = _spread_rows(len(program.alphabet), _LENGTHS[stride], max(_BATCHES))
        found, otherwise = (one.classes(one.outputs(rows)) for one in (program, other))
    except BadInput:
        return
    if (found != otherwise).any():
        raise BadInput(
            f"module: {program.name} reads (batch, length) as well as (length, batch), and answers otherwise; hand over a "
            "function that says which, such as lambda x: module(torch.from_numpy(x))"
        )


def _check_outputs(program: Executable) -> None:
    """Ask which output is which class; refuse outputs that do not tell the classes apart, and a threshold that nothing uses."""
    program.declaration.check_outputs(program.form.outputs)
    if program.threshold is not None and (program.form.outputs > 1 or program.form.bools):
        what = "bools" if program.form.bools else f"{program.form.outputs} outputs, of which the greatest wins"
        raise BadInput(f"threshold: is for one output; {program.name} returns {what}, so leave it out")
