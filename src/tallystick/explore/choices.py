"""What the page offers to begin with: networks, and strings to try them on."""

import random
from collections.abc import Callable
from typing import NamedTuple, NotRequired

from typing_extensions import TypedDict

from tallystick.certificates.verdict import REAL
from tallystick.languages.brackets import ALPHABET, BB, CLOSE, DYCK1, OPEN


class StringKind(NamedTuple):
    """A kind of string: its title, and how one of a length is made."""

    title: str
    make: Callable[[int, random.Random], str]


STRING_KINDS: dict[str, StringKind] = {
    "uniform": StringKind("any", lambda length, generator: "".join(generator.choices(ALPHABET, k=length))),
    "balanced": StringKind("balanced", BB.sample),
    "dyck1": StringKind("correctly nested", DYCK1.sample),
    "nested": StringKind("all ( before all )", lambda length, _: OPEN * (length - length // 2) + CLOSE * (length // 2)),
    "zigzag": StringKind("()()…", lambda length, _: ((OPEN + CLOSE) * length)[:length]),
}


def string_of(kind: str, length: int, seed: int = 0) -> str:
    """Return a string of a kind; the same seed gives the same one.

    >>> string_of("nested", 5), string_of("zigzag", 5)
    ('((())', '()()(')
    """
    return STRING_KINDS[kind].make(length, random.Random(seed))


class Preset(TypedDict):
    """A network that shows something, with an arithmetic and a string to look at it on."""

    name: str
    title: str
    text: str
    network: dict[str, object]
    arithmetic: str
    string: str


def _binary(weight: str = "1", bias: str = "0") -> dict[str, object]:
    return {"kind": "binary", "weight": [weight], "bias": [bias]}


def _cell(kind: str, a: str, b: str, recurrent: str | list[str], readout: dict[str, object]) -> dict[str, object]:
    return {"cell": kind, "open_step": a, "close_step": b, "recurrent_weight": recurrent, "readout": readout}


_ZERO: dict[str, object] = {"kind": "zero"}
_TERNARY: dict[str, object] = {"kind": "ternary", "weight": ["-1", "0", "1"], "bias": ["-1/2", "0", "-1/2"]}

PRESETS: tuple[Preset, ...] = (
    {
        "name": "exact",
        "title": "The exact counter",
        "text": "a = 1, b = −1, U = 1: h is the count itself, and h = 0 accepts exactly the balanced strings.",
        "network": _cell("linear", "1", "-1", "1", _ZERO),
        "arithmetic": REAL,
        "string": "(()())",
    },
    {
        "name": "exact-binary",
        "title": "The exact counter with classes",
        "text": "The same cell with a threshold halfway between the counts 0 and 1: right on every string.",
        "network": _cell("linear", "1", "-1", "1", _binary(bias="-1/2")),
        "arithmetic": REAL,
        "string": "(()())",
    },
    {
        "name": "trained-binary",
        "title": "A cell as training leaves it, binary",
        "text": "a/b and U are where 10,000 seeds end in the median: binary, no bias, length 8. a/b has risen above −1.",
        "network": _cell("linear", "0.718", "-1", "1.003", _binary()),
        "arithmetic": REAL,
        "string": "(()())",
    },
    {
        "name": "trained-ternary",
        "title": "A cell near the counter, three classes",
        "text": "As trained on three classes: a/b close to −1 and U a little above 1, which ends its horizon all the same.",
        "network": _cell("linear", "0.99", "-1", "1.002", _TERNARY),
        "arithmetic": REAL,
        "string": "(()())",
    },
    {
        "name": "float32",
        "title": "An exact counter that fails in float32",
        "text": "a = 0.1 is no binary fraction: in real numbers the cell counts exactly, in float32 its sums round.",
        "network": _cell("linear", "0.1", "-0.1", "1", _ZERO),
        "arithmetic": "float32",
        "string": "((()))",
    },
    {
        "name": "leaky",
        "title": "A leaky cell",
        "text": "U = 0.9 forgets: an older bracket weighs less than a younger one, and () no longer ends at 0.",
        "network": _cell("linear", "1", "-1", "0.9", _ZERO),
        "arithmetic": REAL,
        "string": "()",
    },
    {
        "name": "selective",
        "title": "A selective counter",
        "text": "P = 2, Q = 1/2, b = −Q·a: the weight depends on the token, and closing still undoes opening.",
        "network": _cell("selective", "1", "-1/2", ["2", "1/2"], _ZERO),
        "arithmetic": REAL,
        "string": "(()())",
    },
    {
        "name": "relu",
        "title": "A ReLU cell",
        "text": "It never falls below 0, so it counts as semi-Dyck-1 does: a ) at zero changes nothing.",
        "network": _cell("relu", "1", "-1", "1", _ZERO),
        "arithmetic": REAL,
        "string": ")(())",
    },
    {
        "name": "tanh",
        "title": "A tanh cell",
        "text": "Near 0 a tanh is nearly linear, so that small steps look like counting for a while.",
        "network": _cell("tanh", "1/100", "-1/100", "1", _binary(bias="-1/200")),
        "arithmetic": REAL,
        "string": "((()))",
    },
)


class NetworkPreset(TypedDict):
    """A network with several units that shows something; `file` is its document in writing, where its digits matter."""

    name: str
    title: str
    text: str
    network: dict[str, object]
    file: NotRequired[str]


def _linear(steps: list[list[str]], matrix: list[list[str]], weight: list[str]) -> dict[str, object]:
    readout = {"kind": "binary", "weight": [weight], "bias": ["-1/2"]}
    return {"cell": "linear", "input_weight": steps, "recurrent_weight": matrix, "readout": readout}


_BOTH = [["1", "-1"], ["1", "-1"]]

LINEAR_PRESETS: tuple[NetworkPreset, ...] = (
    {
        "name": "right-without-counting",
        "title": "Right on every string, and no counter",
        "text": "U = diag(1, 1/2): the second unit makes the output depend on the order of the brackets, but never by enough.",
        "network": _linear(_BOTH, [["1", "0"], ["0", "1/2"]], ["1", "-1/5"]),
    },
    {
        "name": "too-much",
        "title": "The same with a little more of it",
        "text": "The second unit weighs 11/40 instead of 1/5: Σ|δ − L| is above L/2, and a string of nine tokens fails.",
        "network": _linear(_BOTH, [["1", "0"], ["0", "1/2"]], ["1", "-11/40"]),
    },
    {
        "name": "counter",
        "title": "A counter in disguise",
        "text": "No weight shows it, but the readout sees the eigenvalue 1 alone: the output is the count, less a half.",
        "network": _linear([["1", "-1"], ["-1", "1"]], [["3/4", "-1/4"], ["-1/4", "3/4"]], ["1/2", "-1/2"]),
    },
    {
        "name": "turning",
        "title": "Complex eigenvalues",
        "text": "Two units turn as they shrink, as in an LRU or S4D layer: what a bracket adds swings around the limit.",
        "network": _linear(
            [["1", "-1"], ["1", "-1"], ["0", "0"]],
            [["1", "0", "0"], ["0", "3/5", "-7/10"], ["0", "7/10", "3/5"]],
            ["1", "1/10", "1/10"],
        ),
    },
    {
        "name": "forgetting",
        "title": "Two leaky units",
        "text": "The eigenvalues 0.99 and 0.9 lie inside the circle, so every bracket is forgotten in the end.",
        "network": _linear(_BOTH, [["0.99", "0"], ["0", "0.9"]], ["11/10", "-1/10"]),
    },
)

_LSTM: dict[str, object] = {
    "cell": "lstm",
    "input_weight": [
        *(["4", "4"], ["2", "2"]),  # the input gate
        *(["4", "4"], ["1", "1"]),  # the forget gate
        *(["4", "-4"], ["2", "-2"]),  # what is new
        *(["3", "3"], ["1", "1"]),  # the output gate
    ],
    "recurrent_weight": [["0", "0"]] * 8,
    "readout": {"kind": "binary", "weight": [["1", "-1/8"]], "bias": ["-1/2"]},
}
_SATURATING: dict[str, object] = {
    "tokens": {"a": ["1", "0"], "b": ["0", "1"]},
    "layers": [{"cell": "tanh", "input_weight": [["1/4", "-1/4"]], "recurrent_weight": [["1"]]}],
    "readout": {"weight": [["2"], ["9"], ["-9"]], "bias": ["0", "-1", "2"]},
    "answer": {"kind": "threshold", "outputs": ["a", "b", "#"], "end": "#", "threshold": "1/100"},
    "task": "anbn",
}

NETWORK_PRESETS: tuple[NetworkPreset, ...] = (
    *LINEAR_PRESETS,
    {
        "name": "lstm",
        "title": "An LSTM that forgets",
        "text": "Its memory counts, but its forget gate is below 1, so that old brackets weigh less: eleven tokens are enough.",
        "network": _LSTM,
    },
    {
        "name": "language",
        "title": "A tanh unit on aⁿbⁿ",
        "text": "Another alphabet, and an answer after every token: the unit saturates, and soon loses count of the a's.",
        "network": _SATURATING,
    },
)
