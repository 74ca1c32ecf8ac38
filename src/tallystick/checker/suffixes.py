"""All prefixes of a claim about a language in groups: those with one configuration and the same last tokens share their boxes.

The boxes of a longer group are the least around what leads into it. The more last tokens are told apart, the closer the boxes and
the longer the work; where all tokens are told apart, each string has boxes of its own.
"""

from .answers import TooCostly, Undecided, number_text
from .arithmetic import Boxes
from .boxes import BoxedNetwork, hull
from .effort import Limit
from .judging import Judge, Said, arithmetics, needed_after, said_by
from .language_claims import LanguageClaim
from .languages import Configuration
from .prefixes import MOST_NUMBERS, start_of, trees

_DIGITS = (1, 4, 8, 11, 14, 17, 20)
"""How many last tokens are told apart, in binary digits."""

Groups = dict[tuple[Configuration, tuple[int, ...]], Boxes]


def _suffixes(tokens: int) -> list[int]:
    """Return how many last tokens are told apart, few first: none, or as many as have so many binary digits, at least one."""
    fitting = {max([1, *(n for n in range(digits + 1) if tokens**n <= 1 << digits)]) for digits in _DIGITS}
    return [0, *sorted(fitting)]


def check_suffixes(claim: LanguageClaim, limit: Limit) -> None:
    """Every counted length to the horizon is right, in boxes that are drawn ever closer."""
    judge, network = Judge(claim, limit), claim.network
    suffixes = iter(_suffixes(max(2, len(network.language.alphabet))))
    more = arithmetics(claim)
    boxed, suffix = BoxedNetwork(network, next(more)), next(suffixes)
    for least, last in trees(claim):
        while True:
            try:
                _check_tree(claim, judge, boxed, suffix, (least, last or 0), limit)
                break
            except Undecided as undecided:
                arithmetic = next(more, None) if undecided.narrow else boxed.arithmetic
                suffix = suffix if undecided.narrow else next(suffixes, None)
            if arithmetic is None or suffix is None:
                raise TooCostly("the boxes around the states do not decide")
            boxed = boxed if arithmetic is boxed.arithmetic else BoxedNetwork(network, arithmetic)


def _check_tree(
    claim: LanguageClaim, judge: Judge, boxed: BoxedNetwork, suffix: int, lengths: tuple[int, int], limit: Limit
) -> None:
    (least, last), language = lengths, claim.network.language
    groups: Groups = {(language.start, ()): start_of(claim.network, boxed, least)}
    for length in range(last + 1):
        counted = length >= least and claim.is_counted(length)
        needed = needed_after(claim, length, last, counted=counted)
        longer: Groups = {}
        for (configuration, tail), state in groups.items():
            limit.go_on(length, last)

            def say(state: Boxes = state, needed: Said | None = needed, alone: bool = length <= suffix) -> Said:
                try:
                    return said_by(claim.network, boxed, state, needed)
                except Undecided as undecided:
                    raise Undecided(narrow=undecided.narrow or alone) from None

            tokens = judge.visit(configuration, length, say, counted=counted)
            for token in tokens if length < last else ():
                key = language.after(configuration, token), (*tail, token)[-suffix:] if suffix else ()
                image = boxed.step(state, token)
                longer[key] = hull(longer[key], image) if key in longer else image
        groups = longer
        if not groups:
            return
        if len(groups) * len(claim.network.start) * boxed.arithmetic.weight > MOST_NUMBERS:
            raise TooCostly(f"length {number_text(length)} has too many groups of strings for the memory")
