"""A program that is run on strings: a function, a PyTorch module or an object that exposes its state.

A **function** is called with many strings of one length at once. With `tokens` declared it gets an array, int64 of shape (batch,
length) for indices or float32 of shape (batch, length, width) for vectors, float64 where a number is not a float32, with `<BOS>`
and `<EOS>` where they are declared. Without `tokens` it gets a list of strings. A **module** gets tensors on its own device,
vectors in its own dtype. A module that does not read indices gets the one-hot vectors that they stand for, and one that reads the
length first gets (length, batch).

It returns one output per string, (batch,) or (batch, 1), which is the task's second class above a threshold; or one output per
class, (batch, k), of which the greatest wins and the first of equals; or these after each token, (batch, length, k), of which the
last counts; or a tuple or a dictionary in which one array alone can be that. Bools are true for the second class.

An object with the methods `start(batch)`, `step(state, tokens)` and `outputs(state)` **exposes its state**: `start` returns the
state before the first token, `step` returns the next one and leaves the one before it as it is, and `outputs` returns outputs as
above. `tokens` has one index or vector per string. A prefix that many strings share is then read once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.running.calling import name_of, run_part, versions
from tallystick.certificates.running.program_outputs import Arrays, Form, Outputs, arrays_of
from tallystick.certificates.running.string_blocks import Rows, all_rows, blocks, strings_of, suffix_length
from tallystick.certificates.running.token_codes import Codes, codes_of, input_of
from tallystick.errors import BadInput
from tallystick.languages.counter_machine import String
from tallystick.languages.tasks import Task
from tallystick.networks.declaration import Declaration
from tallystick.networks.pytorch import is_module

BATCH = 4096
"""The most strings that are run together: larger batches are no faster, and need more memory."""


class Way(NamedTuple):
    """How a program is called.

    Attributes:
        width: how long the one-hot vectors are that stand for indices; 0 hands over what is declared.
        length_first: whether the first axis is the length, and not the batch.
        by_state: whether the program is run from state to state.
    """

    width: int = 0
    length_first: bool = False
    by_state: bool = False


BATCH_FIRST, ONE_OUTPUT = Way(), Form(1)


@dataclass(frozen=True, repr=False)
class Executable:
    """A program, how it is called and by what it is run.

    Attributes:
        function: what is run.
        declaration: the task, and what is read for each token; no tokens where the program gets strings.
        threshold: above which a single output is the task's second class; None, where it was not declared, stands for 0.
        way: how it is called.
        form: what the outputs are.
        versions: the interpreter, the libraries that are loaded and the processor.
    """

    function: Any
    declaration: Declaration
    threshold: float | None = None
    way: Way = BATCH_FIRST
    form: Form = ONE_OUTPUT
    versions: dict[str, str] = field(default_factory=versions)

    def __repr__(self) -> str:
        return f"Executable({self})"

    def __str__(self) -> str:
        libraries = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"{self.kind} {self.name} in batches of at most {BATCH:,} strings, {libraries}"

    @property
    def name(self) -> str:
        """The name of the function, or of the class of anything else."""
        return name_of(self.function)

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        return "module" if is_module(self.function) else "function"

    @property
    def task(self) -> Task:
        """What is right, its classes in the order of the outputs."""
        return self.declaration.task

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The tokens, in the order of their numbers."""
        return self.task.alphabet

    @cached_property
    def codes(self) -> Codes:
        """What is read for each token, and before and after a string."""
        return codes_of(self.function, self.declaration, self.way.width)

    @property
    def called_with(self) -> str:
        """What the program gets, in words."""
        if not self.declaration.tokens:
            return "strings"
        axes = "length, batch" if self.way.length_first else "batch, length"
        vectors = self.codes.tokens.ndim > 1
        return f"vectors ({axes}, {self.codes.tokens.shape[1]})" if vectors else f"indices ({axes})"

    def to_json(self) -> dict[str, object]:
        """Describe the program as plain data."""
        return {
            self.kind: self.name,
            "task": self.task.name,
            "classes": [str(name) for name in self.task.classes],
            "tokens": dict(zip(self.declaration.tokens, self.codes.tokens.tolist(), strict=True)) or None,
            "threshold": self._threshold if self.form.outputs == 1 else None,
            "called_with": self.called_with,
            "outputs": self.form.outputs,
            "batch": BATCH,
            "versions": self.versions,
        }

    @property
    def _threshold(self) -> float:
        return 0.5 if self.form.bools else self.threshold or 0.0

    def classes(self, outputs: Outputs) -> NDArray[np.intp]:
        """Return the index of the class of each row of outputs."""
        return self.scores(outputs).argmax(axis=1)

    def scores(self, outputs: Outputs) -> Outputs:
        """Return one score per class, of which the greatest wins and the first of equals."""
        if self.form.outputs > 1:
            return outputs
        return np.hstack([np.full_like(outputs, self._threshold), outputs])

    def outputs(self, rows: Rows) -> Outputs:
        """Run strings of one length together."""
        return self.outputs_in(self.answers(rows), rows)

    def outputs_along(self, string: String) -> list[tuple[float, ...]]:
        """Return the outputs after each token of a string, each prefix run alone."""
        row = np.array([[self.alphabet.index(token) for token in string]])
        return [tuple(self.outputs(row[:, :length])[0].tolist()) for length in range(1, len(string) + 1)]

    def run_all(self, length: int) -> Iterator[tuple[Rows, Outputs]]:
        """Run all strings of a length, in batches."""
        tokens = len(self.alphabet)
        if self.way.by_state:
            rows = all_rows(tokens, suffix_length(tokens, length, BATCH))
            yield from self._run_on(rows, self._state_after(rows), length)
        else:
            for rows in blocks(tokens, length, BATCH):
                yield rows, self.outputs(rows)

    def keeps_states(self, rows: Rows) -> bool:
        """Say whether a state of an object is the same after going on from it, which each of its successors relies on."""
        state = self._state_after(rows)
        before = [array.copy() for array in self._answers_in(state, rows)]
        for code in self.codes.tokens:
            self._step(state, _repeat(code, rows), rows)
            if not all(map(np.array_equal, before, self._answers_in(state, rows))):
                return False
        return True

    def answers(self, rows: Rows) -> Arrays:
        """Return what the program answers for strings of one length, as arrays."""
        if self.way.by_state:
            return self._answers_in(self._state_after(rows), rows)
        if not self.declaration.tokens:
            given: Any = strings_of(rows, self.alphabet)
        else:
            first, tokens, last = self.codes
            given = np.concatenate([_repeat(first, rows), tokens[rows], _repeat(last, rows)], axis=1)
            given = input_of(self.function, given.swapaxes(0, 1) if self.way.length_first else given)
        return self._call(lambda: arrays_of(self.function(given)), rows)

    def _run_on(self, rows: Rows, state: object, length: int) -> Iterator[tuple[Rows, Outputs]]:
        """Go on from a state with every string that leads to a length: each prefix is read once, and few states are kept."""
        if rows.shape[1] == length:
            yield rows, self.outputs_in(self._answers_in(state, rows), rows)
            return
        for token in range(len(self.alphabet)):
            longer = np.hstack([rows, np.full((len(rows), 1), token)])
            yield from self._run_on(longer, self._step(state, self.codes.tokens[longer[:, -1]], longer), length)

    def _state_after(self, rows: Rows) -> object:
        """Read strings from the start."""
        state = self._call(lambda: self.function.start(len(rows)), rows)
        for code in (*_repeat(self.codes.first, rows).swapaxes(0, 1), *self.codes.tokens[rows.T]):
            state = self._step(state, code, rows)
        return state

    def _answers_in(self, state: object, rows: Rows) -> Arrays:
        """Return the answers in a state, once what follows every string is read."""
        for code in _repeat(self.codes.last, rows).swapaxes(0, 1):
            state = self._step(state, code, rows)
        return self._call(lambda: arrays_of(self.function.outputs(state)), rows)

    def _step(self, state: object, code: NDArray[Any], rows: Rows) -> object:
        return self._call(lambda: self.function.step(state, input_of(self.function, code)), rows)

    def _call(self, work: Callable[[], Any], rows: Rows) -> Any:  # noqa: ANN401 -- whatever a program returns
        given = f"{len(rows):,} strings of length {rows.shape[1]} as {self.called_with}"
        return run_part(self.function, work, given)

    def outputs_in(self, arrays: Arrays, rows: Rows) -> Outputs:
        """Return outputs as doubles; refuse another shape than the probe had, and what is not finite."""
        tokens = rows.shape[1] + self.codes.added
        try:
            outputs = self.form.read(arrays, len(rows), tokens, length_first=self.way.length_first)
        except BadInput as error:
            raise BadInput(f"{self.kind}: {self.name} returns {error}") from None
        if outputs is None:
            shapes = " and ".join(str(array.shape) for array in arrays)
            raise BadInput(
                f"{self.kind}: {self.name} returns an array of shape {shapes} for {len(rows):,} strings of length "
                f"{rows.shape[1]}, which is not {self.form.outputs} for each of them as for others"
            )
        wrong = ~np.isfinite(outputs).all(axis=1)
        if wrong.any():
            place = int(wrong.argmax())
            (string,) = strings_of(rows[place : place + 1], self.alphabet)
            raise BadInput(
                f"{self.kind}: {self.name} returns {outputs[place].tolist()} for {string!r}, not a finite number"
            )
        return outputs


def _repeat(codes: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """Return the same codes for each string."""
    return np.broadcast_to(codes, (len(rows), *codes.shape))
