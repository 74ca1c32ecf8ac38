"""No work is lost: killed, on full and read-only disks, beside another process, with torn files, under a clock that jumps."""

import errno
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from math import inf, nan
from pathlib import Path

import polars as pl
import pytest
from lost_work import (
    JOB,
    PARTS,
    RUNS,
    SETTING,
    SMALL_PARTS,
    Kills,
    contents,
    outgrow_disks,
    outgrow_files,
    small_disk,
    small_files,
    train,
)

from tallystick.cli import main
from tallystick.errors import BadInput, NotWritten
from tallystick.files import refuse_unwritable, write_text, write_whole
from tallystick.reports import drawing
from tallystick.runs import directory as run_directory
from tallystick.runs import runner
from tallystick.runs.directory import RunDirectory
from tallystick.runs.evaluation import horizons_of_run
from tallystick.runs.jobs import training_job
from tallystick.runs.parquet_files import as_parquet
from tallystick.runs.resuming import LOCK, ThisMachine, at_work_in
from tallystick.runs.rows import parts_of
from tallystick.studies import compare as study
from tallystick.studies.compare import Comparison, Spread


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    for module, name, size in SMALL_PARTS:
        monkeypatch.setattr(module, name, size)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What each run ends with when nothing happens to it, done when it is first asked for."""
    folder, found = tmp_path_factory.mktemp("undisturbed"), {}

    def of(name):
        if name not in found:
            RUNS[name](folder / name)
            found[name] = contents(folder / name)
        return found[name]

    return of


@pytest.fixture
def disk(tmp_path):
    """A disk of 512 KiB, and a function that mounts it once more."""
    try:
        with small_disk(tmp_path / "disk", 512) as mount_again:
            yield tmp_path / "disk", mount_again
    except PermissionError as error:
        pytest.skip(str(error))


def interrupted(run, *patches):
    with pytest.MonkeyPatch.context() as patch:
        for patched in patches:
            patch.setattr(*patched)
        with pytest.raises(KeyboardInterrupt):
            run()


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory):
    """A run whose last part is missing, as after a kill."""
    path, store = tmp_path_factory.mktemp("killed") / "run", RunDirectory.store_part

    def killed(self, name, content):
        if name == parts_of([JOB])[-1].name:
            raise KeyboardInterrupt
        store(self, name, content)

    one_core = ("tallystick.training.engines.cores", lambda: 1)
    interrupted(lambda: train(path), (RunDirectory, "store_part", killed), one_core, *SMALL_PARTS)
    assert len(list((path / "parts").iterdir())) == PARTS - 1
    return path


@pytest.fixture
def begun(killed_once):
    """Lays the run whose last part is missing where it is asked for."""

    def at(path):
        shutil.copytree(killed_once, path)
        return RunDirectory(path)

    return at


# Kills. Many more of them: soak/kills.py.


@pytest.mark.long
def test_a_run_that_is_killed_ends_as_an_undisturbed_one(tmp_path):
    command = ["train", "--train-length", "2", "--epochs", "20", "--seeds", str(6 * 2048), "--keep", "sample:99"]
    kills = Kills(command, tmp_path, tmp_path / "cache")
    kills.one_run(2, random.Random(11))
    assert kills.kills >= 1


# Full disks.


LARGE = ("all", "sample")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "all" else [pytest.mark.long]) for name in RUNS]
)
def test_a_run_on_a_full_disk_says_so_and_goes_on_when_there_is_room(tmp_path, undisturbed, name):
    step = 48 if name in LARGE else 12  # KiB: the other runs are small
    try:
        assert outgrow_disks(RUNS[name], undisturbed(name), tmp_path / "disk", step) >= 2
    except PermissionError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ["all"])
def test_a_run_whose_files_cannot_grow_says_so_and_goes_on(tmp_path, undisturbed, name):
    outgrow_files(RUNS[name], undisturbed(name), tmp_path / "run", [10, 300, 2000])


def test_a_command_on_a_full_disk_ends_in_one_line_and_status_2(disk, capsys):
    out, _ = disk
    (out / "filler").write_bytes(b"x" * (512 - 40) * 1024)
    with pytest.raises(SystemExit) as ended:
        main(["train", "--train-length", "2", "--epochs", "5", "--seeds", "2048", "--out", str(out / "run")])
    told = capsys.readouterr()
    assert (ended.value.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert "cannot be written: no space left on device; once it can be, --resume goes on" in told.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here that is always full")
@pytest.mark.parametrize("buffered", ["", "1"])
def test_an_answer_that_cannot_be_shown_is_no_success(buffered):
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "tallystick", "accepts", "bb", "()"]
        found = subprocess.run(
            command,
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": buffered},
            text=True,
            check=False,
        )
    assert (found.returncode, found.stderr) == (2, "tallystick: standard output: no space left on device\n")


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done, sync, replace = [], os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(os.fstat(handle).st_ino) or sync(handle))
    monkeypatch.setattr(Path, "replace", lambda old, new: done.append(new.name) or replace(old, new))
    write_text("whole", tmp_path / "file")
    assert done == [(tmp_path / "file").stat().st_ino, "file"]


def test_a_disk_that_says_late_that_it_is_full_leaves_the_old_file(tmp_path, monkeypatch):
    """As servers of files do, which look for room when they are asked to keep what they were given."""
    write_text("old", tmp_path / "file")

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotWritten, match="file: cannot be written: no space left on device$"):
        write_text("new", tmp_path / "file")
    assert contents(tmp_path) == {"file": b"old"}


def test_the_names_of_whole_tables_are_on_the_disk_before_the_parts_go(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(
        run_directory, "keep_names", lambda folder: kept.append(sorted(p.name for p in folder.iterdir()))
    )
    train(tmp_path / "run")
    assert kept == [["config.toml", "models.parquet", "parts", "record.json", LOCK, "strings"]]


# Read-only folders.


def test_a_read_only_folder_is_refused_in_one_line(disk, undisturbed, begun):
    folder, mount_again = disk
    begun(folder / "run")
    before = contents(folder)
    mount_again("ro")
    for path, options in (
        (folder / "run", {}),
        (folder / "run", {"force": True, "resume": False}),
        (folder / "new", {}),
    ):
        with pytest.raises(NotWritten, match="cannot be written: read-only file system"):
            train(path, **options)
    with pytest.raises(NotWritten, match="disk: cannot be written: read-only file system"):
        refuse_unwritable(folder / "certificate.json", force=False)
    assert contents(folder) == before
    mount_again("rw")
    train(folder / "run")
    assert contents(folder / "run") == undisturbed("all")
    mount_again("ro")
    (found,) = horizons_of_run(RunDirectory(folder / "run"))  # what only reads needs no lock
    assert found["models"] == JOB.seeds


def test_a_comparison_does_no_work_for_a_folder_that_takes_nothing(disk, capsys, monkeypatch):
    folder, mount_again = disk
    mount_again("ro")
    monkeypatch.setattr(study, "compare", lambda *_: pytest.fail("compared in vain"))
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "--cell", "relu", "--out", str(folder)])
    assert capsys.readouterr().err == f"tallystick: {folder}: cannot be written: read-only file system\n"


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no devices here")
def test_a_device_is_not_replaced_by_a_file():
    with pytest.raises(BadInput, match="/dev/null: is a device or a pipe"):
        refuse_unwritable(Path("/dev/null"), force=True)


# Two at once.


def test_a_second_run_is_kept_out_until_the_first_has_ended_or_was_killed(tmp_path, begun):
    out = tmp_path / "run"
    script = "from tallystick.runs.resuming import at_work_in\nfrom pathlib import Path\nimport time\n"
    script += f"with at_work_in(Path({str(out)!r})): print('at work', flush=True); time.sleep(600)"
    begun(out)
    before = contents(out)
    first = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == b"at work\n"
        for options in ({}, {"force": True, "resume": False}):
            with pytest.raises(
                BadInput, match=f"run: process {first.pid} on .* is at work there; wait until it has ended"
            ):
                train(out, **options)
        assert {name: content for name, content in contents(out).items() if name != LOCK} == before
    finally:
        first.kill()
        first.communicate()
    assert (out / LOCK).exists()
    train(out)
    assert not (out / LOCK).exists()


def test_a_lock_lets_one_in_at_a_time(tmp_path):
    inside, entered, refused = [], [], []

    def try_often():
        for _ in range(200):
            try:
                with at_work_in(tmp_path):
                    inside.append(1)
                    entered.append(len(inside))
                    time.sleep(0)
                    inside.pop()
            except BadInput:
                refused.append(1)

    threads = [threading.Thread(target=try_often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(entered) == {1}
    assert refused
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_there_are_no_locks_work_goes_on(tmp_path, monkeypatch, code):
    fcntl = pytest.importorskip("fcntl")

    def none_here(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", none_here)
    with at_work_in(tmp_path):
        assert (tmp_path / LOCK).exists()
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    with at_work_in(tmp_path):
        assert (tmp_path / LOCK).exists()


# Torn files and what kills leave.

TEARS = {
    "half": lambda content, other: content[: len(content) // 2],
    "without its end": lambda content, other: content[:-1],
    "empty": lambda content, other: b"",
    "zeros": lambda content, other: bytes(len(content)),
    "of other seeds": lambda content, other: other,
}


@pytest.mark.parametrize("tear", TEARS.values(), ids=TEARS)
def test_a_torn_part_is_named_and_done_again_once_it_is_deleted(tmp_path, undisturbed, tear, begun):
    directory = begun(tmp_path / "run")
    first, second = (directory.part(part.name) for part in parts_of([JOB])[:2])
    first.write_bytes(tear(first.read_bytes(), second.read_bytes()))
    with pytest.raises(BadInput, match=f"{first.name}: .*; delete it and go on with --resume"):
        train(tmp_path / "run")
    first.unlink()
    train(tmp_path / "run")
    assert contents(tmp_path / "run") == undisturbed("all")


@pytest.mark.parametrize("name", ["all", pytest.param("summary", marks=pytest.mark.long)])
def test_a_torn_table_is_not_taken_for_a_finished_one(tmp_path, undisturbed, name):
    RUNS[name](tmp_path / "run")
    table = tmp_path / "run" / ("histograms.parquet" if name == "summary" else "models.parquet")
    table.write_bytes(table.read_bytes()[:-100])
    with pytest.raises(BadInput, match=f"{table.name}: damaged .*; delete it and go on with --resume"):
        RUNS[name](tmp_path / "run")
    table.unlink()
    RUNS[name](tmp_path / "run")
    assert contents(tmp_path / "run") == undisturbed(name)


def test_what_a_kill_left_half_written_is_removed_in_the_end(tmp_path, undisturbed, begun):
    out = begun(tmp_path / "run").path
    for name in (".models.parquet.x.partial", "parts/.fresh.x.partial", "strings/.binary_2.txt.x.partial"):
        (out / name).write_bytes(b"half")
    (out / ".mine.partial").write_bytes(b"not a run's")
    train(out)
    assert (out / ".mine.partial").exists()
    (out / ".mine.partial").unlink()
    assert contents(out) == undisturbed("all")


def test_a_run_killed_before_it_says_how_it_was_made_says_so_when_resumed(tmp_path, undisturbed):
    def killed(*_):
        raise KeyboardInterrupt

    out = tmp_path / "run"
    interrupted(lambda: train(out), (runner, "write_record", killed))
    train(out)
    assert contents(out) == undisturbed("all")
    record = (out / "record.json").read_bytes()
    train(out)  # it is done: nothing is made, and what is said of how it was made still holds
    assert (out / "record.json").read_bytes() == record


@pytest.mark.parametrize("removals", [pytest.param(0, marks=pytest.mark.long), 5])
def test_a_run_killed_while_it_is_started_anew_can_be_started_anew(tmp_path, undisturbed, removals, begun):
    begun(tmp_path / "run")
    unlink, left = Path.unlink, [removals]

    def killed(path, *, missing_ok=False):
        if path.name != LOCK and not path.name.endswith(".partial"):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
        unlink(path, missing_ok=missing_ok)

    other = training_job(SETTING, 5, seed=1)
    interrupted(lambda: train(tmp_path / "run", resume=False, force=True, job=other), (Path, "unlink", killed))
    train(tmp_path / "run", resume=False, force=True)
    assert contents(tmp_path / "run") == undisturbed("all")


# The clock.


def test_a_clock_that_jumps_changes_nothing(tmp_path, undisturbed, monkeypatch, begun):
    out, hours = begun(tmp_path / "run").path, iter([5e9, 0.0, 1e9, 3e9, 1.0] * 10_000)
    for place, path in enumerate(sorted((out / "parts").iterdir())):
        os.utime(path, (0, 0) if place % 2 else (4e9, 4e9))
    trained = []
    part_files = runner.part_files
    with monkeypatch.context() as patched:  # the parts stay small after it
        patched.setattr(runner, "part_files", lambda *given: trained.append(given) or part_files(*given))
        patched.setattr(time, "time", lambda: next(hours))
        train(out)
    assert len(trained) == 1
    assert contents(out) == undisturbed("all")


# Comparisons.


def as_if_compared(setting, seeds, seed, device):
    """A row that says which setting it is of, with what JSON has no word for."""
    share = len(setting.method) / 100
    return Comparison(setting, seeds, share, 1 / 3, Spread(0, 1, 2, inf), Spread(1, 2, 3, 4), 5, 0.1, 66.6, nan, share)


def test_an_interrupted_comparison_is_gone_on_with(tmp_path, capsys, monkeypatch):
    def ended(*more):
        with pytest.raises(SystemExit) as end:
            main(["compare", "--cell", "relu", "--seeds", "4", *more])
        return end.value.code, capsys.readouterr().err

    compared = []

    def killed_at_the_third(setting, seeds, seed, device):
        if len(compared) == 2:
            raise KeyboardInterrupt
        compared.append(setting)
        return as_if_compared(setting, seeds, seed, device)

    out, kept = ("--out", str(tmp_path / "out")), tmp_path / "out" / "compare.rows.json"
    for option in ("--seeds", "--vector-seeds", "--seed"):
        error = f"tallystick: {option[2:].replace('-', '_')}: -1 is not a whole number from {option != '--seed':d} on\n"
        assert ended(*out, option, "-1") == (2, error)
    assert not kept.parent.exists()
    monkeypatch.setattr(study, "compare", killed_at_the_third)
    monkeypatch.setattr(drawing, "files", lambda name, draw: {f"{name}.png": b"PNG"})
    assert ended(*out)[0] == 130
    assert list(contents(tmp_path / "out")) == [kept.name]
    assert "exists already; --resume goes on with it, --force starts anew" in ended(*out)[1]
    assert "resume: an interrupted comparison" in ended("--resume")[1]
    assert "of other settings, seeds, versions or another device" in ended(*out, "--resume", "--seed", "1")[1]
    assert "device: 'gpu', but JAX sees none here" in ended(*out, "--resume", "--device", "gpu")[1]
    with monkeypatch.context() as with_a_gpu:
        with_a_gpu.setattr(ThisMachine, "device", lambda *_: "gpu")
        assert "of other settings, seeds, versions or another device" in ended(*out, "--resume")[1]

    monkeypatch.setattr(
        study, "compare", lambda *given, **more: compared.append(given[0]) or as_if_compared(*given, **more)
    )
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-9])
    assert ended(*out, "--resume") == (2, f"tallystick: {kept}: not the rows of a comparison; --force starts it anew\n")
    kept.write_bytes(whole)
    assert ended(*out, "--resume")[0] == 0
    assert len(compared) == len(set(compared)) == 3
    assert ended("--out", str(tmp_path / "undisturbed"))[0] == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "undisturbed")
    assert ended(*out, "--resume")[0] == 0  # all rows are there: they are shown again
    assert len(compared) == 6


def test_what_fails_while_it_is_written_leaves_nothing(tmp_path):
    def fails(temporary):
        temporary.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", fails)
    assert not list(tmp_path.iterdir())


def test_a_part_is_stored_whole(tmp_path):
    """Rows that were made elsewhere and stored here are those that are read again."""
    directory = RunDirectory(tmp_path / "run")
    directory.start({"command": "train"})
    rows = pl.DataFrame({"seed": [0, 1]})
    directory.store_part("part", as_parquet(rows))
    assert directory.has_part("part", pl.Series([0, 1]))
    with pytest.raises(BadInput, match="part.parquet: its rows are not those of the seeds"):
        directory.has_part("part", pl.Series([0, 2]))
    with small_files(10), pytest.raises(NotWritten, match="part.parquet: cannot be written: file too large"):
        directory.store_part("part", as_parquet(rows))
    assert directory.has_part("part")
