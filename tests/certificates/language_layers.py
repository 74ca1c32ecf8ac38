"""Layers of every kind that keep the counters and flags of a language, and rows that read them; and random layers.

A linear or a ReLU unit keeps a number as it is, a gated one in a saturating memory, a graph with steps.
"""

from fractions import Fraction

STEPWISE = ("threshold", "next", "support")


def some_number(draw):
    return draw.choice([0, 1, -1, 2, -2, "1/2", "-1/2", "1/3", "-2/3", "3/2", "0x1.8p-2", "-0x1.4p-1"])


def some_matrix(draw, rows, columns):
    return [[some_number(draw) for _ in range(columns)] for _ in range(rows)]


def counting_layer(draw, cell, plan):
    """A layer of a kind that keeps the counters and flags, and how large a unit is that stands for 1."""
    moves, units = plan.moves(), plan.units
    fading = draw.choice([1, 1, 1, "9/10", "3/4", "19/20", "21/20"])
    same = [[fading if i == j else 0 for j in range(units)] for i in range(units)]
    if cell == "linear":
        return {"cell": "linear", "input_weight": moves, "recurrent_weight": same}, 1
    if cell == "selective":
        kept = [1, 1, 1, fading]
        factors = {token: [0 if token == "r" else draw.choice(kept) for _ in range(units)] for token in plan.tokens}
        if draw.random() < 0.5:
            diagonal = lambda row: [[x if i == j else 0 for j in range(units)] for i, x in enumerate(row)]  # noqa: E731
            factors = {token: diagonal(row) for token, row in factors.items()}
        return {"cell": "selective", "input_weight": moves, "recurrent_weight": factors}, 1
    if cell == "relu":
        return {"cell": "relu", "input_weight": moves, "recurrent_weight": same, "input_bias": [0] * units}, 1
    if cell == "tanh":
        size = draw.choice([4, 8, 16])
        return {
            "cell": "tanh",
            "input_weight": [[f"{x}/{size}" for x in row] for row in moves],
            "recurrent_weight": same,
        }, f"1/{size}"
    sharp = draw.choice([3, 4, 6, 9, 20])
    nothing = [[0] * units for _ in range(units)]
    if cell == "lstm":
        opened = [[2 * sharp * (x != 0) for x in row] for row in moves]
        signs = [[sharp * ((x > 0) - (x < 0)) for x in row] for row in moves]
        kept = [[-2 * sharp * plan.is_flag(unit) * (x != 0) for x in row] for unit, row in enumerate(moves)]
        shown = [[0] * len(plan.tokens) for _ in moves]
        weight = [*opened, *kept, *signs, *shown]
        bias = [-sharp] * units + [sharp] * units + [0] * units + [sharp] * units
        return {
            "cell": "lstm",
            "input_weight": weight,
            "recurrent_weight": nothing * 4,
            "input_bias": bias,
        }, "3/4"
    slow = draw.choice([2, 3, 4])
    held = [
        [(sharp - 2 * sharp * (x != 0)) if plan.is_flag(unit) else slow if x else 2 * sharp for x in row]
        for unit, row in enumerate(moves)
    ]
    aimed = [[sharp * ((x > 0) - (x < 0)) for x in row] for row in moves]
    gates = 2 if cell == "gru-without" else 3
    document = {
        "cell": "gru",
        "input_weight": [*([[0] * len(plan.tokens)] * units if gates == 3 else []), *held, *aimed],
    }
    if cell == "gru-before":
        document["reset"] = "before"
    if cell == "gru-without":
        document["reset"] = False
    return {**document, "recurrent_weight": nothing * gates}, {2: "1/8", 3: "1/20", 4: "1/50"}[slow]


def with_guards(layer, plan, size, sharp=24):
    """An LSTM or a GRU with a further unit for each token that is not always allowed: it stays 1 once that came too early."""
    guards, units = plan.guards(), plan.units
    blocks = len(layer["input_weight"]) // units
    bias = layer.get("input_bias", [0] * blocks * units)
    weights, recurrent, biases = [], [], []
    for block in range(blocks):
        rows = range(block * units, (block + 1) * units)
        weights += [layer["input_weight"][row] for row in rows]
        recurrent += [[*layer["recurrent_weight"][row], *[0] * len(guards)] for row in rows]
        biases += [bias[row] for row in rows]
        is_lstm = layer["cell"] == "lstm"
        opens = block == 0 if is_lstm else block == blocks - 2
        sign = 1 if is_lstm else -1  # a GRU keeps where z is 1
        for token, looked_at, constant in guards:
            far = 12 * sum(map(abs, looked_at))
            weights.append([sign * sharp * far * (opens and token == one) for one in plan.tokens])
            seen = [_scaled(-sign * sharp * opens * x, size) if x else 0 for x in looked_at]
            recurrent.append([*seen, *[0] * len(guards)])
            biases.append(-sign * sharp * (far + constant) if opens else sharp)
    return {**layer, "input_weight": weights, "recurrent_weight": recurrent, "input_bias": biases}


def _scaled(number, factor):
    """A weight for a unit that is a number where it stands for 1."""
    return str(Fraction(number) / Fraction(factor))


