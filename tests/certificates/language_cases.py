"""Networks for every language and every way of answering, as their JSON files: right ones, nearly right ones and random ones.

Each kind of cell has networks that are right, for ever or for a while (`language_layers`), and a small change of a weight moves
the length at which they fail.
"""

import random
from fractions import Fraction

from language_layers import (
    STEPWISE,
    counting_layer,
    counting_readout,
    graph_layer,
    graph_readout,
    random_layer,
    some_matrix,
    some_number,
    with_guards,
)
from language_shapes import MACHINES, MEMBERSHIP, NAMES, Plan, tasks_for

ANSWERS = ("sign", "accept", "class", "zero", "threshold", "next", "support")
CELLS = ("linear", "selective", "relu", "tanh", "lstm", "gru", "gru-before", "gru-without", "graph", "stack")


def _disturb(draw, value, rate):
    """The same lists and numbers, with a few numbers changed a little or wholly."""
    if isinstance(value, list):
        return [_disturb(draw, one, rate) for one in value]
    if isinstance(value, dict):
        return {name: _disturb(draw, one, rate) for name, one in value.items()}
    if isinstance(value, bool) or draw.random() > rate or (isinstance(value, str) and not value[-1].isdigit()):
        return value
    if draw.random() < 0.3:
        return some_number(draw)
    return str(
        (float.fromhex(value) if "0x" in str(value) else Fraction(value))
        + Fraction(draw.randint(-3, 3), draw.choice([7, 20, 60]))
    )


def _end_rules(plan, answer, name, classes):
    """The rules of an answer at the end, for cells that keep counters and flags alone."""
    counters, flags = len(plan.counters), len(plan.flags)
    none, first = (0,) * flags, (1, *(0,) * (counters - 1))
    if name == "ternary":
        rules = {"Neg": ((-2,), (), 0), "Zero": ((0,), (), 1), "Pos": ((2,), (), 0)}
        return [rules[one] for one in classes]
    if answer == "zero":
        return [(tuple(range(1, counters + 1)), none, 0)]
    if answer == "sign":
        return [(tuple(2 * x for x in first), none, -1)]
    if answer == "class" and name in NAMES:
        rules = {"valid": ((-2,), (), 1), "incomplete": ((0,), (), 0), "invalid": ((-2,), (), -1)}
        rules |= {"empty": rules["valid"], "filled": rules["incomplete"], "broken": rules["invalid"]}
        return [rules[one] for one in classes]
    accepted = plan.rules["end"]
    if answer == "class":
        return [accepted if one == "accepted" else ((0,) * counters, none, 0) for one in classes]
    return [accepted]


def some_network(seed, cell, answer):
    """A network with a kind of cell and a way of answering, and how it is asked: the file, `lengths` and `first`."""
    draw = random.Random(f"{cell} {answer} {seed}")
    name = draw.choice(tasks_for(answer))
    plan = Plan(name)
    tokens = plan.tokens
    named = NAMES.get(name, ["rejected", "accepted"])
    classes = draw.sample(named, k=len(named))
    stepwise = answer in STEPWISE
    order = draw.sample([*tokens, "end"], len(tokens) + 1) if draw.random() < 0.5 else [*tokens, "end"]
    document: dict = {}
    if draw.random() < 0.25:
        document = _random_network(draw, cell, answer, tokens, stepwise, len(classes))
    else:
        document = _counting_network(draw, cell, answer, name, plan, classes, order)
    document["answer"] = {"kind": answer}
    if stepwise:
        end = draw.choice(["#", "<EOS>"])
        document["answer"] |= {"outputs": [end if one == "end" else one for one in order], "end": end}
        if answer == "threshold":
            document["answer"]["threshold"] = draw.choice(["1/100", "1/10", "0x1.47ae147ae147bp-8", "1/3", "3/10"])
    elif answer == "class":
        document["answer"]["classes"] = classes
    document["task"] = MACHINES.get(name, name)
    if name in MEMBERSHIP and draw.random() < 0.3:
        document["empty"] = draw.random() < 0.5
    lengths = "even" if draw.random() < 0.2 else "all"
    first = None if draw.random() < 0.5 else draw.randint(0, 3)
    return document, lengths, first


