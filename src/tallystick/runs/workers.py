"""Who does the work of a run: the cores of this machine, or others that offer the same."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from tallystick.training.devices import devices_named, on_every_core

Shared = TypeVar("Shared")
Own = TypeVar("Own")
Result = TypeVar("Result")


class Workers(Protocol):
    """Those that do the work."""

    def each(
        self,
        work: Callable[[Shared, Own], Result],
        items: Sequence[tuple[Shared, Own]],
        take: Callable[[int, Result], object],
    ) -> None:
        """Do work(shared, own) on every item, and hand each result over, with the item's place, as soon as it is there.

        What items share may be large: it is the same object in each of them, and travels once.
        """
        ...

    def device(self, name: str) -> str:
        """Return the kind of device that auto, cpu or gpu comes to."""
        ...


class ThisMachine:
    """The cores of this machine."""

    def each(
        self,
        work: Callable[[Shared, Own], Result],
        items: Sequence[tuple[Shared, Own]],
        take: Callable[[int, Result], object],
    ) -> None:
        """Do the work on as many items at a time as there are cores."""
        on_every_core(lambda place: take(place, work(*items[place])), range(len(items)))

    def device(self, name: str) -> str:
        """Return the kind of device that a name comes to here."""
        return devices_named(name).kind


THIS_MACHINE = ThisMachine()
