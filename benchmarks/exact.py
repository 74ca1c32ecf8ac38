"""The suites languages and certificates: what is exact, timed on one core."""

import random
import time
from collections.abc import Callable

from benchmarks.limits import strings_of
from benchmarks.machine import Row, best_of, forget_peak, peak_gigabytes
from benchmarks.speed import initial_weights
from tallystick.cells import LinearCell
from tallystick.certificates.one_unit.ensemble import horizons
from tallystick.certificates.one_unit.exact_accuracy import exact_accuracy
from tallystick.languages.brackets import LANGUAGES
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.networks import Network, Readout
from tallystick.training.ensemble import train
from tallystick.training.setting import Setting

LENGTH = 10_000
CELLS, SHORT_CELLS = 100_000, 10_000
SHORT, LONG = 20, 50


def measure_languages() -> list[Row]:
    """Return milliseconds for each language: the number of members, a uniform member, and a machine's run on it."""
    rows: list[Row] = []
    for name, language in LANGUAGES.items():
        member = language.sample(LENGTH, random.Random(0))
        rows.append(
            {
                "language": name,
                "length": LENGTH,
                "size_ms": 1000 * best_of(lambda language=language: language.size(LENGTH)),
                "sample_ms": 1000 * best_of(lambda language=language: language.sample(LENGTH, random.Random(1))),
                "machine_ms": 1000 * best_of(lambda name=name, member=member: READY_MACHINES[name].accepts(member)),
            }
        )
    return rows


def measure_certificates() -> list[Row]:
    """Return seconds for cells trained as in the paper (binary without bias, length 8): horizons, and exact accuracy."""
    setting = Setting("binary", bias=False, train_length=8)
    networks = train(setting, initial_weights(setting, CELLS), strings_of(setting))
    (v,) = (weight.astype("float64") for weight in networks.weights.readout_weight)
    cell = networks.cell()
    assert isinstance(cell, LinearCell)
    a, b, U = (step.astype("float64") for step in (cell.open_step, cell.close_step, cell.recurrent_weight))
    models = [
        Network(LinearCell(*row[:3]), Readout.binary(row[3])) for row in zip(a[:SHORT_CELLS], b, U, v, strict=False)
    ]
    return [
        _row(
            "horizons, all and even lengths",
            CELLS,
            lambda: horizons(Network(LinearCell(a, b, U), Readout.binary(v, 0 * v))),
        ),
        _row(f"exact accuracy, N = {SHORT}", SHORT_CELLS, lambda: [exact_accuracy(model, SHORT) for model in models]),
        _row(f"exact accuracy, N = {LONG}", 1, lambda: exact_accuracy(models[0], LONG)),
    ]


def _row(what: str, cells: int, work: Callable[[], object]) -> Row:
    forget_peak()
    started = time.perf_counter()
    work()
    return {
        "what": what,
        "cells": cells,
        "seconds": time.perf_counter() - started,
        "peak_GB": round(peak_gigabytes(), 2),
    }
