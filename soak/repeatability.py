"""The same seeds give the same rows: on one core and on all, in other blocks and parts, on a cluster, from a copy of the package.

    python soak/repeatability.py [SEEDS]

Trains the paper's twelve settings, one of them in float64 as well, and GRUs of two units, each in a process of its own for every
way of doing it, and compares the rows bit for bit. Ends with 1 if a row differs.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

import tallystick
from tallystick.runs import rows as parts
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import Generated, Job, fresh_job, paper_grid, training_job
from tallystick.runs.resuming import Own, Result, Shared, ThisMachine, Workers, workers_named
from tallystick.runs.runner import run_training, run_whole
from tallystick.training.setting import Setting

GRUS = 200
PACKAGE = Path(tallystick.__file__).parent


@dataclass(frozen=True)
class Way:
    """One way of doing the same.

    Attributes:
        cores: how many of the cores the process may use, if not all.
        part: seeds in a part, if not as many as usual.
        block: seeds that are trained together, if not as many as usual.
        cluster: who does the work, if not this process.
        backwards: whether the last part is done first.
        copied: whether a copy of the package does it, from a folder of its own.
        environment: what else the process is told.
    """

    cores: int | None = None
    part: int | None = None
    block: int | None = None
    cluster: str | None = None
    backwards: bool = False
    copied: bool = False
    environment: dict[str, str] = field(default_factory=dict)


WAYS = {
    "as usual": Way(),
    "once more": Way(),
    "one core": Way(cores=1),
    "XLA on one thread": Way(environment={"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "OMP_NUM_THREADS": "1"}),
    "parts of 512 seeds": Way(part=512),
    "blocks of 320 seeds": Way(block=320),
    "parts of 700 seeds, backwards": Way(part=700, backwards=True),
    "a cluster of two": Way(cluster="local:2"),
    "a cluster of one, parts of 512 seeds": Way(cluster="local:1", part=512),
    "a copy, elsewhere": Way(copied=True, environment={"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"}),
    "JAX set to 64 bits": Way(environment={"JAX_ENABLE_X64": "1"}),
}


class Backwards(ThisMachine):
    """The cores of this machine, which begin at the end."""

    def each(
        self,
        work: Callable[[Shared, Own], Result],
        items: Sequence[tuple[Shared, Own]],
        take: Callable[[int, Result], object],
    ) -> None:
        """Do the last items first."""
        super().each(work, items[::-1], lambda place, result: take(len(items) - 1 - place, result))


def jobs(seeds: int) -> list[Job]:
    """Return the paper's settings, and the one in which a differing bit grows most in float64."""
    settings = [*paper_grid("float32"), Setting("ternary", bias=True, train_length=8, precision="float64")]
    return [fresh_job(setting.precision, setting, seeds, Generated(0)) for setting in settings]


def trained(name: str, seeds: int, out: Path) -> None:
    """Do it in one way, in this process."""
    way = WAYS[name]
    assert way.copied != (Path(tallystick.__file__).parent == _original()), "the wrong copy of the package"
    if way.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: way.cores])
    if way.part:
        parts.PART = way.part
    if way.block:
        parts.train = partial(_in_blocks, parts.train, way.block)
    with workers_named(way.cluster) as workers:
        chosen: Workers = Backwards() if way.backwards else workers
        run_whole(jobs(seeds), {"command": "train", "seed": 0}, RunDirectory(out / "scalar"), workers=chosen)
        grus = training_job(Setting("binary", True, 4, "gru", epochs=5, units=2), GRUS, seed=0)
        run_training(grus, 0, RunDirectory(out / "grus"), workers=chosen)


def _in_blocks(train: Callable[..., object], size: int, /, *given: object, **options: object) -> object:
    return train(*given, **{**options, "block": size})


def _original() -> Path:
    return Path(__file__).resolve().parents[1] / "src" / "tallystick"


def rows(out: Path) -> pl.DataFrame:
    """Return the rows of a run."""
    return pl.read_parquet(out / "models.parquet").rechunk()


def bits(table: pl.DataFrame) -> str:
    """Return a digest of every bit of a table; a frame's own comparison takes 0 for -0."""
    return sha256(table.write_ipc(None).getvalue()).hexdigest()


def done(name: str, seeds: int, folder: Path) -> dict[str, pl.DataFrame]:
    """Do it in one way, in a process of its own."""
    way, out = WAYS[name], folder / name
    environment = {**os.environ, **way.environment}
    here = Path.cwd()
    if way.copied:
        here = folder / "elsewhere"
        shutil.copytree(PACKAGE, here / "tallystick", ignore=shutil.ignore_patterns("__pycache__"))
        environment["PYTHONPATH"] = str(here)
    command = [sys.executable, str(Path(__file__).resolve()), "--as", name, str(seeds), str(out)]
    subprocess.run(command, cwd=here, env=environment, check=True)
    return {kind: rows(out / kind) for kind in ("scalar", "grus")}


def main(seeds: int = 1500) -> int:
    """Do it in every way and compare."""
    expected: dict[str, pl.DataFrame] = {}
    differing = compared = 0
    with TemporaryDirectory() as folder:
        for name in WAYS:
            started = time.perf_counter()
            found = done(name, seeds, Path(folder))
            expected = expected or found
            wrong = sum(_differing(found[kind], expected[kind]) for kind in expected)
            differing += wrong
            compared += sum(len(table) for table in found.values())
            _show(f"  {name}: {wrong} rows differ ({time.perf_counter() - started:.0f} s)")
    models = sum(len(table) for table in expected.values())
    _show(
        f"repeatability: {models:,} models in {len(WAYS)} ways, {compared:,} rows compared bit for bit, {differing} differ"
    )
    return 1 if differing else 0


def _differing(found: pl.DataFrame, expected: pl.DataFrame) -> int:
    if bits(found) == bits(expected):
        return 0
    if found.shape != expected.shape:
        return max(len(found), len(expected))
    return max(1, sum(bits(found[place]) != bits(expected[place]) for place in range(len(found))))


def _show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as"]:
        trained(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
        sys.exit(0)
    sys.exit(main(*map(int, sys.argv[1:])))
