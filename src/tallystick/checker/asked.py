"""Networks that are asked about a language: any alphabet, any counter machine, an answer at the end or after every token.

    {"cell": name, "alphabet": [token, …], "start": [number, …], "first": [program, …], "padding": {"program": …, "to": N},
     "step": {token: program, …}, "hidden": program,
     "readout": {"kind": …, "weight": [[…]], "bias": […], "outputs": [token, …], "end": name, "threshold": "p/q"},
     "task": {"name": …, "machine": {…}, "classes": […], "right": [[state, zero check, class], …], "empty": true}}

`first`, `padding`, `outputs`, `end`, `threshold` and `empty` stand where there is something to say. A task by the sign of a count
of brackets is written as for other networks (`models`).
"""

from fractions import Fraction
from itertools import product
from re import compile as expression
from typing import Any, NamedTuple, cast

from .answers import require
from .claims import NOTHING, Comparison, Decision, Program, Readout, greatest_of
from .languages import Language, Move, by_zero_checks, of_brackets
from .models import MOST_NUMBERS, MOST_READ_FIRST, MOST_UNITS, program_from, readout_from
from .reading import fields_of, list_of, matrix_of, number_of, one_of, vector_of

THRESHOLD, NEXT, SUPPORT = "threshold", "next", "support"
STEPWISE = (THRESHOLD, NEXT, SUPPORT)

_REJECTED, _ACCEPTED = "rejected", "accepted"
_MOST_TOKENS, _MOST_STATES, _MOST_COUNTERS, _MOST_CASES = 256, 4096, 8, 1 << 17
_LONGEST_NAME, _LONGEST_PADDING = 256, 1 << 16
_ADDED = expression(r"[+-]?[0-9]{1,10}")


class Asked(NamedTuple):
    """A network that is asked about a language, its numbers exact.

    Attributes:
        cell: its name.
        start: the state before anything is read.
        first: steps that are done before the first token, after the padding.
        padding: a step that is done first of all, as often as a string is shorter than `padded_to`.
        padded_to: that length.
        steps: from a state to the next one, for each token.
        hidden: from a state to what the readout sees.
        readout: what is made of that.
        places: for each output the place of its token, where there are answers after every token; that of the end is the last.
        names: the tokens, and the name of the end.
        threshold: above which a share allows its token.
        language: what is right.
        classes: the names of the classes.
    """

    cell: str
    start: tuple[Fraction, ...]
    first: tuple[Program, ...]
    padding: Program | None
    padded_to: int
    steps: tuple[Program, ...]
    hidden: Program
    readout: Readout
    places: tuple[int, ...]
    names: tuple[str, ...]
    threshold: Fraction | None
    language: Language
    classes: tuple[str, ...]

    @property
    def is_stepwise(self) -> bool:
        """Whether it answers after every token."""
        return self.readout.kind in STEPWISE

    @property
    def programs(self) -> tuple[Program, ...]:
        """All programs."""
        return (*self.first, *([self.padding] if self.padding else []), *self.steps, self.hidden)

    def names_of(self, places: frozenset[int]) -> str:
        """Return the names of tokens in the order of the alphabet, the end last."""
        return " ".join(self.names[place] for place in sorted(places)) or "nothing"


def is_asked(model: object) -> bool:
    """Say whether a model is written in this form."""
    return isinstance(model, dict) and "alphabet" in model


