"""What an installation of this package rests on: for the core, for each extra, and for development."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = "tallystick"
CORE, DEVELOPMENT = "core", "dev"
OF_DEVELOPMENT = (DEVELOPMENT, "docs")
NO_EXTRA = ""


@dataclass(frozen=True)
class Dependencies:
    """Everything that is needed, directly or not.

    Attributes:
        needed_by: for each name, what needs it: "core", or extras, or development alone.
        missing: the same of those that are not installed here.
    """

    needed_by: dict[str, tuple[str, ...]]
    missing: dict[str, tuple[str, ...]]


def dependencies() -> Dependencies:
    """Follow the installed packages' own word on what they need, on this system."""
    extras = distribution(PACKAGE).metadata.get_all("Provides-Extra") or []
    core = closure(NO_EXTRA)
    parts = {CORE: core} | {extra: closure(extra) - core for extra in extras if extra not in OF_DEVELOPMENT}
    parts[DEVELOPMENT] = closure(DEVELOPMENT).difference(*parts.values())
    names = sorted(set().union(*parts.values()))
    needed_by = {name: tuple(part for part, needed in parts.items() if name in needed) for name in names}
    here = {name for name in names if _installed(name)}
    return Dependencies(
        {name: needed for name, needed in needed_by.items() if name in here},
        {name: needed for name, needed in needed_by.items() if name not in here},
    )


def closure(extra: str) -> set[str]:
    """Return the names of all that an extra needs, with the core's own."""
    found: set[tuple[str, str]] = set()
    waiting = {(PACKAGE, NO_EXTRA), (PACKAGE, extra)}
    while waiting:
        name, chosen = waiting.pop()
        found.add((name, chosen))
        waiting |= set(_required(name, chosen)) - found
    return {name for name, _ in found} - {PACKAGE}


def direct(name: str) -> set[str]:
    """Return what a package needs itself: this one with all its extras, another without."""
    extras = distribution(name).metadata.get_all("Provides-Extra") or [] if name == PACKAGE else []
    return {found for extra in (NO_EXTRA, *extras) for found, _ in _required(name, extra)}


def _required(name: str, extra: str) -> Iterator[tuple[str, str]]:
    package = _installed(name)
    for text in (package and package.requires) or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield from ((canonicalize_name(requirement.name), chosen) for chosen in (NO_EXTRA, *requirement.extras))


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None
