"""Prefixes that a network has rejected for good: every member that begins with one of them fails."""

from dataclasses import dataclass, field

from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import Failure, runs_of
from tallystick.languages.counter_machine import Configuration
from tallystick.languages.tasks import MembershipClass, Task

Tokens = tuple[str, ...]


@dataclass
class Rejections:
    """The shortest member so far that begins with a rejected prefix.

    Attributes:
        best: that member, where its length counts.
        waiting: rejected prefixes whose shortest continuation has a length that does not count, by their configuration; they
            are followed with every token.
    """

    task: Task
    scope: Scope
    best: Failure | None = None
    waiting: dict[Configuration, Tokens] = field(default_factory=dict[Configuration, Tokens])

    def is_hopeless(self, length: int) -> bool:
        """Say whether a member of that length would be no shorter than the best."""
        return self.best is not None and self.best.length <= length

    def add(self, prefix: Tokens, configuration: Configuration) -> None:
        """Look at one more rejected prefix."""
        completion = self.task.futures.completion(configuration)
        if completion is None or self.is_hopeless(len(prefix) + len(completion)):
            return
        if self.scope.counts(len(prefix) + len(completion)):
            self.best = membership_failure((*prefix, *completion), is_member=True)
        else:
            self.waiting.setdefault(configuration, prefix)

    def advance(self) -> None:
        """Follow what waits with every token."""
        after: dict[Configuration, Tokens] = {}
        for configuration, prefix in self.waiting.items():
            for token, reached in self.task.futures.live_steps(configuration).items():
                after.setdefault(reached, (*prefix, token))
        self.waiting = after

    def failure(self, length: int) -> Failure | None:
        """Return a member of that length that fails."""
        if self.best and self.best.length == length:
            return self.best
        if self.waiting and self.scope.counts(length):
            for configuration, prefix in self.waiting.items():
                if is_member(self.task, configuration):
                    return membership_failure(prefix, is_member=True)
        return None


def is_member(task: Task, configuration: Configuration) -> bool:
    """Say whether the strings that lead to a configuration are members."""
    return task.name_of(task.question(task.machine, configuration)) == MembershipClass.ACCEPTED


def membership_failure(string: Tokens, *, is_member: bool) -> Failure:
    """Return a string that gets the wrong one of the two classes of membership."""
    classes = MembershipClass.REJECTED, MembershipClass.ACCEPTED
    found, right = classes if is_member else classes[::-1]
    return Failure(runs_of(string), found, right)
