"""Polynomials that print as the paper writes them, so that a cell can be run on its own letters.

>>> from tallystick import LinearCell
>>> a, b, U = symbols("a b U")
>>> print(LinearCell(a, b, U).final_state("(())"))
b + Ub + U²a + U³a
"""

from collections import Counter
from dataclasses import dataclass

from tallystick.numbers import positive_part

Monomial = tuple[str, ...]
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_STEPS = ("a", "b")


@dataclass(frozen=True)
class Polynomial:
    """A sum of monomials with whole coefficients; a number like any other for a cell's step."""

    terms: dict[Monomial, int]

    def __add__(self, other: "Polynomial | int") -> "Polynomial":
        total = Counter(self.terms)
        total.update(_polynomial(other).terms)
        return Polynomial({monomial: count for monomial, count in total.items() if count})

    def __mul__(self, other: "Polynomial | int") -> "Polynomial":
        total: Counter[Monomial] = Counter()
        for left, i in self.terms.items():
            for right, j in _polynomial(other).terms.items():
                total[tuple(sorted(left + right))] += i * j
        return Polynomial({monomial: count for monomial, count in total.items() if count})

    __radd__ = __add__
    __rmul__ = __mul__

    def __str__(self) -> str:
        """Write the powers of the recurrent weight rising, as the paper does."""
        if not self.terms:
            return "0"
        ordered = sorted(self.terms.items(), key=lambda term: (_degree(term[0]), term[0]))
        return " + ".join(_shown(monomial, count) for monomial, count in ordered)


def symbols(names: str) -> list[Polynomial]:
    """Return one polynomial for each of the letters."""
    return [Polynomial({(name,): 1}) for name in names.split()]


@positive_part.register
def _(x: Polynomial) -> Polynomial:
    return Polynomial({(f"max(0, {x})",): 1})


def _polynomial(value: Polynomial | int) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial({(): value} if value else {})


def _degree(monomial: Monomial) -> int:
    return sum(name not in _STEPS for name in monomial)


def _shown(monomial: Monomial, count: int) -> str:
    factors = [
        ("·" if len(name) > 1 else "") + name + (str(power).translate(_SUPERSCRIPTS) if power > 1 else "")
        for name, power in Counter(monomial).items()
    ]
    return ("" if count == 1 and factors else str(count)) + "".join(factors).lstrip("·")
