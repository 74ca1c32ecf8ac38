"""The scripts of the gallery print what its page shows and draw a picture each, and the notebook has the same code.

`python tests/renew_gallery.py` draws the pictures again and writes the notebook.
"""

import ast
import json
import re
import subprocess
import sys

import pytest
from walking import ROOT, alike, blocks_of

PAGE = ROOT / "docs" / "gallery.md"
SCRIPTS = {path.stem: path for path in (ROOT / "examples" / "gallery").glob("*.py")}
SESSIONS = [block.text.partition("\n") for block in blocks_of(PAGE) if block.kind == "console"]
SHOWN = {command.split("/")[-1].removesuffix(".py"): printed for command, _, printed in SESSIONS}
SLOW = {"published_network", "regions"}  # proves for seconds, trains networks


def text_of(script):
    """Return the text that a script begins with, which the notebook has as a cell of text."""
    return ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))


def code_of(script):
    """Return a script without that text."""
    return re.sub(r'\A""".*?"""\n+', "", script.read_text(encoding="utf-8"), flags=re.DOTALL).rstrip()


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in SCRIPTS])
def test_a_script_prints_what_the_page_shows_and_draws_its_picture(name, tmp_path):
    done = subprocess.run([sys.executable, SCRIPTS[name]], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert alike(SHOWN[name], done.stdout), done.stdout
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.png"]


def test_every_script_and_its_picture_are_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r'--8<-- "examples/gallery/(\w+).py"', page) == list(SHOWN)
    assert re.findall(r"\]\(assets/gallery/(\w+).png\)", page) == list(SHOWN)
    assert SHOWN.keys() == SCRIPTS.keys()
    assert all((ROOT / "docs" / "assets" / "gallery" / f"{name}.png").exists() for name in SHOWN)


def test_the_notebook_has_the_scripts_as_cells_and_shows_what_they_print():
    cells = json.loads((ROOT / "examples" / "gallery.ipynb").read_text(encoding="utf-8"))["cells"]
    code, text = ([cell for cell in cells if cell["cell_type"] == kind] for kind in ("code", "markdown"))
    assert ["".join(cell["source"]) for cell in text[1:]] == [text_of(SCRIPTS[name]) for name in SHOWN]
    assert ["".join(cell["source"]) for cell in code] == [code_of(SCRIPTS[name]) for name in SHOWN]
    for cell, printed in zip(code, SHOWN.values(), strict=True):
        assert "".join(line for output in cell["outputs"] for line in output.get("text", [])) == printed
        assert sum("image/png" in output.get("data", {}) for output in cell["outputs"]) == 1
