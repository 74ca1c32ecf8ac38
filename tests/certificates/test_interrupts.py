"""Ctrl-C while a network is certified: the command shows what is known so far, and says before how far it has come."""

import os
import pty
import subprocess
import sys

import pytest
from vector_networks import counting_lstm

from tallystick import write_network

INTERRUPTED_AT_7 = """
import os, signal, sys
from tallystick.certificates import progress
from tallystick.certificates.boxes import box_proof
from tallystick.cli import main

progress._QUIET = progress._PAUSE = 0
report = box_proof.report

def report_and_interrupt(done, total, text):
    report(done, total, text)
    if done == 7:
        os.kill(os.getpid(), signal.SIGINT)

box_proof.report = report_and_interrupt
main(sys.argv[1:])
"""


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "network.json"
    write_network(counting_lstm(4.0), path)
    return str(path)


def run(*arguments, **how):
    return subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT_7, *arguments], stdout=subprocess.PIPE, text=True, check=False, **how
    )


def test_ctrl_c_shows_the_verdict_so_far(network):
    ended = run("certify", network, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, "")
    right, fails, between, formal, why, *_ = ended.stdout.splitlines()
    assert right == "Right on every string up to at least length 7."
    assert fails.startswith("Fails on `(((((()))))` (11 tokens): ")
    assert between == "The lengths 8 to 10 are open."
    assert formal.startswith("BOUNDED, horizon at least 7, ")
    assert why.startswith("Why: interrupted: every counted length to 7 is right")


def test_a_terminal_shows_how_far_a_proof_has_come(network):
    reader, terminal = pty.openpty()
    ended = run("certify", network, stderr=terminal)
    os.close(terminal)
    assert ended.returncode == 0
    shown = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert "proved to length 5, at most 10 is asked for: 50 %, 0 s; Ctrl-C gives what is known so far" in shown
    assert shown.endswith("\r\x1b[K")
