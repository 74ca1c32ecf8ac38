"""The command of published networks: a folder of network files, and one row for each."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cli import show, show_json
from tallystick.cli.options import Force, Json, Limit
from tallystick.errors import BadInput, printable
from tallystick.files import make_folder, refuse_existing

if TYPE_CHECKING:
    from tallystick.studies.published import Published

# matplotlib takes a second to load.
# ruff: noqa: PLC0415


def published(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of network files.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the table, the figure and the certificates here.")
    ] = None,
    limit: Limit = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Certify every network file of a folder, beside its authors' claim.

    Of each network it says how far it is right on ALL strings, in real numbers and in float32. A file's "about" may hold the
    texts "source", "claim" and "tested", the greatest length that its authors tried.

    Example: tallystick published networks --out published
    """
    from tallystick.studies.published import certificate_names, survey
    from tallystick.studies.published_table import FILES, as_record, write_published

    if not folder.is_dir():
        raise BadInput(f"{folder}: is not a folder of network files")
    if out is not None:
        if out.resolve() == folder.resolve():
            raise BadInput(f"out: {out} holds the networks themselves; certificates go to another folder")
        make_folder(out)
        for name in (*FILES, *certificate_names(folder)):
            refuse_existing(out / name, force=force)
    rows = survey(folder, out, limit, None if as_json else _show_row)
    if out is not None:
        write_published(rows, out)
    if as_json:
        show_json({"directory": None if out is None else str(out), "networks": [as_record(row) for row in rows]})
    elif out is not None:
        show(f"{printable(str(out))}: {', '.join(sorted(path.name for path in out.iterdir() if path.is_file()))}")


def _show_row(row: "Published") -> None:
    from tallystick.studies.published_table import as_lines

    show("\n".join(as_lines(row)))
    sys.stdout.flush()
