"""The General Counter Machine of the paper's appendix: ⟨Σ, Q, q₀, u, δ, F⟩ with k integer counters.

One step reads a token x in state q with counters c, looks at the zero check z(c), and moves to
⟨δ(x, q, z(c)), u(x, q, z(c))(c)⟩, where u adds an integer to each counter or multiplies it by zero. A string is
accepted iff it ends in a state and a zero check that the mask F holds. (The appendix writes F ⊆ Q × {0,1}; with k
counters the zero check has k entries, so F ⊆ Q × {0,1}ᵏ here.) The paper lets Q be empty; a machine without
states is one with a single state here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

from tallystick.errors import BadInput, check_tokens, check_whole, printable

ZeroMask = tuple[int, ...]
String = str | tuple[str, ...]
"""Tokens in a row: a text where each is one character, or a tuple of their names."""

# A table of this many cases takes about a second to make and check; nobody writes a larger one on purpose.
LARGEST_TABLE = 1_000_000


@dataclass(frozen=True)
class Add:
    """The update +m."""

    amount: int

    def __post_init__(self) -> None:
        check_whole(self.amount, "amount")

    def __call__(self, counter: int) -> int:
        """Return the counter plus m."""
        return counter + self.amount

    def __str__(self) -> str:
        return f"{self.amount:+d}"


@dataclass(frozen=True)
class TimesZero:
    """The update ×0."""

    def __call__(self, counter: int) -> int:  # noqa: ARG002 -- every update takes the counter
        """Return zero."""
        return 0

    def __str__(self) -> str:
        return "×0"


Update = Add | TimesZero


class Case(NamedTuple):
    """What an update and a transition may look at: the token, the state and the zero check."""

    token: str
    state: str
    zero_check: ZeroMask

    def __str__(self) -> str:
        return f"token {self.token!r}, state {self.state!r}, zero check {show_zero_check(self.zero_check)}"


class Configuration(NamedTuple):
    """⟨q, c⟩: where a machine stands between two tokens."""

    state: str
    counters: tuple[int, ...]


class Step(NamedTuple):
    """One step of a computation: the case that was met, the updates it gave, and where it led."""

    case: Case
    update: tuple[Update, ...]
    after: Configuration


def zero_check(counters: tuple[int, ...]) -> ZeroMask:
    """z(v)ᵢ = 0 if vᵢ = 0, else 1.

    >>> zero_check((0, -3))
    (0, 1)
    """
    return tuple(int(counter != 0) for counter in counters)


def show_zero_check(check: ZeroMask) -> str:
    """Write a zero check as its digits, as in machine files."""
    return "".join(map(str, check))


def zero_checks(counters: int) -> Iterator[ZeroMask]:
    """List all 2ᵏ zero checks of k counters."""
    return product((0, 1), repeat=counters)


@dataclass(frozen=True)
class CounterMachine:
    """A General Counter Machine, checked when made: every case has exactly one update and one transition.

    >>> machine = CounterMachine.from_rules(
    ...     alphabet=("(", ")"),
    ...     update=lambda case: (Add(1 if case.token == "(" else -1),),
    ...     accepts=lambda state, check: check == (0,),
    ... )
    >>> machine.accepts(")(()"), machine.accepts("(()")
    (True, False)
    """

    alphabet: tuple[str, ...]
    states: tuple[str, ...]
    initial_state: str
    counters: int
    updates: Mapping[Case, tuple[Update, ...]]
    transitions: Mapping[Case, str]
    accepting: frozenset[tuple[str, ZeroMask]]

    @classmethod
    def from_rules(
        cls,
        *,
        alphabet: tuple[str, ...],
        update: Callable[[Case], tuple[Update, ...]],
        accepts: Callable[[str, ZeroMask], bool],
        states: tuple[str, ...] = ("q",),
        counters: int = 1,
        transition: Callable[[Case], str] = lambda case: case.state,
    ) -> "CounterMachine":
        """Make a machine from functions, tabulated over every case; the first state is the initial one."""
        check_shape(alphabet, states, counters)
        cases = list(_all_cases(alphabet, states, counters))
        return cls(
            alphabet=alphabet,
            states=states,
            initial_state=states[0],
            counters=counters,
            updates={case: update(case) for case in cases},
            transitions={case: transition(case) for case in cases},
            accepting=frozenset(pair for pair in product(states, zero_checks(counters)) if accepts(*pair)),
        )

    def __post_init__(self) -> None:
        """Check every part, and that the two tables hold each case and no other."""
        object.__setattr__(self, "updates", MappingProxyType(dict(self.updates)))
        object.__setattr__(self, "transitions", MappingProxyType(dict(self.transitions)))
        check_shape(self.alphabet, self.states, self.counters)
        _check_one_of("initial_state", self.initial_state, self.states)
        cases = set(_all_cases(self.alphabet, self.states, self.counters))
        for field, table in (("updates", self.updates), ("transitions", self.transitions)):
            _check_cases(field, set(table), cases)
        for case, updates in self.updates.items():
            if len(updates) != self.counters or not all(isinstance(u, Update) for u in updates):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise BadInput(f"updates: {case}: {updates!r} is not one update (Add or TimesZero) for each counter")
        for case, state in self.transitions.items():
            _check_one_of(f"transitions: {case}: next state", state, self.states)
        for state, check in self.accepting:
            _check_one_of("accepting: state", state, self.states)
            if check not in set(zero_checks(self.counters)):
                raise BadInput(f"accepting: zero check {check!r} is not {self.counters} of 0 and 1, one a counter")

    @property
    def start(self) -> Configuration:
        """⟨q₀, 0⟩."""
        return Configuration(self.initial_state, (0,) * self.counters)

    def step(self, configuration: Configuration, token: str) -> Step:
        """Read one token (the paper's Definition 5)."""
        case = Case(token, configuration.state, zero_check(configuration.counters))
        update = self.updates[case]
        counters = tuple(change(c) for change, c in zip(update, configuration.counters, strict=True))
        return Step(case, update, Configuration(self.transitions[case], counters))

    def run(self, string: String) -> Iterator[Step]:
        """Read `string` token by token; its tokens are checked before the first step."""
        check_tokens(string, self.alphabet)
        return self._steps(string)

    def accepts(self, string: String) -> bool:
        """Say whether the computation on `string` ends in the acceptance mask."""
        configuration = self.start
        for step in self.run(string):
            configuration = step.after
        return self.accepts_configuration(configuration)

    def accepts_configuration(self, configuration: Configuration) -> bool:
        """Say whether ⟨q, z(c)⟩ lies in the acceptance mask."""
        return (configuration.state, zero_check(configuration.counters)) in self.accepting

    def with_other_start(self) -> "CounterMachine":
        """Return a machine that accepts the empty string iff this one does not, and every other string as this one does.

        It starts in a copy of the initial state to which nothing leads back: the initial configuration itself may come back.
        """
        start = "start"
        while start in self.states:
            start += "'"
        copies = {case: case._replace(state=start) for case in self.updates if case.state == self.initial_state}
        accepted = self.accepting if self.accepts(()) else self.accepting | {(start, zero_check(self.start.counters))}
        return CounterMachine(
            self.alphabet,
            (*self.states, start),
            start,
            self.counters,
            {**self.updates, **{copy: self.updates[case] for case, copy in copies.items()}},
            {**self.transitions, **{copy: self.transitions[case] for case, copy in copies.items()}},
            accepted,
        )

    def __reduce__(self) -> Any:  # noqa: ANN401 -- as pickle has it
        """Pickle the parts: the tables are views, which have no pickle of their own."""
        parts = (self.alphabet, self.states, self.initial_state, self.counters)
        return CounterMachine, (*parts, dict(self.updates), dict(self.transitions), self.accepting)

    def _steps(self, string: String) -> Iterator[Step]:
        configuration = self.start
        for token in string:
            step = self.step(configuration, token)
            yield step
            configuration = step.after


def _all_cases(alphabet: tuple[str, ...], states: tuple[str, ...], counters: int) -> Iterator[Case]:
    return (Case(*parts) for parts in product(alphabet, states, zero_checks(counters)))


def _check_names(field: str, names: tuple[str, ...]) -> None:
    if not names:
        raise BadInput(f"{field}: empty; at least one is needed")
    for position, name in enumerate(names):
        if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"{field}: entry {position + 1}, {name!r}, is not a name")
        if name in names[:position]:
            raise BadInput(f"{field}: {name!r} is listed twice")


