"""What docs/gated.md shows is what the tool does."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "gated.md"


def test_the_examples_of_the_page_run():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 4
    assert found.failed == 0
