"""A cell run on letters: once on a solver's terms, to reason about h, and once on polynomials, to show it.

Polynomials print as the paper writes them:

>>> from tallystick import LinearCell
>>> a, b, U = symbols("a b U")
>>> print(LinearCell(a, b, U).final_state("(())"))
b + Ub + U²a + U³a
"""

from collections import Counter
from dataclasses import dataclass

from tallystick.cells import ONE_HOT, Cell
from tallystick.languages.brackets import CLOSE, OPEN, BracketLanguage
from tallystick.numbers import positive_part
from tallystick.theorems.proof import Formula, Step, Term, z3

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
        return " + ".join(_monomial(monomial, count) for monomial, count in ordered)


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


def _monomial(monomial: Monomial, count: int) -> str:
    factors = [
        ("·" if len(name) > 1 else "") + name + (str(power).translate(_SUPERSCRIPTS) if power > 1 else "")
        for name, power in Counter(monomial).items()
    ]
    return ("" if count == 1 and factors else str(count)) + "".join(factors).lstrip("·")


@dataclass(frozen=True)
class SymbolicCell:
    """A kind of cell with letters for weights, and the language it should accept by the zero check."""

    terms: Cell
    letters: Cell
    language: BracketLanguage

    @classmethod
    def of(cls, kind: type[Cell], names: str, language: BracketLanguage) -> "SymbolicCell":
        """Make a cell of the given kind whose weights are the letters in `names`, in the order of its fields."""
        return cls(kind(*z3.Reals(names)), kind(*symbols(names)), language)

    def right_on(self, string: str) -> Formula:
        """The zero check gives the right answer on `string`."""
        h = self.terms.final_state(string)
        return h == 0 if self.language.contains(string) else h != 0

    def after_open(self, h: Term) -> Term:
        """The state after one more `(`."""
        return self.terms.step(h, ONE_HOT[OPEN])

    def after_close(self, h: Term) -> Term:
        """The state after one more `)`."""
        return self.terms.step(h, ONE_HOT[CLOSE])

    def case(self, string: str, finding: str, shows: Formula, given: tuple[Formula, ...] = ()) -> Step:
        """Make the step from being right on `string` to a finding about the weights."""
        relation = "must be" if self.language.contains(string) else "must not be"
        return Step(
            claim=f"h {relation} 0, hence {finding}",
            assuming=(*given, self.right_on(string)),
            shows=shows,
            string=string,
            state=str(self.letters.final_state(string)),
        )
