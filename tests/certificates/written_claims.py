"""What a certificate of a network that is asked about a language says, judged by running every string in doubles.

It reads the file alone, and shares nothing with the checker: a claim is false if some string says so, and open where something
hangs on rounding.
"""

from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, tanh

MARGIN = 1e-9
FURTHER = 12
LONGEST = 6


class Open(Exception):
    """Something hangs on rounding."""


def is_false(content):
    """Say whether some string contradicts a claim; None where that hangs on rounding, or strings would be too many."""
    try:
        return _Written(content).is_false()
    except Open:
        return None


class _Written:
    def __init__(self, content):
        self.content, self.model = content, content["model"]
        self.alphabet, self.readout = self.model["alphabet"], self.model["readout"]
        task = self.model["task"]
        self.machine, self.classes = task["machine"], task["classes"]
        self.moves = {(c["token"], c["state"], c["zero_check"]): c for c in self.machine["cases"]}
        self.accepting = {(one["state"], one["zero_check"]) for one in self.machine["accepting"]}
        self.right = {(state, check): name for state, check, name in task["right"]}
        self.kind = self.readout["kind"]
        self.after, self.live = cache(self._after), cache(self._live)

    # --- The machine

    def _after(self, configuration, token):
        state, counters = configuration
        case = self.moves[token, state, _zeros(counters)]
        changes = zip(counters, case["update"], strict=True)
        return case["next_state"], tuple(0 if u == "×0" else c + int(u) for c, u in changes)

    def configuration(self, string):
        found = self.machine["initial_state"], (0,) * self.machine["counters"]
        for token in string:
            found = self.after(found, token)
        return found

    def accepts(self, configuration):
        return (configuration[0], _zeros(configuration[1])) in self.accepting

    def _live(self, configuration):
        level = {configuration}
        for _ in range(FURTHER):
            if any(map(self.accepts, level)):
                return True
            level = {self.after(one, token) for one in level for token in self.alphabet}
        return False

    # --- The network

    def outputs(self, string):
        """The outputs before the first token and after each."""
        state = [float(Fraction(number)) for number in self.model["start"]]
        padding = self.model.get("padding", {"to": 0})
        for _ in range(max(0, padding["to"] - len(string))):
            state = _run(padding["program"], state)
        for program in self.model.get("first", ()):
            state = _run(program, state)
        found = [self._outputs_of(state)]
        for token in string:
            state = _run(self.model["step"][token], state)
            found.append(self._outputs_of(state))
        return found

    def _outputs_of(self, state):
        hidden = _run(self.model["hidden"], state)
        if "weight" not in self.readout:
            return hidden
        rows = zip(self.readout["weight"], self.readout["bias"], strict=True)
        return [_dot(row, hidden) + float(Fraction(bias)) for row, bias in rows]

    def said(self, outputs):
        """The names that outputs allow, or the class."""
        if self.kind == "threshold":
            powers = [exp(y - max(outputs)) for y in outputs]
            shares = [_sure(p / sum(powers) - float(Fraction(self.readout["threshold"]))) for p in powers]
            return {name for name, p in zip(self.readout["outputs"], shares, strict=True) if p > 0}
        if self.kind == "support":
            return {name for name, y in zip(self.readout["outputs"], outputs, strict=True) if _sure(y, exact=True) > 0}
        if self.kind in ("next", "class", "ternary"):
            for x, y in product(range(len(outputs)), repeat=2):
                _sure(outputs[x] - outputs[y], exact=True)
            best = outputs.index(max(outputs))
            return {self.readout["outputs"][best]} if self.kind == "next" else self.classes[best]
        (y,) = outputs
        return self.classes[_sure(y, exact=True) == 0 if self.kind == "zero" else y > 0]

    def judged(self, string):
        """What is said of a string and what is right, in words; None where nothing is asked."""
        outputs, configuration = self.outputs(string), self.configuration(string)
        if self.kind == "threshold":
            wanted = [*string, self.readout["end"]]
            fine = all(name in self.said(found) for name, found in zip(wanted, outputs, strict=True))
            return "accepted" if fine else "rejected", self._right(configuration)
        if self.kind not in ("next", "support"):
            return self.said(outputs[-1]), self._right(configuration)
        allowed = {token for token in self.alphabet if self.live(self.after(configuration, token))}
        allowed |= {self.readout["end"]} if self.accepts(configuration) else set()
        if not allowed or (self.kind == "next" and len(allowed) > 1):
            return None
        return self._names(self.said(outputs[-1])), self._names(allowed)

    def _right(self, configuration):
        return self.right[configuration[0], _zeros(configuration[1])]

    def _names(self, names):
        order = [*self.alphabet, self.readout["end"]]
        return " ".join(sorted(names, key=order.index)) or "nothing"

    # --- The claim

    def is_false(self):
        first, stride = self.content.get("first", 1), {"all": 1, "even": 2}[self.content["lengths"]]
        horizon, example = self.content["horizon"], self.content["counterexample"]
        last = LONGEST - (len(self.alphabet) > 2) if horizon == "unlimited" else horizon
        for length in range(first, last + 1):
            for string in product(self.alphabet, repeat=length) if length % stride == 0 else ():
                found = self.judged(string)
                if found is not None and found[0] != found[1]:
                    return True
        if example is None:
            return False
        string = [token for token, size in example["runs"] for _ in range(size)]
        fits = horizon == max(-1, len(string) - stride) and len(string) >= first and len(string) % stride == 0
        return not fits or self.judged(string) != (example["class"], example["right_class"])


def _zeros(counters):
    return "".join(str(int(c != 0)) for c in counters)


def _sure(gap, *, exact=False):
    """A difference that rounding does not decide; a 0 may be meant."""
    if abs(gap) < MARGIN and not (exact and gap == 0):
        raise Open
    return gap


def _dot(row, hidden):
    return sum(float(Fraction(w)) * x for w, x in zip(row, hidden, strict=True))


def _run(program, state):
    numbers = list(state)
    for name, *taken in program["operations"]:
        if name == "sum":
            terms, bias = taken
            numbers.append(sum(float(Fraction(w)) * numbers[place] for w, place in terms) + float(Fraction(bias)))
        else:
            numbers.append(_OPERATIONS[name](*(numbers[place] for place in taken)))
    return [numbers[place] for place in program["results"]]


_OPERATIONS = {
    "product": lambda x, y: x * y,
    "positive_part": lambda x: max(x, 0.0),
    "tanh": tanh,
    "sigmoid": lambda x: (1 + tanh(x / 2)) / 2,
    "square": lambda x: x * x,
    "step": lambda x: float(x > 0),
    "mean": lambda s, x, y: (1 - s) * x + s * y,
}
