"""What may follow a prefix: compared with every continuation, and on machines whose liveness takes an argument."""

from itertools import product

import pytest

from tallystick.errors import BadInput
from tallystick.languages import futures
from tallystick.languages.counter_machine import Add, Configuration, CounterMachine, TimesZero
from tallystick.languages.futures import Futures
from tallystick.languages.ready_machines import READY_MACHINES
from tallystick.languages.tasks import ready_task


def strings(machine, longest):
    for length in range(longest + 1):
        yield from product(machine.alphabet, repeat=length)


def configuration(machine, string):
    return [machine.start, *(step.after for step in machine.run(string))][-1]


@pytest.mark.parametrize("name", READY_MACHINES)
def test_a_completion_is_a_shortest_accepted_continuation(name):
    machine = READY_MACHINES[name]
    after, few = Futures(machine), len(machine.alphabet) > 2
    prefixes, continuations = (3, 4) if few else (5, 5)
    for prefix in strings(machine, prefixes):
        accepted = (rest for rest in strings(machine, continuations) if machine.accepts(prefix + rest))
        shortest, found = next(accepted, None), after.completion(configuration(machine, prefix))
        if shortest is not None:
            assert found is not None
            assert len(found) == len(shortest)
        if found is not None:
            assert machine.accepts(prefix + found)
            assert shortest is not None or len(found) > continuations


@pytest.mark.parametrize("name", READY_MACHINES)
def test_allowed_tokens_are_those_that_leave_the_prefix_live(name):
    machine = READY_MACHINES[name]
    after = Futures(machine)
    for prefix in strings(machine, 4):
        here = configuration(machine, prefix)
        live = {
            place
            for place, token in enumerate(machine.alphabet)
            if after.completion(machine.step(here, token).after) is not None
        }
        assert after.allowed(here) == live | ({after.end} if machine.accepts(prefix) else set())
        assert after.is_live(here) == bool(after.allowed(here))


def test_the_next_token_is_determined_where_only_one_may_follow():
    after = ready_task("anbncn").futures
    assert after.determined(Configuration("b", (2, 1))) == 1
    assert after.determined(Configuration("b", (0, 3))) == 2
    assert after.determined(Configuration("c", (0, 0))) == after.end
    assert after.determined(Configuration("a", (3, 0))) is None
    assert after.determined(Configuration("lost", (3, 0))) is None


def test_a_remainder_may_decide_that_nothing_is_accepted():
    machine = CounterMachine.from_rules(
        alphabet=("a", "b"),
        update=lambda case: (
            Add({"a": 3, "b": -3}[case.token] if case.zero_check == (1,) else {"a": 3, "b": 1}[case.token]),
        ),
        accepts=lambda state, check: check == (0,),
    )
    after = Futures(machine)
    assert after.completion(Configuration("q", (6,))) == ("b", "b")
    assert not after.is_live(Configuration("q", (7,)))


def test_a_counter_that_is_set_to_zero_is_live():
    machine = CounterMachine.from_rules(
        alphabet=("a", "!"),
        update=lambda case: (TimesZero() if case.token == "!" else Add(1),),
        accepts=lambda state, check: check == (0,),
    )
    assert Futures(machine).completion(Configuration("q", (10**9,))) == ("!",)


def test_a_question_that_stays_open_is_refused(monkeypatch):
    monkeypatch.setattr(futures, "MOST_CONFIGURATIONS", 50)
    with pytest.raises(
        BadInput, match="machine: whether it accepts a continuation from state 'a' with counters .* is open"
    ):
        Futures(READY_MACHINES["anbncn"]).completion(Configuration("a", (40, 0)))
