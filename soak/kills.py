"""Work that is disturbed: killed at random moments, on full disks, with torn files, two at once. No row is lost or doubled.

    python soak/kills.py [KILLS]

Runs of every kind are killed by SIGKILL and resumed, again and again, until they end; then every file but those that tell the
time must be, byte for byte, that of a run that nothing happened to. The same goes for runs on full disks, 8 KiB larger each
time; no beginning of a part's file is taken for a part; of runs that are started at once in one folder one goes on. Ends
with 1 if a promise is broken.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "runs"))

from lost_work import JOB, RUNS, SMALL_PARTS, Kills, contents, environment, outgrow_disks, tallystick

from tallystick.errors import BadInput
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import ALL
from tallystick.runs.rows import part_files, parts_of

TRAIN = ["train", "--train-length", "2", "--epochs", "5", "--seeds", "8192"]
COMMANDS = {
    "train": TRAIN,
    "summary": [*TRAIN, "--keep", "summary"],
    "sample": [*TRAIN, "--keep", "sample:500"],
    "gru": ["train", "--cell", "gru", "--bias", "--train-length", "2", "--epochs", "1", "--seeds", "200"],
    "sweep": ["sweep", "--train-length", "2", "--epochs", "4,5", "--seeds", "2048"],
    "compare": ["compare", "--cell", "relu", "--seeds", "64"],
    "reproduce": ["reproduce", "--runs", "2", "--seeds", "0", "--replicates", "2"],
}
MOST_KILLS_A_RUN = 8
AT_ONCE = 2
PAIRS = 5
EVERY = 7
"""Of the beginnings of a file, each of so many is tried."""


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def random_kills(kills: int, folder: Path) -> str:
    """Kill runs of every command in turn, two runs side by side."""
    generator, waiting, cache = Random(9), Queue(), folder / "cache"
    counts = [kills // len(COMMANDS) + (place < kills % len(COMMANDS)) for place in range(len(COMMANDS))]
    for (name, arguments), count in zip(COMMANDS.items(), counts, strict=True):
        waiting.put((name, arguments, count, generator.random()))

    def kill_all_runs_of_a_command(_: int) -> list[Kills]:
        ended = []
        while not waiting.empty():
            name, arguments, count, seed = waiting.get()
            ended.append(_killed(name, arguments, count, Random(seed), folder / name, cache))
        return ended

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = [kills for ended in pool.map(kill_all_runs_of_a_command, range(AT_ONCE)) for kills in ended]
    return f"{sum(one.kills for one in found)} kills of {sum(one.runs for one in found)} runs"


def _killed(name: str, arguments: list[str], count: int, generator: Random, folder: Path, cache: Path) -> Kills:
    kills = Kills(arguments, folder, cache)
    while kills.kills < count:
        kills.one_run(min(count - kills.kills, generator.randint(1, MOST_KILLS_A_RUN)), generator)
    show(f"  {name}: {kills.kills} kills, {kills.runs} runs as the undisturbed one of {kills.usual:.1f} s")
    return kills


def full_disks(folder: Path) -> str:
    """Every kind of run on a disk that is 8 KiB larger each time."""
    full = 0
    for name, run in RUNS.items():
        run(folder / "undisturbed" / name)
        try:
            full += outgrow_disks(run, contents(folder / "undisturbed" / name), folder / "disks" / name, step=8)
        except PermissionError as error:
            return f"no full disk, since {error}"
    return f"{full} times a full disk"


def torn_files(folder: Path) -> str:
    """The beginning of a part's file is not taken for the whole."""
    part = parts_of([JOB])[0]
    directory, content = RunDirectory(folder / "torn"), part_files(ALL, part.job, part.seeds)["rows"]
    directory.start({"command": "train"})
    for size in range(0, len(content), EVERY):
        directory.part(part.name).write_bytes(content[:size])
        try:
            directory.has_part(part.name)
        except BadInput:
            continue
        raise AssertionError(f"{size} of {len(content)} bytes are taken for a part")
    return f"{len(range(0, len(content), EVERY)):,} torn files"


def runs_at_once(folder: Path) -> str:
    """Start two runs in one folder at the same time: one goes on, and the other says why it does not."""
    refused = 0
    undisturbed = contents(folder / "train" / "undisturbed")
    for pair in range(PAIRS):
        out = folder / f"pair-{pair}"
        command = tallystick(*COMMANDS["train"], "--out", str(out), "--resume")
        both = [
            subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(folder / "cache")
            )
            for _ in range(2)
        ]
        ended = [(process.communicate()[1], process.returncode) for process in both]
        assert any(status == 0 for _, status in ended)
        for said, status in ended:
            assert status == 0 or is_kept_out(said, status), said.decode()
            refused += status != 0
        assert contents(out) == undisturbed, f"{out}: not as the undisturbed run"
    return f"{PAIRS} pairs of runs at once, {refused} kept out"


def is_kept_out(said: bytes, status: int) -> bool:
    """Say whether a run ended with the one line for a folder in which another is at work."""
    return (status, said.count(b"\n")) == (2, 1) and b"is at work there; wait until it has ended" in said


def main(kills: int = 100) -> int:
    """Disturb work in every way."""
    for module, name, size in SMALL_PARTS:
        setattr(module, name, size)
    figures, broken, started = [], 0, time.perf_counter()
    ways: list[Callable[[Path], str]] = [
        lambda folder: random_kills(kills, folder),
        runs_at_once,
        full_disks,
        torn_files,
    ]
    with TemporaryDirectory() as name:
        for way in ways:
            try:
                figures.append(way(Path(name)))
                show(f"{figures[-1]} ({time.perf_counter() - started:.0f} s)")
            except AssertionError as error:
                broken += 1
                show(f"BROKEN: {error}")
    show(f"kills: {', '.join(figures)}; {broken or 'no'} promises broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
