# ruff: noqa: T201 -- a script that prints
"""Many clients at once on the explorer, all of them on this machine: is every one answered, and how soon?

    python soak/load.py [CLIENTS] [SECONDS] [RUN]

Each client moves a slider: verdicts, traces and accuracies of ever other networks, a file of the page now and then, and the bins
and points of RUN; a run of 100,000 networks is made up where none is named. For every other quarter of the time further clients
ask what cannot be answered before the deadline. Ends with 1 if

- a single question is not answered, or not with what was asked for: slow ones with the deadline or with "try again";
- the slow ones hold up the quick ones, which share the cores with them and the processes started in their place: one in a
  hundred waits more than three times as long as without them, or one waits until a slow one has reached its deadline;
- the memory goes on growing: the server's peak in the second half is a tenth above that in the first, or that of the server and
  its workers, of whom there are now more and now fewer, a quarter.
"""

import asyncio
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import urlopen

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "browser"))

from made_up_run import write_run

from tallystick.explore.workers import MOST_SLOW
from tallystick.explore.workers import SECONDS as DEADLINE

CLIENTS, SECONDS = (int(number) for number in (*sys.argv[1:3], *(200, 60)[len(sys.argv[1:3]) :]))
RUN = sys.argv[3:4]
SLOW_CLIENTS = MOST_SLOW + 2  # so that some find no place
QUARTERS = 4
WAIT = 60.0
SERVER_GROWTH, GROWTH = 1.1, 1.25
LATE = 0.99
HELD_UP = 3

OK, TOO_LONG, BUSY = 200, 422, 429

SLOW_NETWORK = {
    "cell": "selective",
    "open_step": 1,
    "close_step": -1,
    "recurrent_weight": [
        f"{2**1190 + 1}/{2**1190}",
        f"{2**1190 + 1}/{2**1190}",
    ],  # a horizon of hundreds of digits, found by going along
    "readout": {"kind": "ternary", "weight": [-1, 0, 1], "bias": ["-1/2", 0, "-1/2"]},
}


class Question(NamedTuple):
    """What is sent."""

    method: str
    path: str
    body: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """What is asked, whatever the numbers."""
        return self.path.partition("?")[0]


class Answer(NamedTuple):
    """What became of a question: its status (0: no answer), how long it took, and the quarter it was asked in."""

    name: str
    status: int
    seconds: float
    quarter: int


class Memory(NamedTuple):
    """What the server and all processes together held at some moment, in MiB."""

    quarter: int
    server: float
    total: float


@dataclass
class Seen:
    """What is seen while the clients ask: the answers, and the memory in each quarter."""

    started: float = field(default_factory=time.perf_counter)
    quick: list[Answer] = field(default_factory=list)
    slow: list[Answer] = field(default_factory=list)
    memory: list["Memory"] = field(default_factory=list)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.started

    @property
    def quarter(self) -> int:
        """Which quarter of the time it is; slow questions are asked in those with odd numbers."""
        return int(QUARTERS * self.elapsed / SECONDS)

    def peak(self, *quarters: int) -> float:
        """Return the greatest memory of all processes in some quarters, in MiB."""
        return max(seen.total for seen in self.memory if seen.quarter in quarters)

    def server_peak(self, *quarters: int) -> float:
        """Return the same of the server alone."""
        return max(seen.server for seen in self.memory if seen.quarter in quarters)


def quick_questions(client: int) -> Iterator[Question]:
    """Go through what one client asks, without end."""
    drawn = random.Random(client)
    for _ in itertools.count():
        weight, readout = str(round(drawn.uniform(0.9, 1.1), 4)), {"kind": "binary", "weight": ["1"], "bias": ["-1/2"]}
        cell = {"cell": "linear", "open_step": "1", "close_step": "-1", "recurrent_weight": weight, "readout": readout}
        yield Question("POST", "/api/verdict", {"network": cell, "arithmetic": drawn.choice(["real", "float32"])})
        yield Question("POST", "/api/trace", {"network": cell, "string": "".join(drawn.choices("()", k=40))})
        yield Question("POST", "/api/accuracy", {"network": cell, "longest": 16})
        yield Question("GET", drawn.choice(["/", "/app.js", "/api/presets", "/api/regions", "/api/theorem"]))
        left, low = drawn.uniform(-1.5, -0.5), drawn.uniform(0.5, 1)
        window = f"x0={left}&x1={left + 0.5}&y0={low}&y1={low + 0.5}"
        yield Question("GET", f"/api/run/bins?{window}&nx=120&ny=90")
        yield Question("GET", f"/api/run/points?{window}&limit=500")


