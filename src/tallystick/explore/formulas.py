"""What the page lets one choose, in writing: the step of each cell, and what makes the classes of each readout.

A cell's step runs on whatever numbers it is given, so it writes itself down when it is run on letters. The classes of a readout
follow from its comparisons. A new cell or readout is offered by the page without being named here.
"""

from dataclasses import dataclass

from typing_extensions import TypedDict

from tallystick.cells import CELLS, ONE_HOT, ScalarCell
from tallystick.certificates.verdict import ARITHMETIC_NAMES, REAL
from tallystick.explore.choices import STRING_KINDS
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.tasks import BB_MEMBERSHIP
from tallystick.networks.readout import DECISIONS, NOTHING, Comparison, Decision
from tallystick.numbers import positive_part

_FUSED = "-fused"
_SPELLINGS = {"relu": "ReLU"}
_WORDS = {2: "two", 3: "three", 4: "four"}


class Choice(TypedDict):
    """Something by its name in requests, and by its title on the page."""

    name: str
    title: str


class Weight(TypedDict):
    """A number of a cell: its letter, what it does, and its field in a request."""

    letter: str
    doing: str
    field: str


class CellChoice(Choice):
    """A cell, with what becomes of h at each token."""

    weights: list[Weight]
    steps: list[str]


class ClassFormula(TypedDict):
    """A class and what makes it; with several outputs, y_NAME is the output of the class NAME."""

    name: str
    formula: str


class ReadoutChoice(Choice):
    """A readout, with its classes; one without weights has no outputs but h itself."""

    outputs: int
    classes: list[ClassFormula]


class Choices(TypedDict):
    """All that a network and a string are chosen from."""

    cells: list[CellChoice]
    readouts: list[ReadoutChoice]
    arithmetics: list[Choice]
    strings: list[Choice]


def choices() -> Choices:
    """Return what can be chosen, from the library's own tables."""
    kinds = ((name, kind) for name, kind in CELLS.items() if issubclass(kind, ScalarCell))
    return {
        "cells": [_cell(name, kind) for name, kind in kinds],
        "readouts": [_readout(decision) for decision in DECISIONS.values()],
        "arithmetics": [{"name": name, "title": _arithmetic(name)} for name in ARITHMETIC_NAMES],
        "strings": [{"name": name, "title": kind.title} for name, kind in STRING_KINDS.items()],
    }


def _cell(name: str, kind: type[ScalarCell]) -> CellChoice:
    return {
        "name": name,
        "title": _SPELLINGS.get(name, name),
        "weights": _weights(kind),
        "steps": _steps(kind),
    }


def _letters(kind: type[ScalarCell]) -> list[str]:
    """Return the paper's letters: U, or P and Q; U1, U2, … where there are more."""
    count = len(kind.recurrent_fields())
    known = {0: [], 1: ["U"], 2: ["P", "Q"]}
    return ["a", "b", *known.get(count, [f"U{place}" for place in range(1, count + 1)])]


def _weights(kind: type[ScalarCell]) -> list[Weight]:
    names = kind.recurrent_fields()
    fields = ["recurrent_weight" if len(names) == 1 else f"recurrent_weight[{place}]" for place in range(len(names))]
    doing = [*(f"what {token} adds" for token in ALPHABET), *map(_doing, names)]
    every = zip(_letters(kind), doing, ["open_step", "close_step", *fields], strict=True)
    return [{"letter": letter, "doing": words, "field": field} for letter, words, field in every]


def _doing(field: str) -> str:
    """Say what a recurrent weight does, by the name of its field."""
    for prefix, token in zip(("open_", "close_"), ALPHABET, strict=True):
        if field.startswith(prefix):
            return f"{_doing(field.removeprefix(prefix))} at {token}"
    return "the factor on h" if field == "recurrent_weight" else field.replace("_", " ")


def _steps(kind: type[ScalarCell]) -> list[str]:
    """Return h after each token, from the cell's own step.

    >>> _steps(CELLS["relu"])
    ['max(0, U·h + a)', 'max(0, U·h + b)']
    """
    cell = kind(*map(Formula, _letters(kind)))
    return [str(cell.step(Formula("h"), ONE_HOT[token])) for token in ALPHABET]


