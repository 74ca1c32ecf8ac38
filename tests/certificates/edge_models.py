"""Models that are hard to judge: weights at the edges of a floating-point format, thresholds on states, cells beside a counter.

What is drawn: the least numbers and the greatest, those that round to the next or to none, zeros of either sign, U and a/b
one unit in the last place beside 1 and −1, thresholds on the state of a string or beside it, outputs that nearly run
together. A quarter are the ordinary models of `brute_force`. The same generator draws the same models.
"""

import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from brute_force import SMALL, lines, recurrent_weights, some_model

from tallystick.cells import ReluCell, SelectiveCell, TanhCell
from tallystick.networks import Network, Readout
from tallystick.numbers import FORMATS, FloatFormat, float_format

ORDINARY, NEAR_COUNTER = 0.2, 0.45
"""The shares of ordinary models and of those beside an exact counter; the others have any weights."""

LONGEST_TIE = 6
"""Thresholds are laid on the states of strings to this length, or of sorted ones of twice that."""


def edge_model(cell_kind, readout_kind, arithmetic, generator):
    """A model to be judged in an arithmetic; in real numbers, at the edges of some format."""
    share = generator.random()
    if share < ORDINARY:
        return some_model(cell_kind, readout_kind, generator)
    form = FORMATS[generator.choice([*FORMATS, "float64"])] if arithmetic == "real" else float_format(arithmetic)
    edges = Edges(form, generator)
    nearly = share < ORDINARY + NEAR_COUNTER
    cell = _near_counter(cell_kind, edges) if nearly else _cell(cell_kind, edges)
    readout = _readout_of_counter if nearly else _readout
    return _with_signed_zeros(Network(cell, readout(readout_kind, cell, edges)), generator)


@dataclass(frozen=True)
class Edges:
    """Numbers at the edges of a format, drawn at random."""

    form: FloatFormat
    generator: random.Random

    def one_of(self, *choices):
        """One of some numbers or of some functions that draw one; a pair (n, choice) counts n times."""
        pairs = [choice if isinstance(choice, tuple) else (1, choice) for choice in choices]
        (chosen,) = self.generator.choices([choice for _, choice in pairs], [size for size, _ in pairs])
        return Fraction(chosen() if callable(chosen) else chosen)

    def near(self, value):
        """A number, its neighbours, the middles between them, or a number off by a power of two."""
        value, place = Fraction(value), self.form.last_place(Fraction(value))
        part = Fraction(1, 2 ** self.generator.randint(1, 60))
        return value + self.one_of(
            (4, 0), (2, place), (2, -place), (2, -place / 2), place / 2, 2 * place, value * part, -value * part
        )

    def tiny(self):
        """The least numbers, normal and not, and what rounds to them or to zero."""
        least, normal = self.form.least, self.form.least * 2 ** (self.form.digits - 1)
        power = least * 2 ** self.generator.randint(0, 2 * self.form.digits)
        return self._sign() * self.one_of(least, 3 * least, normal, normal - least, power, least / 2, least * 3 / 4)

    def huge(self):
        """The greatest numbers, and what rounds to the greatest or, now and then, to none."""
        greatest = self.form.greatest
        place = self.form.last_place(greatest)
        part = greatest / 2 ** self.generator.randint(1, 2 * self.form.digits)
        kept = greatest, greatest - place, greatest / 2, greatest / 3, greatest + place / 4
        return self._sign() * self.one_of(*((4, value) for value in kept), (12, part), greatest + place / 2)

    def ordinary(self):
        """A small ratio, a power of two, or a number with as many digits as there are."""
        return self.one_of(
            lambda: self.generator.choice(SMALL),
            lambda: Fraction(2) ** self.generator.randint(-6, 6),
            lambda: Fraction(self.generator.gauss(0, 1)),
            Fraction(1, 10),
        )

    def any(self):
        """Any of these."""
        return self.one_of((6, self.ordinary), self.tiny, self.huge, (2, lambda: self.near(1)), 0)

    def _sign(self):
        return self.generator.choice((1, -1))


def _cell(kind, edges):
    if edges.generator.random() < 0.1:
        return _cell_with_ties(kind, edges)
    a = edges.one_of((5, edges.ordinary), (2, lambda: edges.near(1)), edges.tiny, edges.huge, Fraction(0))
    if kind is ReluCell and edges.generator.random() < 0.7:
        a = abs(a)
    b = edges.one_of(
        (4, -a), (4, lambda: edges.near(-a)), a, (2, edges.ordinary), edges.tiny, edges.huge, lambda: edges.near(0)
    )
    if kind is not SelectiveCell:
        return kind(a, b, _weight(edges))
    P = _weight(edges)
    Q = edges.one_of((2, _weight(edges)), (4, lambda: edges.near(1 / P)), (2, 1 / P)) if P else _weight(edges)
    b = edges.one_of((2, b), (3, -Q * a), (2, lambda: edges.near(-Q * a)))
    return SelectiveCell(a, b, P, Q)


def _cell_with_ties(kind, edges):
    """(1 + 2^−j)·(1 + 2^−k) with j + k = digits lies in the middle of two numbers: what is added decides, however little."""
    digits = edges.form.digits
    j = edges.generator.randint(1, digits - 1)
    weight, a = 1 + Fraction(1, 2**j), 1 + Fraction(1, 2 ** (digits - j))
    b = edges.one_of(edges.tiny, lambda: edges.tiny() * 2 ** edges.generator.randint(0, 40), 0)
    return kind(a, b, *([weight] * len(kind.recurrent_fields())))


