"""The commands of certificates: up to which length a network can be trusted, and strings that it gets wrong."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from tallystick.cells import ScalarCell
from tallystick.certificates.certificate import exact_trace, write_certificate
from tallystick.certificates.deciders import certify_network, exact_depth
from tallystick.certificates.languages.members import members
from tallystick.certificates.one_unit.failing_strings import extreme_failures, random_failures
from tallystick.certificates.progress import progress_line
from tallystick.certificates.running.run_by import certify_run_by
from tallystick.certificates.verdict import (
    LONGEST_STRING,
    REAL,
    Failure,
    Outcome,
    Verdict,
    lengths_of,
)
from tallystick.certificates.words import describe, mistake, wrap
from tallystick.checker import MINUTES, Answer, ProgressLine, Unreadable, answer_file
from tallystick.cli.ending import let_ctrl_c_interrupt
from tallystick.cli.members import members_json, show_members
from tallystick.cli.output import Force, Json, RunOrModel, show, show_facts, show_json, show_settings
from tallystick.datasets.strings import write_strings
from tallystick.errors import BadInput, printable
from tallystick.files import refuse_unwritable
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.machine_text import has_long_names
from tallystick.languages.tasks import TASKS
from tallystick.networks import Network, Readout, network_to_json, read_network, read_scalar_network
from tallystick.networks.tensors.state_dicts import tokens_of_text
from tallystick.numbers import FORMATS
from tallystick.theorems.proven import check_proven

_MOST_MINUTES = 10**6

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model's JSON or safetensors file.")]
ReadoutName = Annotated[str | None, typer.Option(help="zero, for the cell's zero check; else the model's own.")]
Arithmetic = Annotated[
    str,
    typer.Option(
        help="real, or as executed: float16, bfloat16, float32 or float64, each also with -fused or -any-order."
    ),
]


def certify(
    path: RunOrModel,
    readout: ReadoutName = None,
    lengths: Annotated[str, typer.Option(help="all, or even, as in the paper's data.")] = "all",
    arithmetic: Arithmetic = REAL,
    limit: Annotated[int | None, typer.Option(help="How far to search where no theorem decides.")] = None,
    first: Annotated[
        int | None,
        typer.Option("--from", metavar="LENGTH", help="The least length that counts; 0 is the empty string."),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="What is right: binary, ternary, bb, dyck1, anbn, … or a machine's JSON file.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="The task's classes in the order of the outputs.")
    ] = None,
    tokens: Annotated[
        str | None, typer.Option(help='What PyTorch\'s tensors read for each token: \'{"(": 0, ")": 1}\', or vectors.')
    ] = None,
    nonlinearity: Annotated[
        str | None, typer.Option(help="Of an nn.RNN among PyTorch's tensors: linear, relu or tanh.")
    ] = None,
    empty: Annotated[
        bool | None,
        typer.Option("--empty/--no-empty", help="Whether the empty string is a member; else as the task says."),
    ] = None,
    upto: Annotated[
        int | None,
        typer.Option(
            "--members", metavar="N", help="Ask about the members of the language alone, as aⁿbⁿ for all n up to N."
        ),
    ] = None,
    run_by: Annotated[
        str | None,
        typer.Option(help="Build the network in numpy, torch or jax, and run it there on every string up to --upto."),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option("--upto", metavar="N", help="The longest strings of --run-by; else what ten seconds are for."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the certificate, for tallystick check.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Say up to which length a network is right on ALL strings; ends with 1 and a shortest failing string if one fails.

    Example: tallystick certify model.json --arithmetic float32 --out certificate.json
    """
    if path.is_dir():
        options = (first, task, classes, tokens, nonlinearity, empty, upto, run_by, longest)
        declared = any(option is not None for option in options)
        fine = (readout, arithmetic, out) == (None, REAL, None) and not declared
        refuse_unless(
            fine,
            "--readout, --arithmetic, --from, --task, --classes, --tokens, --nonlinearity, --empty, --members, --run-by, --upto "
            "and --out",
            "one model, and not for a run",
            path,
        )
        _certify_run(path, lengths, limit, as_json=as_json)
        return
    refuse_unwritable(out, force=force)
    refuse_unless(
        readout is None or (task, classes) == (None, None), "--task and --classes", "a model's own readout", path
    )
    model = read_network(
        path,
        task=task,
        classes=None if classes is None else classes.split(","),
        tokens=None if tokens is None else tokens_of_text(tokens, "tokens"),
        nonlinearity=nonlinearity,
        empty=empty,
    )
    if upto is not None:
        fine = (lengths, limit, first, out, run_by) == ("all", None, None, None, None)
        refuse_unless(
            fine, "--lengths, --limit, --from, --run-by and --out", "all strings, and not for --members", path
        )
        _certify_members(model, upto, arithmetic, as_json=as_json)
    fine = run_by is None or (limit, first, out) == (None, None, None)
    refuse_unless(fine, "--limit, --from and --out", "verdicts that others can check, and not for --run-by", path)
    if longest is not None and run_by is None:
        raise BadInput(f"{path}: --upto is for --run-by; say --limit for how far to search")
    asked = with_readout(model, readout)
    with let_ctrl_c_interrupt(), progress_line():
        if run_by is None:
            verdict = certify_network(asked, lengths, arithmetic, limit, first)
        else:
            verdict = certify_run_by(asked, run_by, arithmetic, lengths_of(lengths), longest)
    if out is not None:
        write_certificate(verdict, out)
    if as_json:
        show_json(_verdict_json(verdict))
    else:
        _show_verdict(verdict)
    raise typer.Exit(1 if verdict.outcome is Outcome.REFUTED else 0)


