"""Whom the server answers, how much it reads, which files it gives, and what it tells a browser."""

import socket

import pytest

from tallystick.explore.app import PAGE
from tallystick.explore.guard import LARGEST_BODY, Address

HERE = Address("127.0.0.1", 8000)
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("address", "name", "admitted"),
    [
        (HERE, "127.0.0.1:8000", True),
        (HERE, "localhost:8000", True),
        (HERE, "LOCALHOST:8000", True),
        (HERE, "[::1]:8000", True),
        (HERE, "localhost", False),
        (HERE, "localhost:8001", False),
        (HERE, "localhost:", False),
        (HERE, "localhost:8000:8000", False),
        (HERE, "localhost.evil.example:8000", False),
        (HERE, "evil.example:8000", False),
        (HERE, "127.0.0.1.evil.example:8000", False),
        (HERE, "192.168.0.7:8000", False),
        (HERE, "user@localhost:8000", False),
        (HERE, "", False),
        (HERE, ":8000", False),
        (Address("127.0.0.1", 80), "localhost", True),
        (Address("127.0.0.1", 80), "[::1]", True),
        (Address("127.0.0.1", None), "localhost:12345", True),
        (Address("127.0.0.1", None), "localhost:x", False),
        (Address("workstation", 8000), "workstation:8000", True),
        (Address("workstation", 8000), "other:8000", False),
        (Address("fe80::1", 8000), "[fe80::1]:8000", True),
        # On every address: a number cannot be rebound, a name can.
        (Address("0.0.0.0", 8000), "192.168.0.7:8000", True),
        (Address("::", 8000), "[fe80::7]:8000", True),
        (Address("0.0.0.0", 8000), "evil.example:8000", False),
    ],
)
def test_names_that_a_server_answers_to(address, name, admitted):
    assert address.admits(name) is admitted
    assert address.admits_origin(f"http://{name}") is admitted


@pytest.mark.parametrize(
    "origin", ["null", "", "https://localhost:8000", "file://", "localhost:8000", "http://localhost:8000/x"]
)
def test_origins_that_are_not_the_pages(origin):
    assert not HERE.admits_origin(origin)


@pytest.mark.parametrize("path", ["/", "/api/presets", "/api/run", "/openapi.json", "/nothing"])
def test_a_foreign_host_is_refused(client, path):
    answer = client.get(path, headers={"host": "evil.example"})
    assert answer.status_code == 403
    assert answer.json() == {"error": "Host: 'evil.example' is not this server"}


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8000"])
def test_a_foreign_origin_is_refused(client, origin):
    question = {"kind": "zigzag", "length": 2}
    answer = client.post("/api/string", json=question, headers={"origin": origin})
    assert answer.status_code == 403
    assert "Origin" in answer.json()["error"]
    own = str(client.base_url).rstrip("/")
    assert client.post("/api/string", json=question, headers={"origin": own}).status_code == 200


def test_a_body_is_bounded(client):
    for content in (
        b" " * (LARGEST_BODY + 1),
        iter([b" " * 1000] * (LARGEST_BODY // 1000 + 1)),
    ):  # with its length, and in chunks
        answer = client.post("/api/string", content=content, headers=JSON)
        assert answer.status_code == 413
        assert answer.json() == {"error": "a request has at most 1028 KiB"}
    padded = b'{"kind": "zigzag", "length": 2' + b" " * (LARGEST_BODY - 40) + b"}"
    assert client.post("/api/string", content=padded, headers=JSON).json() == {"string": "()"}


def raw(client, request):
    """Send bytes as they are, and return the answer's status and body."""
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=10) as line:
        line.sendall(request)
        answer = b""
        while part := line.recv(65536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def test_a_request_without_a_host_or_with_two_is_refused(client):
    assert raw(client, b"GET /api/presets HTTP/1.0\r\n\r\n")[0] == 403
    own = f"127.0.0.1:{client.base_url.port}".encode()
    twice = b"GET / HTTP/1.1\r\nHost: %s\r\nHost: evil.example\r\nConnection: close\r\n\r\n" % own
    assert 400 <= raw(client, twice)[0] < 500


@pytest.mark.parametrize("length", [b"-1", b"x", b"99999999999999999999999999"])
def test_an_absurd_length_is_refused(client, length):
    own = f"127.0.0.1:{client.base_url.port}".encode()
    request = b"POST /api/string HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %s\r\n\r\n" % (
        own,
        length,
    )
    assert 400 <= raw(client, request)[0] < 500


@pytest.mark.parametrize(
    "path",
    [
        "/../app.py",
        "/../../errors.py",
        "/%2e%2e/app.py",
        "/..%2fapp.py",
        "/..%5capp.py",
        "//etc/passwd",
        "/%00",
        "/page/../../app.py",
    ],
)
def test_nothing_outside_the_page_can_be_read(client, path):
    own = f"127.0.0.1:{client.base_url.port}".encode()
    status, body = raw(client, b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (path.encode(), own))
    assert 400 <= status < 500
    assert b'"error"' in body
    assert b"import" not in body


def test_every_file_of_the_page_is_given_with_its_kind(client):
    kinds = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    files = [path for path in PAGE.rglob("*") if path.is_file() and path.suffix in kinds]
    assert PAGE / "index.html" in files
    for path in files:
        answer = client.get(f"/{path.relative_to(PAGE).as_posix()}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == f"{kinds[path.suffix]}; charset=utf-8"
        assert answer.content == path.read_bytes()
    assert client.get("/").content == (PAGE / "index.html").read_bytes()


@pytest.mark.parametrize("path", ["/", "/api/presets", "/api/nothing", "/nothing"])
def test_what_a_browser_is_told(client, path):
    for headers in (client.get(path).headers, client.get(path, headers={"host": "evil.example"}).headers):
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == ("no-store" if path.startswith("/api/") else "no-cache")
        assert "access-control-allow-origin" not in headers


def test_wrong_addresses_and_methods(client):
    assert client.get("/api/nothing").json() == {"error": "/api/nothing: not found"}
    wrong = client.get("/api/verdict")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert wrong.json() == {"error": "/api/verdict: method not allowed"}
    assert client.post("/").status_code == 405
    assert client.get("/docs").status_code == 404
