"""What stands in a file reaches a terminal, a table or a page as text, and never as an instruction to it."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
from good_files import make_run, models, trained_rows
from synthetic import write_run

from tallystick.cli import main
from tallystick.languages.machine_files import machine_to_json
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.networks import write_network
from tallystick.reports import report
from tallystick.runs.directory import RunDirectory
from tallystick.runs.runner import write_record

HOSTILE = "\x1b[31mred \x9b2J\x07[bold]b[/i] :smile:\x7f\u202e\r\nfaked"
"""Colours, a cleared screen, a bell, rich's markup and emoji, a delete, text from right to left, and a new line."""


@pytest.fixture(params=["terminal", "pipe"])
def said(request, tmp_path, monkeypatch, capsys):
    """Run a command in a folder, before a terminal or not; return its lines, without the colours that are rich's own."""
    monkeypatch.chdir(tmp_path)
    if request.param == "terminal":
        monkeypatch.setenv("FORCE_COLOR", "1")

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        output = capsys.readouterr()
        lines = re.sub(r"\x1b\[[0-9;]*m", "", output.out + output.err).splitlines()
        assert all(line.isprintable() for line in lines), lines
        assert "\x1b[31m" not in output.out
        assert not any(line.startswith("faked") for line in lines), lines
        return ended.value.code, lines

    return run


def test_values_of_a_run_are_text(said, tmp_path):
    make_run(tmp_path / "run", trained_rows().with_columns(edition=pl.lit(HOSTILE)), schedule=HOSTILE)
    (tmp_path / "strings.txt").write_text("()\n")
    for words in (("certify", "run"), ("indicators", "run"), ("evaluate", "run", "--strings", "strings.txt")):
        assert said(*words)[0] == 0
        status, lines = said(*words, "--wide")
        assert status == 0
        rows = [
            line for line in lines if r"\u001b[31mred \u009b2J\u0007[bold]b[/i] :smile:\u007f\u202e\r\nfaked" in line
        ]
        assert len(rows) == 3  # as many as there are settings


def test_json_says_what_stands_in_the_file(said, tmp_path):
    make_run(tmp_path / "run", trained_rows().with_columns(edition=pl.lit(HOSTILE)))
    _, lines = said("certify", "run", "--json")
    assert json.loads("\n".join(lines))["horizons"][0]["edition"] == HOSTILE


def test_names_of_files_machines_and_tokens_are_text(said, tmp_path):
    machine = json.dumps(machine_to_json(READY_MACHINES["bb"]))
    (tmp_path / HOSTILE).mkdir(parents=True)
    (tmp_path / "machine.json").write_text(machine.replace('"q"', json.dumps(HOSTILE)))
    assert said("accepts", "machine.json", "()", "--trace")[0] == 0
    (tmp_path / HOSTILE / "machine.json").write_text(machine)
    assert said("accepts", f"{HOSTILE}/machine.json", "()")[0] == 0
    model = f"{HOSTILE}/model.json"
    write_network(models()["linear"], tmp_path / model)
    assert said("certify", model, "--out", f"{HOSTILE}/out.json")[0] == 0
    assert said("check", f"{HOSTILE}/out.json")[0] == 0
    (tmp_path / HOSTILE / "out.json").write_text(json.dumps({HOSTILE: HOSTILE}))
    assert said("check", f"{HOSTILE}/out.json")[0] == 2
    (tmp_path / model).write_text(json.dumps({HOSTILE: HOSTILE}))
    assert said("certify", model)[0] == 2
    assert said(HOSTILE)[0] == 2
    assert said("certify", f"{HOSTILE}/nowhere  x.json")[1] == [
        f"tallystick: {_escape(HOSTILE)}/nowhere  x.json: cannot be read: no such file or directory"
    ]


def _escape(text):
    return json.dumps(text)[1:-1].replace("\x7f", r"\u007f")


@pytest.fixture
def run_of(tmp_path, monkeypatch):
    """A reproduction whose precision, which a report repeats, is not what it should be."""
    monkeypatch.setattr(report, "_figures", lambda _: {})

    def make(precision):
        folder = write_run(tmp_path / "run", ("fresh",), seeds=12)
        rows = pl.read_parquet(folder / "models.parquet")
        rows.with_columns(precision=pl.lit(precision)).write_parquet(folder / "models.parquet")
        return folder

    return make


def test_a_report_is_shown_as_text(said, run_of):
    folder = run_of(HOSTILE)
    assert said("report", str(folder))[0] == 0


def test_every_field_of_a_printed_table_is_escaped(run_of):
    folder = run_of(r"a|b\c{d}&%$#_^~<e>`*[x](y)" + "\n# faked")
    report.write_report(folder)
    latex, markdown = ((folder / f"table2.{ending}").read_text() for ending in ("tex", "md"))
    escaped = (
        r"a|b\textbackslash{}c\{d\}\&\%\$\#\_\textasciicircum{}\textasciitilde{}<e>`*[x](y)\textbackslash{}n\# faked"
    )
    assert escaped in latex
    assert r"a\|b\\c{d}&%$\#\_^~\<e\>\`\*\[x\](y)\\n\# faked" in markdown


@pytest.mark.parametrize(
    "number", ["1e400", "-1e999999999", "1e1000001", "1e-1000001", "-0", "9" * 4300, "0.1" + "0" * 99]
)
def test_an_absurd_number_in_a_record_is_shown_as_it_is(number, run_of):
    folder = run_of("float32")
    (folder / "record.json").write_text(f'{{"seconds": {number}, "versions": {{"jax": [{number}]}}}}')
    report.write_report(folder)
    assert (folder / "report.html").stat().st_size < 10**6


@pytest.mark.parametrize("text", [r'"\ud800"', r'"\u001b[31m<b>"'])
def test_absurd_text_in_a_record_is_shown(text, run_of):
    folder = run_of("float32")
    (folder / "record.json").write_text(f'{{"seconds": {text}}}')
    report.write_report(folder)
    page = Path(folder / "report.html").read_text()
    assert "\x1b" not in page
    assert "<dd><b>" not in page


def test_a_command_line_that_is_not_utf8_is_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["tallystick", "reproduce", "--authors-data", "\udcff"])
    write_record(RunDirectory(tmp_path), 0, 0)
    assert json.loads((tmp_path / "record.json").read_text())["command"].endswith("--authors-data \udcff")
