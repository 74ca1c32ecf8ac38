"""What decides a network that is asked about a language: any alphabet, any counter machine, any way of answering.

A **decider** here goes from a network and what is asked of it to a verdict, or None where it cannot tell. They are asked in turn.
"""

from collections.abc import Callable

from tallystick.cells import ScalarCell
from tallystick.certificates.closed_forms.decider import METHOD as CLOSED_FORM
from tallystick.certificates.closed_forms.decider import decide_by_closed_form
from tallystick.certificates.exact_states import METHOD as EXACT_STATES
from tallystick.certificates.exact_states import decide_language_by_states
from tallystick.certificates.languages.live_prefixes import METHOD as LIVE_PREFIXES
from tallystick.certificates.languages.live_prefixes import decide_live_prefixes
from tallystick.certificates.languages.scope import Scope, require_question
from tallystick.certificates.languages.whole_tree import METHOD as WHOLE_TREE
from tallystick.certificates.languages.whole_tree import decide_by_tree
from tallystick.certificates.verdict import REAL, Verdict
from tallystick.errors import BadInput
from tallystick.networks import Network
from tallystick.numbers import FUSED

LanguageDecider = Callable[[Network, Scope], Verdict | None]

DECIDERS: dict[str, LanguageDecider] = {
    CLOSED_FORM: decide_by_closed_form,
    EXACT_STATES: decide_language_by_states,
    LIVE_PREFIXES: decide_live_prefixes,
    WHOLE_TREE: decide_by_tree,
}
"""Every decider by the name of its method in certificates, in the order in which they are asked."""


def certify_language(network: Network, scope: Scope) -> Verdict:
    """Ask the deciders in turn; a network of which nothing is asked is refused."""
    require_question(network, scope)
    if scope.arithmetic.endswith(FUSED) and not isinstance(network.cell, ScalarCell):
        raise BadInput(
            f"arithmetic: {scope.arithmetic!r} is for cells with one unit and no gates; certify in {REAL} or "
            f"{scope.arithmetic.removesuffix(FUSED)} arithmetic"
        )
    for method, decide in DECIDERS.items():
        if method != CLOSED_FORM:  # which speaks of all lengths, where the others go from one to the next
            scope.require_lengths()
        verdict = decide(network, scope)
        if verdict is not None:
            return verdict
    raise BadInput(
        f"task: {network.task.name!r} is outside what can be decided of this network in {scope.arithmetic} arithmetic"
    )
