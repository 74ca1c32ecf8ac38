"""The pages do as they say, the reference leaves nothing out, and the site loads nothing from elsewhere."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from typer.main import get_command
from walking import ROOT, blocks_of, walk, without_torch

import tallystick
from tallystick.cli import app, main

sys.path.insert(0, str(ROOT / "docs" / "hooks"))
import docstring_examples
from command_line import commands_as_markdown

DOCS = ROOT / "docs"
README = ROOT / "README.md"
NAMES = (
    *("index", "start", "certificates", "deciders", "linear", "programs", "languages"),
    *("formats", "state_space", "alphabets", "embeddings"),
)
PAGES = [README, *(DOCS / f"{name}.md" for name in NAMES)]
COMMANDS = sorted(get_command(app).commands)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_does_as_it_says(page, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    walk(without_torch(blocks_of(page)))


def test_the_two_commands_open_the_readme():
    first_screen = "\n".join(README.read_text(encoding="utf-8").splitlines()[:30])
    assert first_screen.index("make reproduce") < first_screen.index("make test")
    assert next(block for block in blocks_of(README) if block.kind == "console").text.splitlines()[0] in first_screen


def test_every_command_is_listed():
    commands = README.read_text(encoding="utf-8").split("## Commands")[1].split("\n## ")[0]
    groups = [line for line in commands.splitlines() if line.startswith("- **")]
    assert sorted(name for line in groups for name in re.findall(r"`(\w+)`", line)) == COMMANDS
    table = re.findall(r"^\| `tallystick (\w+)", (DOCS / "commands.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(table) == COMMANDS


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_a_link_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_an_example_of_a_docstring_is_shown_as_code():
    assert doctest.testmod(docstring_examples) == doctest.TestResults(failed=0, attempted=1)


def test_the_reference_has_every_public_name():
    reference = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    for name in tallystick.__all__:
        assert re.search(rf"^::: tallystick\.{name}$|`(ts\.)?{name}`", reference, flags=re.MULTILINE), name


def test_the_citation_is_one():
    cff, page = (
        (folder / name).read_text(encoding="utf-8") for folder, name in ((ROOT, "CITATION.cff"), (DOCS, "citing.md"))
    )
    assert f"version: {tallystick.__version__}\n" in cff
    assert f"{{{tallystick.__version__}}}" in page
    for title in re.findall(r"^ +title: (.+)$|^title: \"(.+)\"$", cff, flags=re.MULTILINE):
        assert "".join(title) in page
    for family in re.findall(r"family-names: (.+)", cff):
        assert family in page


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_the_command_line_has_every_option(name, capsys):
    section = re.search(rf"^## {name}$.*?(?=^## |\Z)", commands_as_markdown(), flags=re.DOTALL | re.MULTILINE)
    assert section, f"{name} has no section"
    with pytest.raises(SystemExit):
        main([name, "--help"])
    options = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", capsys.readouterr().out))
    assert "--help" in options
    assert {
        option for option in options if not re.search(rf"^- `(--[a-z-]+ / )?{option}[ `]", section[0], re.MULTILINE)
    } == set()


@pytest.mark.long
def test_the_site_is_whole_and_loads_nothing_from_another_host(tmp_path):
    """Built as `make docs` builds it: a warning is an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    silent = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, env=silent)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")

    pages = {str(page.relative_to(tmp_path)): page.read_text("utf-8") for page in tmp_path.rglob("*.html")}
    loads = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=[\"']?([^\"' >]+)")
    found = [(name, address) for name, page in pages.items() for address in loads.findall(page)]
    assert len(found) > 100
    assert [load for load in found if urlsplit(load[1]).netloc] == []
    for sheet in tmp_path.rglob("*.css"):
        assert not re.search(r"(url\(|@import\s+)[\"']?(https?:)?//", sheet.read_text("utf-8")), sheet

    assert [name for name in COMMANDS if f'<h2 id="{name}">' not in pages["cli.html"]] == []
    reference = pages["api/certificates.html"]
    assert "Return the verdict on a network: PROVED, REFUTED with a shortest failing string, or BOUNDED." in reference
    assert 'id="tallystick.check_certificate"' in reference
    assert "&gt;&gt;&gt; " in reference
    assert pages["story.html"].count("data:image/png") == 4
    assert "hooks" not in {path.name for path in tmp_path.iterdir()}
