"""Arrays of NumPy, PyTorch and JAX: loaded where they are asked for, and in a named floating-point format."""

import importlib
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.numbers import FORMATS, MIXED_FORMATS
from tallystick.numbers.floats import FloatFormat

Array = Any
"""An array of the library."""

LIBRARIES = {"numpy": "float64", "torch": "float32", "jax": "float32"}
"""Every library, and the format that it computes in where nothing is said."""


def load_library(name: str) -> Any:  # noqa: ANN401 -- a module
    """Return a library; ask for one that is not there."""
    if name not in LIBRARIES:
        raise BadInput(f"run_by: {name!r} is not one of {', '.join(LIBRARIES)}")
    try:
        return importlib.import_module(name)
    except ImportError:
        raise BadInput(f"run_by: {name} is not installed; install it, as with pip install {name}") from None


def format_for(library: str, arithmetic: str | None) -> FloatFormat:
    """Return the format that a library computes in, by its name; without one, the library's own default."""
    load_library(library)
    name = LIBRARIES[library] if arithmetic is None else arithmetic
    if name in MIXED_FORMATS:
        return MIXED_FORMATS[name]
    if name not in FORMATS:
        raise BadInput(f"arithmetic: {name!r} is not one of {', '.join(FORMATS)}, which {library} runs a network in")
    return FORMATS[name]


def library_mode(name: str, form: FloatFormat) -> AbstractContextManager[Any]:
    """Return a context in which a library computes in a format: without gradients, and in JAX with float64 if that is it."""
    library = load_library(name)
    if name == "jax":
        return library.enable_x64(form.name == "float64")
    return library.no_grad() if name == "torch" else nullcontext()


def library_array(name: str, values: Any, form: FloatFormat) -> Array:  # noqa: ANN401 -- doubles
    """Return numbers of a format, which doubles hold, as an array of a library."""
    library, doubles = load_library(name), np.asarray(values, np.float64)
    if name == "torch":
        return library.from_numpy(np.array(doubles)).to(getattr(library, form.name))
    return library.numpy.asarray(doubles.astype(form.kind)) if name == "jax" else doubles.astype(form.kind)


def doubles_of(array: Array) -> NDArray[np.float64]:
    """Return an array of a library as doubles."""
    return array.double().numpy() if hasattr(array, "double") else np.asarray(array).astype(np.float64)


def names_of(library: str) -> Any:  # noqa: ANN401
    """Return the module with NumPy's names."""
    return load_library(library).numpy if library == "jax" else np


def stack_arrays(library: str, arrays: list[Array], axis: int) -> Array:
    """Stack arrays of a library along a new axis."""
    return (load_library("torch") if library == "torch" else names_of(library)).stack(arrays, axis)


def join_arrays(library: str, arrays: list[Array], axis: int) -> Array:
    """Put arrays of a library one after the other along an axis."""
    if library == "torch":
        return load_library("torch").cat(arrays, axis)
    return names_of(library).concatenate(arrays, axis)