def _counting_network(draw, cell, answer, name, plan, classes, order):
    if cell == "graph":
        layer, may, lost = graph_layer(draw, plan)
        readout = graph_readout(draw, plan, may, lost, answer, name, classes)
        if answer in STEPWISE:
            places = [[*plan.tokens, "end"].index(one) for one in order]
            readout = {part: [rows[i] for i in places] for part, rows in readout.items()}
        document = {"layers": [layer], "readout": readout}
    else:
        base = draw.choice(["relu", "linear", "lstm"]) if cell == "stack" else cell
        layer, size = counting_layer(draw, base, plan)
        rules = [plan.rules[one] for one in order] if answer in STEPWISE else _end_rules(plan, answer, name, classes)
        layers = [layer]
        if cell == "stack":
            same = [[int(i == j) for j in range(plan.units)] for i in range(plan.units)]
            none = [[0] * plan.units for _ in range(plan.units)]
            layers.append({"cell": draw.choice(["linear", "relu"]), "input_weight": same, "recurrent_weight": none})
        guards = [()] * len(rules)
        if answer not in STEPWISE and base.startswith(("lstm", "gru")) and cell != "stack" and draw.random() < 0.8:
            layers[0] = with_guards(layer, plan, size)
            lost = [0 if one in ("rejected", "invalid", "broken") else -9 for one in classes]
            guards = [(weight,) * len(plan.guards()) for weight in (lost if len(rules) > 1 else [-9])]
        document = {"layers": layers, "readout": counting_readout(draw, rules, size, guards)}
    if draw.random() < 0.5:
        _disturb_network(draw, document, draw.choice([0.03, 0.1, 0.2]))
    return document if cell == "selective" else {**document, **_framing(draw, plan, answer)}


def _disturb_network(draw, document, rate):
    """Change a few weights of a network."""
    document["readout"] = _disturb(draw, document["readout"], rate)
    for layer in document["layers"]:
        for part in layer.get("units", [layer]):
            weights = ("input_weight", "recurrent_weight", "input_bias", "bias", "input", "recurrent")
            part |= {name: _disturb(draw, part[name], rate / 3) for name in weights if name in part}


def _framing(draw, plan, answer):
    """What is read before or after a string, if anything: a start or an end symbol, or padding."""
    one_hot = {token: [int(token == other) for other in plan.tokens] for token in plan.tokens}
    extra, nothing = draw.random(), [0] * len(plan.tokens)
    if extra < 0.3:
        return {"tokens": {**one_hot, "<start>": nothing}, "start": "<start>"}
    if answer in STEPWISE or extra > 0.6:
        return {}
    if extra < 0.5:
        return {"tokens": one_hot, "padding": {"left": nothing, "to": draw.randint(2, 7)}}
    return {"tokens": {**one_hot, "<end>": nothing}, "end": "<end>"}


def _random_network(draw, cell, answer, tokens, stepwise, classes):
    inputs = len(tokens) if cell == "selective" else draw.randint(1, 3)
    kinds = [one for one in CELLS if one not in ("stack", "selective")]
    layers, size = [], inputs
    for kind in draw.sample(kinds, 2) if cell == "stack" else [cell]:
        layer, size = random_layer(draw, kind, size, tokens)
        layers.append(layer)
    outputs = len(tokens) + 1 if stepwise else classes if answer == "class" else 1
    document = {
        "layers": layers,
        "readout": {"weight": some_matrix(draw, outputs, size), "bias": some_matrix(draw, 1, outputs)[0]},
    }
    if cell == "selective":
        return document
    document["tokens"] = {token: some_matrix(draw, 1, inputs)[0] for token in tokens}
    if draw.random() < 0.3:
        document["start"] = "<start>"
        document["tokens"]["<start>"] = some_matrix(draw, 1, inputs)[0]
    elif draw.random() < 0.3:
        document["first"] = some_matrix(draw, draw.randint(1, 2), inputs)
    if not stepwise and draw.random() < 0.2:
        document["last"] = some_matrix(draw, draw.randint(1, 2), inputs)
    if not stepwise and draw.random() < 0.3:
        document["padding"] = {"left": some_matrix(draw, 1, inputs)[0], "to": draw.randint(1, 6)}
    return document
