"""Claims about cells with one unit in floating point, and forgeries of them, for the proven checker beside the Python one.

Run alone it compares the two on as many networks as asked for, each with two forgeries:

    python tests/certificates/executed_cases.py 1000 [SEED]
"""

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

from brute_force import READOUTS, SCALAR_CELLS
from edge_models import edge_model
from forged import issued, sealed

from tallystick.checker.checking import check
from tallystick.errors import BadInput

PROGRAM = Path(__file__).parent.parent.parent / "proofs" / "checker" / "build" / "proven-checker"
ARITHMETICS = [form + order for form in ("float16", "bfloat16", "float32", "float64") for order in ("", "-fused")]
CELLS = ("linear", "selective", "relu")
ANSWERS = {0: True, 1: False, 3: None}
LIMIT = 10
FORGERIES = 2


def moved(number, generator):
    """A number beside another, as certificates write it."""
    value = Fraction(number)
    other = value + generator.choice([1, -1, Fraction(1, 3), Fraction(1, 2**20), -2 * value or 1])
    return f"{other.numerator}/{other.denominator}"


def forge(content, generator):
    """Change one thing that a claim says; whether it is true then is for the checkers to tell."""
    found = json.loads(json.dumps(content))
    model, example = found["model"], found["counterexample"]
    kind = generator.choice(["horizon", "open", "close", "weight", "runs", "classes", "lengths", "arithmetic", "bias"])
    if kind == "horizon":
        found["horizon"] = max(0, found["horizon"] + generator.choice([1, 2, 4, -1]))
    elif kind in ("open", "close"):
        model[f"{kind}_step"] = moved(model[f"{kind}_step"], generator)
    elif kind == "weight":
        weight = model["recurrent_weight"]
        first = moved(weight[0] if isinstance(weight, list) else weight, generator)
        model["recurrent_weight"] = [first, weight[1]] if isinstance(weight, list) else first
    elif kind == "runs" and example:
        generator.choice(example["runs"])[1] += generator.choice([1, 2])
    elif kind == "classes" and example:
        example["class"], example["right_class"] = example["right_class"], example["class"]
    elif kind == "lengths":
        found["lengths"] = "even" if found["lengths"] == "all" else "all"
    elif kind == "arithmetic":
        found["arithmetic"] = generator.choice(ARITHMETICS)
    elif kind == "bias" and "bias" in model["readout"]:
        biases = model["readout"]["bias"]
        place = generator.randrange(len(biases))
        biases[place] = moved(biases[place], generator)
    if example and generator.random() < 0.7:  # a trace of other states would hide what else is wrong
        example["trace"] = None
    return found


def executed_claims(generator, number):
    """Go through certificates of edge models, and forgeries of each: pairs of whether it is one, and its text."""
    for _ in range(number):
        arithmetic = generator.choice(ARITHMETICS)
        model = edge_model(SCALAR_CELLS[generator.choice(CELLS)], generator.choice(READOUTS), arithmetic, generator)
        try:
            content = issued(model, arithmetic, generator.choice(["all", "even"]), LIMIT)
        except BadInput:
            continue
        yield False, sealed(content)
        for _ in range(FORGERIES):
            yield True, sealed(forge(content, generator))


def proven_answer(text):
    """What the proven checker says: holds, does not, or not decided; and its line."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([PROGRAM, file.name], capture_output=True, text=True, check=False)
    return ANSWERS[done.returncode], done.stdout.strip()


def disagreements(generator, number, tally):
    """Go through claims on which the two checkers differ in whether the claim holds, or in whether it fails."""
    for is_forged, text in executed_claims(generator, number):
        python, (proven, line) = check(text), proven_answer(text)
        tally["forged" if is_forged else "issued", python.valid, proven] += 1
        if (python.valid is True) != (proven is True) or (python.valid, proven) == (None, False):
            yield text, python, line


if __name__ == "__main__":
    counts = Counter()
    seed = sys.argv[2] if len(sys.argv) > 2 else "0"
    for one in disagreements(random.Random(seed), int(sys.argv[1]), counts):
        print(*one, sep="\n")  # noqa: T201
    for pair, size in counts.items():
        print(*pair, size)  # noqa: T201
