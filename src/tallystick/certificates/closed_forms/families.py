"""Families: all points of an affine space whose coordinates lie within bounds."""

from dataclasses import dataclass
from fractions import Fraction

from tallystick.certificates.closed_forms.places import Bound
from tallystick.certificates.closed_forms.polyhedra import Form, Polyhedron

Point = tuple[Fraction, ...]

_ONE = Fraction(1)


@dataclass(frozen=True)
class Family:
    """Points x₀ + Σ λᵢ·dᵢ, the λ of which lie in a polyhedron.

    Attributes:
        point: x₀.
        directions: the d.
        polyhedron: the λ.
        whole: whether every λ is a whole number.
    """

    point: Point
    directions: tuple[Point, ...]
    polyhedron: Polyhedron
    whole: bool

    def form(self, coordinate: int) -> Form:
        """Return a coordinate as a function of λ."""
        return Form(tuple(d[coordinate] for d in self.directions), self.point[coordinate])

    def at(self, values: Point) -> Point:
        """Return the point with these λ."""
        return tuple(self.form(coordinate).at(values) for coordinate in range(len(self.point)))

    def cut(self, bounds: tuple[Bound, ...]) -> "Family":
        """Return the points whose coordinates lie within bounds, with as few λ as these leave."""
        sides: list[Form] = []
        for coordinate, least, most in bounds:
            form = self.form(coordinate)
            if least is not None:
                sides.append(Form(form.weights, form.constant - least))
            if most is not None:
                sides.append(Form(form.times(-_ONE).weights, most - form.constant))
        return Family(self.point, self.directions, self.polyhedron.cut(sides), self.whole).reduce()

    def reduce(self) -> "Family":
        """Leave out a λ for every coordinate that can have one value only, and bounds that say nothing."""
        if self.polyhedron.is_empty:
            return self
        sides = self.polyhedron.sides
        for side in sides:
            if not side.is_constant and side.times(-_ONE) in sides:
                return self._solve(side).reduce()
        return self

    def _solve(self, equation: Form) -> "Family":
        """Leave out one λ, which an equation gives as a function of the others."""
        place = next(i for i, weight in enumerate(equation.weights) if weight)
        given = equation.times(-1 / equation.weights[place])

        def replace(form: Form) -> Form:
            full = form.plus(given.times(form.weights[place]))
            return Form((*full.weights[:place], *full.weights[place + 1 :]), full.constant)

        # With λ = given where given has −1 at its own place, the sum has 0 there.
        coordinates = [replace(self.form(i)) for i in range(len(self.point))]
        size = len(self.directions) - 1
        directions = tuple(tuple(form.weights[i] for form in coordinates) for i in range(size))
        sides = (replace(side) for side in self.polyhedron.sides)
        kept = tuple(dict.fromkeys(side for side in sides if not side.is_constant or side.constant < 0))
        return Family(tuple(form.constant for form in coordinates), directions, Polyhedron(size, kept), self.whole)
