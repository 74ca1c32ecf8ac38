"""The languages suite: exact sizes and uniform members of long lengths, and counter machines on long strings."""

import random

from tallystick.bench.rows import Row
from tallystick.bench.timing import best_of
from tallystick.languages.brackets import LANGUAGES
from tallystick.languages.ready_machines import READY_MACHINES

LENGTH = 10_000


def measure_languages() -> list[Row]:
    """Return milliseconds for each language: the number of members, a uniform member, and a machine's run on it."""
    rows: list[Row] = []
    for name, language in LANGUAGES.items():
        member = language.sample(LENGTH, random.Random(0))
        rows.append(
            {
                "language": name,
                "length": LENGTH,
                "size_ms": 1000 * best_of(lambda language=language: language.size(LENGTH)),
                "sample_ms": 1000 * best_of(lambda language=language: language.sample(LENGTH, random.Random(1))),
                "machine_ms": 1000 * best_of(lambda name=name, member=member: READY_MACHINES[name].accepts(member)),
            }
        )
    return rows
