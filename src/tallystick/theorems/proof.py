"""What a proof is made of, and how the solver discharges it.

A step claims that its conclusion follows from its assumptions, for all real values of the letters. The solver is asked
for values that meet the assumptions and break the conclusion: if there are none (unsat) the step is proved, if there are
some (sat) they are the counterexample. The assumptions are also checked to be possible at all, since from impossible ones
anything follows. What a solver cannot do (an induction over all lengths, a limit) stands as an argument in words and
is never counted as the solver's.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any, TypeAlias

from tallystick.errors import missing_extra_named
from tallystick.numbers import positive_part

Formula: TypeAlias = Any
"""A solver's statement, true or false: z3's BoolRef."""

Term: TypeAlias = Any
"""A solver's number: z3's ArithRef."""

Solver: TypeAlias = Any
"""A z3 solver with its assertions."""

Assignment: TypeAlias = Any
"""Values for the letters that a solver found."""

with missing_extra_named():
    z3: Any = import_module("z3")


@positive_part.register(z3.ArithRef)
def _(x: Term) -> Term:
    return z3.If(x > 0, x, z3.RealVal(0))


SOLVER_MILLISECONDS = 60_000


class Status(StrEnum):
    """How a step ended."""

    PROVED = "PROVED"
    """The solver found the negation unsatisfiable."""
    ARGUED = "ARGUED"
    """By an argument in words that rests on steps the solver proved."""
    REFUTED = "REFUTED"
    """The solver found a counterexample."""
    VACUOUS = "VACUOUS"
    """The assumptions contradict each other, so the claim says nothing."""
    UNDECIDED = "UNDECIDED"
    """The solver gave up."""


@dataclass(frozen=True)
class Step:
    """One claim for the solver: the conclusion follows from the assumptions.

    Attributes:
        claim: the claim in words and symbols.
        assuming: what is given.
        shows: what follows; None claims that the assumptions contradict each other.
        string: the input that gives the step, where there is one.
        state: the h that this input gives, in the cell's letters.
    """

    claim: str
    assuming: tuple[Formula, ...]
    shows: Formula | None
    string: str | None = None
    state: str | None = None


@dataclass(frozen=True)
class Argument:
    """A step in words, with the reason why it holds; not the solver's."""

    claim: str
    reason: str


@dataclass(frozen=True)
class Part:
    """A heading and the steps under it."""

    title: str
    steps: tuple[Step | Argument, ...]


@dataclass(frozen=True)
class Theorem:
    """A statement and the parts of its proof."""

    name: str
    title: str
    statement: str
    parts: tuple[Part, ...]

    def solver_steps(self) -> Iterator[Step]:
        """Go through the steps that are the solver's, in order."""
        return (step for part in self.parts for step in part.steps if isinstance(step, Step))


@dataclass(frozen=True)
class Outcome:
    """What became of a step: the verdict, how long the solver took, and a counterexample or the reason."""

    step: Step | Argument
    verdict: Status
    seconds: float = 0.0
    finding: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the step stands."""
        return self.verdict in (Status.PROVED, Status.ARGUED)


def discharge(step: Step | Argument) -> Outcome:
    """Put a step to the solver.

    >>> a, U = z3.Reals("a U")
    >>> discharge(Step("((  rejected gives U ≠ −1", (a + U * a != 0,), U != -1)).verdict
    <Status.PROVED: 'PROVED'>
    >>> discharge(Step("it also gives U ≠ 1", (a + U * a != 0,), U != 1)).verdict
    <Status.REFUTED: 'REFUTED'>
    """
    if isinstance(step, Argument):
        return Outcome(step, Status.ARGUED, finding=step.reason)
    started = time.perf_counter()
    verdict, finding = _decide(step)
    return Outcome(step, verdict, time.perf_counter() - started, finding)


def prove(theorem: Theorem) -> list[tuple[Part, list[Outcome]]]:
    """Discharge every step of a theorem, part by part."""
    return [(part, [discharge(step) for step in part.steps]) for part in theorem.parts]


def query(step: Step) -> str:
    """Return the step's query in SMT-LIB 2; `unsat` from any solver confirms the claim."""
    solver = _negation(step)
    comments = "".join(f"; {line}\n" for line in step.claim.splitlines())
    return f"{comments}; unsat: the claim holds\n(set-logic ALL)\n{solver.to_smt2()}(exit)\n"


def _decide(step: Step) -> tuple[Status, str | None]:
    solver = _negation(step)
    answer = solver.check()
    if answer == z3.sat:
        return Status.REFUTED, _counterexample(solver.model())
    if answer == z3.unknown:
        return Status.UNDECIDED, solver.reason_unknown()
    if step.shows is not None and _solver(step.assuming).check() != z3.sat:
        return Status.VACUOUS, "the assumptions were not shown to be possible together"
    return Status.PROVED, None


def _negation(step: Step) -> Solver:
    return _solver(step.assuming if step.shows is None else (*step.assuming, z3.Not(step.shows)))


def _solver(formulas: tuple[Formula, ...]) -> Solver:
    solver = z3.Solver()
    solver.set("timeout", SOLVER_MILLISECONDS)
    solver.add(*formulas)
    return solver


def _counterexample(model: Assignment) -> str:
    """Write the letters' values; how the solver filled in a division by zero is its own affair."""
    return ", ".join(sorted(f"{name} = {model[name]}" for name in model.decls() if name.arity() == 0))
