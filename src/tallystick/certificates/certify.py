"""How long can this network be trusted? The verdict over **all** strings.

A network is decided in a named arithmetic (`deciders`), a PyTorch module is read as a network where it can be, and anything else
that is callable is run (`exhaustive`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tallystick.cells import Recurrence
from tallystick.certificates.deciders import certify_network
from tallystick.certificates.running.calling import exposes_state, is_callable
from tallystick.certificates.running.exhaustive import certify_by_running
from tallystick.certificates.running.run_by import certify_run_by
from tallystick.certificates.verdict import REAL, Verdict, lengths_of
from tallystick.errors import BadInput
from tallystick.languages.machine_files import chosen_task
from tallystick.languages.tasks import Task
from tallystick.networks import Network
from tallystick.networks.pytorch import Unreadable, from_torch, is_module

_OWN = "a Network says for itself what it reads and answers"


def certify(  # noqa: PLR0913 -- what is declared has a name each
    network: Any,  # noqa: ANN401 -- a network, or anything that is callable
    lengths: str = "all",
    arithmetic: str = REAL,
    limit: int | None = None,
    first: int | None = None,
    *,
    task: Task | str | Path | None = None,
    tokens: Mapping[str, object] | str | None = None,
    classes: Sequence[str] | None = None,
    threshold: float | None = None,
    upto: int | None = None,
    readout: Any = None,  # noqa: ANN401 -- a module
    run_by: str | None = None,
) -> Verdict:
    """Return the verdict on a network: PROVED, REFUTED with a shortest failing string, or BOUNDED.

    A PyTorch module is read as a network, exactly (`from_torch`). A module that cannot be read, or for which `upto` or
    `threshold` is given, a function and whatever else is callable are run on every string up to a length, in the arithmetic that
    they have: `certificates/running/executable.py` says how they are called.

    Args:
        network: any network whose cell lists deciders; a PyTorch module; or a function.
        lengths: `all`, or `even` as in the paper's data.
        arithmetic: `real`, or `float16`, `bfloat16`, `float32` or `float64` as executed, `-fused` or not; the weights are
            rounded to it first, once.
        limit: how far to search where nothing else decides.
        first: the least length that counts; the default is 0 where the network is asked about the empty string, else 1.
        task: what is right of a module or a function: a task, its name, such as `binary`, `ternary`, `dyck1` or `anbncn`, or a
            machine's JSON file.
        tokens: what it reads for each token, as in {"(": 0, ")": 1} or {"(": [1, 0], ")": [0, 1]}, and for "<BOS>" and "<EOS>";
            without it a function gets the strings themselves.
        classes: the task's classes in the order of the outputs.
        threshold: a single output above it is the second class.
        upto: run every string up to this length; a function is run for about ten seconds if nothing is said.
        readout: the readout of a PyTorch module, as in `from_torch`.
        run_by: `numpy`, `torch` or `jax`: build a network there, and run it on every string, up to `upto`. The arithmetic is a
            format; the default is that of the library.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.networks import Readout
    >>> certify(Network(LinearCell(1, -1, 1), Readout.zero())).outcome
    <Outcome.PROVED: 'PROVED'>
    >>> verdict = certify(Network(LinearCell(1, -1, 0.5), Readout.zero()))
    >>> verdict.horizon, verdict.failure.string, verdict.trace()
    (1, '()', [0, Fraction(1, 1), Fraction(-1, 2)])
    """
    task = chosen_task(task)
    if isinstance(network, Network):
        declared = {"task": task, "tokens": tokens, "classes": classes, "threshold": threshold, "readout": readout}
        _refuse(declared | ({"upto": upto} if run_by is None else {}), _OWN)
        if run_by is None:
            return certify_network(network, lengths, arithmetic, limit, first)
        _refuse({"limit": limit, "first": first}, "a network that is run goes from length 1 on, up to upto=")
        return certify_run_by(network, run_by, None if arithmetic == REAL else arithmetic, lengths_of(lengths), upto)
    _refuse_type(network)
    if run_by is not None:
        raise BadInput(f"run_by: {run_by!r} is for a Network; a module or a function is run as it is, with upto=")
    why = ""
    if is_module(network) and (upto, threshold) == (None, None) and is_callable(network):
        try:
            read = from_torch(network, readout, tokens=tokens, task=task, classes=classes)
        except Unreadable as error:
            if readout is not None:
                raise
            why = f"the module is run because it cannot be read exactly ({error.reason})"
        else:
            verdict = certify_network(read, lengths, arithmetic, limit, first)
            return replace(verdict, reason=f"{verdict.reason}; {verdict.hint}") if verdict.hint else verdict
    unused = (
        ("arithmetic", arithmetic, REAL),
        ("limit", limit, None),
        ("first", first, None),
        ("readout", readout, None),
    )
    for name, value, usual in unused:
        if value != usual:
            said = f"{name}: {value!r} is not for what is run on every string as it is, up to upto=; leave {name}= out"
            raise BadInput(f"{said}; {why}" if why else said)
    verdict = certify_by_running(
        network, task=task, tokens=tokens, classes=classes, threshold=threshold, lengths=lengths_of(lengths), upto=upto
    )
    return replace(verdict, reason=f"{verdict.reason}; {why}") if why else verdict


def _refuse_type(given: object) -> None:
    """Refuse what is neither a module nor anything else that can be run, and say what to do with it."""
    if isinstance(given, type):
        raise BadInput(f"network: {given.__name__} is a class; make an object of it first, and hand that in")
    if is_module(given) or is_callable(given) or exposes_state(given):
        return
    kind = f"an object of type {type(given).__name__}"
    if isinstance(given, str | Path):
        raise BadInput(f"network: {str(given)!r} is a path; read its file first: ts.certify(ts.read_network(path))")
    if isinstance(given, Recurrence):
        raise BadInput(
            f"network: {kind} has no readout; say ts.certify(ts.Network(cell, ts.Readout.zero())) or another readout"
        )
    if hasattr(given, "networks"):
        raise BadInput(
            f"network: {kind} is many networks; say ts.certify(it.network(0)) for one, ts.horizons(it.networks()) for all"
        )
    raise BadInput(
        f"network: {kind} is not a Network, a PyTorch module, a function or an object with the methods start, step and outputs; "
        "ts.read_network(path) reads a network from a file"
    )


def _refuse(given: Mapping[str, object], why: str) -> None:
    """Refuse arguments that are for something else."""
    for name, value in given.items():
        if value is not None:
            raise BadInput(f"{name}: {why}; leave {name}= out")
