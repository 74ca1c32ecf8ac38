"""A counter machine over runs of equal tokens: millions of them in a few steps."""

from tallystick.certificates.verdict import Runs
from tallystick.languages.counter_machine import Add, Configuration, CounterMachine


def configuration_after(machine: CounterMachine, runs: Runs) -> Configuration:
    """Return where a machine stands after a string that is given as runs.

    While a state stays and no counter comes to zero or leaves it, every token of a run does the same.

    >>> from tallystick.languages.ready_machines import READY_MACHINES
    >>> configuration_after(READY_MACHINES["anbncn"], (("a", 10**9), ("b", 10**9), ("c", 10**9 - 1)))
    Configuration(state='c', counters=(0, 1))
    """
    here = machine.start
    for token, size in runs:
        left = size
        while left:
            step = machine.step(here, token)
            times = 1
            if step.after.state == here.state and all(isinstance(update, Add) for update in step.update):
                amounts = [update.amount for update in step.update if isinstance(update, Add)]
                times = max(
                    1, min([left, *(_steps_to_zero(c, a) for c, a in zip(here.counters, amounts, strict=True) if a)])
                )
                counters = tuple(c + times * a for c, a in zip(here.counters, amounts, strict=True))
                here = Configuration(here.state, counters)
            else:
                here = step.after
            left -= times
    return here


def _steps_to_zero(counter: int, amount: int) -> int:
    """Return how often an amount can be added to a counter before the zero check changes, the last time included."""
    if counter == 0:
        return 1
    return abs(counter) // abs(amount) if counter * amount < 0 and counter % amount == 0 else 1 << 200
