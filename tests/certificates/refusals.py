"""Verdicts asked for in other floating-point modes, over blocks of edge models: each is refused, none is given.

The models are drawn, and certificates made, in the mode that IEEE 754 begins in. The checker has no floats: in every mode it
says the same of a certificate.
"""

import json
from collections import Counter

from differential import LIMIT, drawn_models
from edge_models import is_refused
from ensemble_agreement import stacked
from float_modes import MODES, mode, refusal_in

from tallystick.cells import ScalarCell
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.ensemble import horizons
from tallystick.certificates.one_unit.exact_accuracy import accuracy_curve
from tallystick.certificates.one_unit.failing_strings import extreme_failures, random_failures
from tallystick.certificates.verdict import REAL, Lengths
from tallystick.checker import check

LENGTH = 4
CHECKED = 20
"""One model in so many also has its certificate checked."""


def refuse(block):
    """Ask about the models of a block in every mode; return how often in which way, and what was answered."""
    arithmetic, tally, found = getattr(block, "arithmetic", REAL), Counter(), list[str]()
    models = [model for model in drawn_models(block) if not is_refused(model, arithmetic)]
    tally["cells"] += len(models)
    for place, model in enumerate(models):
        for name in MODES:
            for way, ask in _questions(model, arithmetic, list(Lengths)[place % len(Lengths)]):
                tally.update([way, name])
                answer = refusal_in(name, ask)
                found += [] if answer is None else [f"{block} {model}: {way} in {answer}"]
        if place % CHECKED == 0:
            found += [
                f"{block} {model}: {name}: the checker changes its mind" for name in _checked(model, arithmetic, tally)
            ]
    if getattr(block, "in_doubles", False):
        networks = stacked(models)
        tally.update({"ensembles": len(MODES)}, **dict.fromkeys(MODES, 1))
        answers = [refusal_in(name, lambda: horizons(networks, limit=LIMIT)) for name in MODES]
        found += [f"{block}: an ensemble in {answer}" for answer in answers if answer is not None]
    return tally, found


def _questions(model, arithmetic, lengths):
    """Go through what can be asked about a model."""
    yield "verdicts", lambda: certify(model, lengths, arithmetic, LIMIT)
    if isinstance(model.cell, ScalarCell):
        yield "counts", lambda: accuracy_curve(model, LENGTH, arithmetic)
        yield "extreme strings", lambda: extreme_failures(model, LENGTH, arithmetic)
        yield "random strings", lambda: random_failures(model, LENGTH, 1, 0, arithmetic)


def _checked(model, arithmetic, tally):
    """Go through the modes in which the checker says something else of a certificate than it does in the first one."""
    text = json.dumps(certificate(certify(model, arithmetic=arithmetic, limit=LIMIT)))
    expected = check(text)
    for name in MODES:
        tally["checker"] += 1
        with mode(name):
            found = check(text)
        if found != expected or not found.valid:
            yield name
