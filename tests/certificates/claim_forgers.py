"""Lies about networks of one unit and of gated cells. Each forger changes one thing that a certificate says.

A forger changes the fields in place, or leaves them as they are where it has nothing to forge. Whether what a certificate says
then is false is for the checkers to tell. A trace of other states would hide what else is wrong, so most lies go without one.
"""

from fractions import Fraction

from tallystick.certificates.verdict import Lengths

ARITHMETICS = [form + order for form in ("float16", "bfloat16", "float32", "float64") for order in ("", "-fused")]
_METHODS = ("search", "sorted strings", "theorem", "exact depth", "enclosures", "gated boxes", "sorting", "luck")
_NOT_WEIGHTS = {"cell", "readout", "task"}


def move_horizon(content, generator):
    """The horizon moved, the counterexample kept."""
    if content["horizon"] != "unlimited":
        content["horizon"] = max(0, content["horizon"] + generator.choice([-2, -1, 1, 2]))


def claim_too_far(content, generator):
    """No counterexample, and a horizon beyond the first failing string."""
    if content["counterexample"] is not None:
        horizon = content["horizon"] + Lengths(content["lengths"]).stride * generator.choice([1, 2, 5])
        content |= {"verdict": "BOUNDED", "horizon": horizon, "counterexample": None}


def prove(content, generator):
    """PROVED, by a theorem or by what had decided."""
    evidence = {"method": generator.choice(["theorem", content["evidence"]["method"]])}
    content |= {"verdict": "PROVED", "horizon": "unlimited", "counterexample": None, "evidence": evidence}


def swap_lengths(content, _):
    """Even lengths for all, or all for even."""
    content["lengths"] = "even" if content["lengths"] == "all" else "all"


def change_weight(content, generator):
    """One weight of the cell, by its last digits or by more."""
    model = content["model"]
    _move_number(model, generator.choice([name for name in model if name not in _NOT_WEIGHTS]), generator)
    _drop_trace(content, generator)


def change_readout(content, generator):
    """One weight or bias of the readout, by its last digits or by more."""
    readout = content["model"]["readout"]
    if names := [name for name in ("weight", "bias", "bias") if name in readout]:
        _move_number(readout, generator.choice(names), generator)


def change_arithmetic(content, generator):
    """The claim about another arithmetic."""
    content["arithmetic"] = generator.choice(ARITHMETICS)
    _drop_trace(content, generator)


def change_run(content, generator):
    """A failing string with a run longer or shorter by one token."""
    if content["counterexample"] is not None:
        run = generator.choice(content["counterexample"]["runs"])
        run[1] = max(1, run[1] + generator.choice([-1, 1]))
        content["counterexample"]["trace"] = None


def change_string(content, generator):
    """A failing string of the same length with a run longer at the cost of its neighbour."""
    runs = [] if content["counterexample"] is None else content["counterexample"]["runs"]
    if len(runs) > 1:
        place = generator.randrange(len(runs) - 1)
        for run, off in zip(runs[place : place + 2], generator.sample([-1, 1], 2), strict=True):
            run[1] = max(1, run[1] + off)
        content["counterexample"]["trace"] = None


def change_trace(content, generator):
    """One state on the way through the failing string."""
    trace = (content["counterexample"] or {}).get("trace")
    if trace:
        place = generator.randrange(len(trace))
        trace[place] = _spelled(Fraction(trace[place]) + Fraction(1, 2**40))


def swap_classes(content, _):
    """The class found and the right one in each other's place."""
    example = content["counterexample"]
    if example is not None:
        example["class"], example["right_class"] = example["right_class"], example["class"]


def rename_method(content, generator):
    """Another method, most of which decide nothing about such a network."""
    content["evidence"] = {"method": generator.choice(_METHODS)}


def _drop_trace(content, generator):
    if content["counterexample"] is not None and generator.randrange(4):
        content["counterexample"]["trace"] = None


def _move_number(holder, key, generator):
    """Change a number of a field, which may be a list of lists of them."""
    while isinstance(holder[key], list):
        holder, key = holder[key], generator.randrange(len(holder[key]))
    value = Fraction(holder[key])
    off = generator.choice([1, Fraction(1, 3), Fraction(1, 2**20), Fraction(1, 2**52), 2 * value or 1])
    holder[key] = _spelled(value + generator.choice([-1, 1]) * off)


def _spelled(number):
    return int(number) if number.denominator == 1 else f"{number.numerator}/{number.denominator}"


GATED_FORGERS = (
    move_horizon,
    claim_too_far,
    prove,
    swap_lengths,
    change_weight,
    change_readout,
    change_run,
    change_string,
    swap_classes,
    rename_method,
)
LONG_FORGERS = (*GATED_FORGERS, change_trace)
UNIT_FORGERS = (*LONG_FORGERS, change_arithmetic)
