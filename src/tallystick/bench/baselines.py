"""The baselines: programs of the project's benchmarks/ folder, which need a checkout, and numba or PyTorch."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

FOLDER = Path("benchmarks")


def baseline(name: str) -> ModuleType | str:
    """Import a baseline from the benchmarks folder, or say why it cannot be."""
    if not (FOLDER / f"{name}.py").is_file():
        return f"run it from a checkout: {FOLDER / name}.py is not here"
    sys.path.insert(0, str(FOLDER))
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        return f"needs {error.name}"
    finally:
        sys.path.remove(str(FOLDER))
