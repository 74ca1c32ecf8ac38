"""Runs on a Dask cluster: workers that die, clients that die, and the one line for what cannot work."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import psutil
import pytest
from distributed import KilledWorker

from tallystick.cli import main
from tallystick.errors import BadInput
from tallystick.runs import cluster, rows
from tallystick.runs.cluster import TASKS_A_CORE, environment
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import ALL, Job, Keep, training_job
from tallystick.runs.resuming import workers_named
from tallystick.runs.rows import PART, part_files, parts_of
from tallystick.runs.runner import run_jobs, run_training
from tallystick.training.setting import Setting

SETTING = Setting("binary", bias=False, train_length=2)
CACHE_ALL = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
SMALL_PART, PARTS = 64, 30
JOB = training_job(SETTING, SMALL_PART * PARTS, seed=0)
OTHER_JOB = training_job(Setting("ternary", bias=False, train_length=2), SMALL_PART * 3, seed=0)


@pytest.fixture(scope="module", autouse=True)
def compiled_once(tmp_path_factory):
    """Let all the processes compile a program once."""
    cache = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path_factory.mktemp("cache")), **CACHE_ALL}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cache.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def workers(compiled_once):
    with workers_named("local:2") as workers:
        yield workers


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(rows, "PART", SMALL_PART)


def client_of(workers):
    return workers._client


def started(path):
    directory = RunDirectory(path)
    directory.start({"command": "train"})
    return directory


def test_a_run_in_which_a_worker_is_killed_ends_as_an_undisturbed_one(workers, small_parts, tmp_path, capfd):
    killed, done = [], []

    def kill_one_now_and_then(*_):
        done.append(1)
        if len(done) in (4, 10):
            killed.append(workers.processes()[0])
            os.kill(killed[-1], signal.SIGKILL)

    here, there = started(tmp_path / "here"), started(tmp_path / "there")
    run_jobs(there, [JOB], kill_one_now_and_then, workers=workers)
    run_jobs(here, [JOB], lambda *_: None)
    assert len(set(killed)) == 2
    assert len(done) == PARTS
    assert there.models().equals(here.models())
    assert (there.path / "models.parquet").read_bytes() == (here.path / "models.parquet").read_bytes()
    assert capfd.readouterr() == ("", "")


def test_counts_and_samples_are_the_same_from_a_cluster(workers, small_parts, tmp_path):
    keep = Keep("sample", 100)
    here, there = started(tmp_path / "here"), started(tmp_path / "there")
    run_jobs(there, [JOB], lambda *_: None, keep=keep, workers=workers)
    run_jobs(here, [JOB], lambda *_: None, keep=keep)
    for name in ("models.parquet", "histograms.parquet", "summary.json"):
        assert (there.path / name).read_bytes() == (here.path / name).read_bytes()


def test_strings_travel_once_and_few_tasks_are_under_way(workers, small_parts, monkeypatch):
    sent, found, under_way, dumps = [], [], [], cluster.pickle.dumps
    monkeypatch.setattr(
        cluster.pickle, "dumps", lambda value, *rest, **more: sent.append(value) or dumps(value, *rest, **more)
    )
    client = client_of(workers)

    def take(place, name):
        found.append((place, name))
        under_way.append(len(client.futures))

    items = [(part.job, part.seeds) for part in parts_of([JOB, OTHER_JOB])]
    workers.each(lambda job, seeds: (job.name, seeds[0]), items, take)
    assert sum(isinstance(value, Job) for value in sent) == 2
    assert sorted(found) == [(place, (job.name, seeds[0])) for place, (job, seeds) in enumerate(items)]
    assert max(under_way) <= TASKS_A_CORE * sum(client.nthreads().values()) + 2


def test_a_second_client_finds_the_scheduler_by_its_file(workers, small_parts, tmp_path):
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": client_of(workers).scheduler.address}))
    here, there = started(tmp_path / "here"), started(tmp_path / "there")
    short = training_job(SETTING, 3 * SMALL_PART, seed=0)
    with workers_named(str(tmp_path / "scheduler.json")) as second:
        run_jobs(there, [short], lambda *_: None, workers=second)
    run_jobs(here, [short], lambda *_: None, workers=workers)
    assert there.models().equals(here.models())


def test_runs_of_grus_and_comparisons_are_the_same_from_a_cluster(workers, tmp_path, capsys):
    for more in ([], ["--cluster", client_of(workers).scheduler.address]):
        grus = [
            "--cell",
            "gru",
            "--train-length",
            "2",
            "--epochs",
            "1",
            "--seeds",
            "3",
            "--out",
            f"{tmp_path}/{len(more)}",
        ]
        compared = ["--cell", "relu", "--method", "count", "--seeds", "16"]
        for command in (["train", *grus], ["compare", *compared]):
            with pytest.raises(SystemExit) as ended:
                main([*command, "--json", *more])
            assert ended.value.code == 0
    here, there = (RunDirectory(tmp_path / name) for name in ("0", "2"))
    assert (there.path / "models.parquet").read_bytes() == (here.path / "models.parquet").read_bytes()
    printed = [line for line in capsys.readouterr().out.split("\n}\n") if '"rows"' in line]
    assert len(printed) == 2
    assert printed[0] == printed[1]


def test_a_local_cluster_listens_on_this_machine_alone(workers):
    own = psutil.Process()
    listening = [
        connection.laddr.ip
        for process in (own, *own.children(recursive=True))
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 4  # the scheduler, its dashboard and two workers
    assert set(listening) == {"127.0.0.1"}


def test_what_a_worker_refuses_is_refused_here(workers):
    nothing_to_learn = Job("fresh", SETTING, 5, [], JOB.tests)
    with pytest.raises(BadInput, match="strings: an empty training set"):
        workers.each(partial(part_files, ALL), [(nothing_to_learn, range(5))], lambda *_: None)


def test_a_scheduler_that_is_lost_gives_one_line(workers, monkeypatch):
    def lost():
        raise OSError("the other side has closed the connection")

    monkeypatch.setattr(client_of(workers), "nthreads", lost)
    with pytest.raises(BadInput, match="cluster: the scheduler was lost; --resume goes on with another"):
        workers.each(partial(part_files, ALL), [(JOB, range(3))], lambda *_: None)


def test_a_part_that_kills_every_worker_gives_one_line():
    with pytest.raises(BadInput, match="cluster: 4 workers died over one task; --resume goes on"), cluster._one_line():
        raise KilledWorker("part", None, 3)


def test_workers_with_other_versions_are_refused(workers, monkeypatch):
    address = client_of(workers).scheduler.address
    monkeypatch.setattr(cluster, "version", lambda name: "0.0")
    environment.cache_clear()  # here; the workers know theirs
    try:
        with pytest.raises(BadInput, match="worker tcp://.* has tallystick .*, where .* 0.0"), workers_named(address):
            pass
    finally:
        environment.cache_clear()


def test_a_client_that_is_killed_is_resumed_by_another(tmp_path):
    seeds, parts = 12 * PART, tmp_path / "run" / "parts"
    command = [sys.executable, "-m", "tallystick", "train", "--train-length", "2", "--seeds", str(seeds)]
    command += ["--out", str(tmp_path / "run"), "--resume", "--cluster", "local:2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and len(list(parts.glob("*.parquet"))) < 2:
        time.sleep(0.01)
    assert process.poll() is None, "the run was over before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    job, undisturbed = training_job(SETTING, seeds, seed=0), RunDirectory(tmp_path / "undisturbed")
    resumed = RunDirectory(tmp_path / "run")
    assert 2 <= len(list(parts.glob("*.parquet"))) < 12
    run_training(job, 0, resumed, resume=True)
    run_training(job, 0, undisturbed)
    assert resumed.models().equals(undisturbed.models())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("local:0", "the number of workers: 0 is not a whole number from 1 on"),
        ("local:x", "'local:x' is not local:N"),
        ("nowhere.json", "'nowhere.json' is neither local:N, tcp://HOST:PORT nor a scheduler's file"),
        ("other.json", "other.json: has no field 'address'"),
        ("tcp://127.0.0.1:9", "no scheduler answers at tcp://127.0.0.1:9"),
        ("pigeon://x", "no scheduler answers at pigeon://x (unknown address scheme"),
    ],
)
def test_a_cluster_that_is_none_gives_one_line(tmp_path, monkeypatch, capsys, name, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "_ANSWER", 0.2)
    (tmp_path / "other.json").write_text(json.dumps({"type": "Scheduler"}))
    assert one_line(capsys, "train", "--seeds", "5", "--out", "run", "--cluster", name).count(message) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["train", "reproduce", "compare", "sweep"])
def test_without_dask_the_extra_is_named(tmp_path, monkeypatch, capsys, command):
    monkeypatch.setitem(sys.modules, "distributed", None)
    line = one_line(capsys, command, "--seeds", "5", "--out", str(tmp_path / "run"), "--cluster", "local:2")
    assert line == "tallystick: Dask is not installed; pip install 'tallystick[cluster]' brings it\n"


def one_line(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
    return err


def test_a_gpu_that_no_worker_has_is_refused(workers):
    assert workers.device("auto") == workers.device("cpu") == "cpu"
    with pytest.raises(BadInput, match="device: 'gpu', but the workers of the cluster have none"):
        workers.device("gpu")
    with pytest.raises(BadInput, match="device: 'tpu' is not one of"):
        workers.device("tpu")
