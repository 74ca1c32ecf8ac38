"""Certificates of affine networks that say something false, with digests that fit; every string says that it is false."""

from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from every_string import Affine, outputs_of, place_of, rightness, string_at

import tallystick as ts
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Lengths, Outcome, Verdict

LONGEST, SHORT = 12, 9
"""How far the strings are run of a network, and of one whose weights have many digits."""


@dataclass(frozen=True)
class Source:
    """A genuine certificate, and what every string says.

    Attributes:
        affine: the network as matrices.
        verdict: the verdict on it.
        content: its certificate.
        right: whether each string is right, for each length up to LONGEST.
    """

    affine: Affine
    verdict: Verdict
    content: dict
    right: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, case, lengths):
        verdict = certify(case.network, lengths, limit=LONGEST)
        return cls(case.affine, verdict, certificate(verdict), tuple(rightness(case.affine, LONGEST)))

    @property
    def stride(self):
        return self.verdict.lengths.stride

    def failing(self, length):
        """The places of the strings of a length that are wrong."""
        return np.flatnonzero(~self.right[length - 1]).tolist()


def sealed(content):
    """The certificate with a digest that fits."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    return {**rest, "digest": digest(rest)}


def runs_of(string):
    """A string as runs of equal tokens."""
    runs = []
    for token in string:
        if runs and runs[-1][0] == token:
            runs[-1][1] += 1
        else:
            runs.append([token, 1])
    return runs


def is_false(content, right):
    """Whether the strings that were run show that a claim does not hold."""
    stride, longest = Lengths(content["lengths"]).stride, len(right)
    counted = range(stride, longest + 1, stride)
    first = next((length for length in counted if not right[length - 1].all()), None)
    if content["verdict"] != "REFUTED":
        return first is not None and (content["verdict"] == "PROVED" or content["horizon"] >= first)
    string = "".join(token * size for token, size in content["counterexample"]["runs"])
    if len(string) != content["horizon"] + stride:
        return True
    if first is not None and first < len(string):
        return True
    return len(string) <= longest and bool(right[len(string) - 1][place_of(string)])


# --- Forgers ------------------------------------------------------------------------------------------------------------------
#
# Each returns a changed certificate with what every string says of its network, or None where it has nothing to forge. In the
# place of what the strings say, None stands for a lie that does not depend on them.


def move_horizon(source, generator):
    """The horizon moved, the counterexample kept."""
    if source.verdict.outcome is Outcome.PROVED:
        return None
    step = generator.choice([-2, -1, 1, 2])
    return {**source.content, "horizon": max(0, source.content["horizon"] + step)}, source.right


def claim_too_far(source, generator):
    """No counterexample, and a horizon beyond the first failing string."""
    if source.verdict.outcome is not Outcome.REFUTED:
        return None
    horizon = source.verdict.horizon + source.stride * generator.choice([1, 1, 2, 10])
    return {**source.content, "verdict": "BOUNDED", "horizon": horizon, "counterexample": None}, source.right


def fail_later(source, generator):
    """A string that does fail, though shorter ones do as well."""
    if source.verdict.outcome is not Outcome.REFUTED:
        return None
    after = range(source.verdict.failure.length + source.stride, LONGEST + 1, source.stride)
    later = [length for length in after if source.failing(length)]
    if not later:
        return None
    length = generator.choice(later)
    string = string_at(generator.choice(source.failing(length)), length)
    return _with_string(source, string), source.right


def fail_nowhere(source, generator):
    """A string that is right, said to fail, of the length that fails or of a shorter one."""
    horizon = LONGEST if source.verdict.horizon is None else source.verdict.horizon
    length = source.stride * generator.randint(1, max(1, min(horizon + source.stride, LONGEST) // source.stride))
    places = np.flatnonzero(source.right[length - 1]).tolist()
    return (_with_string(source, string_at(generator.choice(places), length)), source.right) if places else None


def _with_string(source, string):
    """A certificate that says of a string that it fails first, with the classes that make it sound true."""
    classes = [str(name) for name in source.verdict.network.task.classes]
    right = str(source.verdict.network.task.right_class(string))
    wrong = next((name for name in classes if name != right), f"more than {right}")
    example = {"runs": runs_of(string), "class": wrong, "right_class": right, "trace": None}
    horizon = len(string) - source.stride
    evidence = {"method": source.content["evidence"]["method"]}
    changes = {"verdict": "REFUTED", "horizon": horizon, "counterexample": example, "evidence": evidence}
    return {**source.content, **changes}


def prove_what_fails(source, generator):
    """PROVED of a network that fails, with evidence that some other network might have."""
    if source.verdict.outcome is not Outcome.REFUTED:
        return None
    size, steps = len(source.affine.start), generator.choice([1, 4, 16])
    identity = [[int(i == j) for j in range(size)] for i in range(size)]
    projection = [[int(i == j == 0) for j in range(size)] for i in range(size)]
    tail = {"limit": generator.choice([identity, projection]), "power": steps, "start": 4 * steps}
    rest = {"period": steps, "recurrence": generator.choice([[], ["1/2"]]), "power": 1, "start": steps}
    methods = [source.content["evidence"]["method"], "sorting", "zero check", "lattice paths", "matrices", "theorem"]
    parts = [{}, {"tail": None}, {"tail": tail}, {"rest": None}, {"rest": rest}, {"start": steps}, {"start": 64}]
    evidence = {"method": generator.choice(methods), **generator.choice(parts)}
    changes = {"verdict": "PROVED", "horizon": "unlimited", "counterexample": None, "evidence": evidence}
    return {**source.content, **changes}, source.right


def swap_lengths(source, generator):
    """Even lengths for all, or all for even."""
    other = Lengths.ALL if source.verdict.lengths is Lengths.EVEN else Lengths.EVEN
    return {**source.content, "lengths": other.value}, source.right


def swap_classes(source, generator):
    """The class found and the right one in each other's place."""
    if source.verdict.outcome is not Outcome.REFUTED:
        return None
    example = source.content["counterexample"]
    swapped = {**example, "class": example["right_class"], "right_class": example["class"]}
    return {**source.content, "counterexample": swapped}, None


