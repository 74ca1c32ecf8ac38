"""Answers are found within a time limit, by processes that can be ended, and one slow question holds up no other."""

import asyncio
import json
import os
import socket
import threading
import time
from contextlib import suppress
from signal import SIGKILL, SIGSEGV, raise_signal
from subprocess import getoutput

import httpx
import pytest
from serving import served

from tallystick.errors import BadInput
from tallystick.explore.app import application
from tallystick.explore.worker import TooLong, Worker, WorkerEnded
from tallystick.explore.workers import Busy, Workers
from tallystick.numbers import exact

# A cell so near to an exact counter that its horizon has hundreds of digits, which is found by going along.
SLOW = {
    "cell": "selective",
    "open_step": 1,
    "close_step": -1,
    "recurrent_weight": [f"{2**1190 + 1}/{2**1190}", f"{2**1190 + 1}/{2**1190}"],
    "readout": {"kind": "ternary", "weight": [-1, 0, 1], "bias": ["-1/2", 0, "-1/2"]},
}
QUICK = {**SLOW, "recurrent_weight": [1, 1]}

ENDLESS = sum, range(10**15)
"""A task that keeps a processor busy for years."""


def asked(work, spare=0, **limits):
    """Let some work be done with workers of one's own, and none too many of them."""

    async def run():
        workers = Workers(spare=spare, **limits)
        await workers.start()
        try:
            return await work(workers)
        finally:
            await workers.stop()

    return asyncio.run(run())


async def idle(workers, number):
    """Wait until so many processes have loaded the library."""
    while workers._idle.qsize() < number:
        await asyncio.sleep(0.01)


def test_answers_and_refusals_come_back():
    async def work(workers):
        with pytest.raises(BadInput, match="^number: 'x' is not a number"):
            await workers.run(exact, "x")
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            await workers.run(divmod, 1, 0)
        return await asyncio.gather(*(workers.run(divmod, n, 3) for n in range(20)))

    assert asked(work) == [divmod(n, 3) for n in range(20)]


def test_a_question_that_takes_too_long_is_ended_and_the_worker_replaced():
    async def work(workers):
        with pytest.raises(TooLong, match="no answer within 0.3 seconds"):
            await workers.run(time.sleep, 60, seconds=0.3)
        return await workers.run(divmod, 7, 2)

    assert asked(work, number=1) == (3, 1)


def test_a_question_that_needs_too_much_memory_is_told_so():
    async def work(workers):
        for ask in ((bytearray, 2**50), (bytes, 3 * 2**30)):  # for the answer, and for sending it
            with pytest.raises(BadInput, match="more memory than there is"):
                await workers.run(*ask)
        return await workers.run(divmod, 7, 2)

    assert asked(work, number=1, quick=10) == (3, 1)


def test_workers_that_end_are_replaced_and_the_true_cause_is_told():
    endings = {
        (os._exit, 1): "status 1",
        (os._exit, 0): "status 0",
        (raise_signal, SIGKILL): "signal 9",
        (raise_signal, SIGSEGV): "signal 11",
    }

    async def work(workers):
        ended = await asyncio.gather(*(workers.run(*ask) for ask in endings), return_exceptions=True)
        for error, cause in zip(ended, endings.values(), strict=True):
            assert isinstance(error, WorkerEnded)
            assert str(error) == f"the worker ended: {cause}"
        return await workers.run(divmod, 7, 2)

    assert asked(work, number=4, seconds=30) == (3, 1)


def test_a_question_whose_worker_is_killed_is_asked_once_more(tmp_path):
    note = tmp_path / "asked"
    shell = f"echo >> {note}; kill -9 $PPID; sleep 60"

    async def work(workers):
        slow = asyncio.create_task(workers.run(getoutput, f"echo >> {note}; sleep 1; echo answered"))
        while not note.exists():
            await asyncio.sleep(0.01)
        (worker,) = workers._workers
        os.kill(worker._process.pid, SIGKILL)
        assert await slow == "answered"
        assert len(note.read_text().splitlines()) == 2
        with pytest.raises(WorkerEnded, match="signal 9"):
            await workers.run(getoutput, shell)
        assert len(note.read_text().splitlines()) == 4

    asked(work, number=1, seconds=30)


@pytest.mark.long
def test_a_slow_question_whose_worker_is_killed_is_asked_once_more():
    async def work(workers):
        await idle(workers, 2)
        processes = [await workers.run(os.getpid) for _ in range(2)]  # each in its turn
        slow = asyncio.create_task(workers.run(sum, range(4 * 10**7)))
        await asyncio.sleep(0.05)  # so that it is asked first
        await workers.run(divmod, 7, 2)  # once the other has stepped aside
        assert not slow.done()
        os.kill(processes[0], SIGKILL)
        return await slow

    assert asked(work, number=1, spare=1, seconds=60, quick=0.05) == sum(range(4 * 10**7))


