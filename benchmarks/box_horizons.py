"""How many small LSTMs and GRUs are certified per second, many at once by joined boxes and one by one.

    python -m benchmarks.box_horizons [NETWORKS [gpu]]

Trains networks of each kind as in docs/gated.md, and certifies them for all lengths and for even ones, to the length of the rows
of a run. "Many at once" is what fills the columns of a run; "with the rest" also certifies one by one what it leaves open, as
`tallystick certify RUN` does. Processor seconds of one process; both ways run in turn.

With `gpu` a GPU searches, as in a run that it trained, and the host looks for failing strings of what is left open; seconds are
those of the clock. It begins with how far the GPU's exp and tanh are off, in neighbouring doubles; the boxes allow eight.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import tallystick as ts
from tallystick.certificates.boxes.box_search import Known
from tallystick.certificates.boxes.ensemble import find_horizons
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.ensemble import SEARCHED
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.networks import Network
from tallystick.runs.gpu_certifier import GpuCertifier
from tallystick.training.engines import devices_named

KINDS = (("lstm", 2, "corrected"), ("lstm", 2, "count-tokens"), ("gru", 2, "corrected"), ("gru", 2, "count-tokens"))
"""The cell, its units and the method of training."""


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a call, and what it gives."""
    started = time.process_time()
    found = function()
    return time.process_time() - started, found


def on_gpu(size: int) -> None:
    """Print a row for each kind of network that a GPU searches."""
    devices, numbers = devices_named("gpu"), np.random.default_rng(0).normal(size=10**7) * np.geomspace(1e-3, 50, 10**7)
    for name in ("exp", "tanh"):
        with devices.using(), jax.enable_x64(True):
            found = np.asarray(jax.jit(getattr(jnp, name))(numbers))
        true = getattr(np, name)(numbers.astype(np.longdouble))
        off = np.max(np.abs(found - true) / np.spacing(np.abs(true.astype(np.float64))))
        print(f"{name}: at most {float(off):.2f} neighbours off, of {len(numbers):,} numbers")
    print(f"{size} networks of each kind: per second, to length {SEARCHED}, all and even lengths")
    print(f"{'network':22} {'searched':>9} {'open':>5} {'host, s':>8} {'open':>5}")
    for cell, units, method in KINDS:
        networks = ts.train("binary", 8, cell=cell, units=units, bias=True, seeds=size, method=method).networks()
        seconds: list[float] = []
        opens: list[float] = []

        def search(
            networks: Network, limit: int, found: Known, seconds: list[float] = seconds, opens: list[float] = opens
        ) -> Known:
            started = time.perf_counter()
            known = GpuCertifier(devices.using).search(networks, limit, found)
            seconds.append(time.perf_counter() - started)
            opens.append(share_open(known))
            return known

        find_horizons(networks, SEARCHED, search=search)  # compiles
        started = time.perf_counter()
        found = find_horizons(networks, SEARCHED, search=search)
        rest = time.perf_counter() - started - seconds[-1]
        print(
            f"{cell} {units} {method:15} {size / seconds[-1]:9,.0f} {opens[-1]:5.1%} {rest:8.2f} {share_open(found):5.1%}",
            flush=True,
        )


def share_open(known: Known) -> float:
    """Return which share of the horizons is open."""
    return float(np.mean([one.is_open for one in known.values()]))


def main(size: int) -> None:
    """Print a row for each kind of network and of lengths."""
    print(f"{size} networks of each kind: per processor second, to length {SEARCHED}")
    print(
        f"{'network':22} {'lengths':8} {'one by one':>10} {'at once':>8} {'times':>6} {'open':>5} {'with rest':>9} {'times':>6}"
    )
    for cell, units, method in KINDS:
        trained = ts.train("binary", 8, cell=cell, units=units, bias=True, seeds=size, method=method)
        networks, each = trained.networks(), [trained.network(seed) for seed in range(size)]
        for asked in ((Lengths.ALL,), tuple(Lengths)):
            quick, found = timed(partial(find_horizons, networks, SEARCHED, asked))
            slow, rest, left = 0.0, 0.0, 0
            for lengths, one in found.items():
                for place, network in enumerate(each):
                    seconds, verdict = timed(partial(certify, network, lengths, limit=SEARCHED))
                    slow += seconds
                    if one.is_open[place]:
                        rest, left = rest + seconds, left + 1
                        assert one.reached[place] <= verdict.horizon or verdict.outcome is Outcome.BOUNDED
                    elif verdict.outcome is Outcome.REFUTED:
                        assert (one.reached[place], one.is_exact[place]) == (verdict.horizon, True)
            name = f"{cell} {units} {method}"
            print(
                f"{name:22} {'+'.join(asked):8} {size / slow:10.1f} {size / quick:8.1f} {slow / quick:6.1f} "
                f"{left / size / len(asked):5.0%} {size / (quick + rest):9.1f} {slow / (quick + rest):6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    (on_gpu if sys.argv[2:] == ["gpu"] else main)(int(sys.argv[1]) if len(sys.argv) > 1 else 128)
