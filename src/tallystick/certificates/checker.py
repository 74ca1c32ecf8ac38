"""Does this certificate hold? A separate checker, on the standard library alone.

It shares no code with the certifier: it reads the file, runs the counterexample, and goes through all shorter lengths by
itself. It needs from mathematics only what is said at each function.

    python checker.py CERTIFICATE.json
"""

import hashlib
import json
import re
import struct
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise, product
from math import lcm
from pathlib import Path
from typing import Any, NamedTuple, cast

FORMAT = "tallystick certificate 1"
FIELDS = {
    "format",
    "model",
    "readout",
    "lengths",
    "arithmetic",
    "verdict",
    "horizon",
    "counterexample",
    "evidence",
    "digest",
}
CLASSES = {"zero": ("rejected", "accepted"), "binary": ("ZeroNeg", "Pos"), "ternary": ("Neg", "Zero", "Pos")}
# Name: binary digits, least exponent of a last place, greatest number, code of the standard library's packing.
FLOATS = {
    "float16": (11, -24, 65504, "e"),
    "float32": (24, -149, 2**128 - 2**104, "f"),
    "float64": (53, -1074, 2**1024 - 2**971, "d"),
}
EXACT = re.compile(r"-?[0-9]+/[0-9]+")
MOST_STATES = 100_000
LONGEST_SEARCH = 20_000
LONGEST_RUN = 3000


class Finding(NamedTuple):
    """Whether a certificate holds, and why."""

    valid: bool
    reason: str


class _Refused(Exception):
    """The certificate does not hold."""


def check_file(path: Path) -> Finding:
    """Check the certificate in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Finding(False, f"cannot be read: {error}")
    return check(text)


def check(text: str) -> Finding:
    """Check a certificate: its form, its digest and its claim."""
    try:
        found = json.loads(text, object_pairs_hook=_no_repeats)
        _require(isinstance(found, dict), "not a JSON object")
        content = cast("dict[str, Any]", found)
        _require(set(content) == FIELDS, "the fields are not those of a certificate")
        _require(content["format"] == FORMAT, "unknown format")
        _require(content["digest"] == _digest(content), "the digest does not fit the content")
        return Finding(True, _verify(content))
    except _Refused as refusal:
        return Finding(False, str(refusal))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
        return Finding(False, f"malformed: {error!r}"[:200])


def _require(holds: object, otherwise: str) -> None:
    if not holds:
        raise _Refused(otherwise)


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    _require(len(dict(pairs)) == len(pairs), "a field stands twice")
    return dict(pairs)


def _digest(content: dict[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != "digest"}
    spelled = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


# --- The model: two maps h → weight·h + step, and the lines of the readout ---------------------------------------------------


class Model(NamedTuple):
    """A network as read from the certificate, its numbers exact, or rounded to the certificate's floating point."""

    cell: str
    weights: tuple[Any, Any]
    steps: tuple[Any, Any]
    kind: str
    lines: tuple[tuple[Any, Any], ...]
    arithmetic: str

    @property
    def semi_dyck1(self) -> bool:
        """Whether the right answer is κ = 0 instead of the class of n − m: for the zero check of a ReLU cell."""
        return self.cell == "relu" and self.kind == "zero"


def _number(value: object) -> Fraction:
    # A plain pattern, since Fraction itself would read 1e999999999 and fill the memory.
    _require(
        type(value) is int or (isinstance(value, str) and EXACT.fullmatch(value)), f"{value!r} is not an exact number"
    )
    return Fraction(cast("str | int", value))


