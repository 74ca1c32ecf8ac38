"""When a linear network of any dimension computes the count: Theorem 1 for every output, each equation decided in rationals.

An output is y = s·(n − m) + C on every string iff a token always changes it by s or −s. That is a linear equation in the state,
so it holds on every string if it holds on strings whose states span all that can be reached. At most d + 1 strings do; they are
found by trying longer and longer ones (Schützenberger).

**One matrix U for both tokens.** Then y = C + Σ_{k<T} γ_k + Σ_{k: opening} δ_k (`affine`), and two sequences say the same: what a
bracket adds by opening instead of closing is δ_k = 2·s for all k, and the drift ε_k = γ_k + δ_k/2 = v·U^k·((U − I)·h₀ + (a +
b)/2) is 0. Both are linear recurrences of order d (Cayley and Hamilton), so k ≤ d and k < d decide. For one unit these are a/b =
−1 and U = 1.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells.conditions import Condition, show
from tallystick.certificates.linear.affine import AffineNetwork, affine_network
from tallystick.certificates.linear.odd_lengths import terms_of
from tallystick.certificates.linear.picture import picture_of
from tallystick.errors import BadInput
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.tasks import BINARY
from tallystick.networks import Network, Readout
from tallystick.networks.readout import COUNT, GREATEST, SIGN, ZERO
from tallystick.numbers import exact
from tallystick.numbers.values import exact_number, is_writable

_HALF = Fraction(1, 2)


class Fact(NamedTuple):
    """Something to know of a network beside its conditions: in words, and as a number where there is one."""

    name: str
    finding: str
    value: Fraction | float | None

    def as_json(self) -> dict[str, object]:
        """Return the fact as plain data."""
        value = self.value
        if isinstance(value, Fraction):
            return {**self._asdict(), "value": exact_number(value) if is_writable(value) else None}
        return self._asdict()


class _Output(NamedTuple):
    """An output, or the difference of two: its name, and a network that has it alone."""

    name: str
    network: Network
    affine: AffineNetwork

    @property
    def scale(self) -> int:
        """What the affine network's output is y times: it may be −y, which is compared with 0 all the same."""
        ((_, direction, _),) = self.affine.forms[1]
        return direction * self.affine.scales[0]

    @property
    def constant(self) -> Fraction:
        """C, the output before the first token."""
        return Fraction(self.affine.constants[0], self.scale)


def network_conditions(network: Network) -> list[Condition]:
    """Return the conditions under which a linear network computes the count and answers by it.

    >>> from tallystick.cells import LinearLayer
    >>> layer = LinearLayer(((1, -1), (0.25, 0)), ((1, 0), (0, 0.5)), (0, 0), (0, 0))
    >>> found = network_conditions(Network(layer, Readout(((1, 1),), (-0.75,))))
    >>> [condition.formula for condition in found]  # doctest: +NORMALIZE_WHITESPACE
    ['δ_0 ≠ 0', 'δ_1 = δ_0', 'δ_2 = δ_0', 'ε_0 = 0', 'ε_1 = 0', 'right at counts of −1, 0 and 1']
    >>> found[1].finding
    'δ_1 = 17/8 (2.125), off by -1/8 (-0.125)'
    """
    outputs = _outputs(network)
    found: list[Condition] = []
    lines: list[tuple[Fraction, Fraction]] = []
    for output in outputs:
        step, equations = (_shared if output.affine.is_shared else _reachable)(output, network.readout.decision)
        lines.append((step, output.constant))
        prefix = "" if len(outputs) == 1 else f"{output.name}: "
        found += [condition._replace(formula=prefix + condition.formula) for condition in equations]
    return [*found, _constants(network, lines)]


def network_facts(network: Network) -> list[Fact]:
    """Return what else is known of a linear network with one matrix: where δ goes, and how much room that leaves."""
    outputs = _outputs(network)
    return [
        fact._replace(name=fact.name if len(outputs) == 1 else f"{output.name}: {fact.name}")
        for output in outputs
        if output.affine.is_shared
        for fact in _facts(output, by_sign=network.readout.decision in (SIGN, GREATEST))
    ]


def _outputs(network: Network) -> list[_Output]:
    """Return the one output, or the differences of all others to the first; refuse what is no linear network."""
    readout = network.readout.map_weights(exact)
    first, *others = zip(readout.weight, readout.bias, strict=True)
    rows = [("y", *first)]
    if others:
        names = [str(name) for name in network.task.classes]
        rows = [
            (f"y_{name} − y_{names[0]}", tuple(v - u for v, u in zip(row, first[0], strict=True)), bias - first[1])
            for name, (row, bias) in zip(names[1:], others, strict=True)
        ]
    found: list[_Output] = []
    for name, row, bias in rows:
        alone = Network(network.cell, Readout((row,), (bias,), SIGN), BINARY)
        affine = affine_network(alone)
        if affine is None:
            raise BadInput(f"cell: no counting theorem is known for a {type(network.cell).__name__}")
        found.append(_Output(name, alone, affine))
    return found


