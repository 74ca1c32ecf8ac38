"""The certificates suite: horizons of many trained cells, and exact accuracy over all strings."""

import time
from collections.abc import Callable

from tallystick.bench.rows import Row
from tallystick.bench.timing import forget_peak, peak_gigabytes
from tallystick.bench.tool import drawn, strings_of
from tallystick.cells import LinearCell
from tallystick.certificates.ensemble import horizons
from tallystick.certificates.exact_accuracy import exact_accuracy
from tallystick.networks import Network, Readout
from tallystick.training.ensemble import train
from tallystick.training.setting import Setting

CELLS, SHORT_CELLS = 100_000, 10_000
SHORT, LONG = 20, 50


def measure_certificates() -> list[Row]:
    """Return seconds for cells trained as in the paper: binary without bias, length 8."""
    setting = Setting("binary", bias=False, train_length=8)
    networks = train(setting, drawn(setting, CELLS), strings_of(setting))
    (v,) = (weight.astype("float64") for weight in networks.weights.readout_weight)
    cell = networks.cell()
    assert isinstance(cell, LinearCell)
    a, b, U = (step.astype("float64") for step in (cell.open_step, cell.close_step, cell.recurrent_weight))
    models = [
        Network(LinearCell(*row[:3]), Readout.binary(row[3])) for row in zip(a[:SHORT_CELLS], b, U, v, strict=False)
    ]
    return [
        _row("horizons, all and even lengths", CELLS, lambda: horizons(LinearCell(a, b, U), Readout.binary(v, 0 * v))),
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
