"""The page on extending is followed to the letter."""

import doctest
from pathlib import Path

from tallystick.cells import CELLS
from tallystick.training.methods import METHODS

PAGE = Path(__file__).parent.parent / "docs" / "extending.md"


def test_the_walk_through_works():
    before = [(table, dict(table)) for table in (CELLS, METHODS)]
    try:
        found = doctest.testfile(str(PAGE), module_relative=False)
    finally:  # what the page adds is taken out again
        for table, entries in before:
            table.clear()
            table.update(entries)
    assert found.attempted > 10
    assert found.failed == 0
