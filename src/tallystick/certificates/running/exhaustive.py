"""The horizon of anything that is callable, as executed on this machine: it is run on every string, length by length.

A string's class **as executed** is what the program answers when the string is run alone. Strings are run in batches, which is
faster and may round otherwise, so a string that fails in a batch is run again alone; where it is right alone, it does not count
as a failure, and the reason says so. A string that is right in its batch is not run again: the verdict is about batches of the
size that `verdict.model` states, with the libraries and the processor that it names. Nobody can check it without the program, so
no certificate is written of it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from tallystick.certificates.hints import hint_of_program
from tallystick.certificates.progress import progress_line, report
from tallystick.certificates.running.calling import NotRun, exposes_state, own_chance, own_copy
from tallystick.certificates.running.directed_search import failure_alone, search_beyond
from tallystick.certificates.running.executable import BATCH, Executable
from tallystick.certificates.running.probe import executable
from tallystick.certificates.running.program_outputs import Outputs
from tallystick.certificates.running.string_blocks import RightClasses, Rows, blocks, strings_of
from tallystick.certificates.verdict import AS_EXECUTED, SUSPECT, Failure, Lengths, Outcome, Verdict
from tallystick.errors import BadInput, check_whole
from tallystick.languages.tasks import Task
from tallystick.networks.declaration import Declaration, declare, declare_task
from tallystick.networks.pytorch import is_module

METHOD = "exhaustive run"
SECONDS = 10.0
"""How long a run takes, about, where nobody says how far it should go."""

LONGEST = 64
_MOST_ALONE = 1000
"""So many strings that fail in a batch and not alone are too many to go on."""
_ENOUGH = 3
"""Two values may be two classes; more are not."""
_SEEN_LENGTH = 8
"""Strings of up to this length are looked at before a question is asked about the outputs."""


def certify_by_running(
    function: Any,  # noqa: ANN401 -- anything that is callable
    *,
    task: Task | str | None,
    tokens: Mapping[str, object] | str | None = None,
    classes: Sequence[str] | None = None,
    threshold: float | None = None,
    lengths: Lengths = Lengths.ALL,
    upto: int | None = None,
) -> Verdict:
    """Run a program on every string up to a length, and say how far it is right.

    Args:
        function: a function, a PyTorch module, or an object that exposes its state (see `executable`).
        task: what is right.
        tokens: what is read for each token; None hands a function the strings as they are.
        classes: the task's classes in the order of the outputs.
        threshold: a single output above it is the second class; 0 where nothing is said and nothing else is possible.
        lengths: which lengths count.
        upto: the longest strings; the default is what about ten seconds are enough for.

    >>> verdict = certify_by_running(lambda strings: [s.count("(") > 2 * s.count(")") for s in strings], task="binary", upto=9)
    >>> verdict.outcome, verdict.horizon, verdict.failure.string
    (<Outcome.REFUTED: 'REFUTED'>, 2, '(()')
    """
    if upto is not None:
        check_whole(upto, "upto", least=lengths.stride, most=LONGEST)
    if tokens is None and not is_module(function) and not exposes_state(function):
        declaration = Declaration(declare_task(task, classes), {}, has_classes=classes is not None)
    else:
        declaration = declare(task, tokens, classes)
    with own_chance(function):
        run = Run(executable(own_copy(function), declaration, threshold, lengths.stride), lengths)
        try:
            with progress_line():
                run.go_on(upto)
                if not run.failure:
                    run.search_beyond()
        except KeyboardInterrupt:
            run.remark("it was interrupted there")
        run.check_threshold()
        if run.failure and run.reached <= SUSPECT:
            run.remark(hint_of_program(run.program, lengths) or "")
        return run.verdict()


@dataclass
class Run:
    """A run over all strings, length by length: how far it has come, and what was seen.

    Attributes:
        program: what is run.
        lengths: which lengths count.
        reached: the last length at which all strings were right.
        failure: a failing string of the next length.
        known_failure: a failing string of some greater length.
        right_alone: strings that fail in a batch and not alone.
        remarks: what else there is to say, for the reason.
    """

    program: Executable
    lengths: Lengths
    reached: int = 0
    failure: Failure | None = None
    known_failure: Failure | None = None
    right_alone: list[str] = field(default_factory=list[str])
    remarks: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        """Get ready to tell what is right."""
        self._right = RightClasses(self.program.task)
        self._seen = np.zeros(0)

    def go_on(self, upto: int | None) -> None:
        """Go through the lengths to the first failure, as far as is said or as there is time."""
        started, growth = perf_counter(), len(self.program.alphabet) ** self.lengths.stride
        for length in self.lengths.upto(LONGEST if upto is None else upto):
            begun = perf_counter()
            try:
                self.failure = self._first_failure(length)
            except NotRun as error:
                if not self.reached:
                    raise
                self.remark(f"longer ones were not run, since {error}")
                return
            if self.failure:
                return
            self.reached, now = length, perf_counter()
            if upto is None and now - started + growth * (now - begun) > SECONDS:
                return

    def search_beyond(self) -> None:
        """Look for failing strings of greater lengths."""
        self.known_failure, found = search_beyond(self.program, self._right, self.lengths, self.reached)
        self.remark(found)

    def remark(self, text: str) -> None:
        """Add what else there is to say, if anything."""
        self.remarks += [text] if text else []

    def check_threshold(self) -> None:
        """Ask for the threshold of a single output that is on one side of 0, unless 0 tells its only two values apart."""
        if self.program.threshold is not None or self.program.form.outputs > 1 or self.program.form.bools:
            return
        for length in self.lengths.upto(_SEEN_LENGTH):
            with suppress(NotRun):
                self._note(self.program.outputs(next(blocks(len(self.program.alphabet), length, BATCH))))
        if len(self._seen) < 2:  # noqa: PLR2004 -- a single value is on the side that it is on
            return
        least, *between, greatest = self._seen.tolist()
        if (least >= 0 or greatest <= 0) and (between or not least <= 0 < greatest):
            probabilities = "threshold=0.5 for probabilities or " if least >= 0 and greatest <= 1 else ""
            raise BadInput(
                f"threshold: missing; every output lies between {least:.6g} and {greatest:.6g}: say {probabilities}threshold=0 "
                f"for logits, or another number, above which the class is {self.program.task.classes[1]}"
            )

    def verdict(self) -> Verdict:
        """Return what is known."""
        tokens = len(self.program.alphabet)
        strings = sum(tokens**length for length in self.lengths.upto(self.reached))
        kind = "" if self.lengths is Lengths.ALL else "even "
        if self.failure:
            found, right = self.failure.found, self.failure.right
            said = f"a string of length {self.failure.length} gets {found} instead of {right}, run alone"
            said += f"; all {strings:,} strings of smaller {kind}length are right" if strings else ""
        else:
            said = f"all {strings:,} strings of {kind}lengths to {self.reached} are right"
        if self.right_alone:
            number = len(self.right_alone)
            said += f", {number:,} of them only when run alone, such as {self.right_alone[0]!r}, and not in their batch"
        reason = "; ".join([said, *self.remarks, f"run by {self.program}"])
        outcome = Outcome.REFUTED if self.failure else Outcome.BOUNDED
        return Verdict(
            self.program,
            self.lengths,
            AS_EXECUTED,
            outcome,
            self.reached,
            self.failure,
            METHOD,
            reason,
            self.known_failure,
        )

    def _first_failure(self, length: int) -> Failure | None:
        """Run all strings of a length; return the first that fails, alone too."""
        done, total = 0, len(self.program.alphabet) ** length
        for rows, outputs in self.program.run_all(length):
            if total <= BATCH:  # longer ones would take long, and tell little more
                self._check_again(rows, outputs)
            done += len(rows)
            report(done, total, f"running all strings of length {length}")
            self._note(outputs)
            right = self._right.of_rows(rows)
            for place in np.flatnonzero(self.program.classes(outputs) != right).tolist():
                failure = failure_alone(self.program, rows[place], int(right[place]))
                if failure:
                    return failure
                self._note_right_alone(rows[place : place + 1])
        return None

    def _note(self, outputs: Outputs) -> None:
        """Keep in mind the least and the greatest output, and one between them."""
        seen = np.unique(
            np.append(self._seen, outputs if len(self._seen) < _ENOUGH else (outputs.min(), outputs.max()))
        )
        self._seen = seen if len(seen) < _ENOUGH else seen[[0, 1, -1]]

    def _check_again(self, rows: Rows, outputs: Outputs) -> None:
        """Refuse a program that answers otherwise when it is run again."""
        again = self.program.outputs(rows)
        far = np.abs(again - outputs).max(axis=1) > self.program.form.rounding * np.abs(outputs).max()
        if far.any():
            place = int(far.argmax())
            (string,) = strings_of(rows[place : place + 1], self.program.alphabet)
            raise BadInput(
                f"{self.program.kind}: {self.program.name} returns {outputs[place].tolist()} for {string!r} and "
                f"{again[place].tolist()} when it is run again; leave out what is random or kept between calls"
            )

    def _note_right_alone(self, row: Rows) -> None:
        self.right_alone += strings_of(row, self.program.alphabet)
        if len(self.right_alone) > _MOST_ALONE:
            raise BadInput(
                f"{self.program.kind}: {self.program.name} gets more than {_MOST_ALONE:,} strings wrong in batches and right "
                f"alone, such as {self.right_alone[0]!r}; each string of a batch is to be answered for itself"
            )
