"""Where around an exact counter, with its readout, all strings up to the training length are right.

At U > 0 and a > b the least and the greatest state of the strings with n opening and m closing brackets are those of the two
sorted ones, (ⁿ)ᵐ and )ᵐ(ⁿ: h is the sum of the tokens' steps times powers of U, and these rise or fall along the string. Right
on both is right on all. For the binary task without bias this is the region R_N of `certificates.regions`; a threshold
elsewhere, three classes or the count have a region of their own.
"""

import numpy as np

from tallystick.cells import LinearCell
from tallystick.certificates.verdict import lengths_of
from tallystick.datasets.training_sets import training_lengths
from tallystick.explanations.exact_counter import ExactCounter
from tallystick.explanations.resting_place import Plane
from tallystick.languages.brackets import CLOSE, OPEN, bracket_difference
from tallystick.languages.tasks import COUNT, Task
from tallystick.training.setting import Setting


def margin_over(setting: Setting, counter: ExactCounter, plane: Plane) -> np.ndarray:
    """Return on a grid, U down and a/b across, by how much the worst string is right: above 0 where all are.

    Counted are the lengths up to the training length; the even ones alone, where no training string is odd.
    """
    cell = LinearCell(1.0, 1 / plane.ratios, plane.recurrent_weights[:, None])
    least = np.full((len(plane.recurrent_weights), len(plane.ratios)), np.inf)
    for string in _sorted_strings(setting.train_length, counted_lengths(setting)):
        h = np.broadcast_to(cell.final_state(string), least.shape)
        outputs = np.multiply.outer(counter.slopes, h) + counter.intercepts[:, None, None]
        least = np.minimum(least, _margin(setting.scored_as, outputs, bracket_difference(string)))
    return least


def counted_lengths(setting: Setting) -> str:
    """Return which lengths a training set is about: the even ones, or all."""
    return "all" if any(length % 2 for length in training_lengths(setting.train_length)) else "even"


def _sorted_strings(longest: int, lengths: str) -> list[str]:
    sizes = [(n, length - n) for length in lengths_of(lengths).upto(longest) for n in range(length + 1)]
    return sorted({part for n, m in sizes for part in (OPEN * n + CLOSE * m, CLOSE * m + OPEN * n)})


def _margin(task: Task, outputs: np.ndarray, count: int) -> np.ndarray:
    """Return how far the outputs, along the first axis, are from another answer than the right one."""
    wanted = task.targets_of_counts(np.array(count))
    if task is COUNT:
        return 0.5 - np.abs(outputs[0] - count)
    if len(outputs) == 1:
        return outputs[0] if wanted[0] else -outputs[0]
    right = int(np.argmax(wanted))
    return outputs[right] - np.delete(outputs, right, axis=0).max(axis=0)
