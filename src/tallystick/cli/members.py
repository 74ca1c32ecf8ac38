"""What is shown of the members of a language: up to which n a network gets them right."""

from tallystick.certificates.languages.members import Members
from tallystick.cli import show
from tallystick.networks import network_to_json

_SHOWN_RANGES = 12


def members_json(found: Members) -> dict[str, object]:
    """Return it as JSON; a string is given by its runs of equal tokens."""
    failure = found.failure
    return {
        "upto": found.upto,
        "members": found.members,
        "wrong": found.wrong,
        "right_upto": found.right_upto,
        "first_wrong": found.first_wrong,
        "wrong_ranges": found.ranges,
        "counterexample_runs": failure.runs if failure else None,
        "class": failure.found if failure else None,
        "right_class": failure.right if failure else None,
        "arithmetic": found.arithmetic,
        "model": network_to_json(found.network),
    }


def show_members(found: Members) -> None:
    """Print it in a few lines."""
    arithmetic = f"({found.arithmetic} arithmetic)"
    failure = found.failure
    if failure is None:
        show(f"all {found.members:,} members to n = {found.upto:,} are right {arithmetic}")
        return
    show(f"members to n = {found.right_upto:,} are right, and one of n = {found.first_wrong:,} is wrong {arithmetic}")
    ranges = [f"{first:,}" if first == last else f"{first:,} to {last:,}" for first, last in found.ranges]
    more = f" and {len(ranges) - _SHOWN_RANGES:,} more ranges" if len(ranges) > _SHOWN_RANGES else ""
    shown = ", ".join(ranges[:_SHOWN_RANGES])
    show(f"{found.wrong:,} of {found.members:,} members to n = {found.upto:,} are wrong: n = {shown}{more}")
    string = " ".join(f"{token}^{size}" for token, size in failure.runs) or "the empty string"
    rejected = found.network.readout.steps is not None and found.network.readout.steps.threshold is not None
    show(f"{string} is rejected" if rejected else f"after {string} it says {failure.found} instead of {failure.right}")
