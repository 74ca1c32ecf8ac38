"""The rows of a comparison as they come in, kept in a file so that one that was interrupted can be gone on with."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from tallystick.errors import BadInput
from tallystick.experiments.comparison import Comparison, Spread
from tallystick.experiments.runner import made_by
from tallystick.files import read_text, write_text
from tallystick.training.setting import Setting

KEPT = "compare.rows.json"
_SPREADS = ("horizons", "even_horizons")
_ASKED, _ROWS = "asked", "rows"


class KeptRows:
    """The rows that are there, by the place of their setting."""

    def __init__(self, folder: Path, settings: Sequence[tuple[Setting, int]], seed: int, device: str) -> None:
        """Hold the rows of some settings, each with its number of seeds, by a kind of device; there are none yet."""
        self._path, self._settings, self._seed, self._device = folder / KEPT, settings, seed, device
        self.rows: dict[int, Comparison] = {}

    def read(self) -> "KeptRows":
        """Take up what a comparison of the same settings, seeds, device and versions has left."""
        text = read_text(self._path)
        try:
            found = json.loads(text)  # its own file, in which an unlimited horizon is Infinity
            asked, rows = found[_ASKED], {int(place): row for place, row in found[_ROWS].items()}
            if asked == self._asked():
                self.rows = {place: _row(self._settings[place][0], row) for place, row in rows.items()}
                return self
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
            raise BadInput(f"{self._path}: not the rows of a comparison; --force starts it anew") from None
        raise BadInput(
            f"{self._path}: of other settings, seeds, versions or another device; "
            "resume with the same options, or choose another folder"
        )

    def add(self, place: int, row: Comparison) -> None:
        """Keep one more row."""
        self.rows[place] = row
        rows = {str(place): _plain(row) for place, row in sorted(self.rows.items())}
        write_text(json.dumps({_ASKED: self._asked(), _ROWS: rows}, indent=1) + "\n", self._path)

    def _asked(self) -> dict[str, object]:
        """What decides the rows."""
        settings = [[asdict(setting), seeds] for setting, seeds in self._settings]
        return {"settings": settings, "seed": self._seed, "device": self._device, **made_by()}


def _plain(row: Comparison) -> dict[str, object]:
    return {name: value for name, value in asdict(row).items() if name != "setting"}


def _row(setting: Setting, found: Mapping[str, object]) -> Comparison:
    values = {field.name: found[field.name] for field in fields(Comparison) if field.name != "setting"}
    spreads = {name: Spread(**found[name]) for name in _SPREADS}  # pyright: ignore[reportCallIssue]
    return Comparison(setting, **{**values, **spreads})  # pyright: ignore[reportArgumentType]
