"""Certificates made by hand: issued, changed, and closed by a digest that fits."""

import json
from fractions import Fraction

from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.certify import certify
from tallystick.checker.claims import KINDS, RIGHT, Model, Readout, Task


def issued(model, arithmetic="real", lengths="all", limit=40):
    """The certificate of a model's verdict."""
    return certificate(certify(model, lengths, arithmetic, limit))


def sealed(content):
    """A certificate as text, with a digest that fits whatever it says."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    return json.dumps({**rest, "digest": digest(rest)})


def with_model(content, **fields):
    """A certificate with some fields of its model changed."""
    return {**content, "model": {**content["model"], **fields}}


def with_example(content, **fields):
    """A certificate with some fields of its counterexample changed."""
    return {**content, "counterexample": {**content["counterexample"], **fields}}


def checked_model(weights, steps, kind, lines=((Fraction(1), Fraction(0)),)):
    """A linear cell as the checker has it, with a readout of a known kind and its usual task."""
    readout = Readout(kind, tuple(((slope,), bias) for slope, bias in lines), KINDS[kind])
    return Model("linear", weights, steps, readout, Task(False, RIGHT[kind]))