class Client:
    """One connection, over which one question is asked after the other."""

    def __init__(self, host: str, port: int, seen: Seen) -> None:
        """Stand for a client of a server."""
        self.host, self.port, self.seen = host, port, seen

    async def __aenter__(self) -> "Client":
        self._reader, self._writer = await asyncio.open_connection(self.host, self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def ask(self, question: Question) -> Answer:
        """Ask, and wait for the answer."""
        before, quarter = time.perf_counter(), self.seen.quarter
        content = b"" if question.body is None else json.dumps(question.body).encode()
        head = f"{question.method} {question.path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        try:
            self._writer.write(head.encode() + content)
            status = await asyncio.wait_for(self._status(), WAIT)
        except (OSError, EOFError, TimeoutError) as error:
            print(f"  {question.method} {question.name}: {type(error).__name__}")
            status = 0
        return Answer(question.name, status, time.perf_counter() - before, quarter)

    async def _status(self) -> int:
        """Read an answer to its end, and return its status."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        await self._reader.readexactly(length)
        return int(head.split()[1])


async def ask_quickly(number: int, client: Client) -> None:
    """Ask until the time is over."""
    async with client:
        for question in quick_questions(number):
            if client.seen.elapsed > SECONDS:
                return
            client.seen.quick.append(await client.ask(question))
            if not client.seen.quick[-1].status:
                return


async def ask_slowly(client: Client) -> None:
    """In every odd quarter, ask what takes too long; go away when the quarter is over."""
    question = Question("POST", "/api/verdict", {"network": SLOW_NETWORK})
    for quarter in range(1, QUARTERS, 2):
        await asyncio.sleep(quarter * SECONDS / QUARTERS - client.seen.elapsed)
        with suppress(TimeoutError):
            async with asyncio.timeout((quarter + 1) * SECONDS / QUARTERS - client.seen.elapsed), client:
                while True:
                    client.seen.slow.append(await client.ask(question))
                    if client.seen.slow[-1].status == BUSY:
                        await asyncio.sleep(1)


async def watch_memory(server: psutil.Process, seen: Seen) -> None:
    """Look twice a second at the memory of the server and its workers."""
    while seen.elapsed < SECONDS:
        own = total = server.memory_info().rss / 2**20
        for process in server.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss / 2**20
        seen.memory.append(Memory(seen.quarter, own, total))
        await asyncio.sleep(0.5)


async def load(host: str, port: int, server: psutil.Process) -> Seen:
    """Let all clients ask at once."""
    seen = Seen()
    await asyncio.gather(
        watch_memory(server, seen),
        *(ask_quickly(number, Client(host, port, seen)) for number in range(CLIENTS)),
        *(ask_slowly(Client(host, port, seen)) for _ in range(SLOW_CLIENTS)),
    )
    return seen


def late(answers: list[Answer]) -> float:
    """Return how long all but one in a hundred waited at the most."""
    times = sorted(answer.seconds for answer in answers)
    return times[int(LATE * (len(times) - 1))]


def middle(answers: list[Answer]) -> float:
    """Return how long half of them waited at the most."""
    return sorted(answer.seconds for answer in answers)[len(answers) // 2]


def statuses(answers: list[Answer]) -> str:
    """Count the statuses."""
    counted = Counter(answer.status for answer in answers)
    return ", ".join(f"{count:,} of status {status or 'none'}" for status, count in sorted(counted.items()))


def report(seen: Seen) -> bool:
    """Print what became of the questions, and the line of figures; say whether all is as promised."""
    alone = [answer for answer in seen.quick if answer.quarter % 2 == 0]
    beside = [answer for answer in seen.quick if answer.quarter % 2]
    for name in sorted({answer.name for answer in seen.quick}):
        print(f"  {name:18}", end="")
        for title, answers in {"alone": alone, "beside slow ones": beside}.items():
            own = [answer for answer in answers if answer.name == name]
            if own:
                print(f"  {title}: {len(own):6,}, median {1000 * middle(own):5.0f} ms, 99 of 100", end="")
                print(f" within {1000 * late(own):5.0f} ms", end="")
        print()
    print(f"  slow questions: {statuses(seen.slow)}")
    by_quarter = ", ".join(f"{seen.server_peak(one):,.0f} of {seen.peak(one):,.0f}" for one in range(QUARTERS))
    print(f"  greatest memory in each quarter, the server's of that of all: {by_quarter} MiB")
    broken = list(broken_promises(seen, alone, beside))
    for promise in broken:
        print(f"  BROKEN: {promise}")
    print(
        f"load: {CLIENTS} clients, {SECONDS} s, {len(seen.quick):,} quick questions ({len(seen.quick) / SECONDS:,.0f} a second) "
        f"and {len(seen.slow):,} slow ones, {failures(seen)} errors; 99 of 100 quick ones within {late(alone):.2f} s alone, "
        f"{late(beside):.2f} s beside slow ones, the last after {max(answer.seconds for answer in beside):.2f} s; "
        f"memory at most {seen.peak(0, 1):,.0f} MiB in the first half, {seen.peak(2, 3):,.0f} MiB in the second"
    )
    return not broken


def failures(seen: Seen) -> int:
    """Count the questions that were not answered as they should be."""
    quick = sum(answer.status != OK for answer in seen.quick)
    return quick + sum(answer.status not in (TOO_LONG, BUSY) for answer in seen.slow)


def broken_promises(seen: Seen, alone: list[Answer], beside: list[Answer]) -> Iterator[str]:
    """Name what is not as it should be."""
    if failures(seen):
        yield f"not every question was answered; quick ones: {statuses(seen.quick)}"
    if not any(answer.status == TOO_LONG for answer in seen.slow):
        yield "no slow question reached its deadline, so that nothing was tried"
    if late(beside) > HELD_UP * late(alone) or max(answer.seconds for answer in beside) > DEADLINE:
        yield "quick questions waited for slow ones"
    grown = seen.server_peak(2, 3) > SERVER_GROWTH * seen.server_peak(0, 1)
    if grown or seen.peak(2, 3) > GROWTH * seen.peak(0, 1):
        yield "the memory goes on growing"


def main() -> None:
    """Serve on a free port of the loopback, and ask."""
    with tempfile.TemporaryDirectory() as folder:
        run = RUN or [str(write_run(Path(folder)))]
        command = [sys.executable, "-m", "tallystick", "explore", *run, "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                address = urlsplit(server.stdout.readline().split()[0])
                assert address.hostname is not None
                assert address.port is not None
                urlopen(f"{address.geturl()}api/theorem", timeout=2 * WAIT).close()  # so that the solver has been asked
                kept = report(asyncio.run(load(address.hostname, address.port, psutil.Process(server.pid))))
            finally:
                server.terminate()
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
