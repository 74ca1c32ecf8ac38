"""What work must survive: SIGKILL at any moment, disks that are full or read-only. The tests and soak/kills.py share it."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import polars as pl

from tallystick.errors import NotWritten
from tallystick.runs import rows
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import ALL, Keep, training_job
from tallystick.runs.runner import run_training, run_whole
from tallystick.studies.sweep import Grid, sweep_config, sweep_jobs
from tallystick.training.setting import Setting

# Many processes compile a program once.
CACHE_ALL = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
TELL_THE_TIME = ("record.json", "report.html")
"""Files that say how long a run took; all others follow from what was asked for."""

SMALL_PARTS = ((rows, "PART", 512), (rows, "NARROWEST", 2))
"""What is set where the runs below are done, so that small ones have several parts."""

SETTING, PARTS = Setting("binary", bias=False, train_length=2, epochs=5), 4
JOB = training_job(SETTING, 512 * PARTS - 100, seed=0)


def train(path, keep=ALL, *, resume=True, force=False, job=JOB):
    run_training(job, 0, RunDirectory(path), keep=keep, resume=resume, force=force)


def train_grus(path):
    train(path, job=training_job(Setting("binary", True, 2, "gru", epochs=1), 3, seed=0))


def sweep(path):
    grid = Grid(learning_rate=(0.005, 0.02), train_length=(2,), epochs=(5,))
    run_whole(sweep_jobs(SETTING, grid, 600, 0), sweep_config(SETTING, grid, 600, 0), RunDirectory(path), resume=True)


Run = Callable[[Path], object]
"""Starts a run in a folder, or goes on with it."""

RUNS: dict[str, Run] = {
    "all": train,
    "summary": lambda path: train(path, Keep("summary")),
    "sample": lambda path: train(path, Keep("sample", 50)),
    "gru": train_grus,
    "sweep": sweep,
}


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(cache), **CACHE_ALL}


def tallystick(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tallystick", *arguments]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a finished run by its name, but for those that tell the time."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in TELL_THE_TIME]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def check_whole(folder: Path) -> None:
    """No half file bears a whole one's name."""
    readers = {
        ".parquet": pl.read_parquet,
        ".json": lambda path: json.loads(path.read_text()),
        ".toml": lambda path: tomllib.loads(path.read_text()),
    }
    for path in folder.rglob("*"):
        if path.suffix in readers and not path.name.startswith("."):
            readers[path.suffix](path)


def names(folder: Path) -> set[str]:
    return {entry.name for where in (folder, folder / "parts") if where.is_dir() for entry in os.scandir(where)}


class Kills:
    """Runs a command over and over, killing it at random moments, and holds what it ends with to an undisturbed run."""

    def __init__(self, arguments: list[str], folder: Path, cache: Path) -> None:
        """Do the run once without disturbing it."""
        self.arguments, self.folder, self.environment = arguments, folder, environment(cache)
        self.runs = self.kills = self._made = 0
        started = time.perf_counter()
        self._to_the_end(folder / "undisturbed")
        self.usual = time.perf_counter() - started
        self.expected = contents(folder / "undisturbed")

    def one_run(self, most_kills: int, generator: Random) -> None:
        """Kill a run so often, then let it end; a run that was over before is another run."""
        out = self.folder / f"killed-{self.runs}"
        for _ in range(most_kills):
            if not self._killed(out, generator):
                break
            self.kills += 1
            check_whole(out)
        self._to_the_end(out)
        assert contents(out) == self.expected, f"{out}: not as the undisturbed run"
        self.runs += 1

    def _killed(self, out: Path, generator: Random) -> bool:
        process = self._started(out)
        _wait_for_a_moment(process, out, self.usual, generator)
        process.send_signal(signal.SIGKILL)
        _, said = process.communicate()
        assert process.returncode in (-signal.SIGKILL, 0), said.decode()
        return process.returncode != 0

    def _to_the_end(self, out: Path) -> None:
        process = self._started(out)
        _, said = process.communicate()
        assert process.returncode == 0, said.decode()

    def _started(self, out: Path) -> subprocess.Popen[bytes]:
        command = tallystick(*self.arguments, "--out", str(out), "--resume")
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment)


def _wait_for_a_moment(process: subprocess.Popen[bytes], out: Path, usual: float, generator: Random) -> None:
    """Any moment of the run, or one just after files have come or gone: that is when a kill could do harm."""
    if generator.random() < 1 / 4:
        process_ends_within(process, generator.random() * usual)
        return
    for _ in range(generator.randint(1, 4)):
        before = names(out)
        while process.poll() is None and names(out) == before:
            time.sleep(0.001)
    time.sleep(generator.random() * 0.005)


def process_ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@contextmanager
def small_disk(folder: Path, kibibytes: int) -> Iterator[Callable[[str], None]]:
    """A disk of a few pages in a folder, until the end of the block; the function handed over mounts it once more as asked."""
    folder.mkdir(parents=True, exist_ok=True)
    if not _mounted("-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", str(folder)):
        raise PermissionError("a small disk cannot be mounted here")
    try:
        yield lambda options: _must(_mounted("-o", f"remount,{options}", str(folder)))
    finally:
        _must(subprocess.run(["umount", str(folder)], check=False).returncode == 0)


def _mounted(*arguments: str) -> bool:
    try:
        return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _must(done: bool) -> None:
    assert done, "the disk could not be mounted as asked"


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file of this process may have more bytes, until the end of the block: a full disk for those who may not mount one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def outgrow_disks(run: Run, expected: dict[str, bytes], folder: Path, step: int, most: int = 2**14) -> int:
    """Run on a disk that is full, enlarge it, go on, until it is done; return how often it was full.

    Each time, one line says so, and what is there is whole.
    """
    out, size, refusals = folder / "run", step, 0
    with small_disk(folder, size) as mount_again:
        while size < most:
            try:
                run(out)
            except NotWritten as error:
                check_full(error, out)
            else:
                assert contents(out) == expected, f"{out}: not as the undisturbed run"
                return refusals
            refusals += 1
            size += step
            mount_again(f"size={size}k")
    raise AssertionError(f"not done on a disk of {size} KiB")


def outgrow_files(run: Run, expected: dict[str, bytes], out: Path, sizes: list[int]) -> None:
    """The same where files may not have more than so many bytes."""
    for most in sizes:
        with small_files(most):
            try:
                run(out)
            except NotWritten as error:
                check_full(error, out, "file too large")
            else:
                raise AssertionError(f"done with files of at most {most} bytes")
    run(out)
    assert contents(out) == expected, f"{out}: not as the undisturbed run"


def check_full(error: NotWritten, out: Path, reason: str = "no space left on device") -> None:
    message = str(error)
    assert message.startswith(str(out)), message
    assert reason in message.lower(), message
    assert message.endswith("; once it can be, --resume goes on with what is done"), message
    assert "\n" not in message
    check_whole(out)
    assert not [path for path in out.rglob("*") if path.name.endswith(".partial") or path.name == "run.lock"]
