"""A run on a local cluster whose workers are killed, beside the same run undisturbed: are the rows the same?

    python -m benchmarks.worker_kills [SEEDS] [WORKERS] [KILLS]

Trains the paper's binary networks without bias of length 8; SIGKILL goes to one worker after another, at even distances.
"""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from tallystick.runs.cluster import Cluster
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import training_job
from tallystick.runs.resuming import workers_named
from tallystick.runs.rows import parts_of
from tallystick.runs.runner import run_training
from tallystick.training.setting import Setting

SEEDS, WORKERS, KILLS = (int(number) for number in (*sys.argv[1:], *(100_000, 4, 3)[len(sys.argv) - 1 :]))


class Killer:
    """Kills a worker whenever the next so many parts are done."""

    def __init__(self, cluster: Cluster, parts: int) -> None:
        """Plan the kills at even distances."""
        self._cluster, self._done, self._started = cluster, 0, time.perf_counter()
        self._due = [parts * (kill + 1) // (KILLS + 1) for kill in range(KILLS)]

    def __call__(self, *_: object) -> None:
        """Count a part."""
        self._done += 1
        if self._done in self._due:
            workers = self._cluster.processes()
            victim = workers[self._due.index(self._done) % len(workers)]
            os.kill(victim, signal.SIGKILL)
            seconds = time.perf_counter() - self._started
            print(f"  after {seconds:.1f} s and {self._done} parts: SIGKILL to worker process {victim}")


def main() -> None:
    """Run twice and compare."""
    job = training_job(Setting("binary", bias=False, train_length=8), SEEDS, seed=0)
    parts = len(parts_of([job]))
    print(f"{SEEDS:,} seeds in {parts} parts, {WORKERS} workers, {KILLS} to be killed")
    with tempfile.TemporaryDirectory() as folder:
        killed, undisturbed = (RunDirectory(Path(folder) / name) for name in ("killed", "undisturbed"))
        with workers_named(f"local:{WORKERS}") as workers:
            assert isinstance(workers, Cluster)
            started = time.perf_counter()
            run_training(job, 0, killed, workers=workers, report=Killer(workers, parts))
            print(f"with kills, on the cluster: {time.perf_counter() - started:.1f} s")
        started = time.perf_counter()
        run_training(job, 0, undisturbed)
        print(f"undisturbed, without a cluster: {time.perf_counter() - started:.1f} s")
        rows, expected = killed.models(), undisturbed.models()
        same = rows.equals(expected) and len(rows) == SEEDS
        bytes_too = (killed.path / "models.parquet").read_bytes() == (undisturbed.path / "models.parquet").read_bytes()
        print(
            f"{len(rows):,} rows, {'all the same' if same else 'NOT the same'}, file {'equal' if bytes_too else 'NOT equal'}"
        )
        sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
