"""The commands of certificates: up to which length a network can be trusted, and strings that it gets wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from tallystick.cells import ScalarCell
from tallystick.certificates.deciders import certify_network, exact_depth
from tallystick.certificates.running.library_arrays import LIBRARIES
from tallystick.certificates.verdict import (
    ARITHMETIC_NAMES,
    LONGEST_STRING,
    REAL,
    Failure,
    Lengths,
    Outcome,
    Verdict,
    lengths_of,
)
from tallystick.certificates.words import describe, mistake, wrap
from tallystick.cli import long_verdict, show, show_json
from tallystick.cli.options import Force, Json, Limit, NetworkFile, RunOrNetwork, TaskName, Wide, choice, completion
from tallystick.errors import BadInput, check_whole
from tallystick.files import refuse_clashes, refuse_unwritable
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.task import has_long_names
from tallystick.languages.tasks import TASKS
from tallystick.networks import Network, Readout, network_to_json, read_network, read_scalar_network
from tallystick.networks.tensors.tensor_modules import NONLINEARITIES
from tallystick.numbers import ANY_ORDER, FORMATS

# What only some verdicts need is imported where it is needed: most are there sooner than all of it is loaded.
# ruff: noqa: PLC0415

_UNSAID = "What a file may leave open"
_OTHER = "Other questions"

ReadoutName = Annotated[
    str | None,
    typer.Option(
        metavar="zero",
        help="Ask whether the state is 0 just for the balanced strings, instead of the network's own answer.",
        autocompletion=completion(("zero",)),
        rich_help_panel=_OTHER,
    ),
]
_ARITHMETIC: dict[str, Any] = {
    "metavar": "ARITHMETIC",
    "help": f"Exact real numbers, or floats as executed: {REAL}, {', '.join(FORMATS)}; the last four also with -fused or "
    f"{ANY_ORDER}.",
    "autocompletion": completion((*ARITHMETIC_NAMES, *(name + ANY_ORDER for name in FORMATS))),
}
Arithmetic = Annotated[str, typer.Option(**_ARITHMETIC)]
AskedArithmetic = Annotated[str | None, typer.Option(**_ARITHMETIC, show_default=REAL)]
"""The same, for a command to which it makes a difference whether anything is said."""


def certify(
    path: RunOrNetwork,
    task: TaskName = None,
    arithmetic: AskedArithmetic = None,
    lengths: Annotated[
        str, choice(tuple(Lengths), "Which lengths count; the paper's data has even ones alone.")
    ] = "all",
    limit: Limit = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the certificate, for tallystick check.")
    ] = None,
    wide: Wide = False,
    force: Force = False,
    as_json: Json = False,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…", help="The task's classes in the order of the network's outputs.", rich_help_panel=_UNSAID
        ),
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help='What PyTorch\'s tensors read for each token: \'{"(": 0, ")": 1}\', or vectors.',
            rich_help_panel=_UNSAID,
        ),
    ] = None,
    nonlinearity: Annotated[
        str | None,
        choice(NONLINEARITIES, "What an nn.RNN among PyTorch's tensors applies.", rich_help_panel=_UNSAID),
    ] = None,
    empty: Annotated[
        bool | None,
        typer.Option(
            "--empty/--no-empty",
            help="Whether the empty string is a member; the default is what the task says.",
            rich_help_panel=_UNSAID,
        ),
    ] = None,
    readout: ReadoutName = None,
    first: Annotated[
        int | None,
        typer.Option(
            "--from", metavar="N", help="The least length that counts; 0 is the empty string.", rich_help_panel=_OTHER
        ),
    ] = None,
    upto: Annotated[
        int | None,
        typer.Option(
            "--members",
            metavar="N",
            help="Ask about the members of the language alone, such as aⁿbⁿ for all n up to N.",
            rich_help_panel=_OTHER,
        ),
    ] = None,
    run_by: Annotated[
        str | None,
        choice(
            LIBRARIES,
            "Build the network in this library and run it there on every string up to --upto.",
            rich_help_panel=_OTHER,
        ),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option(
            "--upto",
            metavar="N",
            help="The longest strings of --run-by; the default is as long as ten seconds allow.",
            rich_help_panel=_OTHER,
        ),
    ] = None,
) -> None:
    """Prove up to which length a network is right on ALL strings.

    If a string fails, a shortest one is shown and the exit status is 1. Of a run, the lengths of all its networks are summed up.

    Example: tallystick certify network.json --out certificate.json
    """
    if path.is_dir():
        options = (first, task, classes, tokens, nonlinearity, empty, upto, run_by, longest)
        declared = any(option is not None for option in options)
        fine = (readout, out) == (None, None) and arithmetic in (None, REAL) and not declared
        refuse_unless(
            fine,
            "--readout, --arithmetic, --from, --task, --classes, --tokens, --nonlinearity, --empty, --members, --run-by, --upto "
            "and --out",
            "one model, and not for a run",
            path,
        )
        _certify_run(path, lengths, limit, wide=wide, as_json=as_json)
        return
    refuse_clashes(path, out)
    refuse_unwritable(out, force=force)
    for number, option in ((first, "--from"), (upto, "--members")):
        if number is not None:
            check_whole(number, option, least=0)
    refuse_unless(
        readout is None or (task, classes) == (None, None), "--task and --classes", "a model's own readout", path
    )
    model = read_network(
        path,
        task=task,
        classes=None if classes is None else classes.split(","),
        tokens=None if tokens is None else _tokens(tokens),
        nonlinearity=nonlinearity,
        empty=empty,
    )
    if upto is not None:
        fine = (lengths, limit, first, out, run_by, longest) == ("all", None, None, None, None, None)
        refuse_unless(
            fine, "--lengths, --limit, --from, --run-by, --upto and --out", "all strings, and not for --members", path
        )
        _certify_members(model, upto, arithmetic or REAL, as_json=as_json)
    fine = run_by is None or (limit, first, out) == (None, None, None)
    refuse_unless(fine, "--limit, --from and --out", "verdicts that others can check, and not for --run-by", path)
    if longest is not None and run_by is None:
        raise BadInput(f"{path}: --upto is for --run-by; say --limit for how far to search")
    asked = with_readout(model, readout)
    with long_verdict():
        if run_by is None:
            verdict = certify_network(asked, lengths, arithmetic or REAL, limit, first)
        else:
            from tallystick.certificates.running.run_by import certify_run_by

            verdict = certify_run_by(asked, run_by, arithmetic, lengths_of(lengths), longest)
    if out is not None:
        from tallystick.certificates.certificate import write_certificate

        write_certificate(verdict, out)
    if as_json:
        show_json(_verdict_json(verdict))
    else:
        _show_verdict(verdict)
    raise typer.Exit(1 if verdict.outcome is Outcome.REFUTED else 0)


def _tokens(text: str) -> Mapping[str, object] | str:
    from tallystick.networks.tensors.state_dicts import tokens_of_text

    return tokens_of_text(text, "tokens")


def _certify_members(model: Network, upto: int, arithmetic: str, *, as_json: bool) -> NoReturn:
    from tallystick.certificates.languages.members import members
    from tallystick.cli.members import members_json, show_members

    with long_verdict():
        found = members(model, upto, arithmetic)
    if as_json:
        show_json(members_json(found))
    else:
        show_members(found)
    raise typer.Exit(1 if found.wrong else 0)


def failures(
    path: NetworkFile,
    length: Annotated[int, typer.Option(metavar="N", help="How long the strings are.")],
    number: Annotated[int, typer.Option(metavar="N", help="How many random strings beside the extreme ones.")] = 10,
    seed: Annotated[int, typer.Option(metavar="N", help="Draws the random strings.")] = 0,
    arithmetic: Arithmetic = REAL,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the strings, for tallystick evaluate.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    readout: ReadoutName = None,
) -> None:
    """List strings of a length that a network gets wrong.

    They are for use as tests: the extreme ones of each count, and random ones.

    Example: tallystick failures network.json --length 20 --out strings.txt
    """
    from tallystick.certificates.one_unit.failing_strings import extreme_failures, random_failures

    refuse_clashes(path, out)
    refuse_unwritable(out, force=force)
    model = with_readout(read_scalar_network(path), readout)
    groups = {
        "extreme": extreme_failures(model, length, arithmetic),
        "random": random_failures(model, length, number, seed, arithmetic),
    }
    if out is not None and any(groups.values()):
        _write_failures([failure for group in groups.values() for failure in group], model, out)
    if as_json:
        listed = {name: [_failure_json(failure) for failure in group] for name, group in groups.items()}
        show_json({"length": length, "arithmetic": arithmetic, "seed": seed, **listed})
        return
    if not groups["extreme"] and not groups["random"]:
        show(f"no string of length {length} is known to fail")
    for name, group in groups.items():
        for failure in group:
            show(f"{failure.string}  {name}: {mistake(failure, model.task)}")


def _write_failures(failures: list[Failure], model: Network, path: Path) -> None:
    from tallystick.datasets.strings import write_strings

    strings = list(dict.fromkeys(failure.string for failure in failures))
    write_strings(strings, TASKS.get(model.readout.kind), path)


def _failure_json(failure: Failure) -> dict[str, object]:
    return {"string": failure.string, "class": failure.found, "right_class": failure.right}


def with_readout(model: Network, readout: str | None) -> Network:
    """Return a model with the readout that is asked for: its own, or the zero check of its cell."""
    if readout in (None, model.readout.kind):
        return model
    if readout == "zero" and isinstance(model.cell, ScalarCell) and model.alphabet == ALPHABET:
        return Network(model.cell, Readout.zero())
    own = f"the model's own, {model.readout.kind}"
    raise BadInput(
        f"readout: {readout!r} is {f'neither zero nor {own}' if isinstance(model.cell, ScalarCell) else f'not {own}'}"
    )


def _verdict_json(verdict: Verdict) -> dict[str, object]:
    from tallystick.certificates.certificate import exact_trace

    failure, model = verdict.failure, verdict.model
    shortest = failure or verdict.known_failure
    return {
        "answer": verdict.answer,
        "verdict": str(verdict.outcome),
        "horizon": "unlimited" if verdict.horizon is None else verdict.horizon,
        "counterexample": _string_json(failure, model.alphabet),
        "counterexample_runs": failure.runs if failure else None,
        "class": failure.found if failure else None,
        "right_class": failure.right if failure else None,
        "trace": exact_trace(verdict),
        "fails_at": shortest.length if shortest else None,
        "failing_string": _string_json(shortest, model.alphabet),
        **({"readout": model.readout.kind} if isinstance(model, Network) else {}),
        "lengths": str(verdict.lengths),
        **({} if verdict.first == 1 else {"first": verdict.first}),
        "arithmetic": verdict.arithmetic,
        "reason": verdict.reason,
        "exact_depth": _depths(verdict),
        **({"model": network_to_json(model)} if isinstance(model, Network) else {"run": model.to_json()}),
        **({} if verdict.hint is None else {"hint": verdict.hint}),
    }


def _string_json(failure: Failure | None, alphabet: tuple[str, ...]) -> str | list[str] | None:
    """Return a string as JSON has it: a text, or a list of tokens where a token has a longer name."""
    if failure is None or failure.length > LONGEST_STRING:
        return None
    return list(failure.tokens) if has_long_names(alphabet) else failure.string


def _show_verdict(verdict: Verdict) -> None:
    show(describe(verdict))
    _show_depths(verdict)


def _show_depths(verdict: Verdict) -> None:
    """An exact counter in real numbers is one in floating point only to some depth."""
    depths = [f"{depth:,} in {name}" for name, depth in _depths(verdict).items()]
    if depths:
        show("\n".join(wrap(f"As executed it counts exactly to depth {', '.join(depths)}.")))


def _depths(verdict: Verdict) -> dict[str, int]:
    if verdict.arithmetic != REAL or verdict.outcome is not Outcome.PROVED:
        return {}
    depths = {name: exact_depth(verdict.network.cell, name) for name in FORMATS}
    return {name: depth for name, depth in depths.items() if depth is not None}


def _certify_run(path: Path, lengths: str, limit: int | None, *, wide: bool, as_json: bool) -> None:
    from tallystick.cli.output import progress_bar, show_facts, show_settings
    from tallystick.runs.directory import RunDirectory
    from tallystick.runs.evaluation import horizons_of_run, prove_run, size_of_run

    directory = RunDirectory(path)
    if not issubclass(directory.cell, ScalarCell):
        with progress_bar({"run": size_of_run(directory)}, "networks") as report:
            found = prove_run(directory, lengths, limit, report=lambda: report("run", 1))
        show_facts(found, "horizons", as_json=as_json)
        return
    if (lengths, limit) != ("all", None):
        raise BadInput(
            f"{path}: its horizons are in its rows, for all and for even lengths; --lengths and --limit are not for it"
        )
    show_settings(horizons_of_run(directory), "horizons", wide=wide, as_json=as_json)


def refuse_unless(fine: bool, options: str, whose: str, path: Path) -> None:
    """Refuse options that are for something else."""
    if not fine:
        raise BadInput(f"{path}: {options} are for {whose}")
