"""Certificates and forgeries of the kinds that the proven checker covers, and what both checkers say of them."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "certificates"))

from affine_cases import KINDS, some_case  # noqa: E402
from affine_forgers import FORGERS, Source, sealed  # noqa: E402

import tallystick as ts  # noqa: E402
from tallystick.certificates.certificate import certificate  # noqa: E402
from tallystick.certificates.certify import certify  # noqa: E402
from tallystick.certificates.verdict import Lengths  # noqa: E402
from tallystick.checker import check  # noqa: E402

PROGRAM = ROOT / "proofs" / "checker" / "build" / "proven-checker"
_LIMIT = 40


# --- Networks with one unit -----------------------------------------------------------------------------------------------------


def some_unit(generator):
    """A cell with one unit, most of them near a counter, and a readout that it may be asked by."""
    near = generator.choice([0, 0, Fraction(1, 64), Fraction(1, 512), Fraction(-1, 200), Fraction(1, 7), Fraction(-3, 2)])
    a = Fraction(generator.choice([1, 1, 2, -1, 3]), generator.choice([1, 1, 2, 3]))
    off = generator.choice([0, 0, 0, Fraction(1, 100), Fraction(-1, 9)])
    kind = generator.choice(["linear", "linear", "selective", "relu"])
    if kind == "selective":
        P = generator.choice([1 + near, Fraction(2), Fraction(1, 2), Fraction(-2), Fraction(-1), Fraction(9, 10)])
        Q = generator.choice([1 / P, 1 / P, 1 / P + off])
        cell = ts.SelectiveCell(a, -Q * a + off, P, Q)
    else:
        cell = (ts.ReluCell if kind == "relu" else ts.LinearCell)(a, -a + off, 1 + near)
    v, c = generator.choice([1, 1, -1, 2]) * (1 if a > 0 else -1), -generator.choice([Fraction(1, 2), 0, Fraction(1, 5), 1])
    readout = generator.choice(
        [
            ts.Readout.binary(v, c),
            ts.Readout.binary(v, c),
            ts.Readout.ternary((-v, 0, v), (c, 0, c)),
            ts.Readout.zero(),
        ]
    )
    return ts.Network(cell, readout)


def change_unit(content, generator):
    """A certificate of one unit that says something else, with a digest that fits."""
    changed = json.loads(json.dumps(content))
    how = generator.choice(["horizon", "lengths", "weight", "verdict", "method", "run", "class", "further", "digest", "bias"])
    example = changed["counterexample"]
    if how == "horizon" and changed["horizon"] != "unlimited":
        changed["horizon"] = max(0, changed["horizon"] + generator.choice([-2, -1, 1, 2]))
    elif how == "lengths":
        changed["lengths"] = "even" if changed["lengths"] == "all" else "all"
    elif how == "weight":
        name = generator.choice(["open_step", "close_step"])
        off = Fraction(generator.choice([-1, 1]), generator.choice([2, 2**20, 2**52]))
        changed["model"][name] = _spelled(Fraction(changed["model"][name]) + off)
    elif how == "bias" and "bias" in changed["model"]["readout"]:
        bias = changed["model"]["readout"]["bias"]
        bias[0] = _spelled(Fraction(bias[0]) + Fraction(generator.choice([-1, 1]), generator.choice([1, 3, 2**52])))
    elif how == "verdict":
        evidence = {"method": generator.choice(["theorem", changed["evidence"]["method"]])}
        changed |= {"verdict": "PROVED", "horizon": "unlimited", "counterexample": None, "evidence": evidence}
    elif how == "method":
        changed["evidence"] = {"method": generator.choice(["search", "sorted strings", "theorem", "exact depth", "luck"])}
    elif how == "run" and example is not None:
        run = generator.choice(example["runs"])
        run[1] = max(1, run[1] + generator.choice([-1, 1]))
        example["trace"] = None
    elif how == "class" and example is not None:
        example["class"], example["right_class"] = example["right_class"], example["class"]
    elif how == "further" and example is not None:
        horizon = changed["horizon"] + (1 if changed["lengths"] == "all" else 2) * generator.choice([1, 2, 5])
        changed |= {"verdict": "BOUNDED", "horizon": horizon, "counterexample": None}
    elif how == "digest":
        return {**changed, "digest": "0" * 64}
    return sealed(changed) if changed != content else None


def _spelled(number):
    return int(number) if number.denominator == 1 else f"{number.numerator}/{number.denominator}"


# --- Certificates and forgeries -----------------------------------------------------------------------------------------------------


def unit_certificate(seed):
    """The certificate of a network with one unit."""
    generator = Random(f"proven unit {seed}")
    network = some_unit(generator)
    return certificate(certify(network, generator.choice(list(Lengths)), limit=_LIMIT))


def unit_forgery(seed):
    """A forged certificate of a network with one unit, or None."""
    generator = Random(f"proven unit forgery {seed}")
    return change_unit(unit_certificate(seed), generator)


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
    if forged is None:
        return None
    return forged[0] if forged[0].get("digest") != source.content["digest"] else sealed(forged[0])


# --- Both answers -------------------------------------------------------------------------------------------------------------------


def proven_answers(contents):
    """What the proven checker says: a list of its lines."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{place}.json" for place in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_text(json.dumps(content))
        done = subprocess.run([PROGRAM, *paths, paths[0]], capture_output=True, text=True, check=False)
    lines = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    assert len(lines) == len(contents) + 1, done.stderr
    return lines[:-1]


def disagreement(content, line):
    """Return how the two checkers contradict each other, or None; neither needs to decide."""
    answer = check(json.dumps(content))
    holds = line.startswith("holds: ")
    if holds and answer.valid is not True:
        return f"proven: {line}; Python: {answer}"
    if answer.valid and not (holds or line.startswith(("not covered: ", "too costly: "))):
        return f"proven: {line}; Python: {answer}"
    return None