def counting_readout(draw, rules, size, guards):
    """Rows that say whether each of some rules holds, of units as large as this where they stand for 1; guards weigh as said."""
    weight, bias = [], []
    gain = draw.choice([1, 4, 8, 20])
    for (counters, flags, constant), guard in zip(rules, guards, strict=True):
        weight.append([*(_scaled(gain * x, size) if x else 0 for x in (*counters, *flags)), *(gain * x for x in guard)])
        bias.append(gain * constant)
    return {"weight": weight, "bias": bias}


def graph_layer(draw, plan):
    """A graph with counters, a step of each, flags, what may come next, and whether what came was allowed; places of units."""
    units, tokens, moves = [], plan.tokens, plan.moves()
    for place, row in enumerate(moves):
        kind = (
            draw.choice(["identity", "relu"]) if not plan.is_flag(place) else draw.choice(["step", "identity", "relu"])
        )
        units.append({"activation": kind, "input": row, "recurrent": {str(place): 1}})
    above = {}
    for place in range(len(plan.counters)):
        above[place] = len(units)
        units.append(
            {"activation": draw.choice(["step", "step", "step", "tanh"]), "forward": {str(place): draw.choice([1, 2])}}
        )
    may = {}
    for name, (counters, flags, constant) in plan.rules.items():
        may[name] = len(units)
        forward = {str(above[i]): x for i, x in enumerate(counters) if x}
        forward |= {str(len(plan.counters) + i): x for i, x in enumerate(flags) if x}
        units.append({"activation": "step", "bias": constant, "forward": forward})
    lost = len(units) + len(tokens)
    for place, token in enumerate(tokens):
        came = [int(place == i) for i in range(len(tokens))]
        units.append({"activation": "step", "bias": "-1/2", "input": came, "recurrent": {str(may[token]): -1}})
    units.append({
        "activation": "step", "recurrent": {str(lost): 1}, "forward": {str(lost - 1 - i): 1 for i in range(len(tokens))},
    })  # fmt: skip
    start = [0] * len(units)
    for name, (_, _, constant) in plan.rules.items():
        start[may[name]] = int(constant > 0)
    return {"cell": "graph", "units": units, "initial_state": {"h": start}}, may, lost


def graph_readout(draw, plan, may, lost, answer, name, classes):
    size = lost + 1
    row = lambda places, bias: ([places.get(i, 0) for i in range(size)], bias)  # noqa: E731
    gain = draw.choice([1, 8, 20])
    if answer in ("threshold", "next", "support"):
        rows = [row({may[token]: 2 * gain}, -gain) for token in (*plan.tokens, "end")]
    elif answer == "class":
        by_class = {
            "accepted": ({may["end"]: 2, lost: -2}, -1), "rejected": ({}, 0),
            "valid": ({may["end"]: 2, lost: -9}, 0), "incomplete": ({lost: -9}, 1), "invalid": ({}, 0),
            "broken": ({}, 0), "empty": ({may["end"]: 2, lost: -9}, 0), "filled": ({lost: -9}, 1),
            "Neg": ({0: -2}, 0), "Zero": ({}, 1), "Pos": ({0: 2}, 0),
        }  # fmt: skip
        rows = [row(*by_class[one]) for one in classes]
    elif name == "binary":
        rows = [row({0: 1}, 0)]
    elif answer == "zero":
        rows = [
            row({0: 1, lost: 1} if draw.random() < 0.3 else {may["end"]: 2, lost: -2}, 0 if draw.random() < 0.3 else -2)
        ]
    else:
        rows = [row({may["end"]: 2, lost: -2}, -1)]
    return {"weight": [weights for weights, _ in rows], "bias": [bias for _, bias in rows]}


def random_layer(draw, cell, inputs, tokens):
    units = draw.randint(1, 3)
    if cell == "graph":
        kinds = ["identity", "relu", "sigmoid", "tanh", "square", "step"]
        graph = []
        for place in range(units):
            sources = [str(i) for i in range(place) if draw.random() < 0.6]
            before = [str(i) for i in range(units) if draw.random() < 0.5]
            kind = draw.choice(kinds)
            before = [] if kind == "square" else before  # a square of itself has too many digits after a few steps
            graph.append({
                "activation": kind, "bias": some_number(draw), "input": some_matrix(draw, 1, inputs)[0],
                "forward": {i: some_number(draw) for i in sources}, "recurrent": {i: some_number(draw) for i in before},
            })  # fmt: skip
        return {"cell": "graph", "units": graph}, units
    if cell == "selective":
        matrices = {token: some_matrix(draw, units, units) for token in tokens}
        return {"cell": cell, "input_weight": some_matrix(draw, units, inputs), "recurrent_weight": matrices}, units
    name, reset = [*cell.split("-"), ""][:2]
    rows = units * {"lstm": 4, "gru": 2 if reset == "without" else 3}.get(name, 1)
    layer = {
        "cell": name,
        "input_weight": some_matrix(draw, rows, inputs),
        "recurrent_weight": some_matrix(draw, rows, units),
    }
    if name == "gru" and reset:
        layer["reset"] = False if reset == "without" else reset
    if draw.random() < 0.6:
        layer["input_bias"] = some_matrix(draw, 1, rows)[0]
        if name not in ("linear",):
            layer["recurrent_bias"] = some_matrix(draw, 1, rows)[0]
    if draw.random() < 0.3:
        layer["initial_state"] = {"h": some_matrix(draw, 1, units)[0]}
        if name == "lstm":
            layer["initial_state"]["c"] = some_matrix(draw, 1, units)[0]
    return layer, units
