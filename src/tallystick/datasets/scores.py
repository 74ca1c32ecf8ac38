"""One model on a file of strings, in the model's own arithmetic."""

from fractions import Fraction
from pathlib import Path

from tallystick.cells import ScalarCell
from tallystick.datasets.string_files import read_strings
from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY, TASKS, TERNARY
from tallystick.networks import Network
from tallystick.numbers import standard_floats

_MOST_WORK = 10**17
"""The cubes of the strings' lengths, by the square of the bits that a state gains with a token: so much takes some minutes."""


def score(model: Network, path: Path) -> dict[str, int | float]:
    """Return how many strings of the file the model puts into the right class of its readout.

    Labels, where there are any, are checked for the readout's task; the zero check takes them of either.
    """
    membership = model.task.name not in TASKS
    strings = read_strings(path, *((BINARY, TERNARY) if membership else (model.task,)))
    _refuse_endless(model, strings, path)
    with standard_floats():  # a state that overflows is wrong, and no more need be said
        right = sum(model.class_of(string) == model.right_class(string) for string in strings)
    return {"strings": len(strings), "right": right, "accuracy": 100 * right / len(strings)}


def _refuse_endless(model: Network, strings: list[str], path: Path) -> None:
    """Refuse strings along which exact states would grow so long that nobody waits for them."""
    weights = model.cell.recurrent_weights if isinstance(model.cell, ScalarCell) else ()
    growth = max((_bits(weight) for weight in weights if isinstance(weight, Fraction)), default=0)
    if growth**2 * sum(len(string) ** 3 for string in strings) > _MOST_WORK:
        longest = max(map(len, strings))
        raise BadInput(
            f"{path}: along strings of up to {longest:,} tokens rational states would grow for hours; "
            "--arithmetic float64 takes them"
        )


def _bits(weight: Fraction) -> int:
    return max(weight.numerator.bit_length(), weight.denominator.bit_length()) - 1
