"""Sums: the features of signals as sums of multiples of what is no sum, exactly; what the token alone decides as numbers.

A product is read where the token alone decides one of its factors: it is then a sum with other weights for each token. Functions
such as the sigmoid are read of what the token alone decides, as doubles, the way PyTorch rounds them.
"""

import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tallystick.networks.pytorch.signals import (
    CONST,
    OF_TOKENS,
    PRODUCT,
    SUM,
    Column,
    Floats,
    Signal,
    Unreadable,
    exact_weight,
)

Gated = tuple[Signal, int, int, int]
"""A column where one token is read, and 0 where another is: its signal, shift and feature, and that token."""

Form = dict[Column | Gated | None, Fraction]
"""A sum of multiples of columns; None stands for the number 1."""

_COLUMN = 3
"""The length of a column; one more is a gated one."""


class Sums:
    """The features of signals as sums of what is no sum."""

    def __init__(self, tokens: Signal) -> None:
        """Begin with nothing worked out."""
        self._tokens = tokens
        self._forms: dict[Signal, list[Form]] = {}

    def forms(self, signal: Signal) -> list[Form]:
        """Return one sum per feature; a recurrence and what is not linear stands for itself."""
        waiting = [signal]  # and no recursion, since a long loop that is no recurrence is a deep sum of sums
        while waiting:
            last = waiting[-1]
            below = [one for one, _, _ in last.columns if one not in self._forms] if _is_worked_out(last) else []
            waiting.extend(below)
            if not below and (last := waiting.pop()) not in self._forms:
                self._forms[last] = self._work_out(last)
        return self._forms[signal]

    def _work_out(self, signal: Signal) -> list[Form]:
        itself: list[Form] = [{(signal, 0, feature): Fraction(1)} for feature in range(signal.size)]
        if not _is_worked_out(signal):
            return itself
        if signal.operation == PRODUCT:
            pairs = zip(signal.columns[::2], signal.columns[1::2], strict=True)
            return [self._product(signal, self._shifted(x), self._shifted(y)) for x, y in pairs]
        found = self.rows(signal.weight, signal.biases, signal.columns)
        if signal.operation in (SUM, CONST):
            return found
        # A function of what the token alone decides is decided by the token too; of these the ReLU alone is exact.
        try:
            values = [self.values(form, rounded=signal.operation != "relu") for form in found]
        except Unreadable:
            return itself
        return [self._by_token(_function_of(signal.operation, row)) for row in values]

    def _by_token(self, values: list[Fraction]) -> Form:
        return {(self._tokens, 0, token): value for token, value in enumerate(values) if value}

    def _product(self, signal: Signal, first: Form, second: Form) -> Form:
        """Return the product of two sums, of which the token decides one."""
        for factor, other in ((first, second), (second, first)):
            if not factor.keys() - {None}:
                value = factor.get(None, Fraction(0))
                return {column: value * weight for column, weight in other.items() if value}
        for factor, other in ((first, second), (second, first)):
            try:
                values = self.values(factor, rounded=True)
            except Unreadable:
                continue
            return self._gated(signal, values, other)
        raise signal.refuse(f"{signal.function} multiplies two numbers that depend on the string")

    def _gated(self, signal: Signal, values: list[Fraction], form: Form) -> Form:
        """Return a sum times what the token decides."""
        try:
            others = self.values(form, rounded=True)
        except Unreadable:
            pass
        else:
            return self._by_token([x * y for x, y in zip(values, others, strict=True)])
        found: Form = {}
        for column, weight in form.items():
            for token, value in enumerate(values):
                if column is None:
                    key: Column | Gated = (self._tokens, 0, token)
                elif column[0] is self._tokens or len(column) > _COLUMN:
                    raise signal.refuse(f"{signal.function} multiplies what is chosen by the token twice over")
                else:
                    key = (*column[:3], token)
                found[key] = found.get(key, Fraction(0)) + value * weight
        return {key: value for key, value in found.items() if value}

    def rows(self, weight: Floats, biases: Floats, columns: Sequence[Column]) -> list[Form]:
        """Return W·x + b, row by row."""
        parts = [self._shifted(column) for column in columns]
        found: list[Form] = []
        for row, terms in zip(weight.tolist(), biases.tolist(), strict=True):
            form: Form = {None: sum(map(exact_weight, terms), Fraction(0))}
            for factor, part in zip(row, parts, strict=True):
                if factor:
                    exactly = exact_weight(factor)
                    for column, value in part.items():
                        form[column] = form.get(column, 0) + exactly * value
            found.append({column: value for column, value in form.items() if value})
        return found

    def _shifted(self, column: Column) -> Form:
        signal, shift, feature = column
        form = self.forms(signal)[feature]
        if not shift:
            return form
        if any(key and len(key) > _COLUMN for key in form):
            raise signal.refuse(f"{signal.function} is multiplied by what another token than the last decides")
        return {key and (key[0], key[1] + shift, key[2]): value for key, value in form.items()}

    def values(self, form: Form, *, rounded: bool = False) -> list[Fraction]:
        """Return the value of a sum for each token, where the token alone decides it; `rounded` allows functions of such."""
        totals = [form.get(None, Fraction(0))] * self._tokens.size
        for column, weight in form.items():
            if column is None:
                continue
            signal, shift, feature = column[:3]
            if shift or len(column) > _COLUMN or signal.start is not None:
                raise Unreadable("")
            if signal is self._tokens:
                totals[feature] += weight
            elif rounded and signal.operation == "tanh":
                (inner,) = self.rows(signal.weight[[feature]], signal.biases[[feature]], signal.columns)
                found = _function_of("tanh", self.values(inner, rounded=True))
                totals = [total + weight * value for total, value in zip(totals, found, strict=True)]
            else:
                raise Unreadable("")
        return totals


def _function_of(name: str, values: list[Fraction]) -> list[Fraction]:
    """Return a function of single numbers: the ReLU exactly, any other as PyTorch rounds it to doubles."""
    if name == "relu":
        return [max(value, Fraction(0)) for value in values]
    torch: Any = sys.modules["torch"]
    function = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    return [
        exact_weight(value) for value in function(torch.tensor([*map(float, values)], dtype=torch.float64)).tolist()
    ]


def _is_worked_out(signal: Signal) -> bool:
    return signal.start is None and signal.operation in (SUM, CONST, PRODUCT, "relu", *OF_TOKENS)
