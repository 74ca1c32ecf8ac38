"""Commands that read a run, on one that was killed and on one at work: nothing they advise deletes finished parts."""

import pytest

from tallystick.cli import main
from tallystick.errors import BadInput
from tallystick.explore.run import open_run
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import Keep, training_job
from tallystick.runs.resuming import LOCK, at_work_in
from tallystick.runs.runner import run_training
from tallystick.training.setting import Setting

TRAIN = {"command": "train", "cell": "linear"}
GATED = {"command": "train", "cell": "gru", "units": 1}
READERS = {
    "certify": (TRAIN, ["certify", "run"]),
    "indicators": (TRAIN, ["indicators", "run"]),
    "evaluate": (TRAIN, ["evaluate", "run", "--strings", "strings.txt"]),
    "explore": (TRAIN, ["explore", "run", "--port", "0"]),
    "certify, gated": (GATED, ["certify", "run"]),
    "evaluate, gated": (GATED, ["evaluate", "run", "--strings", "strings.txt"]),
    "accuracy, gated": (GATED, ["accuracy", "run"]),
    "report": ({"command": "reproduce"}, ["report", "run"]),
}


@pytest.fixture(params=READERS)
def reader(request, tmp_path, monkeypatch, capsys):
    """A command that reads a run: what the run was asked for, and what the command says."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strings.txt").write_text("()\n")
    config, words = READERS[request.param]

    def said():
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        return capsys.readouterr().err

    return config, said


def files(folder):
    return {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}


def test_a_run_that_was_killed_is_to_be_resumed(reader, tmp_path):
    config, said = reader
    RunDirectory(tmp_path / "run").start(config)
    (tmp_path / "run" / LOCK).write_text("process 1 on somewhere\n")  # as a kill leaves it
    before = files(tmp_path / "run")
    assert said() == (
        "tallystick: run/models.parquet: is missing: the run has not ended; "
        "the command that began it goes on with --resume\n"
    )
    assert files(tmp_path / "run") == before


def test_a_run_at_work_is_said_to_be(reader, tmp_path):
    config, said = reader
    with RunDirectory(tmp_path / "run").begin(config):
        before = files(tmp_path / "run")
        line = said()
        assert line.startswith("tallystick: run/models.parquet: is missing: the run has not ended; wait for process ")
        assert line.endswith(", which is at work on it\n")
        assert files(tmp_path / "run") == before
        with pytest.raises(BadInput, match="is at work there"), at_work_in(tmp_path / "run"):
            pytest.fail("two at a time")
    with at_work_in(tmp_path / "run"):  # whoever has asked keeps nobody out
        pass


def test_a_sample_is_not_taken_for_the_whole_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    job = training_job(Setting("binary", bias=False, train_length=2, epochs=1), 20, seed=0)
    run_training(job, 0, RunDirectory(tmp_path / "run"), keep=Keep("sample", 5))
    for name in ("histograms.parquet", "summary.json", "record.json"):  # it is killed between two files
        (tmp_path / "run" / name).unlink()
    for command in ("certify", "indicators"):
        with pytest.raises(SystemExit):
            main([command, "run"])
        assert "run/histograms.parquet: is missing: the run has not ended; the command" in capsys.readouterr().err


def test_a_folder_that_is_no_run_is_called_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    for words in (["certify", "run"], ["indicators", "run"], ["accuracy", "run"]):
        with pytest.raises(SystemExit):
            main(words)
        assert "run: not a run directory" in capsys.readouterr().err
    with pytest.raises(BadInput, match="not a run directory"):
        open_run(tmp_path / "run")
