"""Certificates and forgeries for the proven checker, and whether it and the Python checker contradict each other."""

import json
import subprocess
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from affine_cases import KINDS, some_case
from affine_forgers import FORGERS, Source, sealed

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Lengths
from tallystick.checker import check

PROGRAM = Path(__file__).parents[2] / "proofs" / "checker" / "build" / "proven-checker"
_LIMIT = 40
_MINUTES = Fraction(1, 4)
"""How long the Python checker may take."""


# --- Networks with one unit ---------------------------------------------------------------------------------------------------


def some_unit(generator):
    """A network with one unit, most of them near a counter, and a readout that it may be asked by."""
    near = generator.choice([0, 0, Fraction(1, 64), Fraction(1, 512), Fraction(-1, 200), Fraction(1, 7)])
    a = Fraction(generator.choice([1, 1, 2, -1, 3]), generator.choice([1, 1, 2, 3]))
    off = generator.choice([0, 0, 0, Fraction(1, 100), Fraction(-1, 9)])
    kind = generator.choice(["linear", "linear", "selective", "relu"])
    if kind == "selective":
        P = generator.choice([1 + near, Fraction(2), Fraction(1, 2), Fraction(-2), Fraction(-1), Fraction(9, 10)])
        Q = generator.choice([1 / P, 1 / P, 1 / P + off])
        cell = ts.SelectiveCell(a, -Q * a + off, P, Q)
    else:
        cell = (ts.ReluCell if kind == "relu" else ts.LinearCell)(a, -a + off, 1 + near)
    v = generator.choice([1, 1, -1, 2]) * (1 if a > 0 else -1)
    c = -generator.choice([Fraction(1, 2), 0, Fraction(1, 5), 1])
    readouts = [
        ts.Readout.binary(v, c),
        ts.Readout.binary(v, c),
        ts.Readout.ternary((-v, 0, v), (c, 0, c)),
        ts.Readout.zero(),
        ts.Readout(((v,),), (c,), "count"),
    ]
    return ts.Network(cell, generator.choice(readouts))


def some_long_unit(generator):
    """A linear unit so near to a counter that it is right for long, or the other way round, with ties at some lengths."""
    a = Fraction(generator.choice([1, 1, 2, -1, 3]), generator.choice([1, 1, 2, 3]))
    off = Fraction(generator.randint(-9, 9), 10 ** generator.randint(2, 18))
    b = -a + generator.choice([0, 0, off / 7])
    U = generator.choice(
        [*[1 + off] * 6, *[Fraction(1)] * 3, Fraction(9, 10), Fraction(11, 10), Fraction(0), Fraction(-1)]
    )
    cell = ts.LinearCell(a, b, U)
    v = generator.choice([1, 1, -1, 2]) * (1 if a > 0 else -1)
    c = -abs(v * a) * generator.choice([Fraction(1, 2), Fraction(1, 5), Fraction(2, 3), Fraction(9, 10), 0, 1])
    if generator.randrange(6) == 0:  # the output is exactly 0 at some string
        half = generator.randint(1, 40)
        h = Fraction(0)
        for step in [a] * (half + generator.randint(0, 1)) + [b] * half:
            h = U * h + step
        c = -v * h
    readouts = [
        ts.Readout.binary(v, c),
        ts.Readout.binary(v, c),
        ts.Readout.ternary((-v, 0, v), (c, 0, c)),
        ts.Readout.ternary((-v, 0, v), (0, abs(v * a) / 3, 0)),
    ]
    return ts.Network(cell, generator.choice(readouts))


def _spelled(number):
    return int(number) if number.denominator == 1 else f"{number.numerator}/{number.denominator}"


# Each changes a certificate of one unit in place, or leaves it as it is where it has nothing to forge.


def _move_horizon(content, generator):
    if content["horizon"] != "unlimited":
        content["horizon"] = max(0, content["horizon"] + generator.choice([-2, -1, 1, 2]))


def _swap_lengths(content, _):
    content["lengths"] = "even" if content["lengths"] == "all" else "all"


def _change_step(content, generator):
    name = generator.choice(["open_step", "close_step"])
    off = Fraction(generator.choice([-1, 1]), generator.choice([2, 2**20, 2**52]))
    content["model"][name] = _spelled(Fraction(content["model"][name]) + off)


def _change_bias(content, generator):
    bias = content["model"]["readout"].get("bias", [])
    if bias:
        off = Fraction(generator.choice([-1, 1]), generator.choice([1, 3, 2**52]))
        bias[0] = _spelled(Fraction(bias[0]) + off)


