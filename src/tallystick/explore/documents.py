"""Networks in requests: the document that a model's file holds, read by the library's own reader and kept within bounds."""

from collections.abc import Callable, Iterator
from fractions import Fraction

from tallystick.cells import CELLS, ScalarCell
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.networks import Network, network_from_json
from tallystick.networks.readout import DECISIONS
from tallystick.numbers import exact

LARGEST = 1_000_000
MOST_DIGITS = 1200
"""Every double up to a million is let in, however it is written, and nothing that needs more binary digits than one."""

_WHERE = "network"


def scalar_cells() -> list[str]:
    """Return the names of the cells that the page shows: those with one unit."""
    return [name for name, kind in CELLS.items() if issubclass(kind, ScalarCell)]


def read_network(value: object) -> Network:
    """Return the network that a request holds; a complaint begins with the field."""
    try:
        network = network_from_json(Document(value, _WHERE))
    except BadInput as error:
        raise BadInput(str(error).removeprefix(f"{_WHERE}: ")) from None
    if not isinstance(network.cell, ScalarCell):
        raise BadInput(f"cell: one with several units is not for this page; the cells are {', '.join(scalar_cells())}")
    if isinstance(value, dict) and "answer" in value:
        kinds = ", ".join(decision.kind for decision in DECISIONS.values())
        raise BadInput(f"answer: this page shows readouts by their kind, {kinds}; tallystick certify takes any")
    for field, number in _numbers(network):
        _require_bounded(number, field)
    return network


def read_any_network(value: object) -> Network:
    """Return the network of any kind that a request holds; a complaint begins with the field."""
    try:
        network = network_from_json(Document(value, _WHERE))
    except BadInput as error:
        raise BadInput(str(error).removeprefix(f"{_WHERE}: ")) from None

    def bounded(number: Fraction, name: str) -> Fraction:
        _require_bounded(exact(number), name)
        return number

    return network.map_weights(bounded)


def _numbers(network: Network) -> Iterator[tuple[str, Fraction]]:
    """Go through a network's numbers by the names that they have in the document."""
    for name, value in network.scalar_cell.tensors().items():
        single = not isinstance(value, tuple)
        yield from (
            (name if single else f"{name}[{place}]", one) for place, one in enumerate((value,) if single else value)
        )
    if network.readout.rule.has_weights:
        parts = {"weight": [row[0] for row in network.readout.weight], "bias": network.readout.bias}
        for name, values in parts.items():
            yield from ((f"readout: {name}[{place}]", number) for place, number in enumerate(values))


def _require_bounded(number: Fraction, field: str) -> None:
    """Refuse a number with which exact arithmetic would be a matter of hours."""
    if abs(number) > LARGEST:
        raise BadInput(f"{field}: larger in size than {LARGEST:,}, the most that is explored")
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_DIGITS:
        raise BadInput(f"{field}: needs more than {MOST_DIGITS:,} binary digits, the most that is explored")


def about_network(work: Callable[..., object], document: object, *arguments: object) -> object:
    """Read a network of any kind and do some work on it: both in the process that is asked, since each may take long."""
    return work(read_any_network(document), *arguments)