def change_a_weight(source, generator):
    """The certificate of a network for another one, one of whose weights differs: by a last digit, or by more."""
    network = source.verdict.network
    weights = []
    network.map_weights(lambda value, _: weights.append(value) or value)
    chosen, off = generator.randrange(len(weights)), generator.choice([2**-52, 2**-30, 2**-10, 0.25, 1])
    places = iter(range(len(weights)))

    def change(value, _):
        moved = Fraction(value) + generator.choice([-1, 1]) * (abs(Fraction(value)) or 1) * Fraction(off)
        return moved if next(places) == chosen else Fraction(value)

    return _for_another(source, network.map_weights(change))


def swap_rows(source, generator):
    """Two outputs in each other's place."""
    readout = source.verdict.network.readout
    if len(readout.bias) == 1:
        return None
    places = list(range(len(readout.bias)))
    i, j = generator.sample(places, 2)
    places[i], places[j] = places[j], places[i]
    moved = ts.Readout(
        tuple(readout.weight[k] for k in places), tuple(readout.bias[k] for k in places), readout.decision
    )
    return _for_another(source, replace(source.verdict.network, readout=moved))


def _for_another(source, network):
    """The certificate with another network in it, and what every string of that one says."""
    affine = affine_of(network, source.affine)
    model = certificate(certify(network, source.verdict.lengths, limit=2))["model"]
    right = tuple(rightness(affine, SHORT))
    content = {**source.content, "model": model}
    by_counting = content["verdict"] == "PROVED" and content["evidence"] in (
        {"method": "sorting", "tail": None},
        {"method": "matrices"},
    )
    # With a factor for each unit, an output may follow the count that is not a multiple of it.
    may_follow = content["evidence"] == {"method": "matrices"} and is_diagonal(affine)
    return content, None if by_counting and not may_follow and not counts(affine) else right


def is_diagonal(affine):
    return not any(x for matrix in affine.matrices for i, row in enumerate(matrix) for j, x in enumerate(row) if i != j)


# --- Networks as matrices, found by running their steps -----------------------------------------------------------------------


def affine_of(network, like):
    """A network as matrices: the images of zero and of each unit vector; the decision and what is right as they were."""
    exact = network.in_arithmetic("rational")
    cell, start = exact.cell, exact.cell.initial_state
    stacked = isinstance(start[0], tuple)
    sizes = [len(part) for part in start] if stacked else [len(start)]

    def nested(vector):
        ends = np.cumsum([0, *sizes]).tolist()
        found = tuple(tuple(vector[a:b]) for a, b in pairwise(ends))
        return found if stacked else found[0]

    def flat(state):
        return [Fraction(x) for part in state for x in part] if stacked else [Fraction(x) for x in state]

    def map_of(function):
        units = [[Fraction(int(i == j)) for j in range(sum(sizes))] for i in range(sum(sizes))]
        zero = function(nested([Fraction(0)] * sum(sizes)))
        columns = [[x - y for x, y in zip(function(nested(unit)), zero, strict=True)] for unit in units]
        return tuple(zip(*columns, strict=True)), tuple(zero)

    steps = [map_of(lambda state, token=token: flat(cell.step(state, ts.cells.ONE_HOT[token]))) for token in "()"]
    rows, bias = map_of(lambda state: [Fraction(y) for y in exact.readout.outputs(cell.hidden(state))])
    matrices, added = zip(*steps, strict=True)
    return Affine(matrices, added, tuple(flat(start)), rows, bias, like.decision, like.right)


