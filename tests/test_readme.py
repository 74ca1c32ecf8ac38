"""What README shows is what the tool does."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tallystick.cli import main

README = Path(__file__).parent.parent / "README.md"
CERTIFICATES = README.parent / "docs" / "certificates.md"
SESSIONS = [
    session
    for page in (README, CERTIFICATES)
    for session in re.findall(r"```console\n(.*?)```", page.read_text(), flags=re.DOTALL)
]


@pytest.mark.parametrize("session", SESSIONS)
def test_the_output_shown_is_the_output(session, capsys, tmp_path, monkeypatch):
    shutil.copytree(README.parent / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for entry in session.split("$ ")[1:]:
        command, _, shown = entry.partition("\n")
        with pytest.raises(SystemExit):
            main(shlex.split(command)[1:])
        assert capsys.readouterr().out == shown


def test_the_python_examples_run():
    assert doctest.testfile(str(README), module_relative=False).failed == 0


def test_the_two_commands_open_it():
    first_screen = "\n".join(README.read_text().splitlines()[:30])
    assert first_screen.index("make reproduce") < first_screen.index("make test")
    assert SESSIONS[0].splitlines()[0] in first_screen
