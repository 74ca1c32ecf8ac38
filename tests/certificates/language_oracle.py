"""What a network in a JSON file says of every string, from the descriptions of the format alone.

Nothing is shared with the package. Networks whose activations are rational are run in rationals; all others in balls of 200
binary digits, where a comparison is certain or open. Open comparisons make an answer None.
"""

from flint import arb
from language_cells import OPEN, Balls, Layer, Rationals, dot
from plain_languages import END, Language


def _is_rational(document):
    cells = document["layers"]
    return all(
        layer["cell"] in ("linear", "selective", "relu")
        or (layer["cell"] == "graph" and all(unit["activation"] not in ("tanh", "sigmoid") for unit in layer["units"]))
        for layer in cells
    )


class Oracle:
    """A network of a file, and what it says."""

    def __init__(self, document):
        self.document = document
        self.language = Language(document["task"], document.get("empty"))
        self.numbers = Rationals() if self._in_rationals() else Balls()
        self.layers = [Layer(layer, self.numbers) for layer in document["layers"]]
        number, alphabet = self.numbers.number, self.language.alphabet
        one_hot = {token: [int(token == other) for other in alphabet] for token in alphabet}
        named = document.get("tokens", one_hot)
        self.vectors = {token: [number(x) for x in vector] for token, vector in named.items()}
        readout = document["readout"]
        self.V = [[number(x) for x in row] for row in readout["weight"]]
        self.bias = [number(x) for x in readout.get("bias", [0] * len(self.V))]
        self.answer = document["answer"]
        self.kind = self.answer["kind"]
        self.threshold = number(self.answer["threshold"]) if self.kind == "threshold" else None

    def _in_rationals(self):
        return _is_rational(self.document) and self.document["answer"]["kind"] != "threshold"

    def start(self, length):
        """The states before the first token of a string of a length: after the padding, and then the start symbol."""
        states = [layer.start() for layer in self.layers]
        padding = self.document.get("padding")
        for _ in range(max(0, padding["to"] - length) if padding else 0):
            states = self._read(states, [self.numbers.number(x) for x in padding["left"]], None)
        start = self.document.get("start")
        states = states if start is None else self.after(states, start)
        return self._read_all(states, "first")

    def _read_all(self, states, field):
        """The states after the vectors that a field lists, if it is there."""
        for vector in self.document.get(field, []):
            states = self._read(states, [self.numbers.number(x) for x in vector], None)
        return states

    def _read(self, states, vector, token):
        read, after = vector, []
        for layer, state in zip(self.layers, states, strict=True):
            after.append(layer.step(state, read, token))
            read = layer.shown(after[-1])
        return after

    def after(self, states, token):
        return self._read(states, self.vectors[token], token)

    def outputs(self, states):
        h = self.layers[-1].shown(states[-1])
        return [dot(row, h, bias) for row, bias in zip(self.V, self.bias, strict=True)]

    def _greatest(self, outputs):
        """The place of the greatest, of equal ones the first; None where that is open."""
        for place, output in enumerate(outputs):
            beats = [
                self.numbers.is_above(output, other) if before else _negated(self.numbers.is_above(other, output))
                for before, other in ((other_place < place, other) for other_place, other in enumerate(outputs))
            ]
            del beats[place]
            if all(beats):
                return place
        return OPEN

    def said_at_end(self, states):
        """The class that is given at the end of a string; None where a comparison is open."""
        end = self.document.get("end")
        outputs = self.outputs(self._read_all(states if end is None else self.after(states, end), "last"))
        if self.kind == "class":
            place = self._greatest(outputs)
            return OPEN if place is OPEN else self.answer["classes"][place]
        if self.kind == "zero":
            apart = [self.numbers.is_above(outputs[0], 0), self.numbers.is_above(-outputs[0], 0)]
            accepted = False if True in apart else OPEN if OPEN in apart else True
        else:
            accepted = self.numbers.is_above(outputs[0], 0)
        if accepted is OPEN:
            return OPEN
        classes = self.answer.get("classes") or (
            ["ZeroNeg", "Pos"] if self.language.task == "binary" else ["rejected", "accepted"]
        )
        return classes[int(accepted)]

    def tokens_said(self, states):
        """What the outputs say of the next token: a set of names, END for the end; with `threshold` what is above it."""
        outputs = self.outputs(states)
        names = [END if name == self.answer["end"] else name for name in self.answer["outputs"]]
        if self.kind == "next":
            place = self._greatest(outputs)
            return OPEN if place is OPEN else {names[place]}
        if self.kind == "support":
            above = {name: self.numbers.is_above(x, 0) for name, x in zip(names, outputs, strict=True)}
            return OPEN if OPEN in above.values() else {name for name, is_above in above.items() if is_above}
        found = {}
        for name, x in zip(names, outputs, strict=True):
            others = sum(((other - x).exp() for other in outputs), start=arb(0))
            found[name] = self.numbers.is_above(1, others * self.threshold)
        return found

    def names(self, tokens):
        """How an answer of several tokens is written."""
        order = [*self.language.alphabet, END]
        chosen = (self.answer["end"] if token is END else token for token in order if token in tokens)
        return " ".join(chosen) or "nothing"

    def judged(self, string):
        """What the network says of one string and what is right; None for what is said where that is open.

        With `next` and `support` nothing may be asked: then both are the same.
        """
        states = self.start(len(string))
        accepted = True
        for token in string:
            if self.kind == "threshold" and accepted is True:
                accepted = self.tokens_said(states)[token]
            states = self.after(states, token)
        return self._judged(list(string), states, accepted)

    def _judged(self, string, states, accepted):
        if self.kind == "threshold":
            if accepted is True:
                accepted = self.tokens_said(states)[END]
            said = OPEN if accepted is OPEN else "accepted" if accepted else "rejected"
            return said, self.language.right_class(string)
        if self.kind not in ("next", "support"):
            return self.said_at_end(states), self.language.right_class(string)
        allowed = self.language.allowed(string)
        if not allowed or (self.kind == "next" and len(allowed) != 1):
            return "", ""
        said = self.tokens_said(states)
        return OPEN if said is OPEN else self.names(said), self.names(allowed)

    def lengths(self, longest):
        """Go through the lengths from 0: how many strings are certainly wrong, and how many are open."""
        padded, strings = self.document.get("padding", {"to": 0})["to"], []
        for length in range(longest + 1):
            alone = [([], self.start(length), True)]
            strings = self._grown(alone, length) if length <= padded else self._grown(strings, 1)
            judged = [self._judged(*one) for one in strings]
            yield (
                sum(said is not OPEN and said != right for said, right in judged),
                sum(said is OPEN for said, _ in judged),
            )

    def _grown(self, strings, times):
        for _ in range(times):
            strings = [
                ([*string, token], *self._moved(states, token, accepted))
                for string, states, accepted in strings
                for token in self.language.alphabet
                if self.kind not in ("next", "support") or self.language.begins([*string, token])
            ]
        return strings

    def _moved(self, states, token, accepted):
        if self.kind == "threshold":
            accepted = self.tokens_said(states)[token] if accepted is True else accepted
            if accepted is False:
                return states, False
        return self.after(states, token), accepted


def _negated(answer):
    return OPEN if answer is OPEN else not answer
