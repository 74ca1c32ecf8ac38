"""Numbers and layers of networks in JSON files, from the descriptions of the format alone; nothing is shared with the package.

Rationals compare for certain. Balls have 200 binary digits, and a comparison of them is certain or open, which is None.
"""

from fractions import Fraction

from flint import arb, ctx, fmpq

DIGITS = 200
OPEN = None


def exact(value):
    """A number of a file: a JSON number, "p/q" or a C hex float."""
    if isinstance(value, str) and "0x" in value:
        return Fraction(float.fromhex(value))
    return Fraction(repr(value) if isinstance(value, float) else value)


class Rationals:
    """Numbers that are fractions: every comparison is certain."""

    def number(self, value):
        return exact(value)

    def is_above(self, x, y):
        return x > y

    def relu(self, x):
        return max(x, Fraction(0))

    def step(self, x):
        return Fraction(x > 0)


class Balls:
    """Numbers known up to some digits: a comparison is True, False or None."""

    def number(self, value):
        ctx.prec = DIGITS
        value = exact(value)
        return arb(fmpq(value.numerator, value.denominator))

    def is_above(self, x, y):
        return True if x > y else False if x <= y else OPEN

    def relu(self, x):
        above = self.is_above(x, arb(0))
        return x if above else arb(0) if above is False else x.union(arb(0))

    def step(self, x):
        above = self.is_above(x, arb(0))
        return arb(int(above)) if above is not OPEN else arb(0).union(arb(1))

    def tanh(self, x):
        return x.tanh()

    def sigmoid(self, x):
        return 1 / (1 + (-x).exp())


def dot(weights, values, zero):
    return sum((w * v for w, v in zip(weights, values, strict=True)), start=zero)


class Layer:
    """One layer: its first state, its step, and what it shows of a state."""

    def __init__(self, document, numbers):
        self.document, self.numbers, self.cell = document, numbers, document["cell"]
        self.zero = numbers.number(0)
        read = lambda x: [read(y) for y in x] if isinstance(x, list) else numbers.number(x)  # noqa: E731
        self.read = read
        if self.cell == "graph":
            self._read_graph()
            return
        self.W = read(document["input_weight"])
        recurrent = document["recurrent_weight"]
        self.U = (
            {token: read(matrix) for token, matrix in recurrent.items()}
            if self.cell == "selective"
            else read(recurrent)
        )
        rows = len(self.W)
        self.b = read(document.get("input_bias", [0] * rows))
        self.c = read(document.get("recurrent_bias", [0] * rows))
        self.units = rows // {"lstm": 4, "gru": 2 if document.get("reset") is False else 3}.get(self.cell, 1)

    def _read_graph(self):
        self.nodes = [
            {
                "activation": unit["activation"],
                "bias": self.numbers.number(unit.get("bias", 0)),
                "input": self.read(unit["input"]) if "input" in unit else None,
                **{
                    part: {int(place): self.numbers.number(w) for place, w in unit.get(part, {}).items()}
                    for part in ("forward", "recurrent")
                },
            }
            for unit in self.document["units"]
        ]
        self.units = len(self.nodes)
        self.kept = {place for node in self.nodes for place, weight in node["recurrent"].items() if weight != 0}
        for place in reversed(range(self.units)):
            if place in self.kept:
                self.kept |= {source for source, weight in self.nodes[place]["forward"].items() if weight != 0}

    def _activation(self, name, x):
        if name in ("identity", "square"):
            return x if name == "identity" else x * x
        return getattr(self.numbers, name)(x)

    def start(self):
        """The state before the first token: of a graph the values of its units."""
        given = self.document.get("initial_state", {})
        h = self.read(given["h"]) if "h" in given else [self.zero] * self.units
        if self.cell == "lstm":
            return h, self.read(given["c"]) if "c" in given else [self.zero] * self.units
        if self.cell != "graph":
            return h
        shown = []
        for place, node in enumerate(self.nodes):
            if place in self.kept:
                shown.append(h[place])
                continue
            above = ((source, weight) for source, weight in node["forward"].items() if source not in self.kept)
            x = sum((weight * shown[source] for source, weight in above), start=h[place])
            shown.append(self._activation(node["activation"], x))
        return shown

    def shown(self, state):
        return state[0] if self.cell == "lstm" else state

    def step(self, state, vector, token):
        """The next state; `token` is the name of what is read, which chooses the matrix of a selective layer."""
        return getattr(self, f"_{self.cell}")(state, vector, token)

    def _rows(self, W, b, x):
        return [dot(row, x, bias) for row, bias in zip(W, b, strict=True)]

    def _linear(self, h, x, _):
        U = self.U
        if not isinstance(U[0], list):
            U = [[u if i == j else self.zero for j in range(self.units)] for i, u in enumerate(U)]
        return [a + dot(row, h, self.zero) for a, row in zip(self._rows(self.W, self.b, x), U, strict=True)]

    def _selective(self, h, x, token):
        A, read = self.U[token], self._rows(self.W, self.b, x)
        if not isinstance(A[0], list):
            return [a * one + w for a, one, w in zip(A, h, read, strict=True)]
        return [dot(row, h, w) for row, w in zip(A, read, strict=True)]

    def _relu(self, h, x, _):
        sums = zip(self._rows(self.W, self.b, x), self._rows(self.U, self.c, h), strict=True)
        return [self.numbers.relu(a + b) for a, b in sums]

    def _tanh(self, h, x, _):
        sums = zip(self._rows(self.W, self.b, x), self._rows(self.U, self.c, h), strict=True)
        return [self.numbers.tanh(a + b) for a, b in sums]

    def _blocks(self, values):
        return [values[place : place + self.units] for place in range(0, len(values), self.units)]

    def _lstm(self, state, x, _):
        h, c = state
        sums = [a + b for a, b in zip(self._rows(self.W, self.b, x), self._rows(self.U, self.c, h), strict=True)]
        i, f, g, o = self._blocks(sums)
        sigmoid, tanh = self.numbers.sigmoid, self.numbers.tanh
        c = [sigmoid(f) * c + sigmoid(i) * tanh(g) for i, f, g, c in zip(i, f, g, c, strict=True)]
        return [sigmoid(o) * tanh(c) for o, c in zip(o, c, strict=True)], c

    def _gru(self, h, x, _):
        sigmoid, tanh = self.numbers.sigmoid, self.numbers.tanh
        reset = self.document.get("reset", "after")
        of_x, of_h = self._blocks(self._rows(self.W, self.b, x)), self._blocks(self._rows(self.U, self.c, h))
        z = [sigmoid(a + b) for a, b in zip(of_x[-2], of_h[-2], strict=True)]
        recurrent = of_h[-1]
        if reset is not False:
            r = [sigmoid(a + b) for a, b in zip(of_x[0], of_h[0], strict=True)]
            if reset == "after":
                recurrent = [a * b for a, b in zip(r, recurrent, strict=True)]
            else:
                faded = [a * b for a, b in zip(r, h, strict=True)]
                recurrent = self._rows(self.U[-self.units :], self.c[-self.units :], faded)
        n = [tanh(a + b) for a, b in zip(of_x[-1], recurrent, strict=True)]
        return [z * h + (1 - z) * n for z, h, n in zip(z, h, n, strict=True)]

    def _graph(self, before, x, _):
        now = []
        for node in self.nodes:
            total = node["bias"] if node["input"] is None else dot(node["input"], x, node["bias"])
            total = sum((weight * now[place] for place, weight in node["forward"].items()), start=total)
            total = sum((weight * before[place] for place, weight in node["recurrent"].items()), start=total)
            now.append(self._activation(node["activation"], total))
        return now
