# ruff: noqa: T201 -- a script that prints
"""Many clients at once on the explorer, all of them on this machine: is every one answered, and how soon?

    python soak/load.py [CLIENTS] [SECONDS] [RUN]

Each client moves a slider: verdicts, traces and accuracies of ever other networks, a file of the page now and then, and the bins
and points of RUN; a run of 100,000 networks is made up where none is named. For every other quarter of the time further clients
ask what cannot be answered before the deadline. After that, 10,000 connections are closed at random moments: before the request,
in the middle of its header or body, while the answer is worked out and while it is sent, some of them by a reset; and 100 workers
are killed while other clients ask; with 0 SECONDS only this is tried. Ends with 1 if

- a single question is not answered, or not with what was asked for: slow ones with the deadline or with "try again";
- the slow ones hold up the quick ones, which share the cores with them and the processes started in their place: one in a
  hundred waits more than three times as long as without them, or one waits until a slow one has reached its deadline;
- the memory goes on growing: the server's peak in the second half is a tenth above that in the first, or that of the server and
  its workers, of whom there are now more and now fewer, a quarter;
- beside connections that are closed and workers that are killed, a question is neither answered nor told that its worker was
  killed or that it should try again; or afterwards one is not answered, or the memory is greater by as much than before.
"""

import asyncio
import itertools
import json
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
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

CLOSED, KILLED, AFTERWARDS = 10_000, 100, 1000
CLOSING_CLIENTS, ASKING_CLIENTS = 10, 8
RESTING = 10.0
MOMENT = 0.05  # seconds that pass before a client closes, at the most
LOADED = 3.0  # seconds after which a worker answers
PAUSE = 0.6  # seconds between two kills, in which a worker is replaced
RESET = struct.pack("ii", 1, 0)

OK, TOO_LONG, BUSY, ENDED = 200, 422, 429, 503

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

    def content(self, host: str, port: int) -> bytes:
        """Return what a client of a server sends."""
        body = b"" if self.body is None else json.dumps(self.body).encode()
        head = f"{self.method} {self.path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
        return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


SLOW = Question("POST", "/api/verdict", {"network": SLOW_NETWORK})
LARGE = Question("GET", "/api/run/points?x0=-3&x1=3&y0=-3&y1=3&limit=5000")


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
        return int(QUARTERS * self.elapsed / SECONDS) if SECONDS else 0

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
        try:
            self._writer.write(question.content(self.host, self.port))
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
    for quarter in range(1, QUARTERS, 2):
        await asyncio.sleep(quarter * SECONDS / QUARTERS - client.seen.elapsed)
        with suppress(TimeoutError):
            async with asyncio.timeout((quarter + 1) * SECONDS / QUARTERS - client.seen.elapsed), client:
                while True:
                    client.seen.slow.append(await client.ask(SLOW))
                    if client.seen.slow[-1].status == BUSY:
                        await asyncio.sleep(1)


async def watch_memory(server: psutil.Process, seen: Seen) -> None:
    """Look twice a second at the memory of the server and its workers."""
    while seen.elapsed < SECONDS:
        seen.memory.append(memory_of(server, seen.quarter))
        await asyncio.sleep(0.5)


def memory_of(server: psutil.Process, quarter: int = 0) -> Memory:
    """Return what the server and its workers hold now."""
    own = total = server.memory_info().rss / 2**20
    for process in server.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            total += process.memory_info().rss / 2**20
    return Memory(quarter, own, total)


async def load(host: str, port: int, server: psutil.Process) -> Seen:
    """Let all clients ask at once."""
    seen = Seen()
    await asyncio.gather(
        watch_memory(server, seen),
        *(ask_quickly(number, Client(host, port, seen)) for number in range(CLIENTS)),
        *(ask_slowly(Client(host, port, seen)) for _ in range(SLOW_CLIENTS)),
    )
    return seen


@dataclass
class Disturbed:
    """What is seen beside clients that close and workers that are killed, and afterwards."""

    before: "Memory"
    closed: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    beside: list[Answer] = field(default_factory=list)
    afterwards: list[Answer] = field(default_factory=list)
    after: "Memory | None" = None

    @property
    def is_over(self) -> bool:
        """Whether enough has been closed and killed."""
        return self.closed.total() >= CLOSED and self.killed >= KILLED


async def close_early(number: int, host: str, port: int, closed: Counter[str], most: int) -> None:
    """Close connections at random moments, until enough are closed."""
    drawn, questions = random.Random(-1 - number), quick_questions(number)
    while closed.total() < most:
        question = drawn.choice([*(next(questions) for _ in range(30)), *9 * [LARGE], SLOW])
        content = question.content(drawn.choice([*9 * [host], "evil.example"]), port)
        head = content.index(b"\r\n\r\n") + 4
        stages = {
            "before the request": 0,
            "in the header": drawn.randrange(1, head),
            "after the header": head,
            "in the body": drawn.randrange(head, len(content)) if head < len(content) else head,
            "while it is worked out": len(content),
            "while it is sent": len(content),
        }
        stage = drawn.choice(list(stages))
        reader, writer = await asyncio.open_connection(host, port, limit=2**10)
        with suppress(OSError):
            writer.write(content[: stages[stage]])
            if stage == "while it is sent":
                with suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(drawn.randrange(1, 1000)), 1)
            await asyncio.sleep(drawn.uniform(0, MOMENT))
            if drawn.choice([True, False]):
                line: socket.socket = writer.get_extra_info("socket")
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                writer.transport.abort()
            else:
                writer.close()
        closed[stage] += 1


