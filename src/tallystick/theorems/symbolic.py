"""A cell run on letters: once on a solver's terms, to reason about h, and once on polynomials, to show it."""

from dataclasses import dataclass

from tallystick.cells import ONE_HOT, Cell
from tallystick.languages.brackets import CLOSE, OPEN, BracketLanguage
from tallystick.theorems.polynomial import symbols
from tallystick.theorems.proof import Step
from tallystick.theorems.solver import Formula, Term, z3


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

    def opened(self, h: Term) -> Term:
        """The state after one more `(`."""
        return self.terms.step(h, ONE_HOT[OPEN])

    def closed(self, h: Term) -> Term:
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
