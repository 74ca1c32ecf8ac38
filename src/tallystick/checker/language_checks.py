"""The check of a claim about a language: run its counterexample, go through its lengths."""

from collections.abc import Callable

from .answers import number_text, require
from .asked import THRESHOLD
from .closed_forms import check_closed_form
from .effort import Limit
from .judging import Judge, arithmetics, is_squashed
from .language_claims import FORMS, GROUPS, LIVE, STATES, TREE, LanguageClaim, LanguageExample
from .prefixes import Bounds, Exact, Runner, State, check_prefixes
from .suffixes import check_suffixes

_SHORT = 1000
"""Tokens of a counterexample that is run one by one."""


def check_language(claim: LanguageClaim, limit: Limit) -> str:
    """Check a claim; return in words what holds."""
    _METHODS[claim.method](claim, limit)
    if claim.horizon is None:
        return "PROVED: every counted length is right"
    beyond = ", the next one fails" if claim.verdict == "REFUTED" else ""
    return f"{claim.verdict}: every counted length to {number_text(claim.horizon)} is right{beyond}"


def _check_live(claim: LanguageClaim, limit: Limit) -> None:
    """Every prefix that matters is followed between bounds of its own."""
    require(claim.verdict != "PROVED", "what is followed to a length proves no more than that")
    _check_by(claim, Bounds(claim.network, arithmetics(claim)), limit)


def _check_grouped(claim: LanguageClaim, limit: Limit) -> None:
    """All strings, or all prefixes that matter, in groups of those with the same configuration and the same last tokens."""
    require(claim.verdict != "PROVED", "what is followed to a length proves no more than that")
    _check_example(claim, Bounds(claim.network, arithmetics(claim)), limit)
    check_suffixes(claim, limit)


def _check_states(claim: LanguageClaim, limit: Limit) -> None:
    """Every exact state is looked at once; where no new one comes, all lengths are proved."""
    network = claim.network
    steps = [program for program in network.programs if program is not network.hidden]
    if claim.arithmetic == "real" and not is_squashed(steps):
        _check_by(claim, Exact(network), limit)
    else:
        require(claim.arithmetic != "real", "the states are not rational")
        _check_by(claim, Bounds(network, arithmetics(claim)), limit)


def _check_forms(claim: LanguageClaim, limit: Limit) -> None:
    """All lengths at once, by families that hold every state."""
    proof, example = check_closed_form(claim, limit), claim.counterexample
    if example is None or example.length <= _SHORT:
        _check_example(claim, Exact(claim.network), limit)
    else:
        require(proof.right_of(example) == example.right, "the right class is not the string's")
        require(proof.said_of(example) == example.given, "the counterexample does not fail as it is said to")


def _check_by(claim: LanguageClaim, runner: Runner[State], limit: Limit) -> None:
    _check_example(claim, runner, limit)
    check_prefixes(claim, runner, limit)


def _check_example(claim: LanguageClaim, runner: Runner[State], limit: Limit) -> None:
    if claim.counterexample is not None:
        found = _said_of(claim, claim.counterexample, runner, limit)
        given, right = claim.counterexample.given, _right_of(claim, claim.counterexample, limit)
        require(right == claim.counterexample.right, "the right class is not the string's")
        require(found == given, "the counterexample does not fail as it is said to")


def _said_of(claim: LanguageClaim, example: LanguageExample, runner: Runner[State], limit: Limit) -> str:
    """Return what a network says of a string, in words."""
    network, done = claim.network, 0
    state = runner.start(example.length)
    allowed = True
    for token, size in example.runs:
        for _ in range(size):
            limit.go_on(done, example.length)
            if network.readout.kind == THRESHOLD:
                state, said = runner.say(state, frozenset({token}))
                if token not in said:
                    allowed = False
                    break
            state, done = runner.step(state, token), done + 1
        if not allowed:
            break
    if not allowed:
        return "rejected"
    _, said = runner.say(state, frozenset({network.language.end}))
    if network.readout.kind == THRESHOLD:
        return "accepted" if network.language.end in said else "rejected"
    return network.names_of(said) if network.is_stepwise else network.classes[min(said)]


def _right_of(claim: LanguageClaim, example: LanguageExample, limit: Limit) -> str:
    """Return what is right for a string, in words; refuse one for which nothing is asked."""
    language = claim.network.language
    configuration = language.start
    for token, size in example.runs:
        configuration = language.after_run(configuration, token, size, limit)
    if not claim.network.is_stepwise or claim.network.readout.kind == THRESHOLD:
        return claim.network.classes[language.right_class(configuration)]
    right = Judge(claim, limit).right(configuration)
    require(right is not None, "nothing is asked after the counterexample")
    return claim.network.names_of(right or frozenset())


_METHODS: dict[str, Callable[[LanguageClaim, Limit], None]] = {
    LIVE: _check_live,
    GROUPS: _check_grouped,
    TREE: _check_grouped,
    STATES: _check_states,
    FORMS: _check_forms,
}
