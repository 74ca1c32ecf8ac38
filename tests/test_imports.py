"""The data flows one way: a step imports only from the steps above it, and verdicts need no JAX."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import tallystick

SOURCE = Path(tallystick.__file__).parent

# From the top of docs/design.md's list to its end; a module may import from its own row and the rows above.
ROOMS = [
    "errors",
    "files",
    "display",
    "checker",
    "languages",
    "numbers",
    "cells",
    "networks",
    "datasets",
    "training",
    "certificates",
    "counting_conditions",
    "conversion",
    "theorems",
    "runs",
    "reports",
    "studies",
    "explore",
    "cli",
    "__main__",
]
# The package itself re-exports the public names and may import from every room but the last two.
FRONT = "__init__"


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else FRONT


@cache
def modules() -> dict[str, Path]:
    return {
        ".".join(("tallystick", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in sorted(SOURCE.rglob("*.py"))
    }


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            alone = path.parent.name == "checker"  # which can be copied out of the project
            assert node.level == alone or not node.level, f"{path}: imports are absolute, so that the flow can be read"
            names |= {node.module or ""}
            names |= {
                f"{node.module}.{alias.name}" for alias in node.names if f"{node.module}.{alias.name}" in modules()
            }
    return {name for name in names if name.split(".")[0] == "tallystick"}


@pytest.mark.parametrize(("module", "path"), modules().items(), ids=modules())
def test_a_module_imports_only_from_rooms_above_it(module, path):
    if module == "tallystick":
        assert {room(name) for name in imported(path)}.isdisjoint({"cli", "__main__"})
        return
    assert room(module) in ROOMS, f"{module} stands in no room of docs/design.md"
    for name in imported(path):
        if name == "tallystick":
            assert room(module) in ("cli", "__main__"), f"{module} imports the front of the package"
        else:
            assert ROOMS.index(room(name)) <= ROOMS.index(room(module)), f"{module} imports {name}, which lies below it"


WITHOUT_JAX = ("checker", "languages", "arithmetic", "certificates", "cells", "networks")
LOADS_NO_JAX = """
import importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(module)
    loaded = {name.split(".")[0] for name in sys.modules} & {"jax", "z3"}
    assert not loaded, f"{module} loads {loaded}"
"""


def test_verdicts_can_be_checked_without_jax():
    verdicts = [name for name in modules() if room(name) in WITHOUT_JAX]
    subprocess.run([sys.executable, "-c", LOADS_NO_JAX, *verdicts], check=True)


def test_the_languages_use_no_arrays():
    """Only a task answers for many strings at once."""
    for module, path in modules().items():
        if room(module) == "languages" and module != "tallystick.languages.task":
            text = path.read_text()
            assert "numpy" not in text
            assert "jax" not in text


def test_every_public_name_exists():
    assert all(hasattr(tallystick, name) for name in tallystick.__all__)
    assert sorted(set(tallystick.__all__)) == sorted(tallystick.__all__)


def test_polars_is_handed_a_path_in_one_room_alone():
    # It takes a path for a pattern; parquet_files says how not to let it.
    takes_paths = {f"{verb}_parquet{end}" for verb in ("read", "scan", "sink", "write") for end in ("", "_schema")}
    callers = {
        name
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in takes_paths
    }
    assert callers == {"tallystick.runs.parquet_files"}
