"""The account of a proof: for a reader, for a program, and as queries for another solver."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tallystick.files import refuse_existing, refuse_no_folder, write_text
from tallystick.theorems.coq import COQ_ONLY, COQ_THEOREMS, CoqOnly, CoqTheorem
from tallystick.theorems.dyck1_state import DYCK1_STATE
from tallystick.theorems.linear import SIX_STRINGS, THEOREM_1
from tallystick.theorems.proof import Argument, Outcome, Part, Status, Theorem, query
from tallystick.theorems.relu import RELU
from tallystick.theorems.selective import SELECTIVE

THEOREMS: dict[str, Theorem] = {
    theorem.name: theorem for theorem in (THEOREM_1, SIX_STRINGS, SELECTIVE, RELU, DYCK1_STATE)
}
"""All theorems, in the order in which a reader meets them."""

Proof = Sequence[tuple[Part, Sequence[Outcome]]]

_STYLES = {Status.PROVED: "green", Status.ARGUED: "cyan"}


def holds(proof: Proof) -> bool:
    """Say whether every step stands."""
    return all(outcome.holds for _, outcomes in proof for outcome in outcomes)


def as_text(theorem: Theorem, proof: Proof) -> RenderableType:
    """Return the theorem as a reader goes through it."""
    lines: list[RenderableType] = [Text(theorem.title, style="bold"), Text(theorem.statement)]
    lines += [*_coq_lines(COQ_THEOREMS.get(theorem.name, ())), Text()]
    for part, outcomes in proof:
        lines += [Text(part.title, style="underline"), Padding(_table(outcomes), (0, 0, 1, 2), expand=False)]
    return Group(*lines)


def coq_only_as_text() -> RenderableType:
    """Return what is proved in Coq alone: the statements, and where their proofs are."""
    lines: list[RenderableType] = [
        Text("In Coq alone", style="bold"),
        Text("No step of these was put to the solver; `make proofs` compiles them, in the source repository."),
        Text(),
    ]
    for name, result in COQ_ONLY.items():
        lines += [Text(f"{result.title} ({name})", style="underline"), Text(result.statement)]
        lines += [*_coq_lines(result.theorems), Text()]
    return Group(*lines)


def summary(proofs: Sequence[Proof]) -> str:
    """Return one line that counts the steps by how they ended, the solver's apart from the arguments."""
    verdicts = Counter(outcome.verdict for proof in proofs for _, outcomes in proof for outcome in outcomes)
    words = {
        Status.PROVED: "proved by the solver",
        Status.ARGUED: "argued in words",
        Status.REFUTED: "refuted",
        Status.VACUOUS: "vacuous",
        Status.UNDECIDED: "undecided",
    }
    counted = (f"{verdicts[verdict]} {text}" for verdict, text in words.items() if verdicts[verdict])
    return f"steps: {', '.join(counted)}"


def as_json(theorem: Theorem, proof: Proof) -> dict[str, object]:
    """Return the theorem and the outcome of each step as plain data."""
    return {
        "name": theorem.name,
        "title": theorem.title,
        "statement": theorem.statement,
        "proved": holds(proof),
        "parts": [
            {"title": part.title, "steps": [_step_json(outcome) for outcome in outcomes]} for part, outcomes in proof
        ],
        "coq": _coq_json(COQ_THEOREMS.get(theorem.name, ())),
    }


def coq_only_as_json() -> list[dict[str, object]]:
    """Return what is proved in Coq alone as plain data."""
    return [_coq_only_json(name, result) for name, result in COQ_ONLY.items()]


def write_queries(theorems: Sequence[Theorem], directory: Path, *, force: bool) -> list[Path]:
    """Write each solver step as an SMT-LIB 2 file; the name tells its theorem and place."""
    queries = {
        directory / f"{theorem.name}-{number:02d}.smt2": query(step)
        for theorem in theorems
        for number, step in enumerate(theorem.solver_steps(), start=1)
    }
    refuse_no_folder(directory, "queries need")
    for path in queries:
        refuse_existing(path, force=force)
    directory.mkdir(parents=True, exist_ok=True)
    for path, text in queries.items():
        write_text(text, path)
    return list(queries)


def _coq_lines(theorems: Sequence[CoqTheorem]) -> list[RenderableType]:
    return [Text(f"Coq: {theorem}", style="dim") for theorem in theorems]


def _coq_json(theorems: Sequence[CoqTheorem]) -> list[dict[str, object]]:
    return [{"file": theorem.path, "line": theorem.line, "theorem": theorem.name} for theorem in theorems]


def _coq_only_json(name: str, result: CoqOnly) -> dict[str, object]:
    return {
        "name": name,
        "title": result.title,
        "statement": result.statement,
        "coq": _coq_json(result.theorems),
    }


def _table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column(no_wrap=True, style="bold")
    table.add_column(no_wrap=True)
    table.add_column()
    for outcome in outcomes:
        verdict = Text(outcome.verdict.lower(), style=_STYLES.get(outcome.verdict, "bold red"))
        table.add_row(verdict, *map(Text, _place(outcome)), _claim(outcome))
    return table


def _place(outcome: Outcome) -> tuple[str, str, str]:
    """The solver's time, and the input and the h that it gives, where the step has them."""
    if isinstance(outcome.step, Argument):
        return "", "", ""
    state = f"h = {outcome.step.state}" if outcome.step.state else ""
    return f"{outcome.seconds * 1000:.0f} ms", outcome.step.string or "", state


def _claim(outcome: Outcome) -> Text:
    claim = Text(outcome.step.claim)
    if outcome.finding:
        lead = "counterexample: " if outcome.verdict is Status.REFUTED else ""
        claim.append(f"\n{lead}{outcome.finding}", style="dim" if outcome.holds else "red")
    return claim


def _step_json(outcome: Outcome) -> dict[str, object]:
    step = outcome.step
    if isinstance(step, Argument):
        return {"claim": step.claim, "verdict": str(outcome.verdict), "proved_by": "argument", "reason": step.reason}
    return {
        "claim": step.claim,
        "verdict": str(outcome.verdict),
        "proved_by": "solver",
        "string": step.string,
        "state": step.state,
        "seconds": round(outcome.seconds, 6),
        "finding": outcome.finding,
    }
