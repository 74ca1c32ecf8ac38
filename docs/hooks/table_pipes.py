r"""Makes one spelling of `a|b` in a table right in two places.

A forge wants the pipe in a table's code escaped, as `a\|b`; the Markdown of this site shows the backslash.
"""

import re

_CODE = re.compile(r"`[^`\n]+`")


def on_page_markdown(markdown: str, **_: object) -> str:
    """Take the backslash away in the rows of tables; mkdocs calls this for every page."""
    return "\n".join(_unescaped(line) if line.startswith("|") else line for line in markdown.split("\n"))


def _unescaped(row: str) -> str:
    return _CODE.sub(lambda code: code[0].replace(r"\|", "|"), row)
