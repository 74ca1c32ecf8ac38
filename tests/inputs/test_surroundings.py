"""What surrounds a command: links that lead nowhere, a home that cannot be written, Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import pytest
from command_lines import run, without_long_work

from tallystick import LinearCell, Network, Readout
from tallystick.cli import main
from tallystick.networks import write_network


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a model in it."""
    write_network(Network(LinearCell(1, -1, 1), Readout.binary(1, 0)), tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


WRITES = {
    "certify": ("link", ["certify", "model.json", "--out", "link"]),
    "failures": ("link", ["failures", "model.json", "--length", "4", "--out", "link"]),
    "accuracy": ("link.svg", ["accuracy", "model.json", "--length", "4", "--figure", "link.svg"]),
    "prove": ("queries/theorem1-01.smt2", ["prove", "theorem1", "--smtlib", "queries"]),
    "compare": ("compared/compare.md", ["compare", "--cell", "linear", "--out", "compared"]),
    "compare, rows": ("compared/compare.rows.json", ["compare", "--cell", "linear", "--out", "compared"]),
    "explain": ("reasons/reasons.png", ["explain", "--task", "binary", "--out", "reasons"]),
}


@pytest.mark.parametrize("command", WRITES)
def test_a_link_that_leads_nowhere_is_not_replaced_unasked(folder, command):
    name, words = WRITES[command]
    link = folder / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to("nowhere")
    with without_long_work():
        ended = run(words, folder)
    assert ended.status == 2
    assert f"{name}: exists already" in ended.err
    assert link.is_symlink()


def test_a_link_that_leads_nowhere_is_replaced_when_asked(folder):
    (folder / "link").symlink_to("nowhere")
    with pytest.raises(SystemExit):
        main(["certify", "model.json", "--out", "link", "--force"])
    assert not (folder / "link").is_symlink()
    assert (folder / "link").is_file()


@pytest.mark.parametrize("words", [["train"], ["sweep"], ["reproduce"], ["compare"], ["explain", "--task", "binary"]])
def test_a_folder_is_not_made_where_a_link_leads_nowhere(folder, words):
    (folder / "link").symlink_to("nowhere")
    ended = run([*words, "--out", "link"], folder)
    assert ended.status == 2
    assert "link: is not a folder; " in ended.err
    assert {entry.name for entry in folder.iterdir()} == {"model.json", "link"}


def test_a_home_that_cannot_be_written_is_no_news(folder):
    away = {name: value for name, value in os.environ.items() if name not in ("MPLCONFIGDIR", "XDG_CONFIG_HOME")}
    words = ["accuracy", "model.json", "--length", "4", "--figure", "figure.svg"]
    ended = subprocess.run(
        [sys.executable, "-m", "tallystick", *words],
        env={**away, "HOME": "/proc/nowhere"},
        capture_output=True,
        check=True,
    )
    assert ended.stderr == b""
    assert (folder / "figure.svg").is_file()


NEVER_ENDING = {
    "train": ["train", "--seeds", "10000000", "--out", "run"],
    "lstm": ["train", "--cell", "lstm", "--units", "8", "--epochs", "100000", "--out", "run"],
    "cluster": ["train", "--seeds", "10000000", "--cluster", "local:1", "--out", "run"],
    "cluster, gru": ["train", "--cell", "gru", "--epochs", "100000", "--cluster", "local:1", "--out", "run"],
    "sweep": ["sweep", "--seeds", "100000", "--epochs", "100,101", "--out", "run"],
    "compare": ["compare", "--cell", "lstm", "--out", "run"],
}
IN_SHORT = ("lstm",)


@pytest.mark.parametrize(
    "name", [name if name in IN_SHORT else pytest.param(name, marks=pytest.mark.long) for name in NEVER_ENDING]
)
def test_ctrl_c_ends_a_run_in_one_line(folder, name):
    words = [sys.executable, "-m", "tallystick", *NEVER_ENDING[name]]
    with subprocess.Popen(words, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            while not (folder / "run" / "run.lock").exists():
                assert process.poll() is None
                time.sleep(0.05)
            time.sleep(1)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            _, said = process.communicate(timeout=30)  # a guard against one that never ends
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    *told, last = said.decode().splitlines()
    assert last == "tallystick: run: interrupted; --resume goes on with what is done"
    assert not told or name == "compare"  # it tells of each setting that it goes through


def test_ctrl_c_ends_any_command_in_one_line(folder):
    os.mkfifo(folder / "pipe")
    words = [sys.executable, "-m", "tallystick", "certify", "pipe"]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process, (folder / "pipe").open("w"):
        process.send_signal(signal.SIGINT)  # once it reads, which is when the pipe could be opened
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, b"tallystick: interrupted\n")