async def kill_workers(server: psutil.Process, seen: Disturbed) -> None:
    """Kill workers that have loaded the library, one after the other; those that work on a question, if there are any."""
    drawn = random.Random(0)
    while seen.killed < KILLED:
        await asyncio.sleep(drawn.uniform(0, 2 * PAUSE))
        with suppress(psutil.NoSuchProcess):
            loaded = [worker for worker in server.children() if time.time() - worker.create_time() > LOADED]
            drawn.shuffle(loaded)
            for worker in sorted(loaded, key=lambda worker: worker.status() != psutil.STATUS_RUNNING)[:1]:
                worker.kill()
                seen.killed += 1


async def ask_beside(number: int, client: Client, answers: list[Answer], is_over: Callable[[], bool]) -> None:
    """Ask quick questions until something is over."""
    async with client:
        for question in quick_questions(number):
            answers.append(await client.ask(question))
            if is_over() or not answers[-1].status:
                return


async def disturb(host: str, port: int, server: psutil.Process) -> Disturbed:
    """Close connections and kill workers while some clients ask, and ask again afterwards."""
    unused = Seen()

    async def close(closed: Counter[str], most: int) -> None:
        await asyncio.gather(*(close_early(number, host, port, closed, most) for number in range(CLOSING_CLIENTS)))

    await close(Counter(), CLOSED // 10)  # so that all has been asked before the memory is looked at
    seen = Disturbed(await resting(server))
    asking = (
        ask_beside(number, Client(host, port, unused), seen.beside, lambda: seen.is_over)
        for number in range(ASKING_CLIENTS)
    )
    await asyncio.gather(kill_workers(server, seen), close(seen.closed, CLOSED), *asking)
    seen.after = await resting(server)
    asked = itertools.count()
    await ask_beside(0, Client(host, port, unused), seen.afterwards, lambda: next(asked) >= AFTERWARDS)
    return seen


async def resting(server: psutil.Process) -> "Memory":
    """Return the memory once the server has had time to replace workers and close connections."""
    await asyncio.sleep(RESTING)
    return memory_of(server)


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


def report(seen: Seen) -> tuple[bool, str]:
    """Print what became of the questions; return whether all is as promised, and the figures."""
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
    figures = (
        f"{CLIENTS} clients, {SECONDS} s, {len(seen.quick):,} quick questions ({len(seen.quick) / SECONDS:,.0f} a second) "
        f"and {len(seen.slow):,} slow ones, {failures(seen)} errors; 99 of 100 quick ones within {late(alone):.2f} s alone, "
        f"{late(beside):.2f} s beside slow ones, the last after {max(answer.seconds for answer in beside):.2f} s; "
        f"memory at most {seen.peak(0, 1):,.0f} MiB in the first half, {seen.peak(2, 3):,.0f} MiB in the second"
    )
    return not broken, figures


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


def report_disturbed(seen: Disturbed, log: list[str]) -> tuple[bool, str]:
    """Print what became of the questions beside clients that close and workers that are killed; return the same."""
    assert seen.after is not None
    print(f"  closed: {', '.join(f'{count:,} {stage}' for stage, count in sorted(seen.closed.items()))}")
    print(f"  questions beside: {statuses(seen.beside)}; afterwards: {statuses(seen.afterwards)}")
    for line in log:
        print(f"  log: {line.rstrip()}")
    told = sum(answer.status == ENDED for answer in seen.beside)
    busy = sum(answer.status == BUSY for answer in seen.beside)
    lost = sum(answer.status not in (OK, ENDED, BUSY) for answer in seen.beside)
    lost += sum(answer.status != OK for answer in seen.afterwards)
    grown = seen.after.server > SERVER_GROWTH * seen.before.server or seen.after.total > GROWTH * seen.before.total
    if lost:
        print("  BROKEN: not every question was answered")
    if grown:
        print("  BROKEN: the memory is greater than before")
    figures = (
        f"{seen.closed.total():,} connections closed at random moments and {seen.killed} workers killed beside "
        f"{len(seen.beside):,} questions, {told} of them told that their worker was killed and {busy} to try again, {lost} "
        f"errors; afterwards {len(seen.afterwards):,} questions answered; "
        f"memory of the server {seen.before.server:,.0f} MiB before and {seen.after.server:,.0f} MiB after, "
        f"of all processes {seen.before.total:,.0f} and {seen.after.total:,.0f} MiB; {len(log)} lines of log"
    )
    return not (lost or grown), figures


def main() -> None:
    """Serve on a free port of the loopback, and ask."""
    with tempfile.TemporaryDirectory() as folder:
        run = RUN or [str(write_run(Path(folder)))]
        command = [sys.executable, "-m", "tallystick", "explore", *run, "--port", "0"]
        with (
            tempfile.TemporaryFile("w+") as complaints,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, text=True) as server,
        ):
            try:
                assert server.stdout is not None
                address = urlsplit(server.stdout.readline().split()[0])
                assert address.hostname is not None
                assert address.port is not None
                urlopen(f"{address.geturl()}api/theorem", timeout=2 * WAIT).close()  # so that the solver has been asked
                place = address.hostname, address.port, psutil.Process(server.pid)
                reports = [report(asyncio.run(load(*place)))] if SECONDS else []
                disturbed = asyncio.run(disturb(*place))
                complaints.seek(0)
                reports.append(report_disturbed(disturbed, complaints.readlines()))
                print(f"load: {'; then '.join(figures for _, figures in reports)}")
            finally:
                server.terminate()
    sys.exit(0 if all(kept for kept, _ in reports) else 1)


if __name__ == "__main__":
    main()
