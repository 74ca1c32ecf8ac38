"""The proven checker beside the Python one in floating point and for gated cells: `python -m benchmarks.proven_executed`.

Needs what `make proofs` builds. The proven checker is timed as a command, and then both without their start, as in
`benchmarks.proven`. Each time is the least of several.
"""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import tallystick as ts
from benchmarks.proven import least_time, show_time, time_without_start
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.checker import check
from tallystick.theorems.proven import find_program


def lstm(saturation: float, units: int) -> ts.Network:
    """Return an LSTM whose memory nearly counts; more units are copies."""
    gates = (
        [(saturation, saturation)] * 2 * units
        + [(saturation, -saturation)] * units
        + [(saturation, saturation)] * units
    )
    recurrent = ((0.01,) * units,) * (4 * units)
    cell = ts.LstmCell(tuple(gates), recurrent, (0,) * (4 * units), (0,) * (4 * units))
    return ts.Network(cell, ts.Readout(((1,) * units,), (-units * math.tanh(0.5),)))


def gru(kept: float) -> ts.Network:
    """Return a GRU that forgets slowly."""
    z = math.log(kept / (1 - kept))
    cell = ts.GruCell(((0, 0), (z, z), (20, -20)), ((0.01,),) * 3, (0,) * 3, (0,) * 3)
    return ts.Network(cell, ts.Readout(((1,),), (-(1 - kept) / 2,)))


def cases() -> Iterator[tuple[str, ts.Network, str, int]]:
    """Go through networks, each with its arithmetic and how far it is certified."""
    binary, classes = ts.Readout.binary(1, -0.5), ts.Readout(((-1,), (0.1,), (1,)), (0, 0.5, 0))
    leaky = ts.LinearCell(1, -0.9999, 0.99999)
    yield "one linear unit", ts.Network(leaky, binary), "float32", 400
    yield "one linear unit", ts.Network(leaky, binary), "float64", 400
    yield "one linear unit, fused", ts.Network(leaky, binary), "float32-fused", 400
    yield "one linear unit, three classes", ts.Network(leaky, classes), "float32", 400
    yield "an exact counter", ts.Network(ts.LinearCell(1, -1, 1), ts.Readout.zero()), "float32", 100
    yield "one tanh unit", ts.Network(ts.TanhCell(2**-12, -(2**-12), 1), ts.Readout.binary(1, -(2**-13))), "real", 60
    yield "LSTM, one unit", lstm(8, 1), "real", 60
    yield "LSTM, two units", lstm(8, 2), "real", 40
    yield "GRU, one unit", gru(0.99), "real", 60


def main() -> int:
    """Print a table."""
    program = str(find_program())
    titles = (
        "certificate",
        "arithmetic",
        "verdict",
        "proven",
        "without its start",
        "Python, without its start",
        "ratio",
    )
    sys.stdout.write(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        for name, network, arithmetic, limit in cases():
            content = certificate(certify(network, arithmetic=arithmetic, limit=limit))
            text = json.dumps(content)
            path.write_text(text)
            command = [program, str(path)]
            if subprocess.run(command, capture_output=True, check=False).returncode or not check(text).valid:
                sys.stderr.write(f"{name}: a checker does not verify the certificate\n")
                return 1
            proven = least_time(lambda command=command: subprocess.run(command, capture_output=True, check=True))
            alone, python_alone = time_without_start(program, path), least_time(lambda text=text: check(text))
            evidence = cast("dict[str, str]", content["evidence"])
            verdict = f"{content['verdict']}, {content['horizon']:,}, by {evidence['method']}"
            times = " | ".join(map(show_time, (proven, alone, python_alone))) + f" | {alone / python_alone:.2f}"
            sys.stdout.write(f"| {name} | {arithmetic} | {verdict} | {times} |\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
