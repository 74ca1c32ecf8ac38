"""The command: one line where it cannot begin, and a quiet end."""

import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from tallystick.cli import main
from tallystick.errors import MissingExtra
from tallystick.explore import server


def refusal(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(["explore", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert (end.value.code, out, len(err.splitlines())) == (2, "", 1)
    return err


@pytest.mark.parametrize("library", ["fastapi", "uvicorn"])
def test_without_the_extra_it_is_named(without, capsys, library):
    without(library, "tallystick.explore")
    assert refusal([], capsys) == f"tallystick: {MissingExtra(library)}\n"


def test_a_port_that_is_taken_is_named(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port: {port} on 127.0.0.1 cannot be used (" in refusal(["--port", port], capsys)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--port", 65536], "port: 65536 is more than 65,535"),
        (["--port", -1], "port: -1 is not a whole number from 0 on"),
        (["--port", "x"], "--port"),
        (["--host", "no such host"], "host: 'no such host' is no address of this machine"),
        (["--host", "192.0.2.1", "--port", 0], "cannot be used"),
        (["nothing"], "nothing: not a run directory"),
    ],
)
def test_what_cannot_be_opened_is_named(arguments, complaint, capsys):
    assert complaint in refusal(arguments, capsys)


def test_it_answers_until_ctrl_c_and_ends_quietly(run_directory):
    command = [sys.executable, "-m", "tallystick", "explore", str(run_directory), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            address = re.fullmatch(r"(http://127\.0\.0\.1:\d+/)  \(Ctrl-C ends it\)\n", line)[1]
            assert httpx.get(f"{address}api/run", timeout=60).json()["name"] == run_directory.name
            assert httpx.get(f"{address}api/run", headers={"host": "localhost"}).status_code == 403
        finally:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_browser_is_shown_the_page_where_that_is_asked_for(monkeypatch):
    shown, said = [], []
    monkeypatch.setattr(server.webbrowser, "open", shown.append)
    monkeypatch.setattr(server.uvicorn.Server, "run", lambda self, sockets: None)
    server.serve(None, "127.0.0.1", 0, said.append, show=True)
    assert shown == said
    server.serve(None, "0.0.0.0", 0, said.append)
    assert said[1].startswith("http://127.0.0.1:")
    assert len(shown) == 1


def test_others_are_told_of_where_they_can_ask(monkeypatch, capsys):
    monkeypatch.setattr(server.uvicorn.Server, "run", lambda self, sockets: None)
    with pytest.raises(SystemExit, match="0"):
        main(["explore", "--host", "0.0.0.0", "--port", "0"])
    assert capsys.readouterr().out.startswith("listening on 0.0.0.0: others on the network can ask, too\n")


def test_jax_is_loaded_for_a_run_alone():
    code = "import sys, tallystick.explore.server, tallystick.explore.worker; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
