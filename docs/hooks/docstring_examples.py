"""Shows the examples of docstrings as code; Markdown would take each `>>>` for three quotations."""

import re

import griffe

_EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", flags=re.DOTALL | re.MULTILINE)


class DocstringExamples(griffe.Extension):
    """Puts a fence around every example; griffe calls it for each object that it finds."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Change the docstring as it is read, and not in its file."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    r"""Return a docstring with its examples in fences.

    >>> fenced("Add.\n\n>>> 1 + 1\n2\n\nMore.")
    'Add.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore.'
    """
    return _EXAMPLE.sub(lambda example: f"```pycon\n{example[0].rstrip()}\n```", docstring)
