"""What a notebook shows of a verdict: the answer, where the network is right and wrong along the failing string, and a chart."""

from dataclasses import replace

import numpy as np

from tallystick.certificates.running.executable import Executable
from tallystick.certificates.verdict import REAL, Verdict
from tallystick.certificates.words import answer, formal_part, reason_beyond
from tallystick.display import View
from tallystick.errors import BadInput
from tallystick.languages.counter_machine import String
from tallystick.networks import Network
from tallystick.networks.views import Prefix, chart_along, output_names, plain_numbers, prefixes, tokens_along
from tallystick.numbers import standard_floats

_LONGEST = 64


def view_of_verdict(verdict: Verdict) -> View:
    """Return what is shown of a verdict."""
    facts = {"verdict": formal_part(verdict)}
    if reason := reason_beyond(verdict):
        facts["note" if verdict.failure else "why"] = reason
    if verdict.hint:
        facts["hint"] = verdict.hint
    view = View("Verdict", answer(verdict), facts)
    failure, task = verdict.failure or verdict.known_failure, verdict.model.task
    if verdict.is_mixed or (failure is not None and failure.length > _LONGEST):
        return view
    string = task.sample() if failure is None else failure.tokens
    try:
        along = _along(verdict, string)
    except BadInput:  # weights that no double holds
        return view
    if failure is not None and along:  # which rounding cannot change: the verdict is exact
        along[-1] = along[-1]._replace(found=failure.found, wanted=failure.right, right=False)
    names = output_names(verdict.model) if isinstance(verdict.model, Network) else _program_names(verdict.model)
    title = "right and wrong along it: " if failure is not None else "what it says along a string: "
    chart = chart_along(along, names) if along else None
    return replace(view, string=tokens_along(string, along, task), string_title=title, chart=chart)


def _program_names(program: Executable) -> list[str]:
    """Return what each output of a program stands for."""
    classes = [program.task.in_words(name) for name in program.task.classes]
    return classes if program.form.outputs == len(classes) else ["output"] * program.form.outputs


@standard_floats()
def _along(verdict: Verdict, string: String) -> list[Prefix]:
    model = verdict.model
    if isinstance(model, Executable):
        return _along_program(model, string)
    shown = plain_numbers(model) if verdict.arithmetic == REAL else verdict.number
    return prefixes(model.in_arithmetic(shown), string)


def _along_program(program: Executable, string: String) -> list[Prefix]:
    """Return what a program answers after each token, each prefix run alone."""
    outputs = program.outputs_along(string)
    classes = program.classes(np.array(outputs)) if outputs else ()
    found: list[Prefix] = []
    for length, (numbers, index) in enumerate(zip(outputs, classes, strict=True), start=1):
        said, wanted = program.task.classes[int(index)], program.task.right_class(string[:length])
        found.append(Prefix(said, wanted, said == wanted, tuple(map(float, numbers))))
    return found
