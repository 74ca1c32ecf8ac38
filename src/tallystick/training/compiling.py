"""Programs that several threads ask for at once are compiled by the first of them.

JAX compiles a program anew in every thread that calls it before the first one has ended. Parts of a run begin side by side and
need the same programs, so each would be compiled once per core.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import jax
import numpy as np

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def compile_once(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let the first call of a jitted function with arguments of some shape end before others of that shape begin.

    Arguments by place are arrays, and arguments by name are static.
    """
    begun: defaultdict[Any, Lock] = defaultdict(Lock)
    done: set[Any] = set()
    own = Lock()

    @wraps(function)
    def call(*arguments: Arguments.args, **static: Arguments.kwargs) -> Result:
        leaves, structure = jax.tree.flatten(arguments)
        kinds = tuple((np.shape(leaf), str(getattr(leaf, "dtype", type(leaf)))) for leaf in leaves)
        context = (jax.config.jax_default_device, jax.config.jax_enable_x64)  # pyright: ignore[reportAttributeAccessIssue]
        key = (structure, kinds, tuple(static.items()), context)
        if key in done:
            return function(*arguments, **static)
        with own:
            first = begun[key]
        with first:
            result = function(*arguments, **static)
            done.add(key)
        return result

    return call
