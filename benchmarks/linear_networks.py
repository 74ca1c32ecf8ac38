"""How fast linear networks are decided by sorting and by lattice paths, beside the same in plain floats, measured in turns.

    python -m benchmarks.linear_networks [LENGTH] [ROUNDS]

A network of 4, 16 or 64 units that nearly counts, dense or diagonal, is decided to a length: to 1,000 tokens as by default,
and to LENGTH. Beside it stands what the verdict would cost without its proof: the terms δ_k one after the other and their
running sums, in doubles, with no bound on their errors. In every round each goes once, one after the other; the least time
counts.

Networks of as many units with a factor for each token are decided by lattice paths to 1,000 and 2,000 tokens, beside the same
table of least paths in doubles.

Then the horizons of 100,000 networks of four units at once, half of them like trained ones and half random, and the exact
accuracy at 50 tokens of networks with one unit and with eight.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import tallystick as ts
from tallystick.certificates.linear.ensemble import layer_horizons

UNITS = (4, 16, 64)
SHORT = 1000
MANY, MANY_UNITS = 100_000, 4
COUNTED, COUNTED_UNITS = 50, (1, 8)


def near_counter(units: int, *, dense: bool) -> ts.Network:
    """Return a counter whose eigenvalue is a little below 1, and units that forget beside it."""
    generator = np.random.default_rng(units)
    U = np.diag([1 - 2.0**-46, *generator.uniform(-0.5, 0.5, units - 1)])
    v, a = (np.array([1, *(0.02 * generator.normal(size=units - 1))]) for _ in range(2))
    if dense:
        Q = np.linalg.qr(generator.normal(size=(units, units)))[0]
        U, v, a = Q @ U @ Q.T, Q @ v, Q @ a
    zeros = (0.0,) * units
    layer = ts.LinearLayer(_rows(np.stack([a, -a], axis=1)), _rows(U), zeros, zeros)
    return ts.Network(layer, ts.Readout(_rows(v[None]), (-0.5,)))


def selective(units: int) -> ts.Network:
    """Return a counter whose factors are a little below 1, and units that forget by a factor of their own for each token."""
    generator = np.random.default_rng(units)
    factors = np.concatenate([np.full((1, 2), 1 - 2.0**-46), generator.uniform(-0.5, 0.5, (units - 1, 2))])
    factors[0, 1] = 1 - 2.0**-45
    v, a = (np.array([1, *(0.02 * generator.normal(size=units - 1))]) for _ in range(2))
    layer = ts.SelectiveLayer(_rows(np.stack([a, -a], axis=1)), _rows(factors), (0.0,) * units)
    return ts.Network(layer, ts.Readout(_rows(v[None]), (-0.5,)))


def _rows(matrix: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in matrix)


def plain_sums(network: ts.Network, length: int) -> float:
    """Return the sum of all terms, each from the row before it."""
    cell = network.cell
    assert isinstance(cell, ts.LinearLayer)
    U, W, row = (np.array(part) for part in (cell.recurrent_weight, cell.input_weight, network.readout.weight[0]))
    step, terms = W[:, 0] - W[:, 1], np.empty(length)
    for k in range(length):
        terms[k] = row @ step
        row = row @ U
    return float(np.cumsum(terms)[-1])


def plain_paths(network: ts.Network, length: int) -> float:
    """Return the least output of any string up to a length."""
    cell = network.cell
    assert isinstance(cell, ts.SelectiveLayer)
    R, W, v = (np.array(part) for part in (cell.recurrent_weight, cell.input_weight, network.readout.weight[0]))
    opening, closing = (R[:, token] ** np.arange(length)[:, None] for token in (0, 1))
    least, found = np.zeros(1), 0.0
    for total in range(length):
        products = opening[: total + 1] * closing[total::-1]
        after_open, after_close = (least + products @ (v * W[:, token]) for token in (0, 1))
        middle = np.minimum(after_open[:-1], after_close[1:])
        least = np.concatenate([after_close[:1], middle, after_open[-1:]])
        found = min(found, float(least.min()))
    return found


def measure(length: int, rounds: int) -> None:
    """Print the times of every network."""
    print(f"{'units':>5}  {'matrix':9}  {'length':>9}  {'verdict':>9}  {'seconds':>8}  {'times plain':>11}")
    for units in UNITS:
        for dense in (False, True):
            network = near_counter(units, dense=dense)
            for limit in (SHORT, length):
                _measure(network, "dense" if dense else "diagonal", limit, rounds, plain_sums)
        for limit in (SHORT, 2 * SHORT):
            _measure(selective(units), "per token", limit, rounds, plain_paths)


def _measure(
    network: ts.Network, kind: str, limit: int, rounds: int, plainly: Callable[[ts.Network, int], float]
) -> None:
    verdict, seconds = "", [float("inf"), float("inf")]
    for _ in range(rounds):
        outcome: list[str] = []
        works: list[Callable[[], object]] = [
            lambda outcome=outcome: outcome.append(ts.certify(network, limit=limit).outcome.value),
            lambda: plainly(network, limit),
        ]
        seconds = [min(least, _seconds(work)) for least, work in zip(seconds, works, strict=True)]
        (verdict,) = outcome
    proved, plain = seconds
    units = network.cell.units
    print(f"{units:5}  {kind:9}  {limit:9,}  {verdict:>9}  {proved:8.3f}  {proved / plain:11.1f}")


def many_networks(number: int, units: int) -> ts.Network:
    """Return networks of arrays, half of them near counters, from wild to nearly exact, and half random, in float32."""
    generator = np.random.default_rng(0)
    U = generator.normal(size=(number, units, units)) / np.sqrt(units)
    a, b, v = (generator.normal(size=(number, units)) for _ in range(3))
    half, rest = number // 2, units - 1
    spread = 10 ** generator.uniform(-6, -0.5, (half, 1))
    S = np.linalg.qr(generator.normal(size=(half, units, units)))[0] + 0.3 * generator.normal(size=(half, units, units))
    inverse = np.linalg.inv(S)
    values = np.concatenate(
        [1 + spread * generator.normal(size=(half, 1)), generator.uniform(-0.9, 0.9, (half, rest))], axis=1
    )
    U[:half] = (S * values[:, None]) @ inverse
    a[:half] = S[:, :, 0] + 0.1 * np.sqrt(spread) * (S[:, :, 1:] @ generator.normal(size=(half, rest, 1)))[:, :, 0]
    b[:half] = -a[:half] + 0.1 * spread * generator.normal(size=(half, units))
    v[:half] = inverse[:, 0] + 0.1 * spread * generator.normal(size=(half, units))
    c = -generator.uniform(0, 1, number)
    W, U, v, c = (np.moveaxis(part, 0, -1).astype(np.float32) for part in (np.stack([a, b], axis=2), U, v, c))
    zeros = (np.zeros(number, np.float32),) * units
    layer = ts.LinearLayer(tuple(map(tuple, W)), tuple(map(tuple, U)), zeros, zeros)
    return ts.Network(layer, ts.Readout((tuple(v),), (c,)))


def measure_many() -> None:
    """Print how long the horizons of many networks take, and the exact accuracy of one."""
    networks = many_networks(MANY, MANY_UNITS)
    print(f"horizons of {MANY:,} networks of {MANY_UNITS} units: {_seconds(lambda: layer_horizons(networks)):.2f} s")
    for units in COUNTED_UNITS:
        # One that forgets, so that strings of many counts are in question.
        network = near_counter(units, dense=True).map_weights(
            lambda weight, name: 0.98 * weight if name == "recurrent_weight" else weight
        )
        seconds = _seconds(lambda network=network: ts.exact_accuracy(network, COUNTED))
        print(f"exact accuracy at {COUNTED} tokens, units {units}: {seconds:.2f} s")


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    measure_many()
    measure(*(int(text) for text in (*sys.argv[1:], *("1000000", "3")[len(sys.argv) - 1 :])))
