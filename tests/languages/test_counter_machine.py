import re
from itertools import product

import pytest
from strings import all_strings

from tallystick.errors import BadInput, UnknownToken
from tallystick.languages.brackets import BB, DYCK1, SEMI_DYCK1
from tallystick.languages.counter_machine import Add, Case, Configuration, CounterMachine, TimesZero, trace
from tallystick.languages.ready_machines import BB_COUNTER, READY_MACHINES


def in_shuffle(string: str) -> bool:
    return all(DYCK1.contains("".join("(" if c == o else ")" for c in string if c in o + e)) for o, e in ("()", "[]"))


MEMBERSHIP = {
    "bb": BB.contains,
    "dyck1": DYCK1.contains,
    "dyck1-by-parity": DYCK1.contains,
    "semidyck1": SEMI_DYCK1.contains,
    "anbn": lambda s: s == "a" * (len(s) // 2) + "b" * (len(s) // 2),
    "anbncn": lambda s: s == "".join(letter * (len(s) // 3) for letter in "abc"),
    "anbmcnm": lambda s: s == "".join(sorted(s)) and s.count("a") + s.count("b") == s.count("c"),
    "shuffle2": in_shuffle,
}


@pytest.mark.parametrize("name", READY_MACHINES)
def test_a_ready_machine_accepts_exactly_its_language(name):
    machine = READY_MACHINES[name]
    longest = {2: 12, 3: 9, 4: 7}[len(machine.alphabet)]
    for string in all_strings(longest, "".join(machine.alphabet)):
        assert machine.accepts(string) == MEMBERSHIP[name](string), string


@pytest.mark.parametrize("name", ["anbn", "anbncn"])
def test_long_members(name):
    letters = READY_MACHINES[name].alphabet
    assert READY_MACHINES[name].accepts("".join(letter * 1000 for letter in letters))
    assert not READY_MACHINES[name].accepts("".join(letter * 1000 for letter in letters) + letters[-1])


def test_no_stateless_machine_with_unit_steps_accepts_dyck1():
    """Why a Dyck-1 counter needs a state: each of the 1,024 candidates errs on a string of length 4 or less."""
    short = all_strings(4)
    for updates in product([Add(-1), Add(0), Add(1), TimesZero()], repeat=4):
        table = dict(zip(product("()", (0, 1)), updates, strict=True))
        for accepted in product([False, True], repeat=2):
            candidate = CounterMachine.from_rules(
                alphabet=("(", ")"),
                update=lambda case, table=table: (table[case.token, case.zero_check[0]],),
                accepts=lambda _, check, accepted=accepted: accepted[check[0]],
            )
            assert any(candidate.accepts(string) != DYCK1.contains(string) for string in short)


def test_times_zero_and_several_counters():
    machine = CounterMachine.from_rules(
        alphabet=("a", "r"),
        counters=2,
        update=lambda case: (Add(1), Add(2)) if case.token == "a" else (TimesZero(), Add(-3)),
        accepts=lambda _, check: check == (0, 1),
    )
    *_, last = machine.run("aar")
    assert last.after == Configuration("q", (0, 1))
    assert machine.accepts("aar")
    assert not machine.accepts("aa")
    assert "×0 -3" in trace(machine, "aar")


def test_the_empty_string_is_decided_by_the_start():
    assert BB_COUNTER.accepts("")
    assert list(BB_COUNTER.run("")) == []


def test_a_strangers_character_is_found_before_the_first_step():
    with pytest.raises(UnknownToken, match=re.escape("unknown token 'x' at position 2")):
        BB_COUNTER.run("(x")


def remade(**changes):
    parts = {name: getattr(BB_COUNTER, name) for name in BB_COUNTER.__dataclass_fields__}
    return CounterMachine(**{**parts, **changes})


MISSING = {case: update for case, update in BB_COUNTER.updates.items() if case != Case(")", "q", (1,))}
EXTRA = {**BB_COUNTER.transitions, Case("[", "q", (0,)): "q"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"updates": MISSING}, "updates: missing case: token ')', state 'q', zero check 1"),
        ({"transitions": EXTRA}, "transitions: extra case: token '[', state 'q', zero check 0"),
        ({"updates": {}}, "updates: missing case: token '(', state 'q', zero check 0 (and 3 more)"),
        (
            {"updates": dict.fromkeys(BB_COUNTER.updates, (Add(1), Add(1)))},
            "updates: token '(', state 'q', zero check 0: ",
        ),
        ({"updates": dict.fromkeys(BB_COUNTER.updates, (1,))}, "is not one update (Add or TimesZero) for each counter"),
        ({"transitions": dict.fromkeys(BB_COUNTER.transitions, "p")}, "next state 'p' is not one of 'q'"),
        ({"initial_state": "p"}, "initial_state 'p' is not one of 'q'"),
        ({"accepting": frozenset({("p", (0,))})}, "accepting: state 'p' is not one of 'q'"),
        ({"accepting": frozenset({("q", (0, 0))})}, "accepting: zero check (0, 0) is not 1 of 0 and 1"),
        ({"alphabet": ()}, "alphabet: empty"),
        ({"alphabet": ("(", "(")}, "alphabet: '(' is listed twice"),
        ({"alphabet": ("( (", ")")}, "alphabet: token '( (' has a space in it, which separates tokens in a string"),
        ({"states": ()}, "states: empty"),
        ({"states": ("q", "")}, "states: entry 2, '', is not a name"),
        ({"counters": 0}, "counters: 0 is not a whole number from 1 on"),
        ({"counters": "1"}, "counters: '1' is not a whole number from 1 on"),
        ({"counters": 10**9}, "counters: 1000000000, with 2 tokens and 1 states, needs more than 1,000,000 cases"),
    ],
)
def test_a_machine_checks_itself_when_made(changes, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        remade(**changes)


def test_a_step_must_be_whole():
    with pytest.raises(BadInput, match=re.escape("amount: 1.5 is not a whole number")):
        Add(1.5)


def test_a_machine_cannot_be_changed_from_outside():
    table = dict(BB_COUNTER.updates)
    machine = remade(updates=table)
    table.clear()
    assert machine.accepts("()")
    with pytest.raises(TypeError):
        machine.updates[Case("(", "q", (0,))] = (Add(2),)
