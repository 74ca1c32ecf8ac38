"""From an extreme of h back to a string that attains it, and what becomes of a string."""

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.certainty import certain
from tallystick.certificates.executions import Execution
from tallystick.certificates.extremes import Ends, Grouping, first_row
from tallystick.certificates.verdict import Failure, runs_of
from tallystick.networks import Readout
from tallystick.numbers import Number


def string_to(execution: Execution, grouping: Grouping, history: list[Ends], group: int, h: Number) -> str:
    """Walk back from an end: it is the image of an end one token before, in one of the groups that lead here.

    Where states are known between bounds only, the image that comes nearest is taken.
    """
    tokens: list[str] = []
    for length in range(len(history) - 1, 0, -1):
        cell, before = execution.model_at(length).scalar_cell, history[length - 1]
        ways = [
            (abs(image[0] - h), token, source, end[0])
            for token, source in grouping.sources(group)
            if 0 <= source < length
            for end in before.of(slice(source, source + 1)).both
            for image in Ends(end, end).after(cell, token).both
        ]
        _, token, group, h = min(ways, key=lambda way: way[0])
        tokens.append(token)
    return "".join(reversed(tokens))


def judged(execution: Execution, grouping: Grouping, string: str) -> Failure | None:
    """Run a string; return how it fails, or None if it does not fail for certain."""
    ends = first_row(execution.model_at(0).scalar_cell)
    group = 0
    for length, token in enumerate(string, start=1):
        ends = ends.after(execution.model_at(length).scalar_cell, token)
        group = grouping.target(group, token)
    network = execution.model_at(len(string))
    readout, classes = network.readout, network.task.classes
    right = int(grouping.right_classes(network.task, len(string))[group])
    found = readout.class_index((ends.least,))
    if int(found[0]) == right or not _one_class(readout, found, ends, rounded=execution.rounded):
        return None
    return Failure(runs_of(string), classes[int(found[0])], classes[right])


def _one_class(readout: Readout, found: NDArray[np.int64], ends: Ends, *, rounded: bool) -> bool:
    """Say whether every state between two ends surely gets the class that the lower one got."""
    if ends.least[0] == ends.greatest[0]:
        return True
    same = found == readout.class_index((ends.greatest,))
    return bool((same & certain(readout, found, ends, rounded=rounded))[0])