def _read_model(content: dict[str, Any]) -> Model:
    model, arithmetic = content["model"], content["arithmetic"]
    _require(
        set(model) == {"cell", "open_step", "close_step", "recurrent_weight", "readout"}, "unknown fields in the model"
    )
    _require(arithmetic == "real" or arithmetic in FLOATS, "unknown arithmetic")
    number = _number if arithmetic == "real" else _rounding_reader(arithmetic)
    cell, readout = model["cell"], model["readout"]
    _require(cell in ("linear", "selective", "relu"), "unknown cell")
    recurrent = model["recurrent_weight"] if cell == "selective" else [model["recurrent_weight"]] * 2
    kind = readout["kind"]
    _require(kind == content["readout"] and kind in CLASSES, "the readout is not the model's")
    size = {"zero": 0, "binary": 1, "ternary": 3}[kind]
    _require(set(readout) == ({"kind", "weight", "bias"} if size else {"kind"}), "unknown fields in the readout")
    weights, biases = ([number(value) for value in readout.get(name, [])] for name in ("weight", "bias"))
    _require(len(weights) == len(biases) == size and len(recurrent) == 2, "a list of the wrong length")  # noqa: PLR2004
    P, Q = (number(value) for value in recurrent)
    steps = (number(model["open_step"]), number(model["close_step"]))
    return Model(cell, (P, Q), steps, kind, tuple(zip(weights, biases, strict=True)), arithmetic)


def _rounding_reader(arithmetic: str) -> Callable[[object], float]:
    digits, least, greatest, _ = FLOATS[arithmetic]

    def read(value: object) -> float:
        """Round to the nearest float in one rounding: to a whole number of last places, a tie to the even one."""
        exact = _number(value)
        exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
        exponent -= abs(exact) < Fraction(2) ** exponent
        place = Fraction(2) ** max(exponent - digits + 1, least)
        rounded = round(exact / place) * place
        _require(abs(rounded) <= greatest, f"a weight is too large for {arithmetic}")
        return float(rounded)

    return read


def _rounding(arithmetic: str) -> Callable[[Any], Any]:
    """Return the rounding of one operation: a double holds more than twice the digits, so rounding it again is harmless."""
    if arithmetic in ("real", "float64"):
        return lambda value: value
    layout = struct.Struct(FLOATS[arithmetic][3])

    def rounded(value: float) -> float:
        try:
            return layout.unpack(layout.pack(value))[0]
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")

    return rounded


def _right(model: Model, count: int) -> int:
    """Return the right class of a count, which is κ for semi-Dyck-1."""
    if model.kind == "zero":
        return int(count == 0)
    sign = (count > 0) - (count < 0)
    return int(sign > 0) if model.kind == "binary" else sign + 1


# --- Running it: whole numbers for real arithmetic, Python's floats rounded after each operation for the others ----------------


class Runner:
    """A model that takes steps. In real arithmetic the state is H_N = E·Dᴺ·h_N, a whole number with the signs of h_N."""

    def __init__(self, model: Model) -> None:
        """Bring real weights to common denominators."""
        self.model = model
        self.lines = model.lines
        self.scale = self.factor = 1
        self.weights, self.steps = model.weights, model.steps
        if model.arithmetic == "real":
            self.factor = lcm(*(weight.denominator for weight in model.weights))
            self.scale = lcm(*(step.denominator for step in model.steps))
            self.weights = tuple(int(weight * self.factor) for weight in model.weights)
            self.steps = tuple(int(step * self.scale) for step in model.steps)
            own = lcm(1, *(value.denominator for line in model.lines for value in line))
            self.lines = tuple((int(v * own), int(c * own * self.scale)) for v, c in model.lines)
        self.rounded = _rounding(model.arithmetic)

    def advance(self) -> None:
        """Go to the next length: steps and biases take on the scale of its states."""
        if self.factor != 1:
            self.scale *= self.factor
            self.steps = tuple(step * self.factor for step in self.steps)
            self.lines = tuple((v, c * self.factor) for v, c in self.lines)

    def step(self, h: Any, token: int) -> Any:  # noqa: ANN401 -- a number of any kind
        """Return the next state: multiply, add, cut off below zero for ReLU."""
        h = self.rounded(self.rounded(self.weights[token] * h) + self.steps[token])
        return max(h, 0) if self.model.cell == "relu" else h

    def class_of(self, h: Any) -> int:  # noqa: ANN401
        """Return the class of a state of the present length; the lowest index wins a tie."""
        if self.model.kind == "zero":
            return int(h == 0)
        outputs = [self.rounded(self.rounded(v * h) + c) for v, c in self.lines]
        return int(outputs[0] > 0) if self.model.kind == "binary" else outputs.index(max(outputs))