def asked_of(value: object) -> Asked:
    """Read a network."""
    given = cast("dict[str, Any]", value)
    optional = [name for name in ("first", "padding") if name in given]
    found = fields_of(given, " ".join(("cell alphabet start step hidden readout task", *optional)))
    cell = _name(found["cell"])
    alphabet = _names(found["alphabet"], _MOST_TOKENS)
    start = tuple(map(number_of, list_of(found["start"], most=MOST_NUMBERS)))
    size = len(start)
    require(isinstance(found["step"], dict), "an object is missing")
    written = cast("dict[str, Any]", found["step"])
    require(set(written) == set(alphabet), "the steps are not those of the alphabet")
    steps = tuple(program_from(written[token], size, size) for token in alphabet)
    hidden = program_from(found["hidden"], size)
    first = tuple(program_from(one, size, size) for one in list_of(found.get("first", []), most=MOST_READ_FIRST))
    padding, padded_to = _padding(found["padding"], size) if "padding" in found else (None, 0)
    readout, outputs, end, threshold = _readout(found["readout"], len(hidden.results))
    language, classes = _task(found["task"], alphabet, readout)
    places: tuple[int, ...] = ()
    if outputs:
        require(padding is None, "strings are filled up for an answer at their end only")
        fine = end not in alphabet and sorted(outputs) == sorted((*alphabet, end))
        require(fine, "the outputs are not the tokens and the end")
        places = tuple((*alphabet, end).index(name) for name in outputs)
    names = (*alphabet, end)
    return Asked(
        cell, start, first, padding, padded_to, steps, hidden, readout, places, names, threshold, language, classes
    )


def _padding(value: object, size: int) -> tuple[Program, int]:
    found = fields_of(value, "program to")
    to = found["to"]
    require(
        type(to) is int and 0 < to <= _LONGEST_PADDING, f"a padding to a length that is not 1 to {_LONGEST_PADDING}"
    )
    return program_from(found["program"], size, size), to


def _readout(value: object, units: int) -> tuple[Readout, tuple[str, ...], str, Fraction | None]:
    """Read a readout, and for answers after every token the names of the outputs, that of the end, and the threshold."""
    require(isinstance(value, dict), "an object is missing")
    kind = cast("dict[str, Any]", value).get("kind")
    if kind not in STEPWISE:
        require(kind != "count", "a count is not asked for here")
        return readout_from(value, units, scalar=False), (), "", None
    found = fields_of(value, "kind weight bias outputs end" + (" threshold" if kind == THRESHOLD else ""))
    outputs = _names(found["outputs"], MOST_UNITS)
    size = len(outputs)
    lines = tuple(zip(matrix_of(found["weight"], size, units), vector_of(found["bias"], size), strict=True))
    above_zero = Decision(((), *((Comparison(output, NOTHING, True),) for output in range(size))))
    decision = greatest_of(size) if kind == NEXT else above_zero
    threshold = number_of(found["threshold"]) if kind == THRESHOLD else None
    require(threshold is None or 0 < threshold < 1, "the threshold is not between 0 and 1")
    return Readout(kind, lines, decision), outputs, one_of(found["end"], outputs), threshold


# --- The task -----------------------------------------------------------------------------------------------------------------


def _task(value: object, alphabet: tuple[str, ...], readout: Readout) -> tuple[Language, tuple[str, ...]]:
    """Read what is right; what is asked after every token is a language."""
    require(isinstance(value, dict), "an object is missing")
    given = cast("dict[str, Any]", value)
    found = fields_of(given, "name machine classes right" + (" empty" if "empty" in given else ""))
    _name(found["name"])
    classes = _names(found["classes"], MOST_UNITS)
    if isinstance(found["machine"], str):
        right = list_of(found["right"], 3)
        require(all(name in classes for name in right), "a right class that is none")
        below, zero, above = map(classes.index, right)
        language = of_brackets(one_of(found["machine"], ("bb", "semidyck1")) == "semidyck1", (below, zero, above))
    else:
        language = _machine(found["machine"], found["right"], classes)
    require(language.alphabet == alphabet, "the machine reads another alphabet")
    if readout.kind in STEPWISE:
        require(sorted(classes) == [_ACCEPTED, _REJECTED], "what is asked after every token is no language")
        accepted = classes.index(_ACCEPTED)
        same = all(
            (index == accepted) == ((state, tuple(map(bool, signs))) in language.accepting)
            for (state, signs), index in language.right.items()
        )
        require(same, "the right classes are not those of the machine")
    else:
        require(len(classes) == len(readout.decision.comparisons), "the readout has not as many classes as the task")
    if "empty" in found:
        accepted = classes.index(_ACCEPTED) if _ACCEPTED in classes else None
        said = accepted is not None and language.right_class(language.start) == accepted
        require(
            type(found["empty"]) is bool and found["empty"] == said, "the machine says otherwise of the empty string"
        )
    return language, classes


