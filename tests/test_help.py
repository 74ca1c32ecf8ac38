"""The help of every command is readable at 80 columns and lists what can be chosen; a shell completes the same."""

import os
import re
import subprocess
import sys

import pytest
from typer import Context
from typer.core import TyperOption

from tallystick.cli import COMMANDS, load_command, main, options
from tallystick.languages.tasks import READY_TASKS
from tallystick.theorems.account import THEOREMS
from tallystick.training.descent import OPTIMISERS, SCHEDULES
from tallystick.training.engines import DEVICES, ENGINES
from tallystick.training.methods import METHODS
from tallystick.training.setting import PRECISIONS

NAMES = list(COMMANDS)


@pytest.fixture
def help_of(monkeypatch, capsys):
    """Return the help of a command as a terminal of 80 columns shows it."""
    monkeypatch.setenv("COLUMNS", "80")

    def show(*words):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--help"])
        output = capsys.readouterr()
        assert (ended.value.code, output.err) == (0, "")
        return output.out

    return show


def _text(shown):
    """What help says, without its frames and line breaks."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", shown).split())


@pytest.mark.parametrize("words", [(), *((name,) for name in NAMES)], ids=lambda words: " ".join(words) or "tallystick")
def test_help_fits_80_columns_and_speaks_of_no_types(help_of, words):
    shown = help_of(*words)
    assert max(map(len, shown.splitlines())) <= 80
    assert not re.search(r"<\w+>|BOOLEAN|MODEL", shown)
    if words:
        examples = [line.strip() for line in shown.splitlines() if "Example: " in line]
        assert [line.startswith(f"Example: tallystick {words[0]} ") for line in examples] == [True]


def test_commands_stand_in_panels(help_of):
    shown = help_of()
    titles = re.findall(r"^╭─ (.+?) ─+╮$", shown, flags=re.MULTILINE)
    assert titles == ["Certify", "Train", "The paper", "Theory", "Options"]
    assert re.findall(r"^│ ([a-z]+) ", shown, flags=re.MULTILINE) == NAMES


def test_the_common_options_of_training_come_first(help_of):
    first_screen = help_of("train").splitlines()[:24]
    for option in ("--out", "--task", "--train-length", "--cell", "--units", "--bias", "--seeds", "--method"):
        assert any(line.startswith(f"│ {option} ") for line in first_screen), option
    assert not any("--optimiser" in line or "--cluster" in line for line in first_screen)


def _choices():
    for name in NAMES:
        command = load_command(name)
        for parameter in command.params:
            complete = parameter._custom_shell_complete
            if complete is not None:
                found = [item.value for item in complete(Context(command), parameter, "")]
                yield pytest.param(name, parameter, found, id=f"{name} {parameter.name}")


@pytest.mark.parametrize(("name", "parameter", "values"), list(_choices()))
def test_help_lists_every_choice(help_of, name, parameter, values):
    assert values
    shown = re.sub(r"[^\w-]+", " ", _text(help_of(name))).split()
    endings = ("-fused", "-any-order")
    for value in values:
        plain = next((value.removesuffix(ending) for ending in endings if value.endswith(ending)), value)
        assert {value, *((plain,) if plain != value else ())} & {*shown}, value


def test_the_names_in_the_help_are_those_of_the_library():
    assert tuple(READY_TASKS) == options.TASKS
    assert tuple(METHODS) == options.METHODS
    assert tuple(SCHEDULES) == options.SCHEDULES
    assert tuple(OPTIMISERS) == options.OPTIMISERS
    assert tuple(PRECISIONS) == options.PRECISIONS
    assert tuple(DEVICES) == options.DEVICES
    assert tuple(ENGINES) == options.ENGINES
    assert tuple(THEOREMS) == options.THEOREMS


def test_every_option_says_what_it_takes():
    for name in NAMES:
        for parameter in load_command(name).params:
            assert parameter.metavar or parameter.is_flag, f"{name} {parameter.name}"
            assert parameter.help.endswith((".", "…")), f"{name} {parameter.name}"
            assert isinstance(parameter, TyperOption) or parameter.metavar.isupper(), name


def _complete(line):
    environment = {
        **os.environ,
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_TALLYSTICK_COMPLETE": "complete_bash",
    }
    command = [sys.executable, "-m", "tallystick"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout.split()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("tallystick ch", ["check"]),
        ("tallystick train --schedule l", ["linear", "late-cosine"]),
        ("tallystick accepts any", []),  # which leaves the files to the shell
    ],
)
def test_a_shell_completes_commands_and_choices(line, found):
    assert _complete(line) == found


def test_completion_is_shown_for_the_shell_that_asks():
    command = f"{sys.executable} -m tallystick --show-completion; :"  # the shell stays, as the parent of what it runs
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "complete -o default -F _tallystick_completion tallystick" in found.stdout


@pytest.mark.parametrize("option", ["--install-completion", "--show-completion"])
def test_an_unknown_shell_is_refused_in_one_line(option, monkeypatch, capsys):
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("tcsh", "/bin/tcsh"))
    with pytest.raises(SystemExit) as ended:
        main([option])
    output = capsys.readouterr()
    assert (ended.value.code, output.out) == (2, "")
    assert output.err == (
        f"tallystick: {option}: 'tcsh' is not one of bash, zsh, fish, powershell, pwsh; run it from one of these\n"
    )