# --- Equations ----------------------------------------------------------------------------------------------------------------


def _shared(output: _Output, decision: str) -> tuple[Fraction, list[Condition]]:
    """Return s and the equations of a network with one matrix."""
    size, scale = output.affine.size, output.scale
    terms = [(opening / scale, drift / scale) for opening, drift in islice(terms_of(output.affine), size + 1)]
    first = terms[0][0]
    return first / 2, [
        _first("δ_0", first, "2" if decision == COUNT else None),
        *(Condition.equation(f"δ_{k}", terms[k][0], "δ_0", first) for k in range(1, size + 1)),
        *(
            Condition.equation(f"ε_{k}", drift + opening / 2, "0", Fraction(0))
            for k, (opening, drift) in enumerate(terms[:size])
        ),
    ]


def _reachable(output: _Output, decision: str) -> tuple[Fraction, list[Condition]]:
    """Return s and the equations of a network with a matrix per token, at strings whose states span all others."""
    found = list(_spanning_strings(output))
    step = found[0][1]
    equations = [_first("s", step, "1" if decision == COUNT else None)]
    for string, opening, closing in found:
        for token, change, name, target in ((OPEN, opening, "s", step), (CLOSE, closing, "−s", -step)):
            if string or token != OPEN:
                left = f'y["{string}{token}"] − y["{string}"]'
                equations.append(Condition.equation(left, change, name, target))
    return step, equations


def _first(name: str, value: Fraction, target: str | None) -> Condition:
    """Return what is asked of the first change: that it is not 0, or for the count itself which number it is."""
    if target is not None:
        return Condition.equation(name, value, target, Fraction(target))
    return Condition(f"{name} ≠ 0", value != 0, f"{name} = {show(value)}", value)


def _spanning_strings(output: _Output) -> Iterator[tuple[str, Fraction, Fraction]]:
    """Go through the strings, each with what either token adds to its output; none is a combination of those before it."""
    affine, scale = output.affine, output.scale
    maps = [
        (matrix * Fraction(1, affine.divisor), affine.steps[:, place]) for place, matrix in enumerate(affine.matrices)
    ]
    reduced: list[tuple[int, NDArray[Any]]] = []
    one: NDArray[Any] = np.full(1, Fraction(1), object)
    waiting = [("", np.full(affine.size, Fraction(0), object))]
    for string, state in waiting:
        rest = np.concatenate([state, one])
        for pivot, row in reduced:
            rest = rest - rest[pivot] * row
        pivot = next((place for place, entry in enumerate(rest.tolist()) if entry), None)
        if pivot is None:
            continue
        reduced.append((pivot, rest / rest[pivot]))
        after = [matrix @ state + step for matrix, step in maps]
        opening, closing = (Fraction(affine.outputs[0] @ (next_state - state)) / scale for next_state in after)
        yield string, opening, closing
        waiting += [(string + token, next_state) for token, next_state in zip((OPEN, CLOSE), after, strict=True)]


def _constants(network: Network, lines: list[tuple[Fraction, Fraction]]) -> Condition:
    """Return what is asked of the constants, given s and C of each output or difference."""
    (step, constant), decision = lines[0], network.readout.decision
    if decision == ZERO:
        return Condition.equation("C", constant, "0", Fraction(0))
    if decision == COUNT:
        return Condition("|C| < 1/2", abs(constant) < _HALF, f"C = {show(constant)}", constant)
    size = len(network.readout.bias)
    identity = tuple(tuple(int(i == j) for j in range(size)) for i in range(size))
    by_value, first = Readout(identity, (0,) * size, decision), (0,) if size > 1 else ()
    found = [by_value.class_index((*first, *(s * count + C for s, C in lines))) for count in (-1, 0, 1)]
    right = [network.task.index_of_count(count) for count in (-1, 0, 1)]
    given = ", ".join(network.task.name_of(index) for index in found)
    if size == 1:
        given = f"{given}, with s = {show(step)} and C = {show(constant)}"
    return Condition("right at counts of −1, 0 and 1", found == right, given, constant if size == 1 else None)


# --- Facts --------------------------------------------------------------------------------------------------------------------


def _facts(output: _Output, *, by_sign: bool) -> Iterator[Fact]:
    (picture,) = picture_of(output.network, 1).outputs
    if picture.limit is None:
        yield Fact("L", "δ_k has no limit", None)
        return
    if not picture.limit:
        yield Fact("L", "0: the readout does not see the eigenvalue 1, so that some length fails", picture.limit)
        return
    yield Fact("L", f"{show(picture.limit)}, the limit of δ_k: the readout sees the eigenvalue 1", picture.limit)
    if by_sign and picture.deviation is not None:
        room, terms = show(abs(picture.limit) / 2), len(picture.openings)
        said = f"about {picture.deviation:.6g} over the first {terms} k; a network may be right at every length if it is at most"
        yield Fact("Σ|δ_k − L|", f"{said} L/2 = {room}", picture.deviation)
