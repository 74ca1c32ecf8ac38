"""A path is taken as it is written: what a shell or a library would take for a pattern is the name of a file."""

import io
import json
import shutil
from contextlib import chdir, redirect_stdout

import pytest
from command_lines import NOT_UTF8, ODD_NAMES, check, run
from good_files import make_run, models, trained_rows
from synthetic import write_run

from tallystick.cli import main
from tallystick.explore.run import open_run
from tallystick.networks import write_network
from tallystick.reports import report
from tallystick.runs.cluster import _address_in
from tallystick.runs.jobs import training_job
from tallystick.runs.rows import parts_of
from tallystick.training.setting import Setting

DECOYS = {"exp[1]": "exp1", "T*": "T1", "q?": "qq", "~/run": "home/run"}
"""A path, and one that it would be taken for."""

TRAIN = ("train", "--seeds", "4", "--epochs", "1", "--train-length", "2", "--out")


def answer(*words):
    """Run a command that succeeds; return what it says as JSON."""
    said = io.StringIO()
    with redirect_stdout(said), pytest.raises(SystemExit) as ended:
        main([*words, "--json"])
    assert ended.value.code == 0
    return json.loads(said.getvalue())


def refusal(*words, folder):
    ended = run(words, folder)
    assert ended.status == 2
    check(words, ended)
    return ended.err


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a home inside it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "strings.txt").write_text("()\n(((\n")
    with chdir(tmp_path):
        yield tmp_path


@pytest.mark.parametrize("name", DECOYS)
def test_a_run_is_read_where_it_is_said_to_lie(name, folder):
    (folder / name).parent.mkdir(exist_ok=True)
    make_run(folder / name, trained_rows().filter(task="ternary"))
    make_run(folder / DECOYS[name], trained_rows().filter(task="binary"))
    tasks = {}
    for command, *options in (("certify",), ("indicators",), ("evaluate", "--strings", "strings.txt")):
        (settings,) = answer(command, name, *options).values()
        tasks[command] = [setting["task"] for setting in settings]
    tasks["explore"] = [networks.described["task"] for networks in open_run(folder / name).settings.values()]
    assert tasks == {command: ["ternary"] for command in ("certify", "indicators", "evaluate", "explore")}


def test_a_report_is_of_the_run_that_is_named(folder, monkeypatch):
    monkeypatch.setattr(report, "_figures", lambda _: {})
    write_run(folder / "plain", seeds=12)
    shutil.copytree(folder / "plain", folder / "exp[1]")
    write_run(folder / "exp1", seeds=15)
    for name in ("plain", "exp[1]"):
        answer("report", name)
    assert (folder / "exp[1]" / "report.html").read_text() == (folder / "plain" / "report.html").read_text()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What a run has whose path is plain: its rows, and how they are summed up."""
    place = tmp_path_factory.mktemp("plain")
    answer(*TRAIN, str(place / "run"))
    answer(*TRAIN, str(place / "summed"), "--keep", "summary")
    return (place / "run" / "models.parquet").read_bytes(), (place / "summed" / "histograms.parquet").read_bytes()


@pytest.mark.parametrize("name", ["~/run", *ODD_NAMES])
def test_a_run_is_written_where_it_is_asked_for(name, folder, plain):
    # What an unfinished run beside it has done is another run's.
    (part,) = parts_of([training_job(Setting("binary", False, 2), 4, seed=0)])
    (folder / "T1" / "parts").mkdir(parents=True)
    trained_rows().write_parquet(folder / "T1" / "parts" / f"{part.name}.parquet")
    answer(*TRAIN, name)
    assert (folder / name / "models.parquet").read_bytes() == plain[0]
    assert answer(*TRAIN, name, "--resume")["indicators"] == answer("indicators", name)["indicators"]
    answer(*TRAIN, name, "--force", "--keep", "summary")
    assert (folder / name / "histograms.parquet").read_bytes() == plain[1]
    assert not (folder / "home" / "run").exists()


@pytest.mark.long
def test_several_units_sweeps_and_comparisons_take_paths_as_they_are(folder):
    make_run(folder / "T1", trained_rows())
    answer(*TRAIN, "T*", "--cell", "gru")
    (settings,) = answer("certify", "T*", "--limit", "2").values()
    assert [setting["cell"] for setting in settings] == ["gru"]
    answer("sweep", *TRAIN[1:], "qq")
    answer("sweep", *TRAIN[1:], "q?")
    assert (folder / "q?" / "sweep.csv").read_bytes() == (folder / "qq" / "sweep.csv").read_bytes()
    answer("compare", "--cell", "relu", "--method", "count", "--seeds", "16", "--out", "~/exp[1]")
    assert (folder / "~" / "exp[1]" / "compare.md").is_file()


def test_a_scheduler_s_file_is_read_where_it_is_said_to_lie(folder):
    for path in (*DECOYS, *DECOYS.values()):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(json.dumps({"address": f"tcp://{path}"}))
    assert all(_address_in(folder / path) == f"tcp://{path}" for path in DECOYS)


def test_a_path_that_is_not_utf8_works_or_is_refused_before_anything_is_done(folder):
    make_run(folder / "utf8", trained_rows())
    (folder / "utf8").rename(folder / NOT_UTF8)
    for command in (("certify",), ("indicators",), ("evaluate", "--strings", "strings.txt"), ("explore",)):
        said = refusal(command[0], NOT_UTF8, *command[1:], folder=folder)
        assert r"\udcff/models.parquet: the path is not UTF-8" in said, command
    for command in (TRAIN, ("reproduce", "--seeds", "0", "--out"), ("sweep", *TRAIN[1:])):
        assert r"new\udcff: the path is not UTF-8" in refusal(*command, f"new{NOT_UTF8}", folder=folder)
        assert not (folder / f"new{NOT_UTF8}").exists()
    write_network(models()["linear"], folder / f"{NOT_UTF8}.json")
    answer("certify", f"{NOT_UTF8}.json", "--out", f"out{NOT_UTF8}.json")
    answer("check", f"out{NOT_UTF8}.json")
    answer("accuracy", f"{NOT_UTF8}.json", "--length", "4", "--figure", f"{NOT_UTF8}.svg")
