"""Holds the horizons of a whole ensemble against the verdicts on its models, one by one."""

import numpy as np
from brute_force import stacked_readout

from tallystick.cells import TanhCell
from tallystick.certificates.one_unit.ensemble import UNLIMITED, horizons
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.networks import Network


def stacked(models):
    """Models as one network of arrays."""
    kind, readouts = type(models[0].cell), [m.readout for m in models]
    cells = kind(*(_doubles([vars(m.cell)[name] for m in models]) for name in vars(models[0].cell)))
    return Network(cells, stacked_readout(readouts, _doubles), models[0].task)


def _doubles(numbers):
    return np.array([float(number) for number in numbers])


def in_floats(model):
    return model.map_weights(lambda x, _: float(x))


def ensemble_disagreements(models, verdicts, limit):
    """Where an ensemble says anything else than the verdicts, which lengths by lengths are in the order of the models.

    Boxes do not decide every tanh cell; what is then found is a bound from below, and said to be one.
    """
    found = horizons(stacked(models), limit=limit)
    by_lengths = {Lengths.ALL: (found.all, found.all_exact), Lengths.EVEN: (found.even, found.even_exact)}
    return [
        f"{model} {lengths}: the ensemble says {horizon}, exact: {exact}, and not {verdict.outcome} {verdict.horizon}"
        for lengths, answers in by_lengths.items()
        for model, verdict, horizon, exact in zip(
            models, verdicts[lengths], *map(np.ndarray.tolist, answers), strict=True
        )
        if not _same(verdict, horizon, exact)
    ]


def _same(verdict, horizon, exact):
    known = UNLIMITED if verdict.horizon is None else verdict.horizon
    if isinstance(verdict.model.cell, TanhCell):
        return horizon == known if exact else horizon <= known
    return (horizon, exact) == (known, verdict.outcome is not Outcome.BOUNDED)
