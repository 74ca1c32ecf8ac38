"""Answers after every token: what the outputs say of the token that comes next.

    threshold   p = softmax of the outputs; a token whose p is at or below the threshold rejects the string for good, and a string
                is accepted iff p of the end symbol is above it at the end
    next        the greatest output, of equal ones the first, names the next token; asked wherever the language determines it
    support     the outputs above 0 name the tokens that may come next; asked after every prefix of a member

A network with such an answer is asked about a language, that of its task's machine. With `threshold` the answer is one of the
two classes of membership. With the other two it is the name of a token, or several, after a prefix; where the language asks for
nothing (after a prefix that no member has; with `next` also where several tokens may follow) every answer is right.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tallystick.errors import BadInput
from tallystick.languages.counter_machine import Configuration
from tallystick.languages.tasks import Task
from tallystick.numbers import Number
from tallystick.numbers.operations import exponential

THRESHOLD, NEXT, SUPPORT = "threshold", "next", "support"
STEPWISE = (THRESHOLD, NEXT, SUPPORT)
"""The decisions that look at the outputs after every token."""


@dataclass(frozen=True)
class Steps:
    """What each output stands for.

    Attributes:
        outputs: the name of a token for each output.
        end: which of them is the end of the string.
        threshold: above which a probability allows its token; None unless the decision is `threshold`.
    """

    outputs: tuple[str, ...]
    end: str
    threshold: Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse names that stand twice, an end that is missing, and a threshold outside of 0 to 1."""
        for place, name in enumerate(self.outputs):
            if name in self.outputs[:place]:
                raise BadInput(f"outputs: {name!r} is listed twice")
        if self.end not in self.outputs:
            raise BadInput(f"end: {self.end!r} is not one of the outputs {', '.join(map(repr, self.outputs))}")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise BadInput(f"threshold: {self.threshold} is not between 0 and 1")

    def places(self, alphabet: tuple[str, ...]) -> tuple[int, ...]:
        """Return for each output the place of its token in an alphabet; that of the end is the alphabet's size."""
        named = {**{token: place for place, token in enumerate(alphabet)}, self.end: len(alphabet)}
        return tuple(named[name] for name in self.outputs)

    def check(self, alphabet: tuple[str, ...]) -> None:
        """Refuse outputs that are not the tokens of an alphabet and the end, each once."""
        wanted = (*(token for token in alphabet if token != self.end), self.end)
        if self.end in alphabet:
            raise BadInput(f"end: {self.end!r} is a token of the task; name the end symbol otherwise")
        if set(self.outputs) != set(wanted):
            raise BadInput(
                f"outputs: {', '.join(map(repr, self.outputs))} are not the tokens of the task and the end, "
                f"{', '.join(map(repr, wanted))}"
            )

    def names(self, places: Iterable[int], alphabet: tuple[str, ...]) -> str:
        """Return the names of tokens, in the order of the alphabet, the end last; `nothing` where there are none."""
        names = (*alphabet, self.end)
        return " ".join(names[place] for place in sorted(places)) or "nothing"


def right_places(decision: str, task: Task, configuration: Configuration) -> frozenset[int] | None:
    """Return the places that `next` or `support` should name at a configuration; None where nothing is asked there."""
    allowed = task.futures.allowed(configuration)
    return allowed if allowed and (decision == SUPPORT or len(allowed) == 1) else None


def said_places(decision: str, steps: Steps, alphabet: tuple[str, ...], outputs: Sequence[Number]) -> frozenset[int]:
    """Return the places that outputs name, which are numbers and not bounds: the definition of the three answers.

    >>> steps = Steps(("b", "<EOS>", "a"), "<EOS>", Fraction(1, 5))
    >>> [sorted(said_places(one, steps, ("a", "b"), (2.0, 1.5, -1.0))) for one in STEPWISE]
    [[1, 2], [1], [1, 2]]
    """
    places = steps.places(alphabet)
    if decision == NEXT:
        greatest = 0
        for output in range(1, len(outputs)):
            greatest = output if outputs[output] > outputs[greatest] else greatest
        return frozenset({places[greatest]})
    if decision == SUPPORT:
        return frozenset(place for place, output in zip(places, outputs, strict=True) if output > 0)
    assert steps.threshold is not None
    powers = [exponential(output - max(outputs)) for output in outputs]  # no rational has one, but 0
    total = sum(powers[1:], start=powers[0])
    shares = (power / total for power in powers)
    return frozenset(place for place, p in zip(places, shares, strict=True) if Fraction(float(p)) > steps.threshold)