def _run(model: Model, tokens: Iterator[int]) -> tuple[int, int, list[Fraction]]:
    """Run a string: the class it gets, the class it should get, and the trace of h."""
    runner, h, count, trace = Runner(model), 0, 0, [Fraction(0)]
    for token in tokens:
        runner.advance()
        h = runner.step(h, token)
        trace.append(Fraction(h) / runner.scale)
        count += -1 if token else 1
        count = max(0, count) if model.semi_dyck1 else count
    return runner.class_of(h), _right(model, count), trace


# --- The claim ------------------------------------------------------------------------------------------------------------


def _verify(content: dict[str, Any]) -> str:
    model = _read_model(content)
    _require(content["lengths"] in ("all", "even"), "unknown lengths")
    stride = 1 if content["lengths"] == "all" else 2
    verdict, horizon, method = content["verdict"], content["horizon"], content["evidence"]["method"]
    _require(set(content["evidence"]) == {"method"}, "unknown evidence")
    if verdict == "PROVED":
        _require(
            horizon == "unlimited" and content["counterexample"] is None and method == "theorem", "not a proof's form"
        )
        _check_theorem(model, stride)
        return "PROVED: the theorem's conditions hold, and every string to length 2 is right"
    _require(verdict in ("REFUTED", "BOUNDED"), "unknown verdict")
    _require(type(horizon) is int and horizon >= 0 and horizon % stride == 0, "the horizon is not a counted length")
    _require((content["counterexample"] is None) == (verdict == "BOUNDED"), "a counterexample goes with REFUTED alone")
    if verdict == "REFUTED":
        _check_counterexample(model, content["counterexample"], horizon + stride)
    methods = {"search": _check_lengths, "sorted strings": _check_sorted, "exact depth": _check_depth}
    _require(method in methods, "unknown method")
    methods[method](model, stride, horizon)
    beyond = ", the next one fails" if verdict == "REFUTED" else ""
    return f"{verdict}: every counted length to {horizon} is right{beyond}"


def _check_theorem(model: Model, stride: int) -> None:
    """Right to length 2 is right for ever, in real arithmetic, for a closing map that inverts the opening one.

    P·Q = 1 and b = −Q·a make h a function of the count, monotone in it (P > 0) or on even counts (P < 0); every comparison
    of a readout is monotone in h, and lengths 1 and 2 fix its signs around the count 0. A ReLU cell with a > 0, U = 1 and
    b = −a has h = a·κ.
    """
    (P, Q), (a, b) = model.weights, model.steps
    _require(model.arithmetic == "real", "no theorem holds in floating point")
    if model.cell == "relu":
        _require(model.kind == "zero" and a > 0 and P == 1 and b == -a, "the ReLU theorem's conditions do not hold")
    else:
        _require(P * Q == 1 and b == -Q * a and a != 0 and P != -1, "the closing map does not invert the opening map")
    _check_short(model, stride)


def _check_short(model: Model, stride: int) -> None:
    for length in range(stride, 3, stride):
        for tokens in product((0, 1), repeat=length):
            found, right, _ = _run(model, iter(tokens))
            _require(found == right, f"a string of length {length} fails")


def _check_depth(model: Model, stride: int, horizon: int) -> None:
    """With U = 1 and b = −a every state is d·a, exact while |d|·s ≤ 2^p for a = s·2^e with s odd; then lengths 1 and 2 decide.

    They do since each executed output is monotone in h; two outputs whose slopes are not of one sign change places once.
    """
    _require(model.arithmetic in FLOATS and (model.cell != "relu" or model.kind == "zero"), "no exact counter")
    digits, _, greatest, _ = FLOATS[model.arithmetic]
    (P, Q), (a, b) = model.weights, model.steps
    _require(P == Q == 1 and b == -a and a != 0 and (a > 0 or model.cell != "relu"), "no exact counter")
    slopes = [v for v, _ in model.lines]
    crossing = model.kind == "ternary" and any(_one_sign(v, w) for v, w in combinations(slopes, 2))
    _require(not crossing, "two rounded outputs may cross more than once")
    step = abs(Fraction(a))
    odd = step.numerator // (step.numerator & -step.numerator)
    _require(horizon * odd <= 2**digits and horizon * step <= greatest, "the counter is not exact to this depth")
    _check_short(model, stride)


