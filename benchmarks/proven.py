"""How long the proven checker takes beside the Python one, for each kind of certificate: `python -m benchmarks.proven`.

Needs what `make proofs` builds. Both are timed as commands, with their start, and then without: the proven one by what each of
many files in one call takes, with its reading, and the Python one as a function. All times are of the processor, which other
work beside it disturbs least, and each is the least of several.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.checker import check
from tallystick.theorems.proven import find_program

_TIMES = 5
_LEAST, _MOST = 4, 400
"""Files in one call, so that the start does not count: as many as take about a second."""
_HALF = Fraction(1, 2)
_THREE = ts.Readout.ternary((-1, 0, 1), (0, _HALF, 0))


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
    yield "one unit, U = 1 − 10⁻¹²", ts.Network(ts.LinearCell(1, -1, 1 - 1e-12), binary), 10**7
    yield "one unit, three classes", ts.Network(ts.LinearCell(1, -1, 1 - 1e-9), _THREE), 10**5
    yield "one unit, U = 1 + 10⁻⁹", ts.Network(ts.LinearCell(1, -1, 1 + 1e-9), binary), 10**5
    yield "one unit, U = 1", ts.Network(ts.LinearCell(1, Fraction(1, 10**6) - 1, 1), binary), 10**8
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


def processor_time() -> float:
    """Return the seconds that the processor has spent for this process and for what it has run."""
    spent = time.process_time()
    return spent + sum(getrusage(RUSAGE_CHILDREN)[:2])


def least_time(work: Callable[[], object]) -> float:
    """Return the least of some times, in seconds of the processor."""
    found: list[float] = []
    for _ in range(_TIMES):
        started = processor_time()
        work()
        found.append(processor_time() - started)
    return min(found)


def time_without_start(program: str, path: Path) -> float:
    """Return what one file takes the proven checker, of many in one call, less the first."""
    one = least_time(lambda: _run([program, str(path)]))
    more = max(_LEAST, min(_MOST, round(1 / one)))
    return (least_time(lambda: _run([program, *[str(path)] * (1 + more)])) - one) / more


def main() -> int:
    """Print a table."""
    program = str(find_program())
    without = "proven, without its start", "Python, without its start", "ratio"
    titles = ("certificate", "verdict", "proven", "Python", "ratio", *without)
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
            alone, python_alone = time_without_start(program, path), least_time(lambda text=text: check(text))
            horizon = f"{content['horizon']:,}" if isinstance(content["horizon"], int) else "all lengths"
            verdict = f"{content['verdict']}, {horizon}, by {content['evidence']['method']}"
            commands_took = f"{show_time(proven)} | {show_time(python)} | {proven / python:.3f}"
            checks_took = f"{show_time(alone)} | {show_time(python_alone)} | {alone / python_alone:.2f}"
            sys.stdout.write(f"| {name} | {verdict} | {commands_took} | {checks_took} |\n")
            sys.stdout.flush()
    return 0


def _run(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def show_time(seconds: float) -> str:
    """Return a time in words."""
    return f"{1000 * seconds:.2f} ms"


if __name__ == "__main__":
    sys.exit(main())