def test_workers_that_are_killed_while_idle_are_replaced():
    async def work(workers):
        await idle(workers, 3)
        before = {await workers.run(os.getpid) for _ in range(9)}
        for process in before:
            os.kill(process, SIGKILL)
        while any(worker.is_alive for worker in workers._workers):
            await asyncio.sleep(0.01)
        await workers.run(divmod, 7, 2)
        await idle(workers, 3)
        after = {await workers.run(os.getpid) for _ in range(9)}
        return len(before), len(after - before), len(after)

    assert asked(work, number=2, spare=1, seconds=30) == (3, 3, 3)


def test_a_worker_that_cannot_be_started_is_tried_again(monkeypatch, caplog):
    tries = []
    start = Worker.start

    async def fail_at_first():
        tries.append(1)
        if len(tries) == 1:
            raise OSError(24, "Too many open files")
        return await start()

    monkeypatch.setattr(Worker, "start", fail_at_first)
    monkeypatch.setattr("tallystick.explore.workers._RETRY_SECONDS", 0.01)
    assert asked(lambda workers: workers.run(divmod, 7, 2), number=1) == (3, 1)
    assert "no worker could be started: [Errno 24] Too many open files" in caplog.text


def test_nothing_is_imported_from_the_current_directory(tmp_path, monkeypatch):
    for name in ("numpy", "pickle", "tallystick", "uvicorn"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert asked(lambda workers: workers.run(divmod, 7, 2), number=1) == (3, 1)
    assert not (tmp_path / "imported").exists()


def test_a_question_that_finds_no_worker_is_told_so():
    async def work(workers):
        await workers.run(divmod, 7, 2)  # started
        slow = asyncio.create_task(workers.run(time.sleep, 60, seconds=2))
        await asyncio.sleep(0.1)
        with pytest.raises(Busy):
            await workers.run(divmod, 7, 2)
        with pytest.raises(TooLong):
            await slow

    asked(work, number=1, seconds=0.3)


def test_quick_questions_do_not_wait_for_slow_ones_however_many(monkeypatch):
    monkeypatch.setattr("tallystick.explore.workers.MOST_SLOW", 1)

    async def work(workers):
        slow = [asyncio.create_task(workers.run(*ENDLESS, seconds=50)) for _ in range(2)]
        await asyncio.sleep(0.05)  # so that they are asked first
        answers = [await workers.run(divmod, n, 3) for n in range(20)]
        # One slow question too many is refused; the other goes on, out of the way.
        (refused,), (waiting,) = await asyncio.wait(slow, return_when=asyncio.FIRST_COMPLETED)
        with pytest.raises(Busy, match="^1 long questions are being worked on already"):
            refused.result()
        answers += [await workers.run(divmod, n, 3) for n in range(20)]
        assert not waiting.done()
        return answers

    assert asked(work, number=1, seconds=30, quick=0.1) == 2 * [divmod(n, 3) for n in range(20)]


def test_a_spare_process_takes_the_place_of_a_slow_one():
    async def work(workers):
        await idle(workers, 2)
        spare = [await workers.run(os.getpid) for _ in range(2)]  # each in its turn
        slow = asyncio.create_task(workers.run(*ENDLESS, seconds=50))
        await asyncio.sleep(0.05)  # so that it is asked first
        answered = await workers.run(os.getpid)
        assert not slow.done()
        return answered in spare

    assert asked(work, number=1, seconds=30, quick=0.1, spare=1)


def test_a_slow_question_is_answered_and_leaves_its_place_to_the_next(monkeypatch):
    monkeypatch.setattr("tallystick.explore.workers.MOST_SLOW", 1)

    async def work(workers):
        assert await workers.run(sum, range(2 * 10**7)) == (2 * 10**7 - 1) * 10**7
        with pytest.raises(TooLong, match="no answer within 2 seconds"):
            await workers.run(*ENDLESS, seconds=2)
        assert await workers.run(divmod, 7, 2) == (3, 1)
        while sum(worker.is_alive for worker in workers._workers) > 1:  # the others are being ended
            await asyncio.sleep(0.01)

    asked(work, number=1, seconds=30, quick=0.05)


def test_questions_that_are_answered_just_when_they_count_as_slow_leave_no_process(monkeypatch):
    monkeypatch.setattr(Worker, "worked", property(lambda self: time.monotonic()))
    monkeypatch.setattr("tallystick.explore.workers.MOST_SLOW", 20)

    async def hold_up():  # so that many things happen between two looks of the event loop
        while True:
            time.sleep(0.02)
            await asyncio.sleep(0)

    async def work(workers):
        held_up = asyncio.create_task(hold_up())
        await asyncio.gather(*(workers.run(time.sleep, 0.01 * wait) for wait in range(3, 11)))
        held_up.cancel()
        await idle(workers, 4)
        async with asyncio.timeout(10):
            while sum(worker.is_alive for worker in workers._workers) > 4:  # the others are being ended
                await asyncio.sleep(0.01)

    asked(work, number=4, seconds=30, quick=0.05)


def test_a_slow_question_works_with_less_of_the_processor():
    async def work(workers):
        quick = await workers.run(os.getpriority, os.PRIO_PROCESS, 0)
        (process,) = workers._workers
        slow = asyncio.create_task(workers.run(*ENDLESS, seconds=50))
        await asyncio.sleep(0.05)  # so that it is asked first
        await workers.run(divmod, 7, 2)  # once the other has stepped aside
        assert not slow.done()
        return quick, os.getpriority(os.PRIO_PROCESS, process._process.pid)

    quick, niceness = asked(work, number=1, seconds=30, quick=0.1)
    assert niceness > quick or quick == 19  # the nicest that there is


def test_a_question_that_has_to_wait_for_a_processor_is_not_slow():
    async def work(workers):
        assert await workers.run(getoutput, "sleep 0.5; echo answered") == "answered"
        return await workers.run(os.getppid), len(workers._workers)

    assert asked(work, number=1, seconds=30, quick=0.1) == (os.getpid(), 1)


def test_a_question_that_nobody_waits_for_is_given_up():
    async def work(workers):
        await workers.run(divmod, 7, 2)  # started
        slow = asyncio.create_task(workers.run(time.sleep, 60, seconds=50))
        queued = asyncio.create_task(workers.run(os._exit, 1, seconds=50))
        await asyncio.sleep(0.1)
        for asked in (slow, queued):
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
        return await workers.run(divmod, 7, 2)

    assert asked(work, number=1, seconds=30, quick=0.02) == (3, 1)


def test_a_quick_question_that_nobody_waits_for_costs_no_process():
    async def work(workers):
        process = await workers.run(os.getpid)
        for _ in range(20):
            with suppress(TimeoutError):
                await asyncio.wait_for(workers.run(time.sleep, 0.02), 0.01)
        return process == await workers.run(os.getpid)

    assert asked(work, number=1, seconds=30)


def test_questions_at_the_very_limit_hurt_no_other():
    """Whether such a question is answered or ended, given up or not, the next one is answered."""

    async def work(workers):
        await workers.run(divmod, 7, 2)  # started

        for wait in (0.01, 0.02, 0.03, 0.04):
            with suppress(TooLong):
                await workers.run(time.sleep, wait, seconds=0.025)
            assert await workers.run(divmod, 7, 2) == (3, 1)
        for wait in (0, 0.001, 0.01, 0.02):
            with suppress(TimeoutError):
                await asyncio.wait_for(workers.run(time.sleep, 0.01), wait)
            assert await workers.run(divmod, 7, 2) == (3, 1)
        return await workers.run(divmod, 7, 2)

    assert asked(work, number=1, seconds=30) == (3, 1)


def test_a_client_that_goes_away_frees_its_worker(monkeypatch):
    asked, ask = threading.Event(), Worker.ask
    ended, end = threading.Event(), Worker.end
    monkeypatch.setattr(Worker, "ask", lambda *given: (asked.set(), ask(*given))[1])
    monkeypatch.setattr(Worker, "end", lambda self: (ended.set(), end(self))[1])
    with served(application(seconds=500), processes=1) as address:
        line = httpx.URL(address)
        body = json.dumps({"network": SLOW}).encode()
        with socket.create_connection((line.host, line.port)) as client:
            client.sendall(b"POST /api/verdict HTTP/1.1\r\nHost: %s\r\n" % line.netloc)
            client.sendall(b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            assert asked.wait(60)
        assert ended.wait(60)  # long before the question would be given up
        answer = httpx.post(f"{address}/api/verdict", json={"network": QUICK}, timeout=60)
        assert answer.json()["all"]["outcome"] == "PROVED"


def test_a_slow_question_holds_up_no_other():
    with served(application(seconds=3)) as address, httpx.Client(base_url=address, timeout=60) as client:
        ended = threading.Event()
        slow = {}

        def ask_slowly():
            slow["answer"] = httpx.post(f"{address}/api/verdict", json={"network": SLOW}, timeout=60)
            ended.set()

        thread = threading.Thread(target=ask_slowly)
        thread.start()
        outcomes = []
        while not ended.is_set():
            answer = client.post("/api/verdict", json={"network": QUICK}).json()["all"]["outcome"]
            outcomes.append(answer)
        thread.join()
        assert len(outcomes) > 1
        assert set(outcomes) == {"PROVED"}
        assert slow["answer"].status_code == 422
        error = slow["answer"].json()["error"]
        assert error == "no answer within 3 seconds; the tallystick commands have no such limit"


def test_nothing_is_left_running():
    async def work(workers):
        return [await workers.run(os.getpid) for _ in range(4)]

    for process in set(asked(work)):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_client_is_told_how_a_worker_ended(monkeypatch):
    async def end(self, *_, **__):
        raise WorkerEnded(-9)

    monkeypatch.setattr(Workers, "run", end)
    with served(application(), processes=1) as address:
        answer = httpx.post(f"{address}/api/verdict", json={"network": QUICK}, timeout=60)
    assert answer.status_code == 503
    assert answer.json()["error"].startswith("the worker ended: signal 9; ask again")