def counts(affine):
    """Whether every output, or every difference of two, is a constant plus a multiple of n − m.

    Both sides are linear recurrences in the position of a bracket, so one token more than the state has numbers decides.
    """
    at = {}
    for size in range(len(affine.start) + 2):
        for string in (string_at(place, size) for place in range(2**size)):
            outputs = outputs_of(affine, string)
            compared = [y - outputs[0] for y in outputs[1:]] if affine.decision == "class" else outputs
            if at.setdefault(string.count("(") - string.count(")"), compared) != compared:
                return False
    return all(at[k] == [k * x - (k - 1) * y for x, y in zip(at[1], at[0], strict=True)] for k in at)


# --- Evidence -----------------------------------------------------------------------------------------------------------------


def change_the_tail(source, generator):
    """Of a network that is right for ever because what it adds converges: another limit, power or length."""
    tail = source.content["evidence"].get("tail")
    if source.verdict.outcome is not Outcome.PROVED or tail is None:
        return None
    forged = deepcopy(tail)
    how = generator.choice(["entry", "entry", "identity", "nothing", "power", "start", "none", "less", "more"])
    if how == "entry":
        row = generator.choice(forged["limit"])
        place = generator.randrange(len(row))
        row[place] = str(
            Fraction(row[place]) + generator.choice([-1, 1]) * Fraction(1, generator.choice([1, 3, 2**52]))
        )
    elif how == "identity":
        size = len(forged["limit"])
        forged["limit"] = [[int(i == j) for j in range(size)] for i in range(size)]
    elif how == "nothing":
        forged["limit"] = [[0] * len(row) for row in forged["limit"]]
    elif how in ("power", "start"):
        forged[how] = generator.choice([0, -1, "4", None, True, 1.5, 2**40])
    elif how == "none":
        forged = None
    elif how == "less":
        del forged[generator.choice(list(forged))]
    else:
        forged["more"] = 1
    if forged == tail:
        return None
    return {**source.content, "evidence": {**source.content["evidence"], "tail": forged}}, None


def change_the_rest(source, generator):
    """Of a zero check that is right for ever: another reason why no string of odd length ends at zero."""
    rest = source.content["evidence"].get("rest")
    if source.verdict.outcome is not Outcome.PROVED or rest is None:
        return None
    forged = deepcopy(rest)
    how = generator.choice([*forged, "whole", "long", "none", "less", "more"])
    if how == "recurrence" and rest["recurrence"]:
        place = generator.randrange(len(forged[how]))
        forged[how][place] = str(Fraction(forged[how][place]) + Fraction(1, generator.choice([2, 3, 2**52])))
    elif how in ("period", "power", "start"):
        forged[how] = generator.choice([0, -1, "1", None, True, 1.5])
    elif how == "none":
        if counts(source.affine):  # which proves it without
            return None
        forged = None
    elif how == "less":
        del forged[generator.choice(list(forged))]
    elif how == "more":
        forged["more"] = 1
    else:
        forged["recurrence"] = [1] if how != "long" else [0] * (len(source.affine.start) + 1)
    return {**source.content, "evidence": {**source.content["evidence"], "rest": forged}}, None


def change_the_start(source, generator):
    """Of units that count or fade: another number of last tokens that are looked at, or none."""
    evidence = source.content["evidence"]
    if source.verdict.outcome is not Outcome.PROVED or "start" not in evidence:
        return None
    start = generator.choice([0, -1, -4, "4", None, True, 1.5, [4], 2**40])
    return {**source.content, "evidence": {**evidence, "start": start}}, None


def rename_the_method(source, generator):
    """A method that decides nothing about such a network."""
    name = generator.choice(
        ["search", "theorem", "sorted strings", "exact depth", "enclosures", "Sorting", "", None, 1]
    )
    return {**source.content, "evidence": {**source.content["evidence"], "method": name}}, None


def execute(source, generator):
    """An arithmetic that the proof is not about."""
    if source.verdict.outcome is not Outcome.PROVED:
        return None
    return {**source.content, "arithmetic": generator.choice(["float32", "float64-fused", "bfloat16", "exact"])}, None


def break_the_digest(source, generator):
    """One digit of the digest."""
    digits = list(source.content["digest"])
    place = generator.randrange(len(digits))
    digits[place] = "0" if digits[place] != "0" else "1"
    return {**source.content, "digest": "".join(digits)}, None


FORGERS = (
    move_horizon,
    claim_too_far,
    fail_later,
    fail_nowhere,
    prove_what_fails,
    swap_lengths,
    swap_classes,
    change_a_weight,
    swap_rows,
    change_the_tail,
    change_the_rest,
    change_the_start,
    rename_the_method,
    execute,
    break_the_digest,
)
