"""The programs that the training suite compares this tool with. They need numba, PyTorch or JAX, and nothing of this tool."""

from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple


def baseline(name: str) -> ModuleType | str:
    """Import a baseline, or say which library it lacks."""
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        return f"needs {error.name}"


class Parts(NamedTuple):
    """What the rows of linear cells with one unit are: a row holds one number of each network.

    Attributes:
        opening: the weight of `(`.
        closing: the weight of `)`.
        recurrent: U.
        bias: the cell's bias, as a list of one row or none.
        readout: the weight of each output.
        offset: the bias of each output, or none.
    """

    opening: Any
    closing: Any
    recurrent: Any
    bias: list[Any]
    readout: list[Any]
    offset: list[Any]


def parts_of(rows: Any, outputs: int) -> Parts:  # noqa: ANN401 -- arrays of whichever library
    """Say what rows of weights are, in the order of `Parts`."""
    a, b, u, *rest = rows
    has_bias = len(rest) == 2 * outputs + 1
    assert has_bias or len(rest) in (outputs, 2 * outputs), "a bias of the cell goes with biases of the outputs"
    after = rest[has_bias:]
    return Parts(a, b, u, rest[:has_bias], after[:outputs], after[outputs:])
