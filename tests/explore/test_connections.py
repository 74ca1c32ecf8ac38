"""No client can end the server or stop its answers: not one that closes early, nor one that never finishes, nor many."""

import gc
import json
import logging
import random
import resource
import signal
import socket
import struct
import threading
import time
import weakref
from contextlib import ExitStack, closing, suppress
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from serving import served
from test_workers import QUICK, SLOW

from tallystick.explore import guard, run_answers, server
from tallystick.explore.app import application
from tallystick.explore.server import OnceAMinute

RESET = struct.pack("ii", 1, 0)


def connect(address):
    where = urlsplit(address)
    return closing(socket.create_connection((where.hostname, where.port), timeout=30))


def request(address, network):
    """Return a header and a body."""
    body = json.dumps({"network": network}).encode()
    lines = (f"Host: {urlsplit(address).netloc}", "Content-Type: application/json", f"Content-Length: {len(body)}")
    return "\r\n".join(("POST /api/verdict HTTP/1.1", *lines, "", "")).encode(), body


def is_answered(address):
    return httpx.post(f"{address}/api/verdict", json={"network": QUICK}, timeout=60).status_code == 200


def is_closed_by_server(line):
    """Wait until the other side closes; what it still says is read."""
    try:
        while line.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.fixture
def ended(monkeypatch):
    """An event: the server has ended a connection."""
    event = threading.Event()
    lose = server.Connection.connection_lost

    def lost(self, error):
        lose(self, error)
        event.set()

    monkeypatch.setattr(server.Connection, "connection_lost", lost)
    return event


def parts(address):
    """Return what a client sends before it closes, by the stage at which it does."""
    head, body = request(address, QUICK)
    slow_head, slow_body = request(address, SLOW)
    return {
        "before the request": b"",
        "half a header": head[: len(head) // 2],
        "after the header": head,
        "half a body": head + body[: len(body) // 2],
        "after the request": head + body,
        "while the answer is worked out": slow_head + slow_body,
        "while the answer is sent": b"GET /app.js HTTP/1.1\r\nHost: %s\r\n\r\n" % urlsplit(address).netloc.encode(),
        "while it is refused": b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    }


def test_no_client_that_closes_ends_the_server(explorer):
    process, address = explorer()
    address = address.rstrip("/")
    drawn = random.Random(0)
    for stage, content in parts(address).items():
        for ending in ("close", "reset", "shutdown"):
            for _ in range(5):
                with connect(address) as line:
                    line.sendall(content)
                    if "sent" in stage:
                        line.recv(drawn.randrange(1, 1000))
                    if ending == "reset":
                        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    elif ending == "shutdown":
                        line.shutdown(socket.SHUT_WR)
            assert process.poll() is None, (stage, ending)
    assert is_answered(address)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def test_no_worker_that_dies_ends_the_server(explorer):
    process, address = explorer()
    address = address.rstrip("/")
    for _ in range(3):
        assert is_answered(address)  # so that some have been started
        for worker in psutil.Process(process.pid).children():
            worker.kill()
        assert is_answered(address)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert all(line.startswith("tallystick: no worker could be started: ") for line in err.splitlines())


def test_a_connection_that_broke_is_forgotten():
    kept = weakref.WeakSet()
    with served(application(), processes=1) as address:
        for _ in range(10):
            with connect(address) as line:
                line.sendall(b"GET /app.js HTTP/1.1\r\nHost: %s\r\n\r\n" % urlsplit(address).netloc.encode())
                assert line.recv(10)
                kept.update(each for each in gc.get_objects() if type(each) is server.Connection)
                assert kept
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        for _ in range(100):
            gc.collect()
            if not kept:
                return
            time.sleep(0.05)
    assert not kept


def test_nothing_is_worked_out_for_clients_that_have_gone(run_directory, monkeypatch):
    begun = []

    def count(*_):
        begun.append(time.sleep(0.1))
        return {"counts": [], "total": 0, "inside": 0}

    monkeypatch.setattr(run_answers, "bins_of", count)
    with served(application(run_directory), processes=1) as address:
        for _ in range(50):
            with connect(address) as line:
                line.sendall(b"GET /api/run/bins HTTP/1.1\r\nHost: %s\r\n\r\n" % urlsplit(address).netloc.encode())
        assert httpx.get(f"{address}/api/run/bins", timeout=60).status_code == 200
    assert 0 < len(begun) < 25  # the last of them, and those that began before their client went


def test_a_header_that_does_not_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.3)
    with served(application(), processes=1) as address:
        head, body = request(address, QUICK)
        for first, content in ((b"", b""), (b"", b"GET / HT"), (b"", head[:-2]), (head + body, head[:-2])):
            with connect(address) as line:
                line.sendall(first)
                assert not first or line.recv(65536).startswith(b"HTTP/1.1 200 ")
                line.sendall(content)
                assert is_closed_by_server(line)
        assert is_answered(address)


def test_a_header_that_comes_byte_by_byte_is_not_waited_for(monkeypatch, ended):
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.5)
    with served(application(), processes=1) as address, connect(address) as line:
        for _ in range(100):
            if ended.wait(0.1):
                break
            line.sendall(b"G")
        assert ended.is_set()