def _machine(value: object, right: object, classes: tuple[str, ...]) -> Language:
    """Read a machine whose cases are all written out, and the right class of each state and zero check."""
    found = fields_of(value, "alphabet states initial_state counters cases accepting")
    alphabet, states = _names(found["alphabet"], _MOST_TOKENS), _names(found["states"], _MOST_STATES)
    counters = found["counters"]
    require(type(counters) is int and 1 <= counters <= _MOST_COUNTERS, f"counters that are not 1 to {_MOST_COUNTERS}")
    checks = [tuple(check) for check in product((False, True), repeat=counters)]
    size = len(alphabet) * len(states) * len(checks)
    require(size <= _MOST_CASES and len(states) * 3**counters <= _MOST_CASES, "a machine with too many cases")
    places = {name: place for place, name in enumerate(states)}
    moves: dict[tuple[int, int, tuple[bool, ...]], Move] = {}
    for case in list_of(found["cases"], size):
        entry = fields_of(case, "token state zero_check update next_state")
        token = alphabet.index(one_of(entry["token"], alphabet))
        key = token, _place(places, entry["state"]), _check(entry["zero_check"], counters)
        require(key not in moves, "a case of the machine stands twice")
        updates = tuple(map(_update, list_of(entry["update"], counters)))
        moves[key] = Move(updates, _place(places, entry["next_state"]))
    accepting: set[tuple[int, tuple[bool, ...]]] = set()
    for one in list_of(found["accepting"], most=_MOST_CASES):
        entry = fields_of(one, "state zero_check")
        accepting.add((_place(places, entry["state"]), _check(entry["zero_check"], counters)))
    table: dict[tuple[int, tuple[bool, ...]], int] = {}
    for one in list_of(right, len(states) * len(checks)):
        state, check, name = list_of(one, 3)
        table[_place(places, state), _check(check, counters)] = classes.index(one_of(name, classes))
    require(len(table) == len(states) * len(checks), "not every state and zero check has a right class")
    return Language(
        alphabet,
        states,
        _place(places, found["initial_state"]),
        counters,
        moves,
        frozenset(accepting),
        by_zero_checks(table),
    )


def _place(places: dict[str, int], name: object) -> int:
    require(isinstance(name, str) and name in places, "a state that the machine has not")
    return places[cast("str", name)]


def _check(pattern: object, counters: int) -> tuple[bool, ...]:
    """Read which counters are other than zero, as digits 0 and 1."""
    fine = isinstance(pattern, str) and len(pattern) == counters and set(pattern) <= set("01")
    require(fine, f"a zero check is not {counters} of 0 and 1")
    return tuple(digit == "1" for digit in cast("str", pattern))


def _update(text: object) -> int | None:
    """Read what is added to a counter; None for ×0."""
    if text == "×0":
        return None
    require(isinstance(text, str) and _ADDED.fullmatch(text), "an update is neither a number to add nor ×0")
    return int(cast("str", text))


def _names(value: object, most: int) -> tuple[str, ...]:
    found = list_of(value, most=most)
    require(found and all(isinstance(name, str) for name in found), "names are missing")
    require(len(set(found)) == len(found), "a name stands twice")
    return tuple(map(_name, found))


def _name(value: object) -> str:
    fine = isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME
    require(fine, f"a name is not a text of 1 to {_LONGEST_NAME} letters")
    return cast("str", value)
