"""Closed forms: the induction by which families hold all that a network can be (`families`), and the answers that follow.

The start lies in its family, and from every family each token leads into that of the place to which it leads. Then what is said
after each of these steps is proved right, at every length or to the horizon. With `next` and `support` places from which no
member goes on are left out.
"""

from collections.abc import Iterator
from fractions import Fraction

from .answers import TooCostly, require
from .asked import NEXT, SUPPORT, Asked
from .effort import Limit
from .families import Families, Family, Key, axes_of, between, is_zero, outside, plus, within
from .language_claims import LanguageClaim, LanguageExample
from .places import Place, Way
from .polyhedra import Form
from .symbols import Region, Symbol, combined, is_impossible, runs_of

_NONE = Fraction(0)


class ClosedForm(Families):
    """A closed form, and what follows from it."""

    def check(self) -> None:
        """The start lies in its family, every step leads into one, and what is said there is right."""
        state, said = self._start()
        start = self.places.of(self.network.language.start)
        self._require_in((start, ()), [combined([], x, 0) for x in state], Region((), (), self.limit))
        if self.claim.is_counted(0) and (self.claim.horizon is None or self.claim.horizon >= 0):
            self._require_right(start, said, Region((), (), self.limit))
        for key in self.families:
            for token in range(self.tokens):
                for way in self.places.ways(key[0], token):
                    self.limit.stop_in_time()
                    if not self.network.is_stepwise or self.places.is_live(way.after):
                        self._check_way(key, token, way)

    def _start(self) -> tuple[list[Fraction], list[Symbol]]:
        """Return the point of the empty string, and its outputs."""
        size = len(self.network.start)
        state: list[Symbol | None] = [combined([], x, 0) for x in self.network.start]
        ((_, results),) = runs_of((*self.network.first, self.network.hidden), state, Region((), (), self.limit))
        after = results[-2] if self.network.first else state
        known = [symbol.constant if symbol is not None else None for symbol in after]
        require(
            all(known[place] is not None for place in self.kept) and len(known) == size, "the start is not rational"
        )
        numbers = [known[place] or _NONE for place in self.kept]
        return [*(_NONE,) * self.size, *numbers], self._outputs(results[-1], 0)

    def _outputs(self, hidden: list[Symbol | None], size: int) -> list[Symbol]:
        found: list[Symbol] = []
        for weights, bias in self.network.readout.lines:
            seen = [(weight, symbol) for weight, symbol in zip(weights, hidden, strict=True) if weight]
            terms = [(weight, symbol) for weight, symbol in seen if symbol is not None]
            if len(terms) < len(seen):
                raise TooCostly("an output looks at a number of which the closed form says nothing")
            found.append(combined(terms, bias, size))
        return found

    def _check_way(self, key: Key, token: int, way: Way) -> None:
        family, (_, latest) = self.families[key], key
        target = way.after, (*latest, token)[-self.memory :]
        size = len(family.directions)
        rows = [row for bound in way.bounds for row in within(family.forms, bound, self.tokens)]
        for region, results in self._steps(family, token, family.region.cut(*rows)):
            after, hidden = results
            read = [plus(form, int(at == token)) for at, form in enumerate(family.forms[: self.tokens])]
            counters = [
                (_NONE,) * (size + 1) if added is None else plus(form, added)
                for form, added in zip(family.forms[self.tokens : self.size], way.updates, strict=True)
            ]
            kept = [after[place] for place in self.kept]
            known = [symbol for symbol in kept if symbol is not None and not symbol.squashed]
            require(len(known) == len(kept), "a kept number is not an affine function of what was read")
            self._require_in(target, [*map(Symbol, (*read, *counters)), *known], region)
            length = combined([(Fraction(1), Symbol(form)) for form in read], _NONE, size).form
            self._require_right(way.after, self._outputs(hidden, size), self._counted(region, length))

    def _steps(self, family: Family, token: int, region: Region) -> Iterator[tuple[Region, list[list[Symbol | None]]]]:
        state: list[Symbol | None] = [None] * len(self.network.start)
        for place, form in zip(self.kept, family.forms[self.size :], strict=True):
            state[place] = Symbol(form)
        return runs_of((self.network.steps[token], self.network.hidden), state, region)

    def _counted(self, region: Region, length: Form) -> Region:
        """Return the part of a region whose strings may count."""
        return region.cut(
            *between(
                length, Fraction(self.claim.first), None if self.claim.horizon is None else Fraction(self.claim.horizon)
            )
        )

    def _require_in(self, key: Key, coordinates: list[Symbol], region: Region) -> None:
        """Refuse a step that leads out of the family of its place."""
        require(key in self.families, "a step leads to a place without a family")
        family, size = self.families[key], len(region.whole)
        axes = axes_of(family)
        forms = [symbol.form for symbol in coordinates]
        for at, form in enumerate(forms):
            terms = [(Fraction(1), Symbol(form))]
            for direction, (axis, inverse) in zip(family.directions, axes, strict=True):
                away = combined([(Fraction(1), Symbol(forms[axis]))], -family.point[axis], size)
                terms.append((-direction[at] * inverse, away))
            rest = combined(terms, -family.point[at], size).form
            require(is_zero(rest, region), "a step leads out of its family")
            for edge in outside(form, family.least[at], family.most[at]):
                require(region.has_none(edge, strict=True), "a step leads out of its family")

    # --- What is said -----------------------------------------------------------------------------------------------------------

    def _require_right(self, place: Place, outputs: list[Symbol], region: Region) -> None:
        """Refuse a place in which something else than what is right may be said."""
        if region.is_empty:
            return
        size = len(region.whole)
        nothing = combined([], _NONE, size)

        def less(x: Symbol, y: Symbol) -> Symbol:
            return combined([(Fraction(1), x), (Fraction(-1), y)], _NONE, size)

        if self.network.readout.kind == SUPPORT:
            allowed = self.places.allowed(place)
            for named, output in zip(self.network.places, outputs, strict=True):
                condition = (less(nothing, output), False) if named in allowed else (output, True)
                self._require_shown(is_impossible([condition], region))
            return
        right = self._right(place)
        if right is None:
            return
        shown = [*outputs, nothing]
        comparisons = self.network.readout.decision.comparisons
        for index, needed in enumerate(comparisons):
            met = [(less(shown[one.greater], shown[one.less]), one.strict) for one in needed]
            if index == right and right:
                for symbol, strict in met:
                    opposite = less(nothing, symbol), not strict
                    self._require_shown(is_impossible([opposite], region))
            elif index and index != right:
                self._require_shown(is_impossible(met, region))

    def _require_shown(self, is_right: bool) -> None:
        """Refuse families that hold a wrong answer; where only even lengths count, it may be that of an odd one."""
        if not is_right and self.claim.stride > 1:
            raise TooCostly(
                "the families hold strings of odd length, too, and do not show that those of even length are right"
            )
        require(is_right, "the families do not show that every answer is right")

    def _right(self, place: Place) -> int | None:
        """Return the class that is right in a place, or the output; None where nothing is asked."""
        if self.network.readout.kind != NEXT:
            return self.network.language.right_class(self.places.some(place))
        allowed = self.places.allowed(place)
        return self.network.places.index(min(allowed)) if len(allowed) == 1 else None

    def right_of(self, example: LanguageExample) -> str:
        """Return in words what is right for a string."""
        configuration = self.network.language.start
        for token, size in example.runs:
            configuration = self.network.language.after_run(configuration, token, size, self.limit)
        if not self.network.is_stepwise:
            return self.network.classes[self.network.language.right_class(configuration)]
        allowed = self.places.allowed(self.places.of(configuration))
        asked = allowed and (self.network.readout.kind == SUPPORT or len(allowed) == 1)
        require(asked, "nothing is asked after the counterexample")
        return self.network.names_of(allowed)

    def said_of(self, example: LanguageExample) -> str:
        """Return in words what is said of a string, by the family of all but its last token."""
        require(example.runs, "the empty string is run by itself")
        token, size = example.runs[-1]
        before = [*example.runs[:-1], *([(token, size - 1)] if size > 1 else [])]
        configuration = self.network.language.start
        latest: list[int] = []
        for one, times in before:
            configuration = self.network.language.after_run(configuration, one, times, self.limit)
            latest = [*latest, *[one] * min(times, self.memory)][-self.memory :]
        key = self.places.of(configuration), tuple(latest)
        require(key in self.families, "a step leads to a place without a family")
        family = self.families[key]
        read = [sum(times for one, times in before if one == at) for at in range(self.tokens)]
        rows = [
            row
            for form, number in zip(family.forms, (*read, *configuration[1]), strict=False)
            for row in between(form, Fraction(number), Fraction(number))
        ]
        found: set[str] = set()
        for region, (_, hidden) in self._steps(family, token, family.region.cut(*rows)):
            found.add(self._words(self._outputs(hidden, len(family.directions)), region))
        if len(found) != 1:
            raise TooCostly("what is said of the counterexample does not follow from its family")
        return found.pop()

    def _words(self, outputs: list[Symbol], region: Region) -> str:
        """Return what is said everywhere in a region."""
        network, size = self.network, len(region.whole)
        shown = [*outputs, combined([], _NONE, size)]

        def is_above(greater: int, less: int) -> bool | None:
            difference = combined([(Fraction(1), shown[greater]), (Fraction(-1), shown[less])], _NONE, size)
            if is_impossible([(difference, True)], region):
                return False
            below = combined([(Fraction(-1), difference)], _NONE, size)
            return True if is_impossible([(below, False)], region) else None

        above = tuple(is_above(*pair) for pair in network.readout.decision.pairs)
        if network.readout.kind == SUPPORT:
            if None in above:
                raise TooCostly("what is said of the counterexample is not decided here")
            named = zip(network.places, above, strict=True)
            return network.names_of(frozenset(place for place, one in named if one))
        found = network.readout.decision.class_of(above)
        if found is None:
            raise TooCostly("what is said of the counterexample is not decided here")
        return network.names_of(frozenset({network.places[found]})) if network.is_stepwise else network.classes[found]


def check_closed_form(claim: LanguageClaim, limit: Limit) -> ClosedForm:
    """Check the induction and the answers; return the closed form, which says what is said of the counterexample."""
    network: Asked = claim.network
    require(claim.arithmetic == "real", "a closed form is one in real numbers")
    require(network.padding is None, "a closed form knows no padding")
    require(network.readout.kind != "threshold", "a closed form answers without a threshold")
    found = ClosedForm(claim, limit)
    found.check()
    return found