def _prove(content, generator):
    evidence = {"method": generator.choice(["theorem", content["evidence"]["method"]])}
    content |= {"verdict": "PROVED", "horizon": "unlimited", "counterexample": None, "evidence": evidence}


def _rename_method(content, generator):
    content["evidence"] = {"method": generator.choice(["search", "sorted strings", "theorem", "exact depth", "luck"])}


def _change_run(content, generator):
    if content["counterexample"] is not None:
        run = generator.choice(content["counterexample"]["runs"])
        run[1] = max(1, run[1] + generator.choice([-1, 1]))
        content["counterexample"]["trace"] = None


def _change_trace(content, generator):
    trace = (content["counterexample"] or {}).get("trace")
    if trace:
        place = generator.randrange(len(trace))
        trace[place] = _spelled(Fraction(trace[place]) + Fraction(1, 2**40))


def _swap_classes(content, _):
    example = content["counterexample"]
    if example is not None:
        example["class"], example["right_class"] = example["right_class"], example["class"]


def _claim_too_far(content, generator):
    if content["counterexample"] is not None:
        stride = 1 if content["lengths"] == "all" else 2
        horizon = content["horizon"] + stride * generator.choice([1, 2, 5])
        content |= {"verdict": "BOUNDED", "horizon": horizon, "counterexample": None}


UNIT_FORGERS = (
    _move_horizon,
    _swap_lengths,
    _change_step,
    _change_bias,
    _prove,
    _rename_method,
    _change_run,
    _change_trace,
    _swap_classes,
    _claim_too_far,
)


# --- Certificates and forgeries -------------------------------------------------------------------------------------------------


def unit_certificate(seed):
    """The certificate of a network with one unit."""
    generator = Random(f"proven unit {seed}")
    network = some_unit(generator)
    return certificate(certify(network, generator.choice(list(Lengths)), limit=_LIMIT))


def unit_forgery(seed):
    """A forged certificate of a network with one unit, or None."""
    content = unit_certificate(seed)
    forged = deepcopy(content)
    UNIT_FORGERS[seed % len(UNIT_FORGERS)](forged, Random(f"proven unit forgery {seed}"))
    return None if forged == content else sealed(forged)


def long_certificate(seed):
    """The certificate of a linear unit, to any length."""
    generator = Random(f"proven long {seed}")
    network = some_long_unit(generator)
    limit = generator.choice([10**20, 10 ** generator.randint(1, 12)])
    return certificate(certify(network, generator.choice(list(Lengths)), limit=limit))


def long_forgery(seed):
    """A forged certificate of a linear unit, or None."""
    content = long_certificate(seed)
    forged = deepcopy(content)
    UNIT_FORGERS[seed % len(UNIT_FORGERS)](forged, Random(f"proven long forgery {seed}"))
    return None if forged == content else sealed(forged)


def affine_certificate(seed):
    """The certificate of an affine network of several units."""
    kinds = list(KINDS)
    case = some_case(seed, kinds[seed % len(kinds)])
    return certificate(certify(case.network, list(Lengths)[seed // len(kinds) % 2], limit=_LIMIT))


def affine_forgery(seed):
    """A forged certificate of an affine network of several units, or None."""
    kinds, generator = list(KINDS), Random(f"proven forgery {seed}")
    source = Source.of(some_case(seed, kinds[seed % len(kinds)]), generator.choice(list(Lengths)))
    forged = FORGERS[seed // len(kinds) % len(FORGERS)](source, generator)
    if forged is None or forged[0] == source.content:
        return None
    content = forged[0]
    return content if content["digest"] != source.content["digest"] else sealed(content)


# --- Both answers ---------------------------------------------------------------------------------------------------------------


def proven_answers(contents):
    """The lines that the proven checker prints, one for each certificate."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{place}.json" for place in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_text(json.dumps(content))
        done = subprocess.run([PROGRAM, *paths], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == len(contents), done.stderr
    return [line.partition(": ")[2] for line in lines] if len(lines) > 1 else lines


def is_open(line):
    """Whether the proven checker left a certificate open."""
    return line.startswith(("not covered: ", "too costly: "))


def disagreement(content, line):
    """How the two checkers contradict each other, or None; a certificate that one of them leaves open is no contradiction."""
    if is_open(line):
        return None
    answer = check(json.dumps(content), _MINUTES)
    contradict = answer.valid is not None and answer.valid is not line.startswith("holds: ")
    return f"proven: {line}; Python: {answer}" if contradict else None
