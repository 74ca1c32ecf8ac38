"""The proven checker and the Python checker never contradict each other.

    python soak/proven.py [CERTIFICATES] [FORGERIES] [WORKERS]

Goes through certificates of every kind that the proven checker covers (`tests/certificates/proven_cases.py`), and through
forgeries of such certificates with digests that fit, until both checkers have decided so many of each. What one of them leaves
open is counted, by its reason. Needs what `make proofs` builds. Ends with 1 if the two contradict each other, if they refuse a
genuine certificate, or if too few could be decided.
"""

import os
import shutil
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "certificates"))

import proven_cases
from proven_cases import ACCEPTED, CONTRADICTED, KINDS, REFUSED

_BLOCK = 20
"""Seeds that a worker goes through at a time."""
_AHEAD = 8
"""Blocks that wait for each worker."""
_MOST_SEEDS = 20
"""Seeds that are tried for each claim that is wanted."""
_EVERY = 3
"""Seconds between two lines."""

Answers = Counter[tuple[str, str]]
"""How often each outcome was, by who forged it; that is "" for a certificate."""


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def compare_block(kind: str, is_forged: bool, first: int, program: str) -> tuple[Answers, list[str], float]:
    """Let both checkers answer some claims; return their answers, what is wrong, and the processor time in seconds."""
    started = sum(os.times()[:4])
    proven_cases.PROGRAM = Path(program)
    make = KINDS[kind].forgery if is_forged else KINDS[kind].certificate
    made = [(seed, content) for seed in range(first, first + _BLOCK) if (content := make(seed)) is not None]
    answers: Answers = Counter()
    wrong = []
    for (seed, _), found in zip(made, proven_cases.compare([content for _, content in made]), strict=True):
        answers[KINDS[kind].forger(seed).__name__ if is_forged else "", found.outcome] += 1
        if found.outcome == CONTRADICTED or (found.outcome == REFUSED and not is_forged):
            wrong.append(f"{kind} {'forgery' if is_forged else 'certificate'} {seed}: {found.told}")
    return answers, wrong, sum(os.times()[:4]) - started


@dataclass
class Stream:
    """Certificates or forgeries of one kind, and how far they are."""

    kind: str
    is_forged: bool
    wanted: int
    started: int = 0
    ended: int = 0
    seconds: float = 0
    answers: Answers = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """What they are called."""
        return f"{self.kind} {'forgeries' if self.is_forged else 'certificates'}"

    def number(self, *outcomes: str) -> int:
        """How many had one of some outcomes."""
        return sum(number for (_, outcome), number in self.answers.items() if outcome in outcomes)

    @property
    def decided(self) -> int:
        """How many both checkers have decided."""
        return self.number(ACCEPTED, REFUSED, CONTRADICTED)

    @property
    def progress(self) -> float:
        """Which part of what is wanted will be decided, as far as can be foreseen, when all that was started has ended."""
        rate = self.decided / self.ended if self.ended else 1
        foreseen = self.decided + rate * (self.started - self.ended)
        return 1 if self.started >= _MOST_SEEDS * self.wanted else foreseen / self.wanted

    def lines(self) -> Iterator[str]:
        """What came out, also for each forger and each reason."""
        yield (
            f"{self.name}: {self.number(ACCEPTED):,} accepted by both, {self.number(REFUSED):,} refused by both, "
            f"{self.answers.total() - self.decided:,} left open, {self.number(CONTRADICTED)} contradicted; "
            f"{self.seconds:.0f} s of one core"
        )
        for forger in KINDS[self.kind].forgers if self.is_forged else ():
            by_outcome = {outcome: number for (who, outcome), number in self.answers.items() if who == forger.__name__}
            accepted, refused = by_outcome.get(ACCEPTED, 0), by_outcome.get(REFUSED, 0)
            left = sum(by_outcome.values()) - accepted - refused - by_outcome.get(CONTRADICTED, 0)
            yield f"    {forger.__name__}: {refused:,} refused by both, {accepted:,} accepted by both, {left:,} left open"
        reasons: Counter[str] = Counter()
        for (_, outcome), number in self.answers.items():
            reasons[outcome] += number
        for outcome, number in reasons.most_common():
            if outcome not in (ACCEPTED, REFUSED, CONTRADICTED):
                yield f"    {number:,} left open: {outcome}"


def compare_streams(streams: list[Stream], workers: int, program: str) -> int:
    """Compare until enough of each stream is decided; return how many were wrong.

    Answers are taken in the order in which the questions were asked, so what is asked next does not depend on who is quicker.
    """
    wrong, began, shown = 0, time.perf_counter(), 0.0
    pending: deque[tuple[Stream, Future]] = deque()
    with ProcessPoolExecutor(workers) as pool:
        while True:
            while (
                len(pending) < _AHEAD * workers and (least := min(streams, key=lambda one: one.progress)).progress < 1
            ):
                asked = pool.submit(compare_block, least.kind, least.is_forged, least.started, program)
                pending.append((least, asked))
                least.started += _BLOCK
            if not pending:
                return wrong
            stream, asked = pending.popleft()
            answers, found, seconds = asked.result()
            stream.answers += answers
            stream.ended += _BLOCK
            stream.seconds += seconds
            wrong += len(found)
            for line in found:
                show(line)
            if (now := time.perf_counter() - began) > shown + _EVERY:
                shown = now
                show(f"{sum(one.decided for one in streams):,} decided, {wrong} wrong, {now:.0f} s")


def main(certificates: int = 20_000, forgeries: int = 20_000, workers: int = 2) -> int:
    """Compare so many certificates, and so many forgeries."""
    if not proven_cases.PROGRAM.is_file():
        show("the proven checker is not built: make proofs builds it")
        return 2
    streams = [
        Stream(name, is_forged, -(-number * kind.share // 100))
        for is_forged, number in ((False, certificates), (True, forgeries))
        for name, kind in KINDS.items()
        if number
    ]
    with TemporaryDirectory() as folder:
        program = shutil.copy(proven_cases.PROGRAM, folder)  # so that a build beside it does no harm
        wrong = compare_streams(streams, workers, program)
    for stream in streams:
        for line in stream.lines():
            show(line)
    genuine, forged = (sum(one.decided for one in streams if one.is_forged is kind) for kind in (False, True))
    few = [stream.name for stream in streams if stream.decided < stream.wanted]
    if few:
        show(f"too few were decided of {', '.join(few)}")
    refused, contradictions = (sum(stream.number(outcome) for stream in streams) for outcome in (REFUSED, CONTRADICTED))
    show(
        f"proven checker: {genuine:,} certificates and {forged:,} forgeries decided, {refused:,} of which both refuse, "
        f"{contradictions} contradictions of the Python checker"
    )
    return 1 if wrong or few else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