def _certify_members(model: Network, upto: int, arithmetic: str, *, as_json: bool) -> NoReturn:
    with progress_line():
        found = members(model, upto, arithmetic)
    if as_json:
        show_json(members_json(found))
    else:
        show_members(found)
    raise typer.Exit(1 if found.wrong else 0)


def check(
    path: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A file that tallystick certify wrote.")],
    minutes: Annotated[
        float, typer.Option(help="How long the check may take; what would take longer is not begun.")
    ] = MINUTES,
    proven: Annotated[
        bool, typer.Option("--proven", help="Use the checker that Coq has proved, where make proofs has built it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify a certificate with a checker that shares no code with the certifier.

    Ends with 0 if it holds, with 1 if it does not, and with 3 if that is too costly to decide here, or with --proven not covered.

    Example: tallystick check certificate.json --minutes 60
    """
    if not 0 <= minutes <= _MOST_MINUTES:
        raise BadInput(f"minutes: {minutes} is not between 0 and {_MOST_MINUTES:,}")
    answer = check_proven(path, minutes) if proven else _python_answer(path, minutes)
    if as_json:
        found = {"answer": answer.word, "valid": answer.valid, "reason": answer.reason}
        show_json({"certificate": str(path), **({"proven": True} if proven else {}), **found})
    else:
        show(f"{printable(str(path))}: {printable(str(answer))}")
    raise typer.Exit(answer.status)


def _python_answer(path: Path, minutes: float) -> Answer:
    progress = ProgressLine()
    try:
        return answer_file(path, Fraction(minutes), progress)
    except Unreadable as error:
        raise BadInput(f"{path}: {error}") from None
    finally:
        progress.clear()


def failures(
    path: ModelFile,
    length: Annotated[int, typer.Option(help="The length N.")],
    number: Annotated[int, typer.Option(help="How many random ones beside the extreme ones.")] = 10,
    seed: Annotated[int, typer.Option(help="Of the random ones.")] = 0,
    readout: ReadoutName = None,
    arithmetic: Arithmetic = REAL,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the strings, for tallystick evaluate.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """List strings of a length that a model gets wrong, for use as tests: the extreme ones of each count, and random ones.

    Example: tallystick failures model.json --length 20 --out strings.txt
    """
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
    for line in describe(verdict):
        show(line)
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


def _certify_run(path: Path, lengths: str, limit: int | None, *, as_json: bool) -> None:
    from tallystick.runs.directory import RunDirectory  # noqa: PLC0415
    from tallystick.runs.evaluation import horizons_of_run, prove_run  # noqa: PLC0415 -- polars and JAX take a second to load

    directory = RunDirectory(path)
    if not issubclass(directory.cell, ScalarCell):
        show_facts(prove_run(directory, lengths, limit), "horizons", as_json=as_json)
        return
    if (lengths, limit) != ("all", None):
        raise BadInput(
            f"{path}: its horizons are in its rows, for all and for even lengths; --lengths and --limit are not for it"
        )
    show_settings(horizons_of_run(directory), "horizons", as_json=as_json)


def refuse_unless(fine: bool, options: str, whose: str, path: Path) -> None:
    """Refuse options that are for something else."""
    if not fine:
        raise BadInput(f"{path}: {options} are for {whose}")
