"""The commands of the theory: counter machines and theorems."""

from pathlib import Path
from typing import Annotated

import typer

from tallystick.cli import show, show_json
from tallystick.cli.options import THEOREMS as THEOREM_NAMES
from tallystick.cli.options import Force, Json, Limit, NetworkFile, TaskName, completion
from tallystick.errors import BadInput, printable
from tallystick.files import refuse_clashes, refuse_unwritable
from tallystick.languages.counter_machine import CounterMachine, String, show_zero_check, trace
from tallystick.languages.machine_files import machine_to_json, read_machine, write_machine
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.languages.task import read_string
from tallystick.numbers import FORMATS


def accepts(
    machine: Annotated[
        str,
        typer.Argument(
            metavar="MACHINE",
            help=f"A machine's JSON file, or one of {', '.join(READY_MACHINES)}.",
            autocompletion=completion(READY_MACHINES),
        ),
    ],
    string: Annotated[
        str,
        typer.Argument(
            metavar="STRING", help="The string to read; '' is the empty one. Spaces separate tokens with longer names."
        ),
    ],
    show_trace: Annotated[bool, typer.Option("--trace", help="Show the computation step by step.")] = False,
    as_json: Json = False,
) -> None:
    """Run a counter machine on a string.

    The exit status is 0 if the machine accepts the string, and 1 if it does not.

    Example: tallystick accepts bb "(()))(" --trace
    """
    counter = _machine(machine)
    tokens = read_string(string, counter.alphabet)
    accepted = counter.accepts(tokens)
    if as_json:
        steps = {"trace": _trace_json(counter, tokens)} if show_trace else {}
        show_json({"machine": machine, "string": string, "accepted": accepted, **steps})
    else:
        if show_trace:
            show(trace(counter, tokens))
        show(f"{printable(machine)} {'accepts' if accepted else 'rejects'} {printable(string) or 'the empty string'}")
    raise typer.Exit(0 if accepted else 1)


