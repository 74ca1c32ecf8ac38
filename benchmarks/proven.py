"""How long the proven checker takes beside the Python one, for each kind of certificate: `python -m benchmarks.proven`.

Needs what `make proofs` builds. Both are timed as commands, with their start and the reading of the file; of the Python checker
the last column but one leaves these out. Each time is the least of several.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.checker import check
from tallystick.theorems.proven import find_program

_TIMES = 3
_HALF = Fraction(1, 2)


def linear_network(units: int, kept: float) -> ts.Network:
    """Return a linear network whose first unit nearly counts, and whose others fade."""
    recurrent = [
        [kept if i == j == 0 else 0.5 / (i + 1) if i == j else 0.001 * (i > j) for j in range(units)]
        for i in range(units)
    ]
    inputs = [(1, -1) if i == 0 else (0.01 * i, -0.02 * i) for i in range(units)]
    layer = ts.LinearLayer(tuple(inputs), tuple(map(tuple, recurrent)), (0,) * units, (0,) * units)
    return ts.Network(layer, ts.Readout(((1, *[0.01] * (units - 1)),), (-0.5,)))


def selective_network(units: int) -> ts.Network:
    """Return a network with a factor for each unit and token: diagonal matrices, which commute."""
    factors = tuple(((1 - 2**-14) / (i + 1), (1 - 2**-13) / (i + 1)) for i in range(units))
    inputs = tuple((1, -1) if i == 0 else (0.01, -0.01) for i in range(units))
    layer = ts.SelectiveLayer(inputs, factors, (0,) * units)
    return ts.Network(layer, ts.Readout(((1, *[0.01] * (units - 1)),), (-0.5,)))


def counter(units: int) -> ts.Network:
    """Return an exact counter with units that the readout does not see move."""
    recurrent = [[1 if i == j else 0 for j in range(units)] for i in range(units)]
    layer = ts.LinearLayer(((1, -1),) * units, tuple(map(tuple, recurrent)), (0,) * units, (0,) * units)
    return ts.Network(layer, ts.Readout(((1,) * units,), (-0.5,)))


def converging_network() -> ts.Network:
    """Return a network that is right at every length, and no exact counter."""
    layer = ts.LinearLayer(((1, -1), (0.25, 0)), ((1, 0), (0, 0.5)), (0, 0), (0, 0))
    return ts.Network(layer, ts.Readout(((1, 1),), (-0.75,)))


def cases() -> Iterator[tuple[str, ts.Network, int]]:
    """Go through networks of every kind that is covered, with how far each is certified."""
    binary = ts.Readout.binary(1, -_HALF)
    yield "one unit, U = 1 − 10⁻⁷", ts.Network(ts.LinearCell(1, -1, 1 - 1e-7), binary), 10**4
    yield "one unit, U = 1 − 10⁻⁹", ts.Network(ts.LinearCell(1, -1, 1 - 1e-9), binary), 10**5
    yield "one selective unit", ts.Network(ts.SelectiveCell(1, -1, Fraction(4097, 4096), 1), binary), 200
    yield "one ReLU unit", ts.Network(ts.ReluCell(1, -1, 1), ts.Readout.zero()), 100
    yield "selective counter", ts.Network(ts.SelectiveCell(1, -_HALF, 2, _HALF), binary), 100
    yield "two units, sorting", linear_network(2, 1 - 1e-9), 10**4
    yield "eight units, sorting", linear_network(8, 1 - 1e-9), 10**4
    yield "two units, lattice paths", selective_network(2), 200
    yield "four units, lattice paths", selective_network(4), 200
    yield "counter of 16 units", counter(16), 100
    yield "right for ever without counting", converging_network(), 100
    yield "two units, asked for the count", _asked_for_count(linear_network(2, 1 - 1e-9)), 10**3


def _asked_for_count(network: ts.Network) -> ts.Network:
    return ts.Network(network.cell, ts.Readout(network.readout.weight, (0,), "count"))


def least_time(work: Callable[[], object]) -> float:
    """Return the least of some times, in seconds."""
    found: list[float] = []
    for _ in range(_TIMES):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)


def main() -> int:
    """Print a table."""
    program = str(find_program())
    titles = ("certificate", "verdict", "proven", "Python", "ratio", "Python's check alone", "ratio")
    sys.stdout.write(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        commands = [program, str(path)], [sys.executable, "-m", "tallystick.checker", str(path)]
        for name, network, limit in cases():
            text = json.dumps(certificate(certify(network, limit=limit)))
            content = json.loads(text)
            path.write_text(text)
            statuses = [subprocess.run(command, capture_output=True, check=False).returncode for command in commands]
            if statuses != [0, 0]:
                sys.stderr.write(f"{name}: the checkers end with {statuses}\n")
                return 1
            proven, python = (least_time(lambda command=command: _run(command)) for command in commands)
            alone = least_time(lambda text=text: check(text))
            horizon = f"{content['horizon']:,}" if isinstance(content["horizon"], int) else "all lengths"
            verdict = f"{content['verdict']}, {horizon}, by {content['evidence']['method']}"
            times = f"{_time(proven)} | {_time(python)} | {proven / python:.2f} | {_time(alone)} | {proven / alone:.2f}"
            sys.stdout.write(f"| {name} | {verdict} | {times} |\n")
    return 0


def _run(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, check=True)


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