def test_a_header_in_time_is_answered_however_long_the_answer_takes(monkeypatch):
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.3)
    monkeypatch.setattr(server, "READING_SECONDS", 0.3)
    with served(application(seconds=1), processes=1) as address, httpx.Client(base_url=address, timeout=60) as client:
        for _ in range(2):  # over the same connection
            assert client.post("/api/verdict", json={"network": SLOW}).status_code == 422


def test_a_body_that_does_not_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    with served(application(), processes=1) as address, connect(address) as line:
        head, body = request(address, QUICK)
        line.sendall(head + body[:-1])
        assert line.recv(65536).startswith(b"HTTP/1.1 408 ")
        assert is_closed_by_server(line)


def test_an_answer_that_is_not_read_is_not_kept(monkeypatch, ended):
    monkeypatch.setattr(server, "READING_SECONDS", 0.3)
    with served(application(), processes=1) as address, connect(address) as line:
        asked = b"GET /openapi.json HTTP/1.1\r\nHost: %s\r\n\r\n" % urlsplit(address).netloc.encode()
        line.sendall(1000 * asked)  # tens of megabytes, far more than the system keeps
        assert ended.wait(60)


def test_requests_that_are_not_waited_for_are_not_kept_without_end(ended):
    with served(application(seconds=50), processes=1) as address, connect(address) as line:
        asked = b"".join(request(address, SLOW))
        with suppress(ConnectionError):
            line.sendall(10**4 * asked)
        assert ended.wait(10)  # before the first of them could be answered


def test_half_open_connections_make_room_for_others(monkeypatch):
    monkeypatch.setattr(server, "most_connections", lambda: 10)
    with served(application(), processes=1) as address, ExitStack() as held:
        head, body = request(address, QUICK)
        lines = []
        for content in (b"", head[:-2], head, head + body[:-1], head + body) * 10:
            lines.append(held.enter_context(connect(address)))
            lines[-1].sendall(content)
            if content.endswith(body):
                assert lines[-1].recv(65536).startswith(b"HTTP/1.1 200 ")
        assert is_answered(address)
        assert all(is_closed_by_server(line) for line in lines[:-10])


def test_few_descriptors_stop_no_answers_and_fill_no_log(explorer):
    process, address = explorer("bash", "-c", 'ulimit -n 100; exec "$@"', "-")
    address = address.rstrip("/")
    with ExitStack() as held:
        for _ in range(300):
            held.enter_context(connect(address)).sendall(b"GET / HT")
        assert all(is_answered(address) for _ in range(10))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    lines = err.splitlines()
    assert "connections at once: the one that has waited for longest is closed" in lines[0]
    assert len(lines) <= 2  # the system may have run out of descriptors for a moment
    assert "Traceback" not in err


def test_connections_fit_into_the_descriptors(monkeypatch):
    for files, kept in ((64, 8), (256, 160), (10**6, 512), (resource.RLIM_INFINITY, 512)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert server.most_connections() == kept


def test_the_log_has_each_message_once_in_one_line():
    once = OnceAMinute()

    def line(text, error=None):
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, text, (), error and (type(error), error, None))
        return once.filter(record) and record

    full = OSError(24, "Too many open files")
    assert line("accept\nsocket: 3", full).getMessage() == "accept: [Errno 24] Too many open files"
    assert not line("accept\nsocket: 3", full)
    assert line("accept\nsocket: 3", ValueError("a mistake")).exc_info
    assert line("another")
    assert not line("another")
