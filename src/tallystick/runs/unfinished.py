"""Runs that have not ended, as those who read runs meet them: killed, so that they can be gone on with, or still at work."""

from pathlib import Path

from tallystick.errors import BadInput
from tallystick.runs.lock import holder_of

CONFIG = "config.toml"


def refuse_unfinished(folder: Path, name: str) -> None:
    """Refuse a folder that lacks a file which every finished run has; what is done of the run is never to be deleted over it."""
    if (folder / name).is_file():
        return
    if not (folder / CONFIG).is_file():
        raise BadInput(
            f"{folder}: not a run directory, since it has no {CONFIG}; tallystick train and reproduce make one"
        )
    holder = holder_of(folder)
    way_out = (
        f"wait for {holder}, which is at work on it" if holder else "the command that began it goes on with --resume"
    )
    raise BadInput(f"{folder / name}: is missing: the run has not ended; {way_out}")
