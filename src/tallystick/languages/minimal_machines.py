"""The smallest form of a counter machine: without states that cannot be reached, or that do the same as another one.

States from which nothing is accepted become one, whatever they do with the counters. Of the others two do the same if they accept
with the same zero checks, and every case has the same updates in both and leads to states that do the same (Moore's algorithm).
"""

from tallystick.languages.counter_machine import Add, Case, CounterMachine, zero_checks


def minimal_machine(machine: CounterMachine) -> CounterMachine:
    """Return a machine that accepts the same strings with as few states as merging gives.

    >>> from tallystick.languages.ready_machines import READY_MACHINES
    >>> minimal_machine(READY_MACHINES["bb"]) == READY_MACHINES["bb"]
    True
    """
    reached = _reached(machine)
    dead = set(reached) - _live(machine)
    groups: dict[str, object] = {state: state in dead for state in reached}
    while True:
        finer = {state: None if state in dead else _signature(machine, state, groups) for state in reached}
        names = {signature: next(s for s in reached if finer[s] == signature) for signature in finer.values()}
        merged: dict[str, object] = {state: names[finer[state]] for state in reached}
        if len(names) == len(set(groups.values())):
            break
        groups = merged
    kept = tuple(dict.fromkeys(str(merged[state]) for state in reached))
    cases = [
        Case(token, state, check)
        for token in machine.alphabet
        for state in kept
        for check in zero_checks(machine.counters)
    ]
    nothing = (Add(0),) * machine.counters
    return CounterMachine(
        machine.alphabet,
        kept,
        str(merged[machine.initial_state]),
        machine.counters,
        {case: nothing if case.state in dead else machine.updates[case] for case in cases},
        {case: case.state if case.state in dead else str(merged[machine.transitions[case]]) for case in cases},
        frozenset((state, check) for state, check in machine.accepting if state in kept),
    )


def _reached(machine: CounterMachine) -> list[str]:
    """Return the states that a chain of cases leads to, in the machine's order."""
    found, waiting = {machine.initial_state}, [machine.initial_state]
    while waiting:
        state = waiting.pop()
        after = {machine.transitions[case] for case in machine.transitions if case.state == state}
        waiting.extend(after - found)
        found |= after
    return [state for state in machine.states if state in found]


def _live(machine: CounterMachine) -> set[str]:
    """Return the states from which a chain of cases leads to acceptance."""
    found = {state for state, _ in machine.accepting}
    while True:
        more = {case.state for case, after in machine.transitions.items() if after in found} - found
        if not more:
            return found
        found |= more


def _signature(machine: CounterMachine, state: str, groups: dict[str, object]) -> object:
    checks = tuple(zero_checks(machine.counters))
    cases = [Case(token, state, check) for token in machine.alphabet for check in checks]
    moves = tuple((machine.updates[case], groups[machine.transitions[case]]) for case in cases)
    return tuple((state, check) in machine.accepting for check in checks), moves
