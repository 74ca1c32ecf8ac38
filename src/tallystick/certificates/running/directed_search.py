"""Failing strings beyond the lengths that are run in full: where a program that counts badly is likely to fail.

These are the sorted strings (aⁱbʲ in every order of two tokens, and nearly equal runs of all of them), the alternating ones, and
those that a beam finds. Strings that lead the task's machine to one configuration should be told apart from others and not from
each other, so for each configuration the beam keeps those with the greatest and the least of each output, and goes on from them
with every token. Where these are too many, those that are nearest to failing stay.
"""

from collections.abc import Iterator
from itertools import permutations, product
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.running.calling import NotRun
from tallystick.certificates.running.executable import Executable
from tallystick.certificates.running.string_blocks import RightClasses, Rows, all_rows, strings_of, suffix_length
from tallystick.certificates.verdict import Failure, Lengths, runs_of
from tallystick.languages.machine_text import read_string, string_text

LONGEST = 64
SECONDS = 5.0
"""When the search ends at the latest, at a length that the verdict states."""

_BEAM = 256
_FIRST_STRINGS = 256


def failure_alone(program: Executable, row: NDArray[np.intp], right: int) -> Failure | None:
    """Run a string alone, and return it if it fails."""
    found = int(program.classes(program.outputs(row[None]))[0])
    if found == right:
        return None
    string = read_string(strings_of(row[None], program.alphabet)[0], program.alphabet)
    return Failure(runs_of(string), program.task.classes[found], program.task.classes[right])


def search_beyond(
    program: Executable, right: RightClasses, lengths: Lengths, reached: int
) -> tuple[Failure | None, str]:
    """Look for a failing string beyond a length; return it and how far it was looked for, in words."""
    started, tokens, searched = perf_counter(), len(program.alphabet), reached
    beam = all_rows(tokens, suffix_length(tokens, reached, _FIRST_STRINGS))
    for length in lengths.upto(LONGEST):
        if length <= beam.shape[1]:
            continue
        if perf_counter() - started > SECONDS:
            break
        rows = np.vstack([_longer(beam, tokens, length), *(_regular_rows(tokens, length) if length > reached else ())])
        try:
            outputs = program.outputs(rows)
        except NotRun as error:
            return None, str(error)
        wanted = right.of_rows(rows)
        if length > reached:
            searched = length
            for place in np.flatnonzero(program.classes(outputs) != wanted).tolist():
                failure = failure_alone(program, rows[place], int(wanted[place]))
                if failure:
                    return failure, f"of the longer strings {string_text(failure.tokens, program.alphabet)!r} fails"
        kept = _extreme_places(outputs, right.configurations(rows))
        nearest = np.argsort(_margins(program.scores(outputs), wanted)[kept], kind="stable")
        beam = rows[kept[nearest[:_BEAM]]]
    tried = f"a search among sorted and alternating strings and those of extreme outputs to length {searched} found no failure"
    return None, tried if searched > reached else ""


def _longer(rows: Rows, tokens: int, length: int) -> Rows:
    """Return every string of a length that goes on from one of the rows."""
    ends = all_rows(tokens, length - rows.shape[1])
    return np.hstack([np.repeat(rows, len(ends), axis=0), np.tile(ends, (len(rows), 1))])


def _regular_rows(tokens: int, length: int) -> Iterator[Rows]:
    """Return the sorted and the alternating strings of a length."""
    for pair in permutations(range(tokens), 2):
        first = np.arange(length) < np.arange(length + 1)[:, None]
        yield np.where(first, *pair)
        yield np.resize(pair, (1, length))
    if tokens > 2:  # noqa: PLR2004 -- two tokens are a pair
        size = length // tokens
        for change in product((-1, 0, 1), repeat=tokens - 1):
            runs = [max(0, size + one) for one in change]
            if sum(runs) <= length:
                yield np.repeat(np.arange(tokens), [*runs, length - sum(runs)])[None]
        yield np.resize(np.arange(tokens), (1, length))


def _margins(scores: NDArray[np.float64], right: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return by how much the score of the right class is above all others."""
    own = np.take_along_axis(scores, right[:, None], axis=1)[:, 0]
    others = scores.copy()
    np.put_along_axis(others, right[:, None], -np.inf, axis=1)
    return own - others.max(axis=1)


def _extreme_places(outputs: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which strings have the greatest or the least of an output in their group."""
    kept: list[NDArray[np.intp]] = []
    for column in (*outputs.T, *-outputs.T):
        order = np.lexsort((column, groups))
        kept.append(order[np.unique(groups[order], return_index=True)[1]])
    return np.unique(np.concatenate(kept))