@dataclass(frozen=True)
class Formula:
    """A number that is written down rather than worked out; 0 and 1 are left out where they change nothing."""

    text: str
    is_sum: bool = False

    def __str__(self) -> str:
        return self.text

    def __add__(self, other: object) -> "Formula":
        return self if _is(other, 0) else Formula(f"{self} + {other}", is_sum=True)

    def __radd__(self, other: object) -> "Formula":
        return self if _is(other, 0) else Formula(f"{other} + {self}", is_sum=True)

    def __sub__(self, other: object) -> "Formula":
        return self if _is(other, 0) else Formula(f"{self} − {_factor(other)}", is_sum=True)

    def __rsub__(self, other: object) -> "Formula":
        return -self if _is(other, 0) else Formula(f"{other} − {_factor(self)}", is_sum=True)

    def __neg__(self) -> "Formula":
        return Formula(f"−{_factor(self)}")

    def __mul__(self, other: object) -> "Formula | int":
        return self._times(other, f"{_factor(self)}·{_factor(other)}")

    def __rmul__(self, other: object) -> "Formula | int":
        return self._times(other, f"{_factor(other)}·{_factor(self)}")

    def _times(self, other: object, product: str) -> "Formula | int":
        return 0 if _is(other, 0) else self if _is(other, 1) else Formula(product)

    def tanh(self) -> "Formula":
        """Return its hyperbolic tangent."""
        return Formula(f"tanh({self})")


@positive_part.register
def _(x: Formula) -> Formula:
    return Formula(f"max(0, {x})")


def _is(value: object, number: int) -> bool:
    return not isinstance(value, Formula) and value == number


def _factor(value: object) -> str:
    return f"({value})" if isinstance(value, Formula) and value.is_sum else str(value)


def _readout(decision: Decision) -> ReadoutChoice:
    task = decision.task or BB_MEMBERSHIP
    names = [task.in_words(name) for name in task.classes]
    if not decision.has_weights:
        outputs = ["h"]
    elif decision.outputs == 1:
        outputs = ["v·h + c"]
    else:
        outputs = [f"y_{name}" for name in names]
    formulas = [_formula(needed, outputs) for needed in decision.comparisons]
    greatest = all(
        {one.greater for one in needed} == {index} and len(needed) == len(names) - 1
        for index, needed in enumerate(decision.comparisons)
    )
    many = decision.outputs > 1 and greatest
    text = f"the largest of {_WORDS.get(decision.outputs, decision.outputs)}" if many else formulas[-1]
    return {
        "name": decision.kind,
        "title": f"{decision.kind}{'' if decision.has_weights else ' check'}: {text}",
        "outputs": decision.outputs if decision.has_weights else 0,
        "classes": [{"name": name, "formula": formula} for name, formula in zip(names, formulas, strict=True)],
    }


def _formula(needed: tuple[Comparison, ...], outputs: list[str]) -> str:
    """Write what makes a class.

    >>> [_formula(needed, ["h"]) for needed in DECISIONS["zero"].comparisons]
    ['otherwise', 'h = 0']
    """
    texts = [*outputs, "0"]  # NOTHING is the last
    found: list[str] = []
    for one in needed:
        opposite = Comparison(one.less, one.greater, strict=False)
        left, right = (one.less, one.greater) if one.greater == NOTHING else (one.greater, one.less)
        sign = (">" if one.strict else "≥") if left == one.greater else ("<" if one.strict else "≤")
        sign = "=" if not one.strict and opposite in needed else sign
        found.append(f"{texts[left]} {sign} {texts[right]}")
    return " and ".join(dict.fromkeys(found)) or "otherwise"


def _arithmetic(name: str) -> str:
    if name == REAL:
        return "real numbers"
    return f"{name.removesuffix(_FUSED)}, fused multiply-add" if name.endswith(_FUSED) else name