def _near_counter(kind, edges):
    """A cell whose closing map inverts its opening map, or nearly so: P·Q = 1 and b = −Q·a."""
    a = edges.one_of((6, edges.ordinary), (2, lambda: edges.near(1)), edges.tiny, edges.huge) or Fraction(1)
    if kind is ReluCell:
        a = abs(a)
    if kind is TanhCell:  # which counts best where it is nearly linear
        a = min(abs(a), 1) / 2 ** edges.generator.randint(2, 10)

    def beside(value):
        return edges.one_of((5, value), (2, lambda: edges.near(value)))

    if kind is not SelectiveCell:
        return kind(a, beside(-a), beside(Fraction(1)))
    P = edges.one_of((2, 1), lambda: Fraction(2) ** edges.generator.randint(-3, 3), lambda: edges.near(1))
    Q = beside(1 / P)
    return SelectiveCell(a, beside(-Q * a), P, Q)


def _weight(edges):
    return edges.one_of(
        (8, lambda: edges.near(1)), lambda: edges.near(-1), (2, edges.ordinary), edges.tiny, edges.huge, 0
    )


def _readout(kind, cell, edges):
    if kind == "zero":
        return Readout.zero()
    rising = 1 if cell.open_step >= 0 else -1
    v = rising * edges.one_of((4, 1), lambda: edges.near(1), (2, edges.ordinary), edges.tiny, edges.huge, 0)
    if kind == "binary":
        return Readout.binary(v, edges.one_of((6, lambda: _against(v, cell, edges)), (3, 0), edges.any))
    if edges.generator.random() < 0.3:
        return Readout.ternary(*(tuple(edges.any() for _ in range(3)) for _ in range(2)))
    # Lines that meet at two states: negative | zero | positive. What they have in common makes their slopes of one sign.
    common, height = (edges.one_of((4, 0), edges.any) for _ in range(2))
    first, second = -_against(v, cell, edges), _against(v, cell, edges)
    return Readout.ternary((common - v, common, common + v), (height + first, height, height + second))


def _readout_of_counter(kind, cell, edges):
    """A readout with thresholds where those of a counter are: from 0 to a step."""
    if kind == "zero":
        return Readout.zero()
    rising = 1 if cell.open_step >= 0 else -1
    v = rising * abs(edges.one_of((4, 1), lambda: edges.near(1), edges.ordinary, edges.tiny, edges.huge) or 1)
    first, second = (v * _threshold(cell, edges) for _ in range(2))
    if kind == "binary":
        return Readout.binary(v, edges.one_of((3, -second), lambda: edges.near(-second)))
    common, height = (edges.one_of((6, 0), edges.any) for _ in range(2))
    return Readout.ternary((common - v, common, common + v), (height - first, height, height - second))


def _threshold(cell, edges):
    a = cell.open_step
    return edges.one_of((4, a / 2), a * 3 / 4, 0, lambda: edges.near(a), (3, lambda: _sorted_state(cell, edges)))


def _sorted_state(cell, edges):
    """The state of a string like ((())), whose count is near 0: an extreme of its length."""
    closings = edges.generator.randint(0, LONGEST_TIE)
    runs = ["(" * max(0, closings + edges.generator.choice((-1, 0, 0, 1))), ")" * closings]
    edges.generator.shuffle(runs)
    return _state(cell, "".join(runs), edges.form)


def _against(v, cell, edges):
    """A bias c with v·h + c = 0, or nearly so, at the state h of some string, or at half a step."""
    string = edges.generator.choices("()", k=edges.generator.randint(0, LONGEST_TIE))
    h = edges.one_of((4, lambda: _state(cell, string, edges.form)), cell.open_step / 2, lambda: _threshold(cell, edges))
    return edges.one_of((2, -v * h), lambda: edges.near(-v * h))


def _state(cell, string, form):
    """The state after a string as executed, or 0 where it overflows."""
    steps = [_rounded(step, form) for step in (cell.open_step, cell.close_step)]
    weights = [_rounded(weight, form) for weight in recurrent_weights(cell)]
    h = form.kind(0)
    with np.errstate(all="ignore"):
        for place in map("()".index, string):
            h = weights[place] * h + steps[place]
            h = np.maximum(h, form.kind(0)) if isinstance(cell, ReluCell) else h
            h = np.tanh(h) if isinstance(cell, TanhCell) else h
    return Fraction(float(h)) if np.isfinite(h) else Fraction(0)


def _rounded(value, form):
    return form.kind(float(max(-form.greatest, min(form.greatest, value))))


def _with_signed_zeros(model, generator):
    """Half of the zeros as −0.0."""

    def signed(value, _):
        return -0.0 if value == 0 and generator.random() < 0.5 else value

    return Network(model.cell.map_weights(signed), model.readout.map_weights(signed))


def is_refused(model, arithmetic):
    """Whether a weight rounds to no finite number of a format: from half a unit in the last place above the greatest on."""
    if arithmetic == "real":
        return False
    form = float_format(arithmetic)
    most = form.greatest + form.last_place(form.greatest) / 2
    return any(abs(Fraction(weight)) >= most for weight in (*vars(model.cell).values(), *lines(model.readout)))