def _one_sign(v: float, w: float) -> bool:
    return (v > 0 and w > 0) or (v < 0 and w < 0)


def _check_counterexample(model: Model, claimed: dict[str, Any], length: int) -> None:
    _require(set(claimed) == {"runs", "class", "right_class", "trace"}, "unknown fields in the counterexample")
    runs = [("()".index(token), size) for token, size in claimed["runs"]]
    _require(all(type(size) is int and size > 0 for _, size in runs), "a run of no tokens")
    _require(all(first != second for (first, _), (second, _) in pairwise(runs)), "a run that goes on")
    _require(sum(size for _, size in runs) == length, "the counterexample does not follow the horizon")
    if length > LONGEST_RUN:
        _require(_sortable(model) and len(runs) <= len("()"), "the counterexample is too long to run")
        found, right, trace = _sorted_string(model, runs)
    else:
        found, right, trace = _run(model, (token for token, size in runs for _ in range(size)))
    names = CLASSES[model.kind]
    _require(found != right, "the counterexample does not fail")
    _require(
        (claimed["class"], claimed["right_class"]) == (names[found], names[right]), "the classes are not the string's"
    )
    if claimed["trace"] is not None:
        _require([_number(state) for state in claimed["trace"]] == trace, "the trace is not the string's")


# --- All lengths, by the extremes of h: any cell, any arithmetic ----------------------------------------------------------------


def _check_lengths(model: Model, stride: int, horizon: int) -> None:
    """Every length to the horizon is right: in each group of strings the least and greatest h, and all between them.

    Strings are grouped by their number of `(`, or by κ. Each map is monotone in h, rounding included, so the ends of a
    group's image are images of its ends, and each group's ends follow from those of the groups one token shorter.
    """
    _require(horizon <= LONGEST_SEARCH, f"a search to {horizon} is too long to repeat")
    runner, row = Runner(model), {0: (0, 0)}
    for length in range(1, horizon + 1):
        runner.advance()
        longer: dict[int, tuple[Any, Any]] = {}
        for group, ends in row.items():
            for token in (0, 1):
                images = [runner.step(end, token) for end in ends]
                target = _target(model, group, token)
                known = longer.get(target, (images[0], images[0]))
                longer[target] = (min(*known, *images), max(*known, *images))
        row = longer
        if length % stride == 0:
            unsure = [group for group, ends in row.items() if not _surely_right(runner, group, length, ends)]
            if unsure:
                _check_states(model, length, unsure)


def _target(model: Model, group: int, token: int) -> int:
    return max(0, group + (-1 if token else 1)) if model.semi_dyck1 else group + 1 - token


def _right_of_group(model: Model, group: int, length: int) -> int:
    return _right(model, group if model.semi_dyck1 else 2 * group - length)


def _surely_right(runner: Runner, group: int, length: int, ends: tuple[Any, Any]) -> bool:
    """Refuse a wrong end; say whether right ends make all between them right.

    They do where the class is an interval. `rejected` is none if the ends lie on both sides of 0. In floating point two
    rounded lines with slopes of one sign must be further apart at both ends than rounding can account for.
    """
    model = runner.model
    right = _right_of_group(model, group, length)
    _require(abs(ends[0]) != float("inf") and abs(ends[1]) != float("inf"), f"h overflows at length {length}")
    _require(all(runner.class_of(end) == right for end in ends), f"a string of length {length} fails")
    if model.kind == "zero":
        return right == 1 or ends[0] > 0 or ends[1] < 0
    if model.kind == "binary" or model.arithmetic == "real":
        return True
    others = [line for index, line in enumerate(model.lines) if index != right]
    return all(_far_apart(model.arithmetic, model.lines[right], line, ends) for line in others)


