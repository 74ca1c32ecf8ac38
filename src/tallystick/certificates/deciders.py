"""What decides how long a network can be trusted, over **all** strings in a named arithmetic.

What is right is said by the network's task: for most networks the class of the count n − m. Real arithmetic reads the weights
exactly and decides in rationals or between proved bounds; floating point is decided as executed, by the cell's own step.

A **decider** goes from a network, the lengths that count, an arithmetic and a limit to a verdict, or None where it cannot tell. A
cell lists the names of those that apply to it, best first (`Cell.deciders`). For a cell with one unit, whose maps rise or
fall with h:

- **theorem**, in real arithmetic: two lengths decide the zero check of a linear or selective cell (Theorems 1 and 2), also
  when only even lengths count: `()` gives b = −Q·a, `)(` gives a = −P·b, so P·Q = 1 unless a = b = 0, which `((` excludes
  together with P = −1. Two lengths also decide a cell whose closing map inverts its opening map (P·Q = 1, b = −Q·a; P = Q =
  1 for a linear one), with any readout. h is then a function h_d of the count d alone, with h_(d+1) − h_d = a·P^d. For P >
  0 it is monotone in d. Each comparison of a readout is the sign of w·h + c, monotone in h, and at lengths 1 and 2 it has
  the wanted signs at d = 0 and on either side of it; so it has them for every d. For P < 0, P ≠ −1, h_(d+2) − h_d = a·(1 +
  P)·P^d is of one sign for even d, so the same holds for even lengths; with odd ones 0 lies between h₁ and h₂ (P < −1), or
  between h₋₁ and h₋₂ (P > −1), which kills the ternary readout, and likewise the binary one: such a cell fails at length 1
  or 2. A ReLU cell with a > 0, U = 1 and b = −a has h = a·κ and is right on semi-Dyck-1 at every length (Theorem 3).
- **sorted strings**, in real arithmetic: any other linear cell with U > 0 is decided completely by a few strings per length
  (`sorted_strings`). U ≤ 0 fails by length 2. With s = a − b the states of `))`, `()`, `)(` and `((`
  are g, g + U·s, g + s and g + s + U·s. For U < 0 the balanced ones lie on both sides of `))`; for U = 0 `()` ends where `))`
  does. That settles the ternary readout; a binary one needs v·(a − b) > 0 to tell `((` from `()`, and U·v·(a − b) > 0 to tell it
  from `)(`.
- **exact depth**, as executed: an exact counter is bounded by the depth to which no operation rounds, if a search would not
  go further.
- **search** goes length by length up to a limit, by the cell's own step. As executed no theorem holds for all lengths, so
  the best outcome there is BOUNDED.
- **enclosures** is the same search for a tanh cell, its states kept between bounds, which are drawn closer where they do
  not decide: what a tanh gives is not a matter of IEEE 754, and no rational is the tanh of another. No tanh cell with
  rational weights passes a zero check: tanh of a rational other than 0 is transcendental (Lindemann), so U·tanh a + b is
  not 0 and `()` is rejected, unless a = 0 or U = b = 0, where `(` or `)` is accepted.

For cells with several units there is **gated boxes** (`box_proof`). Linear ones, whose step has a matrix for each token, have
deciders of their own: **sorting** where it is one matrix (`sorting`), and **zero check** for their zero check (`zero_check`);
**lattice paths** where the two matrices commute (`lattice_paths`); and **matrices** for exact counters with any two, and for
monotone functions of the count (`matrices`).
For those that reach few states, as counters made by hand do, there is **exact states** (`exact_states`). A network that is asked
for the count itself is decided as one that carries the count beside its state (`counts`).
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import product

from tallystick.cells import LinearCell, Recurrence, ReluCell, ScalarCell, SelectiveCell
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.one_unit.executions import execution
from tallystick.certificates.one_unit.search import Reached, is_steady, search
from tallystick.certificates.one_unit.sorted_strings import first_failure
from tallystick.certificates.verdict import (
    ANY_ORDERS,
    ARITHMETIC_NAMES,
    ENCLOSURES,
    FLOATS,
    REAL,
    Failure,
    Lengths,
    Outcome,
    Verdict,
    lengths_of,
    refute,
    runs_of,
)
from tallystick.errors import BadInput, check_whole
from tallystick.files import LONGEST_NUMBER
from tallystick.languages.brackets import ALPHABET, BB, SEMI_DYCK1, BracketLanguage
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks import Network
from tallystick.networks.readout import COUNT, GREATEST, SIGN, ZERO
from tallystick.numbers import ANY_ORDER, ARITHMETICS, Number, exact, float_format, standard_floats
from tallystick.numbers.values import is_writable

Decider = Callable[[Network, Lengths, str, int | None], Verdict | None]
"""From a network, the lengths that count, an arithmetic and a limit (None is the decider's own) to a verdict, or None."""

LIMITS = {REAL: 200} | dict.fromkeys(FLOATS, 1000)
"""How far a search goes by default; its effort grows with the square, in real arithmetic with the cube."""

# A network needs a few of the deciders, and all of them together take longer to load than most verdicts take.
# ruff: noqa: PLC0415

_LEAST_LIMIT = 2
_SHORT = 2
_SHORT_STRINGS: dict[BracketLanguage, dict[int, list[tuple[str, int]]]] = {
    language: {
        length: [
            (string, language.count(string))
            for string in ("".join(reversed(of)) for of in product(ALPHABET, repeat=length))
        ]
        for length in range(1, _SHORT + 1)
    }
    for language in (BB, SEMI_DYCK1)
}
"""The six strings of one and two tokens with their counts, by language and length."""

_TANH_DIGITS = (128, 256, 512, 1024)


@standard_floats()
def certify_network(
    network: Network, lengths: str, arithmetic: str, limit: int | None, first: int | None = None
) -> Verdict:
    """Ask the deciders of a network's cell in turn, or those of languages where it is asked about anything but a sign."""
    scope = _scope(network, lengths, arithmetic, limit, first)
    if not network.is_usual or scope.first != 1:  # the deciders of cells look at every length from 1 on
        return _certify_language(network, scope)
    if arithmetic in ANY_ORDERS:
        from tallystick.certificates.any_order.decider import decide_in_any_order

        return decide_in_any_order(network, scope) or _certify_language(network, scope)
    counts = network.readout.decision == COUNT
    if counts and arithmetic != REAL:
        raise BadInput(f"arithmetic: {arithmetic!r} is not for the task count, which is decided in {REAL} arithmetic")
    if counts:
        from tallystick.certificates.counts import asked_for_a_class, verdict_on_count

        verdict = _first_verdict(asked_for_a_class(network), scope)
        verdict = verdict and verdict_on_count(verdict, network)
    else:
        verdict = _first_verdict(network, scope)
    if verdict is None and not network.cell.deciders:
        raise BadInput(f"cell: a {type(network.cell).__name__} is outside what can be decided")
    return verdict or _certify_language(network, scope)


def _first_verdict(network: Network, scope: Scope) -> Verdict | None:
    """Ask the deciders of a network's cell in turn."""
    found = (DECIDERS[name](network, scope.lengths, scope.arithmetic, scope.limit) for name in network.cell.deciders)
    return next((verdict for verdict in found if verdict is not None), None)


def _certify_language(network: Network, scope: Scope) -> Verdict:
    from tallystick.certificates.languages.deciders import certify_language

    return certify_language(network, scope)


def _scope(network: Network, lengths: str, arithmetic: str, limit: int | None, first: int | None) -> Scope:
    """Return what is asked, checked."""
    if arithmetic not in (*ARITHMETIC_NAMES, *ANY_ORDERS):
        raise BadInput(
            f"arithmetic: {arithmetic!r} is not one of {', '.join(ARITHMETIC_NAMES)}, nor a format followed by {ANY_ORDER}, nor "
            f"one that keeps weights or states in less, such as {ANY_ORDERS[-1]}"
        )
    if arithmetic in ANY_ORDERS and network.folded:
        raise BadInput(
            f"arithmetic: {arithmetic!r} speaks of sums as a library adds them, and some were put together when the network was "
            "read, such as two biases or an embedding and a matrix; write the network as JSON with each of them, or ask for "
            f"{REAL} or {float_format(arithmetic).name}"
        )
    counted = lengths_of(lengths)
    if limit is not None:
        check_whole(limit, "limit", least=_LEAST_LIMIT)
    if first is not None:
        check_whole(first, "first", least=0)
    first = network.first_length if first is None else first
    if limit is not None and limit < first:
        raise BadInput(f"limit: {limit} is below {first}, the least length that counts")
    return Scope(counted, first, arithmetic, limit)


def decide_by_sorted_strings(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Decide a linear cell in real numbers completely, unless it counts exactly or fails as early as the theorem looks."""
    del limit
    cell = network.cell
    if arithmetic != REAL or not isinstance(cell, LinearCell) or network.readout.decision == ZERO:
        return None
    if not is_usual(network) or exact(cell.recurrent_weight) <= 0:
        return None
    failure = first_failure(network.in_arithmetic("rational"), lengths)
    if failure is None or failure.length <= _SHORT:
        return None
    return _refute(network, lengths, arithmetic, failure, "sorted strings")


def decide_by_theorem(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Decide an exact counter by its theorem, and any network that fails by length 2."""
    del limit
    if arithmetic != REAL:
        return None
    exact_network = network.in_arithmetic("rational")
    short = _short_failure(exact_network, lengths)
    if short is not None:
        return _refute(network, lengths, arithmetic, short, "search")
    if not _theorem_applies(exact_network):
        return None
    reason = f"the cell counts exactly, and every string of length {_short(lengths)} is right"
    return Verdict(network, lengths, arithmetic, Outcome.PROVED, None, None, "theorem", reason)


def decide_by_exact_depth(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
    """Bound an exact counter by the depth to which no operation rounds, where that is further than a search would go.

    There h = d·a, monotone in d; each comparison of a steady readout is monotone in h, so lengths 1 and 2 decide. A ReLU
    cell has h = a·κ.
    """
    if arithmetic == REAL or not is_usual(network):
        return None
    depth = exact_depth(network.cell, arithmetic)
    executed = network.in_arithmetic(arithmetic)
    if depth is None or depth < (limit or LIMITS[arithmetic]) or not is_steady(executed.readout):
        return None
    if isinstance(network.cell, ReluCell) and network.readout.decision != ZERO:
        return None
    short = search(execution(network, arithmetic), lengths, _SHORT)
    if isinstance(short, Failure):
        return _refute(network, lengths, arithmetic, short, "search")
    reached = depth - depth % lengths.stride
    reason = (
        f"every multiple of the step is exact in {arithmetic} to depth {depth}, "
        f"and every string of length {_short(lengths)} is right"
    )
    return Verdict(network, lengths, arithmetic, Outcome.BOUNDED, reached, None, "exact depth", reason)


def decide_by_search(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict:
    """Go through the lengths, up to a limit."""
    limit = limit or LIMITS[arithmetic]
    found = search(execution(network, arithmetic), lengths, limit)
    return _verdict_of_search(network, lengths, arithmetic, found, "search")


def decide_by_enclosures(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict:
    """Go through the lengths with states between bounds, in real numbers with more digits where these do not decide."""
    limit = limit or LIMITS[arithmetic]
    found = search(execution(network, arithmetic), lengths, limit)
    for digits in _TANH_DIGITS if arithmetic == REAL else ():
        if isinstance(found, Failure) or found.length >= limit - limit % lengths.stride:
            break
        found = search(execution(network, arithmetic, digits), lengths, limit)
    return _verdict_of_search(network, lengths, arithmetic, found, ENCLOSURES)


def _loaded_later(module: str, function: str) -> Decider:
    """Return a decider whose module is imported when it is first asked."""

    def decide(network: Network, lengths: Lengths, arithmetic: str, limit: int | None) -> Verdict | None:
        loaded: Decider = getattr(import_module(f"tallystick.certificates.{module}"), function)
        return loaded(network, lengths, arithmetic, limit)

    return decide


DECIDERS: dict[str, Decider] = {
    "sorted strings": decide_by_sorted_strings,
    "theorem": decide_by_theorem,
    "exact depth": decide_by_exact_depth,
    "search": decide_by_search,
    ENCLOSURES: decide_by_enclosures,
    "sorting": _loaded_later("linear.sorting", "decide_by_sorting"),
    "zero check": _loaded_later("linear.zero_check", "decide_zero_check"),
    "lattice paths": _loaded_later("linear.lattice_paths", "decide_by_paths"),
    "matrices": _loaded_later("linear.matrices", "decide_by_matrices"),
    "exact states": _loaded_later("exact_states", "decide_by_states"),
    "gated boxes": _loaded_later("boxes.box_proof", "decide_by_boxes"),
}
"""Every decider by the name that cells list it by."""


def _short_failure(network: Network, lengths: Lengths) -> Failure | None:
    """Run every string of length 1 and 2 in rationals; return the one that a search would find, or None.

    A count has at most two states there, its least and its greatest h. Like a search, this looks at both ends of each count, and
    of the first two wrong ends takes the string that comes first in the order of the tokens.
    """
    for length in lengths.upto(_SHORT):
        ends: dict[int, dict[Number, str]] = {}
        for string, count in _SHORT_STRINGS[network.task.language][length]:
            (h,) = network.cell.hidden(network.cell.final_state(string))
            ends.setdefault(count, {}).setdefault(h, string)
        wrong = [
            (states[h], int(found), right)
            for count, states in sorted(ends.items())
            for right in [network.task.index_of_count(count)]
            for h in (min(states), max(states))
            if (found := network.readout.class_index((h,))) != right
        ]
        if wrong:
            string, *classes = min(wrong[:2])
            return Failure(runs_of(string), *(network.task.classes[index] for index in classes))
    return None


def is_usual(network: Network) -> bool:
    """Say whether the theorems speak of what a network is asked for.

    A zero check is asked for the language that its kind of cell can accept, and a binary or ternary readout for the sign of
    the count n − m, with each class right for some count. Then no comparison has one sign for all counts, so that the few
    counts next to zero tell which way it moves.
    """
    task, decision = network.task, network.readout.decision
    if decision == ZERO:
        return task == network.cell.membership
    classes = {task.index_of_count(sign) for sign in (-1, 0, 1)}
    return decision in (SIGN, GREATEST) and task.machine is BB_COUNTER and len(classes) == len(task.classes)


def _theorem_applies(network: Network) -> bool:
    """Say whether being right to length 2 makes a network right at every length."""
    zero_check, cell = network.readout.decision == ZERO, network.cell
    if not is_usual(network):
        return False
    if isinstance(cell, ReluCell):
        return zero_check and cell.open_step > 0 and cell.recurrent_weight == 1 and cell.close_step == -cell.open_step
    if zero_check:
        return True
    assert isinstance(cell, LinearCell | SelectiveCell)
    P, Q = cell.recurrent_weights[0], cell.recurrent_weights[-1]  # both are U in a linear cell
    return P * Q == 1 and P != -1 and cell.close_step == -Q * cell.open_step


def exact_depth(cell: Recurrence, arithmetic: str) -> int | None:
    """Return the greatest k up to which every multiple of a is exact (`FloatFormat.exact_steps`).

    With U = 1 and b = −a the state is a sum of steps a and −a. While the count stays within ±k each state is a multiple
    of a with at most p binary digits, so no operation rounds, fused or not: every string of length k or less is counted
    as in the real numbers. p is 11, 8, 24 and 53 for float16, bfloat16, float32 and float64; overflow may end it sooner.
    None for a cell that is not an exact counter once its weights are rounded to this arithmetic.

    >>> exact_depth(LinearCell(1, -1, 1), "float32") == 2**24
    True
    >>> exact_depth(LinearCell(0.1, -0.1, 1), "float32"), exact_depth(LinearCell(1, -1, 0.5), "float32")
    (1, None)
    """
    if arithmetic not in FLOATS:
        raise BadInput(f"arithmetic: {arithmetic!r} is not one of {', '.join(FLOATS)}")
    if not isinstance(cell, ScalarCell) or cell.counting is None:
        return None
    form = float_format(arithmetic)
    try:
        rounded = cell.map_weights(ARITHMETICS[form.name])  # a fused weight would not compare
    except BadInput:  # a weight that does not fit the format
        return None
    if (
        rounded.open_step == 0
        or rounded.close_step != -rounded.open_step
        or any(U != 1 for U in rounded.recurrent_weights)
    ):
        return None
    if isinstance(rounded, ReluCell) and rounded.open_step < 0:
        return None
    return form.exact_steps(exact(rounded.open_step))


def _verdict_of_search(
    network: Network, lengths: Lengths, arithmetic: str, found: Failure | Reached, method: str
) -> Verdict:
    if isinstance(found, Failure):
        return _refute(network, lengths, arithmetic, found, method)
    return Verdict(network, lengths, arithmetic, Outcome.BOUNDED, found.length, None, method, found.reason)


def _refute(network: Network, lengths: Lengths, arithmetic: str, failure: Failure, method: str) -> Verdict:
    if not is_writable(Fraction(failure.length)):
        raise BadInput(
            f"horizon: about 2^{failure.length.bit_length() - 1} has more than {LONGEST_NUMBER:,} digits, too many to write; "
            "an arithmetic such as float64 decides the network as it is executed"
        )
    reason = failure.reason(shorter="one" if lengths is Lengths.ALL else "one of even length")
    return replace(refute(network, lengths, arithmetic, failure, method), reason=reason)


def _short(lengths: Lengths) -> str:
    return "1 and 2" if lengths is Lengths.ALL else "2"
