"""The options that commands share, and how an option lists the values it may have."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

TASKS = (
    *("binary", "ternary", "count", "bb", "semidyck1", "dyck1", "dyck1-by-parity"),
    *("anbn", "anbncn", "anbmcnm", "shuffle2", "dyck1-prefix"),
)
METHODS = (
    *("published", "corrected", "decayed", "count", "count-tokens", "count-calm", "count-penalty", "count-exact"),
    *("penalty", "lagrangian", "tied", "unit", "tied-unit", "projected", "curriculum", "saturating"),
    "saturating-labels",
)
SCHEDULES = ("constant", "cosine", "linear", "late-cosine")
OPTIMISERS = ("adam", "calm", "short", "rmsprop", "sign")
PRECISIONS = ("float32", "float64")
DEVICES = ("auto", "cpu", "gpu")
ENGINES = ("auto", "fused", "scan")
THEOREMS = ("theorem1", "six-strings", "selective", "relu", "dyck1-state")
"""Names of tables that take a while or an extra to load, since they hold NumPy's, JAX's or z3's objects; a test compares them."""

_LONGEST_LIST = 24
"""Choices that take no more room than this stand right after their option."""


def choice(names: Iterable[str], help: str, *flags: str, metavar: str = "NAME", **more: Any) -> Any:  # noqa: A002, ANN401 -- typer's own
    """Return an option that takes one of some names: it lists them, and the shell completes them.

    The command refuses any other value itself, as the library does for whoever calls it from Python.
    """
    names = tuple(names)
    listed = "|".join(names)
    if len(listed) > _LONGEST_LIST:
        listed, help = metavar, f"{help} One of {', '.join(names)}."  # noqa: A001 -- typer's own
    return typer.Option(*flags, metavar=listed, help=help, autocompletion=completion(names), **more)


def completion(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what completes one of some names.

    >>> completion(["relu", "tanh"])("t")
    ['tanh']
    """
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


PLACES = "Where it runs and what it keeps"
"""The panel of options about machines and files."""

TaskName = Annotated[
    str | None,
    typer.Option(
        metavar="TASK",
        help=f"What is right: {', '.join(TASKS)}, or a machine's JSON file. The default is what the file says.",
        autocompletion=completion(TASKS),
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]
Wide = Annotated[bool, typer.Option("--wide", help="Print all columns, however wide the table gets.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a run that was interrupted.", rich_help_panel=PLACES)]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="CLUSTER",
        help="Train on a Dask cluster: local:N for N processes here, tcp://HOST:PORT for a scheduler, or the FILE it wrote.",
        rich_help_panel=PLACES,
    ),
]
Device = Annotated[
    str,
    choice(DEVICES, "Train on the processors or on a GPU; auto takes a GPU if there is one.", rich_help_panel=PLACES),
]
Engine = Annotated[
    str,
    choice(
        ENGINES,
        "Train by the fused kernel or by the compiled scan, which round differently; auto takes the kernel where it can.",
        rich_help_panel=PLACES,
    ),
]
Keep = Annotated[
    str,
    typer.Option(
        metavar="WHAT",
        help="What is kept: all rows; summary, quantiles and histograms alone; or sample:N, N rows beside them.",
        autocompletion=completion(("all", "summary", "sample")),
        rich_help_panel=PLACES,
    ),
]
Precision = Annotated[str, choice(PRECISIONS, "The arithmetic of the weights; the paper's is float32.")]
Limit = Annotated[int | None, typer.Option(metavar="N", help="How far to search where no theorem decides.")]
RunOrNetwork = Annotated[
    Path, typer.Argument(metavar="RUN|NETWORK", help="A run's folder, or a network's JSON or safetensors file.")
]
NetworkFile = Annotated[Path, typer.Argument(metavar="NETWORK", help="A network's JSON or safetensors file.")]