def _far_apart(
    arithmetic: str, line: tuple[float, float], other: tuple[float, float], ends: tuple[float, float]
) -> bool:
    if not _one_sign(line[0], other[0]):
        return True
    digits, least, _, _ = FLOATS[arithmetic]
    size = max(map(abs, ends))
    error = sum(abs(v) * size + abs(c) for v, c in (line, other))
    gaps = [(line[0] * h + line[1]) - (other[0] * h + other[1]) for h in ends]
    # Each output is off by at most 2u·(|v·h| + |c|) + η, with u = 2^−digits and η = 2^least, at the end and between: 4 times
    # that is needed, and the rest of the 16 covers the roundings of this function, which are those of a double.
    return min(gaps) > 16 * (error / 2**digits + 2.0**least)


def _check_states(model: Model, length: int, groups: list[int]) -> None:
    """List every state of the strings of a length, and check those of some groups one by one."""
    runner, states = Runner(model), {0: {0}}
    for _ in range(length):
        runner.advance()
        longer: dict[int, set[Any]] = {}
        for group, known in states.items():
            for token in (0, 1):
                longer.setdefault(_target(model, group, token), set()).update(runner.step(h, token) for h in known)
        states = longer
        _require(sum(map(len, states.values())) <= MOST_STATES, f"too many states to check at length {length}")
    for group in groups:
        right = _right_of_group(model, group, length)
        _require(all(runner.class_of(h) == right for h in states[group]), f"a string of length {length} fails")


# --- All lengths of a linear cell with U > 0 in real arithmetic, however many -------------------------------------------


def _sortable(model: Model) -> bool:
    linear = model.cell == "linear" and model.arithmetic == "real"
    return linear and model.kind != "zero" and model.weights[0] > 0


def _check_sorted(model: Model, stride: int, horizon: int) -> None:
    """Every length N = 2k + r to the horizon is right: the sorted strings at the ends of each class's range of n decide.

    U^i > 0 is the weight of the token that i others follow, so exchanging `)` for `(` moves h one way everywhere, and the
    extremes for given n are the two sorted strings. With x = U^k each comparison at such a string is the sign of a
    quadratic in x (of a line in k, for U = 1).
    """
    U = model.weights[0]
    _require(_sortable(model), "sorted strings decide only for a linear cell with U > 0 in real arithmetic")
    for parity in range(0, 2, stride):
        last = (horizon - parity) // 2
        if last < 1 - parity:
            continue
        for string in _ends_of_classes(model.kind, parity):
            for line, strict in _comparisons(model, string[-1]):
                claim = _polynomial(model, string, parity, line)
                if U == 1:
                    held = all(_above(claim[0] + claim[1] * k, strict) for k in (1 - parity, last))
                else:
                    held = _positive(claim, U, 1 - parity, last, strict)
                _require(held, f"a string of a length to {horizon} fails")


String = tuple[int, int | None, int | None, int]
"""First token, n − k, m − k (None for a single run) and right class of a sorted string, for every k."""


def _ends_of_classes(kind: str, parity: int) -> list[String]:
    """Return the sorted strings at both ends of each class's range of n."""
    top = 1 if kind == "binary" else 2
    middle = [(0, 0, 1)] if kind == "ternary" and parity == 0 else []
    below = (-1, 1, 0) if middle else (0, parity, 0)
    sorted_both_ways = [
        (first, n, m, right) for first in (0, 1) for n, m, right in (below, *middle, (1, parity - 1, top))
    ]
    return [(1, None, None, 0), (0, None, None, top), *sorted_both_ways]


def _comparisons(model: Model, index: int) -> Iterator[tuple[tuple[Fraction, Fraction], bool]]:
    """Go through the lines w·h + c that must be above 0, strictly or not, for h to get a class."""
    if model.kind == "binary":
        (v, c), sign = model.lines[0], 1 if index else -1
        yield (sign * v, sign * c), index == 1
        return
    v, c = model.lines[index]
    for other, (w, d) in enumerate(model.lines):
        if other != index:
            yield (v - w, c - d), other < index


