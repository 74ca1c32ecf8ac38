# ruff: noqa: T201 -- a script that prints
"""Many clients at once on the explorer, all of them on this machine: is every one answered, and how soon?

    python benchmarks/explore_load.py [CLIENTS] [SECONDS] [RUN]

Each client moves a slider: verdicts, traces and accuracies of ever other networks, a file of the page now and then, and with a
RUN its bins and points. Ends with 1 if a single question is not answered, or not with what was asked for.
"""

import asyncio
import itertools
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

CLIENTS, SECONDS = (int(number) for number in (*sys.argv[1:3], *(200, 10)[len(sys.argv[1:3]) :]))
RUN = sys.argv[3:4]
WAIT = 60.0

Question = tuple[str, str, dict[str, Any] | None]


def questions(client: int) -> Iterator[Question]:
    """Go through what one client asks, without end."""
    drawn = random.Random(client)
    for _ in itertools.count():
        weight, readout = str(round(drawn.uniform(0.9, 1.1), 4)), {"kind": "binary", "weight": ["1"], "bias": ["-1/2"]}
        cell = {"cell": "linear", "open_step": "1", "close_step": "-1", "recurrent_weight": weight, "readout": readout}
        yield "POST", "/api/verdict", {"network": cell, "arithmetic": drawn.choice(["real", "float32"])}
        yield "POST", "/api/trace", {"network": cell, "string": "".join(drawn.choices("()", k=40))}
        yield "POST", "/api/accuracy", {"network": cell, "longest": 16}
        yield "GET", drawn.choice(["/", "/app.js", "/api/presets", "/api/regions", "/api/theorem"]), None
        if RUN:
            left, low = drawn.uniform(-1.5, -0.5), drawn.uniform(0.5, 1)
            window = f"x0={left}&x1={left + 0.5}&y0={low}&y1={low + 0.5}"
            yield "GET", f"/api/run/bins?{window}&nx=120&ny=90", None
            yield "GET", f"/api/run/points?{window}&limit=500", None


async def ask(client: int, host: str, port: int, until: float, found: list[tuple[str, int, float]]) -> None:
    """Ask one question after the other over one connection, until the time is over."""
    reader, writer = await asyncio.open_connection(host, port)
    for method, path, body in questions(client):
        if time.perf_counter() > until:
            break
        started = time.perf_counter()
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        try:
            status = await asyncio.wait_for(answered(reader), WAIT)
        except (OSError, EOFError, TimeoutError) as error:
            print(f"  {method} {path}: {type(error).__name__}")
            found.append((path.partition("?")[0], 0, time.perf_counter() - started))
            break
        found.append((path.partition("?")[0], status, time.perf_counter() - started))
    writer.close()


async def answered(reader: asyncio.StreamReader) -> int:
    """Read an answer to its end, and return its status."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    await reader.readexactly(length)
    return int(head.split()[1])


async def load(host: str, port: int) -> list[tuple[str, int, float]]:
    """Let all clients ask at once."""
    found: list[tuple[str, int, float]] = []
    until = time.perf_counter() + SECONDS
    await asyncio.gather(*(ask(client, host, port, until, found) for client in range(CLIENTS)))
    return found


def report(found: list[tuple[str, int, float]], seconds: float) -> bool:
    """Print what became of the questions; say whether all were answered."""
    statuses = Counter(status for _, status, _ in found)
    said = ", ".join(f"{count:,} of status {status}" for status, count in sorted(statuses.items()))
    print(f"{CLIENTS} clients, {seconds:.1f} s: {len(found):,} questions, {len(found) / seconds:,.0f} a second; {said}")
    for path in sorted({path for path, _, _ in found}):
        times = sorted(time for name, _, time in found if name == path)
        middle, late = times[len(times) // 2], times[int(0.99 * (len(times) - 1))]
        print(f"  {path:18} {len(times):6,}  median {1000 * middle:6.0f} ms, 99 of 100 within {1000 * late:6.0f} ms")
    return set(statuses) == {200}


def main() -> None:
    """Serve on a free port of the loopback, and ask."""
    command = [sys.executable, "-m", "tallystick", "explore", *RUN, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = urlsplit(server.stdout.readline().split()[0])
            assert address.hostname is not None
            assert address.port is not None
            urlopen(f"{address.geturl()}api/theorem", timeout=WAIT).close()  # so that the solver has been asked
            started = time.perf_counter()
            found = asyncio.run(load(address.hostname, address.port))
            answered = report(found, time.perf_counter() - started)
        finally:
            server.terminate()
    sys.exit(0 if answered else 1)


if __name__ == "__main__":
    main()
