"""Every command that takes a MODEL takes a safetensors file as it takes a JSON file; and the page on models holds."""

import doctest
from pathlib import Path

import pytest

from tallystick import LinearCell, Network, write_network
from tallystick.cli import main
from tallystick.networks import Readout

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
MODEL = Network(LinearCell(1, -1, 0.5), Readout.binary(2.0, -0.25))


def output(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code, capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        ["certify", "MODEL"],
        ["certify", "MODEL", "--arithmetic", "float32"],
        ["accuracy", "MODEL", "--length", "12"],
        ["indicators", "MODEL"],
        ["evaluate", "MODEL", "--strings", "strings.txt"],
    ],
    ids=" ".join,
)
def test_both_kinds_of_file_give_the_same_answer(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("strings.txt").write_text("()\n(((\n")
    results = []
    for name in ("network.json", "network.safetensors"):
        write_network(MODEL, name)
        results.append(output([name if part == "MODEL" else part for part in command], capsys))
    assert results[0] == results[1]
    assert results[0][0] in (0, 1)
    assert results[0][1]


@pytest.mark.parametrize("command", [["certify"], ["accuracy", "--length", "4"], ["indicators"]], ids=" ".join)
def test_a_bad_file_ends_with_two_and_one_line(command, tmp_path, capsys):
    path = tmp_path / "network.safetensors"
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(SystemExit) as end:
        main([*command, str(path)])
    assert end.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "not a safetensors file: header too large" in shown.err
    assert len(shown.err.splitlines()) == 1


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0