def _polynomial(model: Model, string: String, parity: int, line: tuple[Fraction, Fraction]) -> tuple[Fraction, ...]:
    """Return coefficients, lowest first, whose polynomial has the sign of w·h + c: in x = U^k, or in k for U = 1."""
    first, openings, closings, _ = string
    U, (w, c) = model.weights[0], line
    older, younger = model.steps[first], model.steps[1 - first]
    if U == 1:
        if openings is None or closings is None:
            return (w * older * parity + c, w * older * 2)
        return (w * (openings * model.steps[0] + closings * model.steps[1]) + c, w * (older + younger))
    sign = 1 if U > 1 else -1
    if openings is None or closings is None:
        powers = (-older, Fraction(0), older * U**parity)
    else:
        powers = (-younger, (younger - older) * U ** (closings if first == 0 else openings), older * U**parity)
    return (sign * (w * powers[0] + c * (U - 1)), sign * w * powers[1], sign * w * powers[2])


def _above(value: Fraction, strict: bool) -> bool:
    return value > 0 or (value == 0 and not strict)


def _positive(claim: tuple[Fraction, ...], U: Fraction, first: int, last: int, strict: bool) -> bool:
    """Say whether a quadratic is above 0 at x = U^k for every k from first to last.

    Between x and y a quadratic lies within its Bernstein coefficients: its values at x and y, and
    C + B·(x + y)/2 + A·x·y. Where these do not decide, the range is halved, down to single values of k.
    """
    C, B, A = claim

    def sign(j: int, k: int) -> int:
        return _sign(C, [(B / 2, j), (B / 2, k), (A, j + k)], U)

    ranges = [(first, last)]
    while ranges:
        low, high = ranges.pop()
        if high - low <= 1:
            if not all(_above(Fraction(sign(k, k)), strict) for k in {low, high}):
                return False
        elif min(sign(low, low), sign(high, high), sign(low, high)) <= 0:
            middle = (low + high) // 2
            ranges += [(low, middle), (middle, high)]
    return True


def _sign(constant: Fraction, terms: list[tuple[Fraction, int]], U: Fraction) -> int:
    """Return the sign of constant + Σ c·U^k: by enclosures of the powers, and at last exactly."""
    size = max(k for _, k in terms) * max(U.numerator.bit_length(), U.denominator.bit_length())
    precision = 256
    while precision < size:
        enclosures = [[c * end for end in _power(U, k, precision)] for c, k in terms]
        low, high = (constant + sum(map(outermost, enclosures)) for outermost in (min, max))
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        precision *= 2
    value = constant + sum(c * U**k for c, k in terms)
    return (value > 0) - (value < 0)


@lru_cache(maxsize=4096)
def _power(U: Fraction, k: int, precision: int) -> tuple[Fraction, Fraction]:
    """Return bounds of U^k: by squaring in whole multiples of 2^−precision, rounded down and up."""
    one = 1 << precision
    bases = U.numerator * one // U.denominator, -(-U.numerator * one // U.denominator)
    low = high = one
    for bit in bin(k)[2:]:
        low, high = low * low // one, -(-high * high // one)
        if bit == "1":
            low, high = low * bases[0] // one, -(-high * bases[1] // one)
    return Fraction(low, one), Fraction(high, one)


def _sorted_string(model: Model, runs: list[tuple[int, int]]) -> tuple[int, int, None]:
    """Return the class that a string of at most two runs gets, and the one it should get, without going along it."""
    (first, older_size), younger_size = runs[0], sum(size for _, size in runs[1:])
    U, length = model.weights[0], older_size + younger_size
    older, younger = model.steps[first], model.steps[1 - first]

    def above(line: tuple[Fraction, Fraction], strict: bool) -> bool:
        w, c = line
        if U == 1:
            return _above(w * (older_size * older + younger_size * younger) + c, strict)
        # (U − 1)·h, which is a geometric sum for each run.
        terms = [(w * older, length), (w * (younger - older), younger_size)]
        sign = _sign(c * (U - 1) - w * younger, terms, U) * (1 if U > 1 else -1)
        return _above(Fraction(sign), strict)

    found = next(i for i in range(len(CLASSES[model.kind])) if all(above(*side) for side in _comparisons(model, i)))
    count = older_size - younger_size
    return found, _right(model, -count if first else count), None


if __name__ == "__main__":
    finding = check_file(Path(sys.argv[1]))
    sys.stdout.write(finding.reason + "\n")
    sys.exit(0 if finding.valid else 1)
