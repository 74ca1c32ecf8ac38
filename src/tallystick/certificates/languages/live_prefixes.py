"""Networks that answer after every token: every prefix that still matters is followed.

- `threshold`: a token that is not allowed rejects a string for good. So only the prefixes that the network has not rejected are
  followed, whatever the language says of them. A rejected prefix that has an accepted continuation fails with a shortest one.
  At the end of each prefix whose length counts, the answer must be membership.
- `next` and `support`: only prefixes of members matter, and only at their ends.

In real arithmetic all prefixes of a length run together, each in its own box of doubles; what these leave open is decided with
more digits (`more_digits`), so that no comparison is ever guessed. In floating point they run together as the cell's own step
executes them, or in boxes of all that any library may compute. Where the boxes become many, groups of prefixes share one
(`prefix_groups`); what these leave open is again followed prefix by prefix, as far as that goes.
"""

from tallystick.certificates.boxes.box_proof import INTERRUPTED, LIMIT
from tallystick.certificates.languages.live_search import PAUSED, LiveSearch, Stopped
from tallystick.certificates.languages.prefix_groups import METHOD as GROUPS
from tallystick.certificates.languages.prefix_groups import follow_groups
from tallystick.certificates.languages.prefixes import Trail
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import ANY_ORDERS, REAL, Failure, Outcome, Verdict
from tallystick.networks import Network
from tallystick.networks.steps import STEPWISE
from tallystick.numbers import FORMATS

METHOD = "live prefixes"

_MANY = 1 << 14
"""From how many prefixes of a length on they are followed in groups, if that goes further."""


def decide_live_prefixes(network: Network, scope: Scope) -> Verdict | None:
    """Follow the prefixes of a network that answers after every token; None for any other, and for fused arithmetic."""
    if network.readout.decision not in STEPWISE or scope.arithmetic not in (REAL, *FORMATS, *ANY_ORDERS):
        return None
    search = LiveSearch(network, scope)
    stop = _run(search, _MANY)
    if not isinstance(stop, Stopped) or stop.why != PAUSED:
        return _verdict(search, stop)
    found = follow_groups(network, scope, search)
    if found is None:
        return _verdict(search, _run(search))
    of_groups = _verdict(found.search, found.stop, found.known)
    is_open = isinstance(found.stop, Stopped) and found.stop.why not in (LIMIT, INTERRUPTED)
    if of_groups.outcome is not Outcome.BOUNDED or not is_open or not search.may_reach(found.search.reached + 1):
        return of_groups
    alone = _verdict(search, _run(search), found.known)
    return alone if search.reached >= found.search.reached else of_groups


def _run(search: LiveSearch, pause: int | None = None) -> Failure | Stopped | None:
    try:
        return search.run(pause)
    except KeyboardInterrupt:
        return Stopped(INTERRUPTED, INTERRUPTED)


def _verdict(search: LiveSearch, stop: Failure | Stopped | None, known: Failure | None = None) -> Verdict:
    """Return what a search found; a string that is known to fail refutes where all that is shorter is right."""
    scope = search.scope
    outcome, horizon, failure = Outcome.BOUNDED, search.reached, None
    if isinstance(stop, Stopped):
        known = min(filter(None, (known, search.rejections.best)), key=lambda one: one.length, default=None)
        if known is not None and scope.lengths.before(known.length) == search.reached:
            stop = known
    if isinstance(stop, Failure):
        outcome, horizon, failure, known = Outcome.REFUTED, scope.lengths.before(stop.length), stop, None
        found = stop.reason("gets" if search.by_threshold else "is followed by")
    elif stop is None:
        outcome, horizon, known = Outcome.PROVED, None, None
        found = f"no prefix is left to follow from length {search.length} on, and all shorter strings are right"
    else:
        found = f"every counted length to {search.reached} is right; {stop.words}"
        found = found if known is None else f"{found}; a string of length {known.length} fails"
    method = METHOD if type(search) is LiveSearch else GROUPS
    reason = f"{found} ({search.work})"
    return Verdict(
        search.network, scope.lengths, scope.arithmetic, outcome, horizon, failure, method, reason, known, scope.first
    )


def live_counts(network: Network, scope: Scope) -> list[int]:
    """Return how many prefixes of each length are followed, from the empty one on, until the search ends."""
    search = LiveSearch(network, scope)
    search.run()
    trail: Trail | None = search.trail
    counts: list[int] = []
    while trail is not None:
        counts.append(len(trail.tokens))
        trail = trail.before
    return counts[::-1]
