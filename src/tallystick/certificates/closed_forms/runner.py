"""A network that runs on families: its own step and outputs, on affine numbers."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tallystick.cells import inputs_of
from tallystick.certificates.closed_forms.affine import (
    Affine,
    Aside,
    Near,
    Needed,
    Rising,
    Rounds,
    Symbolic,
    number_on,
)
from tallystick.certificates.closed_forms.bounds import ROUND
from tallystick.certificates.closed_forms.families import Family, Point
from tallystick.certificates.closed_forms.paths import Path, paths
from tallystick.certificates.closed_forms.places import Move
from tallystick.certificates.closed_forms.polyhedra import Form, Hopeless, Polyhedron, Undecided
from tallystick.networks import Network
from tallystick.numbers import Number
from tallystick.numbers.floats import FloatFormat
from tallystick.numbers.values import exact, map_states, numbers_of

_ZERO, _ONE = Fraction(0), Fraction(1)


class Loose(Undecided):
    """Some numbers of a state are not affine, but lie between −1 and 1, as what a tanh and a sigmoid give."""

    def __init__(self, places: set[int]) -> None:
        super().__init__("a state that is not an affine function of what was read")
        self.places = places


class Runner:
    """A network that runs on families.

    Attributes:
        network: its weights rational, or of the arithmetic as executed.
        path: what its numbers live on.
        alphabet: its tokens.
        size: how many coordinates are not of the network's state.
        read: how often each token was read, on the family that it runs on.
        aside: coordinates that no step looks at, such as what only the outputs are made of; families leave them out.
        loose: coordinates of which steps need to know no more than that they lie between −1 and 1; families leave them out too.
    """

    def __init__(self, network: Network, form: FloatFormat | None) -> None:
        self.path = Path(Polyhedron(0, ()), form=form)
        exactly = network.in_arithmetic("rational" if form is None else form.name)
        if form is not None:  # constants are rounded wherever they meet
            exactly = exactly.map_weights(self._weight)
        self.network, self.alphabet = exactly, network.alphabet
        self.size = len(self.alphabet) + network.task.machine.counters
        self._inputs = inputs_of(self.alphabet)
        self._start_state = exactly.cell.start_of(0)
        numbers = numbers_of(self._start_state)
        self.aside = set(range(self.size, self.size + len(numbers)))
        self.loose: set[int] = set()
        self.read: list[Form] = []
        self._find_needed(numbers)

    def _weight(self, weight: Number, name: str) -> Symbolic:
        return number_on(self.path, exact(weight, name))

    def _number(self, number: Number) -> Symbolic:
        return number_on(self.path, number)

    def _find_needed(self, numbers: list[Any]) -> None:
        """Take every number out of those left aside that a first step looks at."""
        start = Family((_ZERO,) * (self.size + len(numbers)), (), Polyhedron(0, ()), whole=True)
        waiting = list(self.alphabet)
        while waiting:
            try:
                self.network.cell.step(self.state(start), self._inputs[waiting[-1]])
                waiting.pop()
            except Needed as error:
                self.aside.discard(error.place)

    def start_point(self) -> Point:
        """Return where the empty string is."""
        self.path.begin(Polyhedron(0, ()), [], whole=True)
        return (*(_ZERO,) * self.size, *(form.constant for form in self._forms(numbers_of(self._start_state))))

    def _forms(self, numbers: list[Any]) -> list[Form]:
        """Return numbers as forms on what is left of the polyhedron, with 0 for those that are left aside."""
        forms: list[Form] = []
        loose: set[int] = set()
        for place, number in enumerate(numbers, start=self.size):
            found = number_on(self.path, number)
            if place in self.aside or place in self.loose:
                self._require_bounds(place, found)
                forms.append(self.path.constant(_ZERO))
            elif isinstance(found, Affine):
                constant = found.form.is_constant
                forms.append(self.path.constant(found.form.constant) if constant else found.form)
            elif isinstance(found, Rising) and found.name == ROUND:
                raise Rounds(found)
            else:
                self._require_bounds(place, found)
                loose.add(place)
        if loose:
            raise Loose(loose)
        return forms

    def _require_bounds(self, place: int, number: Symbolic) -> None:
        """Fail where a number that is left aside may be infinite, or a loose one beyond its bounds."""
        if place in self.aside:
            if isinstance(number, Rising):
                number.require_finite()
            return
        least, most = (None, None) if self.path.form is None else number.enclosure().range()
        if least is None or most is None or least < -1 or most > 1:
            raise Hopeless("a state that is not an affine function of what was read")

    def state(self, family: Family) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the state of the network at a family's points."""
        self.read = [family.form(place) for place in range(len(self.alphabet))]
        places = iter(range(self.size, len(family.point)))

        def number(_: object) -> Symbolic:
            place = next(places)
            if place in self.loose:
                return Near(self.path, self.path.constant(_ZERO), -_ONE, _ONE)
            return Aside(self.path, place) if place in self.aside else Affine(self.path, family.form(place))

        return map_states(number, self._start_state)

    def steps(self, family: Family, token: str, move: Move) -> Iterator[Family]:
        """Go through the families that a token leads to, which together hold all that it leads to."""
        for _, after, _ in self.answers(family, token, move, with_outputs=False):
            yield after.reduce()

    def answers(
        self, family: Family, token: str, move: Move, *, with_outputs: bool = True
    ) -> Iterator[tuple[Family, Family, list[Symbolic]]]:
        """Go through the parts of a family, the families that a token leads to from each, and the outputs there.

        While one is looked at, `path` holds the polyhedron of its λ.
        """
        part = family.cut(move.bounds)
        if part.polyhedron.is_empty:
            return

        def run() -> tuple[list[Form], list[Symbolic]]:
            state = self.network.cell.step(self.state(part), self._inputs[token])
            return self._forms(numbers_of(state)), self._outputs(state) if with_outputs else []

        for numbers, outputs in paths(self.path, part.polyhedron, run, whole=part.whole):
            read = [_shift(part.form(i), int(name == token)) for i, name in enumerate(self.alphabet)]
            counters = [
                self.path.constant(_ZERO) if change is None else _shift(part.form(len(self.alphabet) + i), change)
                for i, change in enumerate(move.changes)
            ]
            forms = [*read, *counters, *numbers]
            directions = tuple(tuple(form.weights[i] for form in forms) for i in range(self.path.polyhedron.dimension))
            after = Family(tuple(form.constant for form in forms), directions, self.path.polyhedron, part.whole)
            yield part, after, outputs

    def first_outputs(self) -> list[Symbolic]:
        """Return the outputs before the first token."""
        return next(paths(self.path, Polyhedron(0, ()), lambda: self._outputs(self._start_state), whole=True))

    def _outputs(self, state: Any) -> list[Symbolic]:  # noqa: ANN401
        outputs = [self._number(y) for y in self.network.outputs_of_state(map_states(self._number, state))]
        return [y.settled() if isinstance(y, Rising) and y.name != ROUND else y for y in outputs]


def _shift(form: Form, amount: int) -> Form:
    return Form(form.weights, form.constant + amount)
