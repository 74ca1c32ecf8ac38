"""The programs that the training suite compares this tool with. They need numba, PyTorch or JAX, and nothing of this tool."""

from importlib import import_module
from types import ModuleType


def baseline(name: str) -> ModuleType | str:
    """Import a baseline, or say which library it lacks."""
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        return f"needs {error.name}"
