"""Networks to begin with."""

from typing import NamedTuple


class Preset(NamedTuple):
    """A network that shows something, with an arithmetic and a string to look at it on."""

    name: str
    title: str
    text: str
    network: dict[str, object]
    arithmetic: str = "real"
    string: str = "(()())"


def _binary(weight: str = "1", bias: str = "0") -> dict[str, object]:
    return {"kind": "binary", "weight": [weight], "bias": [bias]}


def _cell(kind: str, a: str, b: str, recurrent: str | list[str], readout: dict[str, object]) -> dict[str, object]:
    return {"cell": kind, "open_step": a, "close_step": b, "recurrent_weight": recurrent, "readout": readout}


_ZERO: dict[str, object] = {"kind": "zero"}
_TERNARY: dict[str, object] = {"kind": "ternary", "weight": ["-1", "0", "1"], "bias": ["-1/2", "0", "-1/2"]}

PRESETS = (
    Preset(
        "exact",
        "The exact counter",
        "a = 1, b = −1, U = 1: h is the count itself, and h = 0 accepts exactly the balanced strings.",
        _cell("linear", "1", "-1", "1", _ZERO),
    ),
    Preset(
        "exact-binary",
        "The exact counter with classes",
        "The same cell with a threshold halfway between the counts 0 and 1: right on every string.",
        _cell("linear", "1", "-1", "1", _binary(bias="-1/2")),
    ),
    Preset(
        "trained-binary",
        "A cell as training leaves it, binary",
        "a/b and U are where 10,000 seeds end in the median: binary, no bias, length 8. a/b has risen above −1.",
        _cell("linear", "0.718", "-1", "1.003", _binary()),
    ),
    Preset(
        "trained-ternary",
        "A cell near the counter, three classes",
        "As trained on three classes: a/b close to −1 and U a little above 1, which ends its horizon all the same.",
        _cell("linear", "0.99", "-1", "1.002", _TERNARY),
    ),
    Preset(
        "float32",
        "An exact counter that fails in float32",
        "a = 0.1 is no binary fraction: in real numbers the cell counts exactly, in float32 its sums round.",
        _cell("linear", "0.1", "-0.1", "1", _ZERO),
        arithmetic="float32",
        string="((()))",
    ),
    Preset(
        "leaky",
        "A leaky cell",
        "U = 0.9 forgets: an older bracket weighs less than a younger one, and () no longer ends at 0.",
        _cell("linear", "1", "-1", "0.9", _ZERO),
        string="()",
    ),
    Preset(
        "selective",
        "A selective counter",
        "P = 2, Q = 1/2, b = −Q·a: the weight depends on the token, and closing still undoes opening.",
        _cell("selective", "1", "-1/2", ["2", "1/2"], _ZERO),
    ),
    Preset(
        "relu",
        "A ReLU cell",
        "It never falls below 0, so it counts as semi-Dyck-1 does: a ) at zero changes nothing.",
        _cell("relu", "1", "-1", "1", _ZERO),
        string=")(())",
    ),
    Preset(
        "tanh",
        "A tanh cell",
        "Near 0 a tanh is nearly linear, so that small steps look like counting for a while.",
        _cell("tanh", "1/100", "-1/100", "1", _binary(bias="-1/200")),
        string="((()))",
    ),
)
