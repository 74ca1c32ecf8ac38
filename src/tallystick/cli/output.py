"""What the commands share: options, printing, failing in one line."""

import json
import sys
from typing import Annotated, NoReturn

import typer
from rich.console import Console, RenderableType

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]

_NARROWEST = 110


def show(content: RenderableType) -> None:
    """Print text as it is, and anything else through rich, never narrower than its tables need."""
    if isinstance(content, str):
        sys.stdout.write(content + "\n")
    else:
        console = Console(highlight=False)
        console.width = max(console.width, _NARROWEST)
        console.print(content)


def show_json(value: object) -> None:
    """Print one JSON object."""
    show(json.dumps(value, ensure_ascii=False, indent=1))


def fail(message: str) -> NoReturn:
    """End with status 2 and one line on standard error."""
    sys.stderr.write(f"tallystick: {' '.join(message.split())}\n")
    sys.exit(2)
