"""Does the package install and work with the lowest and with the newest versions of what it needs, on every Python it allows?

    python audit/versions.py [PYTHON ...]

For each Python (3.11, 3.12 and 3.13, where they are found) makes two environments in a temporary folder: one with the lowest
version of everything that pyproject.toml names, one with the newest, both with all extras but those that bring PyTorch or CUDA.
Installs the wheel, runs commands and a part of the tests. Needs the network. Ends with 1 if one of them fails.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = str(Path(sys.executable).with_name("uv"))
PYTHONS = ("3.11", "3.12", "3.13")
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
SHOWN = ("jax", "numpy", "polars", "matplotlib", "optax", "typer", "fastapi", "z3-solver")

TOOLS = ("httpx", "hypothesis", "psutil", "pytest", "pytest-xdist", "scipy")
TESTS = (
    "tests/certificates/test_checker_numbers.py",
    "tests/certificates/test_extremes.py",
    "tests/cluster/test_cluster.py::test_counts_and_samples_are_the_same_from_a_cluster",
    "tests/cluster/test_cluster.py::test_what_a_worker_refuses_is_refused_here",
    "tests/explore/test_network_api.py",
    "tests/explore/test_run_api.py",
    "tests/networks",
    "tests/reports/test_table.py",
    "tests/training/test_descent.py",
    "tests/training/test_fused.py",
    "tests/training/test_gradients.py",
)
"""Something of all that is needed from elsewhere: arrays, tables, figures, weights, the server, the solver, the cluster."""

LEFT_OUT = "not agrees_with_the_scan"
"""Takes minutes."""

COMMANDS = (
    ("accepts", "bb", "(()))("),
    ("certify", "tenth.json", "--out", "certificate.json"),
    ("check", "certificate.json"),
    ("prove",),
    ("reproduce", "--seeds", "0", "--out", "run"),
    ("certify", "run"),
)


class Failed(Exception):
    """Something did not install or work, with what it said."""


def run(*command: str, folder: Path) -> str:
    """Run a program to its end; return what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    found = subprocess.run(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if found.returncode:
        raise Failed(f"{' '.join(command)}\n{found.stdout[-4000:]}")
    return found.stdout


def interpreters(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find the interpreters: on the path, or where pyenv keeps them."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for name in names:
        places = [name, shutil.which(f"python{name}"), *map(str, sorted(kept.glob(f"{name}.*/bin/python")))]
        found = next(filter(_answers, filter(None, places)), None)
        if found:
            yield name, found
        else:
            print(f"  NOT TRIED: Python {name}, which is not found here")


def _answers(python: str) -> bool:
    try:
        return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def install(python: str, resolution: str, folder: Path) -> Path:
    """Make an environment with the wheel in it; return its programs' folder."""
    environment = folder / "environment"
    run(UV, "venv", "--quiet", "--no-python-downloads", "--python", python, str(environment), folder=ROOT)
    into = ("--quiet", "--python", str(environment), "--only-binary", ":all:")
    wanted = ("-r", str(ROOT / "pyproject.toml"), "--extra", "all")
    run(UV, "pip", "install", *into, "--resolution", resolution, "--upgrade", *wanted, folder=ROOT)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "built"), folder=ROOT)
    (wheel,) = (folder / "built").iterdir()
    run(UV, "pip", "install", *into, "--no-deps", str(wheel), folder=ROOT)
    return environment / "bin"


def versions(programs: Path) -> str:
    """Name the versions of some packages."""
    listed = run(UV, "pip", "list", "--python", str(programs / "python"), "--format", "freeze", folder=ROOT)
    pinned = dict(re.findall(r"^(\S+)==(\S+)$", listed, flags=re.MULTILINE))
    return ", ".join(f"{name} {pinned[name]}" for name in SHOWN)


def try_out(programs: Path, folder: Path) -> str:
    """Run the commands, then the tests; return pytest's last line."""
    shutil.copy(ROOT / "examples" / "tenth.json", folder)
    for command in COMMANDS:
        run(str(programs / "tallystick"), *command, folder=folder)
    run(UV, "pip", "install", "--quiet", "--python", str(programs / "python"), *TOOLS, folder=ROOT)
    # Older and newer libraries may warn of each other; that is not a fault of this package.
    quiet = (
        "-q",
        "-n",
        "2",
        "-p",
        "no:cacheprovider",
        "-o",
        "filterwarnings=default",
        "-m",
        "not long",
        "-k",
        LEFT_OUT,
    )
    printed = run(str(programs / "python"), "-m", "pytest", *quiet, *TESTS, folder=ROOT)
    return printed.strip().splitlines()[-1]


def main(*names: str) -> int:
    """Try every combination."""
    tried = failures = 0
    for name, python in interpreters(names or PYTHONS):
        for title, resolution in RESOLUTIONS.items():
            tried += 1
            with tempfile.TemporaryDirectory() as folder:
                try:
                    programs = install(python, resolution, Path(folder))
                    print(f"  Python {name}, {title}: {versions(programs)}", flush=True)
                    print(f"    {try_out(programs, Path(folder))}", flush=True)
                except Failed as error:
                    failures += 1
                    print(f"  FAILED: Python {name}, {title}: {error}", flush=True)
    print(f"versions: {tried} environments, {failures} failures")
    return 1 if failures or not tried else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
