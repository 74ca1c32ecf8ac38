"""Makes `strings` and `benchmarks` importable by name, keeps property tests repeatable, and draws figures small.

What JAX compiles is kept in a folder that all tests share, and the programs that they start: compiling takes most of the
tests' time, and the same few programs would be compiled over and over. An entry is found by the program, the version of JAX
and the machine, so a changed program is compiled anew. A limit on the folder's size makes JAX lock it.
"""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tallystick.reports import drawing

COMPILED = {
    "JAX_COMPILATION_CACHE_DIR": str(Path(__file__).parents[1] / "out" / "compiled"),
    "JAX_COMPILATION_CACHE_MAX_SIZE": str(2 * 2**30),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
for name, value in COMPILED.items():
    os.environ.setdefault(name, value)

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

# The same examples on every machine: a failure in CI is a failure at home.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among what is imported: all of it stays to the end, and searching it takes half of the collection."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


@pytest.fixture(autouse=True, scope="session")
def _no_eviction():
    """To keep within the limit, JAX reads a file per entry before it adds one. The tests stay far below the limit."""
    from jax._src.lru_cache import LRUCache  # noqa: PLC0415 -- once the variables above are set

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LRUCache, "_evict_if_needed", lambda *_, **__: None, raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def _small_figures():
    """What is tested of a figure does not hang on its resolution, and full-size ones take a minute in all."""
    before = drawing.STYLE["savefig.dpi"]
    drawing.STYLE["savefig.dpi"] = 60
    yield
    drawing.STYLE["savefig.dpi"] = before


@pytest.fixture
def rendered_once(monkeypatch):
    """Draw every figure, but render its SVG alone: the other two forms take most of the time, and few tests look at them."""
    image = drawing._image
    monkeypatch.setattr(
        drawing, "_image", lambda figure, form: image(figure, form) if form == "svg" else b"not rendered"
    )