def check_shape(alphabet: tuple[str, ...], states: tuple[str, ...], counters: int) -> None:
    """Refuse repeated or empty names, tokens with spaces in them, and a table of cases too large to make."""
    _check_names("alphabet", alphabet)
    _check_names("states", states)
    for token in alphabet:
        if any(character.isspace() for character in token):
            raise BadInput(f"alphabet: token {token!r} has a space in it, which separates tokens in a string")
    check_whole(counters, "counters", least=1)
    # The exponent is bounded first, so that an absurd number of counters is refused before a power is taken.
    if counters > LARGEST_TABLE.bit_length() or len(alphabet) * len(states) * 2**counters > LARGEST_TABLE:
        raise BadInput(
            f"counters: {counters}, with {len(alphabet)} tokens and {len(states)} states, needs more than "
            f"{LARGEST_TABLE:,} cases (tokens × states × 2^counters)"
        )


def _check_one_of(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadInput(f"{what} {value!r} is not one of {', '.join(map(repr, allowed))}")


def _check_cases(field: str, found: set[Case], expected: set[Case]) -> None:
    for problem, cases in (("extra", found - expected), ("missing", expected - found)):
        if cases:
            more = f" (and {len(cases) - 1} more)" if len(cases) > 1 else ""
            raise BadInput(f"{field}: {problem} case: {min(cases, key=str)}{more}")


def trace(machine: CounterMachine, string: String) -> str:
    """Write the computation as a table that a person can read, one line a token.

    >>> from tallystick.languages.ready_machines import READY_MACHINES
    >>> print(trace(READY_MACHINES["bb"], "())"))
    step  token  zero check  update  state  counters
       0                             q      0
       1  (      0           +1      q      1
       2  )      1           -1      q      0
       3  )      0           -1      q      -1
    """
    rows = [("step", "token", "zero check", "update", "state", "counters")]
    rows.append(("0", "", "", "", machine.initial_state, _words(machine.start.counters)))
    for number, (case, update, after) in enumerate(machine.run(string), start=1):
        check = show_zero_check(case.zero_check)
        rows.append((str(number), case.token, check, _words(update), after.state, _words(after.counters)))
    rows = [tuple(map(printable, row)) for row in rows]  # a file may have called its states anything
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_align(row, widths) for row in rows)


def _align(row: tuple[str, ...], widths: list[int]) -> str:
    first, *rest = (
        cell.rjust(w) if i == 0 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()


def _words(values: tuple[object, ...]) -> str:
    return " ".join(map(str, values))
