"""Draws the pictures of the gallery again and writes its notebook: `python tests/renew_gallery.py`.

The scripts of examples/gallery are run one by one, in the order of docs/gallery.md. Their pictures go to docs/assets/gallery, and
examples/gallery.ipynb gets each script as a cell, with what it printed and drew. What the page shows is changed by hand.
"""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from test_gallery import SCRIPTS, SHOWN, code_of, text_of

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "assets" / "gallery"
COLOURS = 64  # enough for drawings, and a third of the size
TITLE = (
    "# Gallery\n\nSix short programs from `examples/gallery`, each with its picture. "
    "They need `pip install '.[train]'` and run in a few seconds each."
)


def main() -> None:
    """Run every script, keep its picture, and write the notebook."""
    cells = [text_cell("title", TITLE)]
    for number, name in enumerate(SHOWN, start=1):
        printed, picture = run(name)
        cells += [text_cell(f"{name}-text", text_of(SCRIPTS[name])), code_cell(name, number, printed, picture)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path = ROOT / "examples" / "gallery.ipynb"
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def run(name: str) -> tuple[str, bytes]:
    """Return what a script prints, and its picture, which is kept."""
    with TemporaryDirectory() as folder:
        command, drawn = [sys.executable, str(SCRIPTS[name])], Path(folder) / f"{name}.png"
        without_window = {**os.environ, "MPLBACKEND": "agg"}
        done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True, env=without_window)
        kept = PICTURES / drawn.name
        Image.open(drawn).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(kept, optimize=True)
    return done.stdout, kept.read_bytes()


def text_cell(name: str, text: str) -> dict[str, object]:
    """Return a cell of text."""
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


def code_cell(name: str, number: int, printed: str, picture: bytes) -> dict[str, object]:
    """Return a cell of code, as it stands after it was run."""
    image = {"image/png": base64.b64encode(picture).decode()}
    return {
        "cell_type": "code",
        "execution_count": number,
        "id": name,
        "metadata": {},
        "outputs": [
            {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)},
            {"data": image, "metadata": {}, "output_type": "display_data"},
        ],
        "source": code_of(SCRIPTS[name]).splitlines(keepends=True),
    }


if __name__ == "__main__":
    main()
