"""Networks whose state is a closed form of what was read: right at every length, or wrong first after millions of tokens.

For each place of the machine's configurations (`places`) there is a family that holds every state of the network there
(`invariants`). What is right is the same in a whole place. So an answer is wrong exactly where some comparisons between outputs
hold, and these are linear inequalities in the family's variables, or have such for bounds. If no whole point of any family meets
them, the network is right for ever. Else the one that stands for the shortest string is looked at by itself: where its answer is
indeed wrong, and a string that leads there is found, this is a shortest failing string.

Where that fails, places are made smaller: counters known exactly further from zero, more of the latest tokens known.

As executed the same holds as long as nothing is rounded. Where an operation begins to round once a token has been read some
number of times, places are parted there (`Grid.borders`): beyond it a state may stay what it is for ever.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from math import ceil

from tallystick.cells import inputs_of
from tallystick.certificates.closed_forms.affine import Needed, Rounds
from tallystick.certificates.closed_forms.invariants import grow_invariants
from tallystick.certificates.closed_forms.mistakes import LONGEST, Proof, shortest_failure
from tallystick.certificates.closed_forms.paths import Turns
from tallystick.certificates.closed_forms.places import Grid, largest_step
from tallystick.certificates.closed_forms.polyhedra import Form, Hopeless, Polyhedron, Undecided
from tallystick.certificates.closed_forms.runner import Loose, Runner
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import REAL, Failure, Outcome, Verdict
from tallystick.errors import BadInput
from tallystick.networks import Network
from tallystick.networks.readout import COUNT
from tallystick.networks.steps import STEPWISE, THRESHOLD
from tallystick.numbers import FORMATS
from tallystick.numbers.values import exact_number, numbers_of

METHOD = "closed form"

_FINER = ((0, 1, True), (0, 1, False), (1, 2, True))
"""How much further from zero counters are known, how many of the latest tokens, and whether a step may go two ways in one place,
from one attempt to the next."""
_MOST_ATTEMPTS = 12
_LONGEST_TRIED, _MOST_TRIED = 6, 150
_RUN = 12
"""How often a token is read to see whether anything counts it."""
_WORTHWHILE = 10_000
"""A bound that a search would reach too is left to it."""


def decide_by_closed_form(network: Network, scope: Scope) -> Verdict | None:
    """Decide a network at every length, or as executed up to where operations round, or return None."""
    found = proof_of(network, scope)
    if found is None:
        return None
    proof, failure = found
    parts = f"{len(proof.invariants)} parts of the machine's configurations"
    followed = f"its state is a closed form of what was read in each of {parts}"
    if scope.arithmetic != REAL:
        followed += f", as NumPy executes the step in {scope.arithmetic}"
    known = None
    if failure is not None and (proof.reach is None or failure.length <= proof.reach + 1):
        outcome, horizon = Outcome.REFUTED, scope.lengths.before(failure.length)
        reason = (
            f"a string of length {failure.length} gets {failure.found} instead of {failure.right}; no shorter counted one fails: "
            f"{followed}"
        )
    elif proof.reach is None:
        outcome, horizon = Outcome.PROVED, None
        reason = f"{followed}, and every answer there is right"
    else:
        if proof.reach <= (scope.limit or _WORTHWHILE):
            return None
        outcome, horizon, known, failure = Outcome.BOUNDED, proof.reach, failure, None
        horizon -= horizon % scope.lengths.stride
        reason = f"no number of its state is rounded up to there; {followed}, and every answer there is right"
    return Verdict(
        network, scope.lengths, scope.arithmetic, outcome, horizon, failure, METHOD, reason, known, scope.first
    )


def proof_of(network: Network, scope: Scope) -> tuple[Proof, Failure | None] | None:
    """Return families that decide a network, and a shortest failing string where there is one; None where nothing is found."""
    cell, decision = network.cell, network.readout.decision
    if cell.is_padded or decision in (THRESHOLD, COUNT):
        return None
    if not cell.is_rational if scope.arithmetic == REAL else scope.arithmetic not in FORMATS:
        return None
    if _fails_early(network, scope) or not (cell.is_rational or _seems_to_count(network, scope)):
        return None
    near, bounded = largest_step(network.task.machine), None
    for further, memory, turns in _FINER:
        if bounded is not None and turns:
            break
        try:
            runner = Runner(network, FORMATS.get(scope.arithmetic))
            runner.path.turns = turns
            found = _attempt(runner, Grid(network.task, near + further, memory), scope)
        except Hopeless:
            break
        except Undecided:
            continue
        if found[0].reach is None:
            return found
        bounded = bounded or found
    return bounded


def _fails_early(network: Network, scope: Scope) -> bool:
    """Say whether some short string seems to fail, which every search finds sooner; in doubles, since nothing rests on it."""
    strings = (
        one
        for length in scope.lengths.upto(_LONGEST_TRIED, scope.first)
        for one in product(network.alphabet, repeat=length)
    )
    try:
        executed = network.in_arithmetic("float64" if scope.arithmetic == REAL else scope.arithmetic)
        for string in islice(strings, _MOST_TRIED):
            right = network.right_class(string)
            if right is not None and executed.class_of(string) != right:
                return True
    except BadInput:  # weights that no double holds
        return False
    return False


def _seems_to_count(network: Network, scope: Scope) -> bool:
    """Say whether a number of the state moves evenly along some run of one token, and none that grows moves otherwise.

    Nothing rests on it: most networks whose gates are not saturated are told apart so, long before families of their states are.
    """
    executed = network.in_arithmetic(scope.arithmetic)
    counts = False
    for token in inputs_of(network.alphabet).values():
        states = [executed.cell.start_of(0)]
        for _ in range(_RUN):
            states.append(executed.cell.step(states[-1], token))
        for before, middle, last in zip(*map(numbers_of, states[-3:]), strict=True):
            is_even = last - middle == middle - before
            if not is_even and abs(last) > 1:
                return False
            counts |= bool(is_even and last != middle)
    return counts


def _attempt(runner: Runner, grid: Grid, scope: Scope) -> tuple[Proof, Failure | None]:
    """Grow families and compare; as executed with borders where operations begin to round."""
    stepwise = runner.network.readout.decision in STEPWISE
    for _ in range(_MOST_ATTEMPTS):
        try:
            families = grow_invariants(runner, grid, only_live=stepwise, bound_states=not stepwise)
            proof = Proof(grid, runner, families)
            return proof, shortest_failure(proof, scope)
        except Needed as error:
            runner.aside.discard(error.place)
        except Loose as error:
            runner.loose |= error.places
        except Turns as error:
            border = _border(runner, grid, error.polyhedron, error.form, error.form.times(Fraction(-1)))
            if border is None:
                runner.path.turns = True
            else:
                grid = grid.with_border(*border)
        except Rounds as error:
            border = _border(runner, grid, error.polyhedron, error.form)
            if border is not None:
                grid = grid.with_border(*border)
            elif grid.borders and not grid.closed:
                grid = replace(grid, closed=True)
            else:
                raise
    raise Undecided("operations round in too many ways")


def _border(runner: Runner, grid: Grid, polyhedron: Polyhedron, *forms: Form) -> tuple[str, int] | None:
    """Return a token, and how often it may be read before one of these forms is above 0; None where no border is new."""
    found: list[tuple[int, int, str]] = []
    for form in forms:
        part = polyhedron.cut((form.above_zero(),))
        for token, read in zip(runner.alphabet, runner.read, strict=True):
            least = None if part.is_empty else part.least(read)
            known = grid.borders.get(token, ())
            if least is not None and 1 < least <= LONGEST and ceil(least) - 1 not in known:
                found.append((len(known), -ceil(least), token))
    if not found:
        return None
    _, size, token = min(found)
    return token, -size - 1


def keeps_all(verdict: Verdict) -> bool:
    """Say whether every number of the state is a closed form of what was read."""
    found = proof_of(verdict.network, Scope(verdict.lengths, verdict.first, verdict.arithmetic, None))
    return found is not None and not found[0].runner.aside


def closed_form_evidence(verdict: Verdict) -> dict[str, object]:
    """Return what a certificate holds of a verdict in real arithmetic, so that others can check the induction.

        {"method": "closed form", "near": K, "memory": J, "kept": [i, …],
         "places": [{"state": "b", "counters": [0, "+"], "latest": ["b"],
                     "point": […], "directions": [[…], …], "least": […], "most": […]}, …]}

    A place is all configurations with this state whose counters are as listed ("+": at least K, "-": at most −K, else the number
    itself) after strings that end with these J latest tokens (fewer where the string is shorter). Coordinates are, in this order:
    how often each token of the alphabet was read, the counters, and the kept numbers of the network's state (their places in its
    `start`). No step looks at the others. The family of a place is all point + Σ λᵢ·directionsᵢ whose coordinates lie between
    `least` and `most`, where null is no bound, and within what the place says of its counters; token counts are at least 0.

    To check: the start lies in its place's family. From every family, each token leads into the family of the place that it
    leads to; with `next` and `support` places from which nothing is accepted are left out. Every answer after such a token is
    right, and the one before the first; or for a refuted network, it is wrong at no whole point that stands for a shorter string
    than the counterexample, which is wrong.
    """
    scope = Scope(verdict.lengths, verdict.first, verdict.arithmetic, None)
    found = proof_of(verdict.network, scope) if verdict.arithmetic == REAL else None
    if found is None:
        raise BadInput(
            f"arithmetic: closed forms in {verdict.arithmetic} have no certificate; certify in {REAL} arithmetic"
        )
    proof, _ = found
    size, aside = proof.runner.size, proof.runner.aside

    def numbers(point: Sequence[Fraction | None]) -> list[object]:
        kept = [x for place, x in enumerate(point) if place not in aside]
        return [None if x is None else exact_number(x, "closed form") for x in kept]

    places = [
        {
            "state": place.state,
            "counters": list(place.counters),
            "latest": list(place.latest),
            "point": numbers(one.point),
            "directions": [numbers(direction) for direction in one.directions],
            "least": numbers(one.least),
            "most": numbers(one.most),
        }
        for place, one in proof.invariants.items()
    ]
    kept = [place - size for place in range(size, len(proof.runner.start_point())) if place not in aside]
    return {"method": METHOD, "near": proof.grid.near, "memory": proof.grid.memory, "kept": kept, "places": places}
