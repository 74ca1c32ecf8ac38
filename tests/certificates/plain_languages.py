"""The languages that networks are asked about, from their definitions alone: who is a member, and what may come next.

Nothing is shared with the package. A language here is plain Python over lists of tokens; one that a machine file describes is run
by an interpreter of its own.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

END = None
"""In a set of tokens that may come next: the end of the string."""

_DEEPEST = 48
"""How many tokens a machine may need to come to an accepted string, beside two for each that its counters are away from zero."""


def _ordered(string, letters):
    """How often each letter comes, if they come in this order; else None."""
    rest, found = list(string), []
    for letter in letters:
        size = 0
        while rest and rest[0] == letter:
            rest.pop(0)
            size += 1
        found.append(size)
    return None if rest else found


def _heights(string, opening, closing):
    height, heights = 0, [0]
    for token in string:
        height += (token == opening) - (token == closing)
        heights.append(height)
    return heights


def _anbn(string):
    counts = _ordered(string, "ab")
    return counts is not None and counts[0] == counts[1], counts is not None and counts[0] >= counts[1]


def _anbncn(string):
    counts = _ordered(string, "abc")
    if counts is None:
        return False, False
    a, b, c = counts
    return a == b == c, b <= a and c <= b and (c == 0 or a == b)


def _anbmcnm(string):
    counts = _ordered(string, "abc")
    if counts is None:
        return False, False
    a, b, c = counts
    return c == a + b, c <= a + b


def _dyck1(string):
    heights = _heights(string, "(", ")")
    return min(heights) >= 0 and heights[-1] == 0, min(heights) >= 0


def _bb(string):
    return _heights(string, "(", ")")[-1] == 0, True


def _semidyck1(string):
    height = 0
    for token in string:
        height = max(0, height + (1 if token == "(" else -1))
    return height == 0, True


def _shuffle2(string):
    each = _heights(string, "(", ")"), _heights(string, "[", "]")
    live = all(min(heights) >= 0 for heights in each)
    return live and all(heights[-1] == 0 for heights in each), live


READY = {
    "anbn": ("ab", _anbn),
    "anbncn": ("abc", _anbncn),
    "anbmcnm": ("abc", _anbmcnm),
    "dyck1": ("()", _dyck1),
    "bb": ("()", _bb),
    "semidyck1": ("()", _semidyck1),
    "shuffle2": ("()[]", _shuffle2),
}
"""For each ready language its tokens, and whether a string is a member and whether it begins one."""


class Machine:
    """A machine as its file describes it."""

    def __init__(self, document):
        self.document = document

    def step(self, configuration, token):
        state, counters = configuration
        check = "".join("0" if counter == 0 else "1" for counter in counters)
        entries = [entry for entry in self.document["cases"] if self._fits(entry, state, check, token)]
        assert len(entries) == 1
        updates = zip(counters, entries[0]["update"], strict=True)
        moved = tuple(0 if update == "×0" else counter + int(update) for counter, update in updates)
        return entries[0].get("next_state", state), moved

    @staticmethod
    def _fits(entry, state, check, token):
        pattern = entry.get("zero_check", "*" * len(check))
        return (
            entry.get("token", token) == token
            and entry.get("state", state) == state
            and all(wanted in ("*", mark) for wanted, mark in zip(pattern, check, strict=True))
        )

    def after(self, string):
        configuration = self.document["initial_state"], (0,) * self.document["counters"]
        for token in string:
            configuration = self.step(configuration, token)
        return configuration

    def accepts(self, configuration):
        state, counters = configuration
        check = "".join("0" if counter == 0 else "1" for counter in counters)
        return any(
            entry["state"] == state and all(w in ("*", m) for w, m in zip(entry["zero_check"], check, strict=True))
            for entry in self.document["accepting"]
        )

    @lru_cache(maxsize=100_000)  # noqa: B019 -- one machine per case
    def may_end(self, configuration):
        """Whether some continuation is accepted."""
        met, edge = {configuration}, [configuration]
        for _ in range(_DEEPEST + 2 * max(map(abs, configuration[1]))):
            if any(self.accepts(one) for one in edge):
                return True
            reached = {self.step(one, token) for one in edge for token in self.document["alphabet"]} - met
            met |= reached
            edge = list(reached)
        return False

    def class_of(self, configuration):
        """The class that the file names for a configuration: the last one may leave out its places, and has the rest."""
        state, counters = configuration
        check = "".join("0" if counter == 0 else "1" for counter in counters)
        for entry in self.document["classes"]:
            for place in entry.get("where", [{}]):
                pattern = place.get("zero_check", "*" * len(check))
                if place.get("state", state) == state and all(
                    w in ("*", m) for w, m in zip(pattern, check, strict=True)
                ):
                    return entry["name"]
        raise AssertionError


@dataclass(frozen=True)
class Language:
    """A task as a network's file names it: a word or a machine, and whether the empty string is a member, if that is said."""

    task: object
    empty: bool | None = None

    @cached_property
    def machine(self):
        return Machine(self.task) if isinstance(self.task, dict) else None

    @cached_property
    def alphabet(self):
        if self.machine:
            return list(self.task["alphabet"])
        return list(READY[self.task][0] if self.task in READY else "()")

    def _membership(self, string):
        if self.machine:
            configuration = self.machine.after(string)
            return self.machine.accepts(configuration), self.machine.may_end(configuration)
        return READY[self.task][1](string) if self.task in READY else (True, True)

    def has(self, string):
        """Whether a string is a member."""
        if not string and self.empty is not None:
            return self.empty
        return self._membership(string)[0]

    def begins(self, string):
        """Whether a string begins a member; the empty one does in every language here."""
        return self._membership(string)[1]

    def allowed(self, string):
        """What may come next after a string in a member."""
        tokens = {token for token in self.alphabet if self.begins([*string, token])}
        return tokens | ({END} if self.has(string) else set())

    def right_class(self, string):
        """The class of a string."""
        if self.task in ("binary", "ternary"):
            height = _heights(string, "(", ")")[-1]
            if self.task == "binary":
                return "Pos" if height > 0 else "ZeroNeg"
            return "Pos" if height > 0 else "Neg" if height < 0 else "Zero"
        if self.task == "dyck1-prefix":
            member, live = _dyck1(string)
            return "valid" if member else "incomplete" if live else "invalid"
        if self.machine and "classes" in self.task:
            return self.machine.class_of(self.machine.after(string))
        return "accepted" if self.has(string) else "rejected"