def machines(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help=f"Print this ready machine as a JSON file, to start one of your own: {', '.join(READY_MACHINES)}.",
            autocompletion=completion(READY_MACHINES),
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the ready counter machines, or print one as a file.

    Example: tallystick machines dyck1 > machine.json
    """
    if name is not None:
        show_json(machine_to_json(_ready(name)))
    elif as_json:
        show_json(
            {
                ready: {"alphabet": list(m.alphabet), "states": list(m.states), "counters": m.counters}
                for ready, m in READY_MACHINES.items()
            }
        )
    else:
        for ready, m in READY_MACHINES.items():
            size = f"{_several(len(m.states), 'state'):9} {_several(m.counters, 'counter')}"
            show(f"{ready:16} reads {' '.join(m.alphabet):8} {size}")


def extract(
    path: NetworkFile,
    task: TaskName = None,
    arithmetic: Annotated[
        str,
        typer.Option(
            metavar="ARITHMETIC",
            help=f"Exact real numbers, or floats as executed: real, {', '.join(FORMATS)}.",
            autocompletion=completion(("real", *FORMATS)),
        ),
    ] = "real",
    limit: Limit = None,
    out: Annotated[
        Path | None, typer.Option(metavar="MACHINE", help="Write the machine, for tallystick accepts.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the machine into a .svg, .png or .pdf file.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Find the counter machine that a network equals.

    It says up to which length both give the same answer on ALL strings.

    Example: tallystick extract network.json --figure machine.svg
    """
    from tallystick.conversion import extract as extract_machine  # noqa: PLC0415
    from tallystick.networks import read_network  # noqa: PLC0415

    refuse_clashes(path, out, figure)
    for target in (out, figure):
        refuse_unwritable(target, force=force)
    if figure is not None:
        from tallystick.reports.drawing import require_form  # noqa: PLC0415 -- matplotlib takes a second to load

        require_form(figure)
    found = extract_machine(read_network(path, task=task), arithmetic, limit)
    if out is not None:
        write_machine(found.machine, out)
    if figure is not None:
        from tallystick.reports.figure_machine import write_machine_figure  # noqa: PLC0415 -- matplotlib takes a second to load

        write_machine_figure(found.machine, figure)
    if as_json:
        horizon = "unlimited" if found.horizon is None else found.horizon
        show_json(
            {
                "horizon": horizon,
                "where": found.where,
                "reason": found.reason,
                "machine": machine_to_json(found.machine),
            }
        )
        return
    states = _several(len(found.machine.states), "state")
    counters = _several(found.machine.counters, "counter")
    reach = "at every length" if found.horizon is None else f"up to length {found.horizon:,}"
    show(f"equal to a machine with {states} and {counters} {found.where} {reach}")
    show(f"because {found.reason}")


def prove(
    theorem: Annotated[
        str | None,
        typer.Argument(
            metavar="THEOREM",
            help=f"One of {', '.join(THEOREM_NAMES)}; the default is all of them.",
            autocompletion=completion(THEOREM_NAMES),
        ),
    ] = None,
    smtlib: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each query in SMT-LIB 2, for another solver.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Prove the theorems step by step with a solver.

    The exit status is 1 if a step fails. Beside each theorem stands its place in the Coq files, and at the end what is proved in
    Coq alone.

    Example: tallystick prove theorem1 --smtlib queries
    """
    from tallystick.theorems import account  # noqa: PLC0415 -- z3 is an extra and slow to load
    from tallystick.theorems.account import THEOREMS  # noqa: PLC0415
    from tallystick.theorems.coq import COQ_ONLY  # noqa: PLC0415
    from tallystick.theorems.proof import prove as prove_theorem  # noqa: PLC0415

    if theorem in COQ_ONLY:
        places = ", ".join(map(str, COQ_ONLY[theorem].theorems))
        raise BadInput(f"THEOREM: {theorem!r} is proved in Coq alone, not by the solver: {places}")
    if theorem is not None and theorem not in THEOREMS:
        raise BadInput(f"THEOREM: {theorem!r} is not one of {', '.join(THEOREMS)}")
    chosen = list(THEOREMS.values()) if theorem is None else [THEOREMS[theorem]]
    written = account.write_queries(chosen, smtlib, force=force) if smtlib else []
    proofs = [(chosen_one, prove_theorem(chosen_one)) for chosen_one in chosen]
    all_hold = all(account.holds(proof) for _, proof in proofs)
    if as_json:
        coq_only = account.coq_only_as_json() if theorem is None else []
        theorems = [account.as_json(t, proof) for t, proof in proofs]
        show_json({"proved": all_hold, "theorems": theorems, "coq_only": coq_only})
    else:
        for one, proof in proofs:
            show(account.as_text(one, proof))
        if theorem is None:
            show(account.coq_only_as_text())
        show(account.summary([proof for _, proof in proofs]))
        if smtlib:
            show(f"{len(written)} queries written to {printable(str(smtlib))}")
    raise typer.Exit(0 if all_hold else 1)


def _machine(name: str) -> CounterMachine:
    if name in READY_MACHINES:
        return READY_MACHINES[name]
    if not Path(name).exists() and not name.endswith(".json"):
        raise BadInput(f"MACHINE: {name!r} is neither a file nor one of {', '.join(READY_MACHINES)}")
    return read_machine(Path(name))


def _ready(name: str) -> CounterMachine:
    if name not in READY_MACHINES:
        raise BadInput(f"NAME: {name!r} is not one of {', '.join(READY_MACHINES)}")
    return READY_MACHINES[name]


def _trace_json(machine: CounterMachine, string: String) -> list[dict[str, object]]:
    return [
        {
            "token": case.token,
            "zero_check": show_zero_check(case.zero_check),
            "update": [str(change) for change in update],
            "state": after.state,
            "counters": list(after.counters),
        }
        for case, update, after in machine.run(string)
    ]


def _several(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
