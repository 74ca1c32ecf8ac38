"""Shows a notebook as part of a page: its text, its code, and what each cell gave when it was last run."""

import json
import re
from pathlib import Path
from typing import Any

_PLACE = re.compile(r"^<!-- notebook: (\S+) -->$", flags=re.MULTILINE)
_ROOT = Path(__file__).parents[2]


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put a notebook where a page asks for it; mkdocs calls this for every page."""
    return _PLACE.sub(lambda place: notebook_as_markdown(_ROOT / place[1]), markdown)


def notebook_as_markdown(path: Path) -> str:
    """Return the cells of a notebook in turn."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(part) for cell in cells for part in _parts(cell))


def _parts(cell: dict[str, Any]) -> list[list[str]]:
    if cell["cell_type"] == "markdown":
        return [cell["source"]]
    return [_fenced("python", cell["source"]), *(_shown(output) for output in cell["outputs"])]


def _shown(output: dict[str, Any]) -> list[str]:
    if output["output_type"] == "stream":
        return _fenced("text", output["text"])
    if "text/html" in output["data"]:
        return output["data"]["text/html"]
    picture = "".join(output["data"]["image/png"]).strip()
    return [f'<img alt="What the code above draws" src="data:image/png;base64,{picture}">']


def _fenced(kind: str, lines: list[str]) -> list[str]:
    return [f"```{kind}\n", *lines, "" if lines[-1].endswith("\n") else "\n", "```"]
