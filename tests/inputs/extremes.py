"""Files of absurd size or shape, each read by a process of its own, whose memory and time are limited."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from threading import get_ident
from typing import NamedTuple

import polars as pl
from good_files import make_run, models, trained_rows

from tallystick import certify
from tallystick.certificates.certificate import certificate, digest

MEMORY = 3 * 2**29
"""Bytes that reading anything may take; a document of the greatest size that is read takes half of it."""

SECONDS = 90
_CHILD = """
import re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
from tallystick.cli import main
try:
    main(sys.argv[2:])
finally:  # not what the system says of ended processes: that includes what their parent was when it made them
    with open("/proc/self/status") as status, open(sys.argv[1], "w") as memory:
        memory.write(re.search(r"VmHWM:\\s*(\\d+)", status.read())[1])
"""


class Extreme(NamedTuple):
    """A command on an absurd file, and how it must end."""

    name: str
    words: tuple[str, ...]
    status: int = 2


def extremes(folder: Path) -> list[Extreme]:
    """Make the files and list the commands; `folder` holds good ones as well."""
    found = [
        Extreme(f"{what} in {command[0]}", (*command[:place], path, *command[place:]))
        for what, path in {**_endless(folder), **_strange(folder)}.items()
        for command, place in _COMMANDS
        if _fits(path, command)
    ]
    found.append(Extreme("horizon of 10^18", ("check", _horizon(folder, 10**18, "search")), 3))
    found.append(Extreme("horizon of 10^18, sorted", ("check", _horizon(folder, 10**18, "sorted strings")), 1))
    found.append(Extreme("horizon of 6,000 digits", ("certify", _near_counter(folder))))
    found.append(Extreme("rows that swell", ("certify", _swelling(folder))))
    found.append(Extreme("long line among short ones", ("evaluate", "run", "--strings", _uneven(folder))))
    found.append(Extreme("long string, exactly", ("evaluate", "ternary.json", "--strings", _long(folder))))
    return found


_COMMANDS = (
    (("certify",), 1),
    (("check",), 1),
    (("accepts", "()"), 1),
    (("evaluate", "linear.json", "--strings"), 3),
)


def _fits(path: str, command: tuple[str, ...]) -> bool:
    """Tensors are read where models are."""
    return not path.endswith(".safetensors") or command[0] == "certify"


def _endless(folder: Path) -> dict[str, str]:
    """A line of 10 GB, which takes no room on the disk, and a device without an end."""
    for name in ("line.json", "line.safetensors"):
        with (folder / name).open("wb") as file:
            file.truncate(10**10)
    return {"line of 10 GB": "line.json", "tensors of 10 GB": "line.safetensors", "endless device": "/dev/zero"}


def _strange(folder: Path) -> dict[str, str]:
    contents = {
        "deep.json": b"[" * 10**6,
        "deep_object.json": b'{"a":' * 10**5,
        "digits.json": b'{"cell": "linear", "open_step": ' + b"9" * 10**5 + b"}",
        "exponent.json": b'{"cell": "linear", "open_step": 1e999999999999999999999}',
        "wide.json": b"[" + b"{}," * (5 * 2**20) + b"{}]",
        "header.safetensors": (2**60).to_bytes(8, "little") + b"{}",
        "empty_tensor.safetensors": _tensor({"weight": {"dtype": "F32", "shape": [0, 2**62], "data_offsets": [0, 0]}}),
        "huge_tensor.safetensors": _tensor({"weight": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: name for name in contents}


def _tensor(header: dict[str, object]) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text


def _horizon(folder: Path, horizon: int, method: str) -> str:
    """A well-formed certificate that claims too much, its digest right."""
    content = certificate(certify(models()["ternary"]))
    claimed = {
        **content,
        "horizon": horizon,
        "verdict": "BOUNDED",
        "counterexample": None,
        "evidence": {"method": method},
    }
    del claimed["digest"]
    path = folder / f"{method}.far.json"
    path.write_text(json.dumps({**claimed, "digest": digest(claimed)}))
    return path.name


def _near_counter(folder: Path) -> str:
    """A network whose steps are so nearly opposite, in few enough digits each, that its horizon has too many to write."""
    denominator = 10**2095 - 1
    steps = f'"open_step": "{denominator + 1}/{denominator}", "close_step": "-1.{2 * f"{1:02095}"}"'
    readout = '{"kind": "binary", "weight": [1], "bias": ["-1/2"]}'
    (folder / "near.json").write_text(f'{{"cell": "linear", {steps}, "recurrent_weight": 1, "readout": {readout}}}')
    return "near.json"


def _swelling(folder: Path) -> str:
    """A few kilobytes, dozens of megabytes once unpacked: as little as shows, since it has to be made first."""
    rows = trained_rows().head(2)
    make_run(folder / "swelling", rows.with_columns(edition=pl.lit("a" * 2**25)))
    return "swelling"


def _uneven(folder: Path) -> str:
    (folder / "uneven.txt").write_text("(" * 10**6 + "\n" + "(\n" * 10**4)
    return "uneven.txt"


def _long(folder: Path) -> str:
    (folder / "long.txt").write_text("()" * 10**6)
    return "long.txt"


class Measured(NamedTuple):
    """How a process ended, and what it took."""

    status: int
    error: str
    memory: int
    seconds: float


def measured(words: tuple[str, ...], folder: Path) -> Measured:
    """Run a command in a process of its own; one that takes too long is ended, with status −9."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "RUST_BACKTRACE": "0"}
    memory = folder / f"memory.{get_ident()}"
    memory.write_text("0")
    command, started = [sys.executable, "-c", _CHILD, memory, *words], time.monotonic()
    try:
        ended = subprocess.run(command, cwd=folder, capture_output=True, env=environment, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Measured(-9, "", 0, time.monotonic() - started)
    said = ended.stderr.decode(errors="replace")
    return Measured(ended.returncode, said, int(memory.read_text()) * 1024, time.monotonic() - started)


def broken(extreme: Extreme, found: Measured) -> str | None:
    """Say which promise was broken, if one was."""
    if found.status != extreme.status:
        return f"{extreme.name}: ended with {found.status}: {found.error[-300:]}"
    if extreme.status == 2 and (len(found.error.splitlines()) != 1 or not found.error.startswith("tallystick: ")):
        return f"{extreme.name}: not one line: {found.error[:300]}"
    if found.memory > MEMORY:
        return f"{extreme.name}: {found.memory / 2**20:,.0f} MiB"
    return None
