"""Pages are followed from top to bottom in one folder, as a reader would: files written, commands and Python run.

| block | what is done with it |
| --- | --- |
| `console` | each command after a `$` is run, and must print what stands below it |
| `python` with `>>>`, `pycon` | run as a doctest |
| `python` without | run; what it prints is in the `text` block that follows it |
| any kind with a `title` | written into the file of that name |

All Python of a page shares its names. Where a page trains networks, decimal fractions need only be near to those shown.
"""

import doctest
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from tallystick.cli import main

ROOT = Path(__file__).parent.parent
_FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
_FRACTION = re.compile(r"-?\d+\.\d+(?:[eE]-?\d+)?")


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    title: str
    text: str

    @property
    def needs_torch(self) -> bool:
        """Whether PyTorch must be there."""
        return re.search(r"^(>>> )?(import|from) (torch|safetensors\.torch)", self.text, flags=re.MULTILINE) is not None


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in their order."""
    return [Block(*parts) for parts in _FENCE.findall(page.read_text(encoding="utf-8"))]


def without_torch(blocks: list[Block]) -> list[Block]:
    """Leave out what needs PyTorch, and the output shown below it."""
    torch = [block.needs_torch for block in blocks]
    shown = [block.kind == "text" and before for block, before in zip(blocks, [False, *torch], strict=False)]
    return [block for block, *left_out in zip(blocks, torch, shown, strict=True) if not any(left_out)]


def walk(blocks: list[Block]) -> None:
    """Follow the blocks in the current folder."""
    same = alike if any(block.needs_torch for block in blocks) else str.__eq__
    names: dict[str, object] = {"__name__": "page"}
    printed = ""
    for block in blocks:
        if block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.kind == "console":
            _follow_session(block.text, same)
        elif block.text.startswith(">>> "):
            _follow_prompts(block.text, names)
        elif block.kind == "python":
            assert not printed, f"a page does not show what it prints: {printed}"
            printed = output_of(exec, block.text, names)
        elif block.kind == "text":
            assert alike(block.text, printed), printed
            printed = ""
    assert not printed, f"a page does not show what it prints: {printed}"


def alike(shown: str, found: str) -> bool:
    """Say whether two texts are the same but for decimal fractions, which another processor may round otherwise.

    >>> alike("horizon 6, a = 1.98", "horizon 6, a = 1.981"), alike("horizon 6", "horizon 7")
    (True, False)
    """
    numbers = [[float(number) for number in _FRACTION.findall(text)] for text in (shown, found)]
    return _FRACTION.sub("#", shown) == _FRACTION.sub("#", found) and numbers[1] == pytest.approx(
        numbers[0], 0.01, 0.01
    )


def _follow_session(session: str, same: Callable[[str, str], bool]) -> None:
    for entry in session.split("$ ")[1:]:
        command, _, shown = entry.partition("\n")
        assert same(shown, found := output_of(_run, shlex.split(command))), found


def _run(words: list[str]) -> None:
    if words[0] == "tallystick":
        with pytest.raises(SystemExit):
            main(words[1:])
    else:
        assert words[0] == "python", f"a page runs {words[0]}"
        done = subprocess.run([sys.executable, *words[1:]], check=False, capture_output=True, text=True)
        sys.stdout.write(done.stdout + done.stderr)


def _follow_prompts(text: str, names: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, "page", None, 0)
    assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
    names.update(test.globs)


def output_of(action: Callable[..., object], *arguments: object) -> str:
    """Return what is printed while something is done."""
    with redirect_stdout(io.StringIO()) as output:
        action(*arguments)
    return output.getvalue()
