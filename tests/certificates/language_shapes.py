"""Languages as what a network has to keep for them: counters, flags, and when each token may come.

A language is described by counters, what each token adds to them, and flags, the tokens that set them; what may come next
follows from whether counters are above zero and flags are set.
"""

from language_documents import STACK

TWICE = {
    "name": "twice",
    "alphabet": ["a", "b"],
    "states": ["a", "b", "lost"],
    "initial_state": "a",
    "counters": 1,
    "cases": [
        {"state": "a", "token": "a", "update": ["+2"]},
        {"state": "a", "token": "b", "update": ["-1"], "next_state": "b"},
        {"state": "b", "token": "b", "update": ["-1"]},
        {"state": "b", "token": "a", "update": ["+0"], "next_state": "lost"},
        {"state": "lost", "update": ["+0"]},
    ],
    "accepting": [{"state": "a", "zero_check": "0"}, {"state": "b", "zero_check": "0"}],
}
CLASSES = {
    **STACK,
    "name": "classes",
    "classes": [
        {"name": "broken", "where": [{"state": "broken"}]},
        {"name": "empty", "where": [{"state": "fine", "zero_check": "0"}]},
        {"name": "filled"},
    ],
}
RESET = {
    "name": "reset",
    "alphabet": ["u", "d", "r"],
    "states": ["q"],
    "initial_state": "q",
    "counters": 1,
    "cases": [
        {"token": "u", "update": ["+1"]},
        {"token": "d", "update": ["-1"]},
        {"token": "r", "update": ["×0"]},
    ],
    "accepting": [{"state": "q", "zero_check": "0"}],
}

# For each language: what tokens add to the counters, the tokens that set the flags, and for each token and the end when it may
# come: weights of s (1 where a counter is above zero), weights of the flags, and a bias; it may where the sum is above zero.
_BRACKETS = (({"(": 1, ")": -1},), (), {"(": ((0,), (), 1), ")": ((2,), (), -1), "end": ((-2,), (), 1)})
_FREE = (({"(": 1, ")": -1},), (), {"(": ((0,), (), 1), ")": ((0,), (), 1), "end": ((-2,), (), 1)})
SHAPES = {
    "anbn": (({"a": 1, "b": -1},), ("b",), {"a": ((0,), (-2,), 1), "b": ((2,), (0,), -1), "end": ((-2,), (0,), 1)}),
    "anbncn": (
        ({"a": 1, "b": -1}, {"b": 1, "c": -1}),
        ("b",),
        {"a": ((0, 0), (-2,), 1), "b": ((2, 0), (0,), -1), "c": ((-3, 2), (0,), -1), "end": ((-2, -2), (0,), 1)},
    ),
    "anbmcnm": (
        ({"a": 1, "b": 1, "c": -1},),
        ("b", "c"),
        {"a": ((0,), (-2, -2), 1), "b": ((0,), (0, -2), 1), "c": ((2,), (0, 0), -1), "end": ((-2,), (0, 0), 1)},
    ),
    "dyck1": _BRACKETS,
    "dyck1-prefix": _BRACKETS,
    "bb": _FREE,
    "semidyck1": _FREE,
    "binary": _FREE,
    "ternary": _FREE,
    "shuffle2": (
        ({"(": 1, ")": -1}, {"[": 1, "]": -1}),
        (),
        {
            "(": ((0, 0), (), 1),
            ")": ((2, 0), (), -1),
            "[": ((0, 0), (), 1),
            "]": ((0, 2), (), -1),
            "end": ((-2, -2), (), 1),
        },
    ),
    "twice": (({"a": 2, "b": -1},), ("b",), {"a": ((0,), (-2,), 1), "b": ((2,), (0,), -1), "end": ((-2,), (0,), 1)}),
    "stack": (({"push": 1, "pop": -1},), (), {"push": ((0,), (), 1), "pop": ((2,), (), -1), "end": ((-2,), (), 1)}),
    "classes": (({"push": 1, "pop": -1},), (), {"push": ((0,), (), 1), "pop": ((2,), (), -1), "end": ((-2,), (), 1)}),
    "reset": (
        ({"u": 1, "d": -1},),
        (),
        {"u": ((0,), (), 1), "d": ((0,), (), 1), "r": ((0,), (), 1), "end": ((-2,), (), 1)},
    ),
}
MACHINES = {"twice": TWICE, "stack": {**STACK, "name": "stack"}, "classes": CLASSES, "reset": RESET}
MEMBERSHIP = [name for name in SHAPES if name not in ("binary", "ternary", "dyck1-prefix", "classes")]
NAMES = {
    "ternary": ["Neg", "Zero", "Pos"],
    "dyck1-prefix": ["valid", "incomplete", "invalid"],
    "classes": ["broken", "empty", "filled"],
}


def tasks_for(answer):
    """The languages that a way of answering may be asked about; those of brackets never determine the next token."""
    if answer == "sign":
        return ["binary"]
    if answer == "class":
        return [name for name in SHAPES if name != "binary"]
    return ["anbn", "anbncn", "anbmcnm", "twice"] if answer == "next" else MEMBERSHIP


class Plan:
    """What a network for a language has to keep: a unit for each counter and each flag, and which tokens move them."""

    def __init__(self, name):
        self.counters, self.flags, self.rules = SHAPES[name]
        self.tokens = [token for token in self.rules if token != "end"]
        self.units = len(self.counters) + len(self.flags)

    def moves(self):
        """For each unit what each token adds to it, in the order of the tokens."""
        return [[moved.get(token, 0) for token in self.tokens] for moved in self.counters] + [
            [int(token == flag) for token in self.tokens] for flag in self.flags
        ]

    def guards(self):
        """The tokens that may come only where something holds, each with the weights and the bias that say so."""
        rules = ((token, self.rules[token]) for token in self.tokens)
        return [
            (token, [*counters, *flags], bias) for token, (counters, flags, bias) in rules if any((*counters, *flags))
        ]

    def is_flag(self, unit):
        return unit >= len(self.counters)
